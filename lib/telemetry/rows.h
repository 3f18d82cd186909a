/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - what the sink tells, as rows: the measurements, fields and events of
 * int-collect(1).
 *
 * Latencies are in ns, other metrics in units of the nodes. In a list of nodes
 * an unknown one is 4294967295: no switch of INT has that id.
 */
#ifndef TELEMETRY_ROWS_H
#define TELEMETRY_ROWS_H

#include "int/int.h"
#include "net/key.h"
#include "row/row.h"
#include "telemetry/flows.h"
#include "telemetry/objects.h"

/*
 * a metadata layout (int/int.h) prepared for the sink: which word of
 * a hop, and which of its bits, is an id, a metric or a time.
 *
 * A field that the layout does not have reads as METRIC_NONE, or as absent,
 * without a test by the caller. So does a field whose word is all ones, which
 * means that the node does not know it.
 */

enum field_width {
	FIELD_NONE,
	FIELD_4,   /* a word of 4 bytes, as almost all are */
	FIELD_ODD, /* of any length, or there is another place to look */
};

struct hop_field {
	uint8_t width; /* enum field_width */
	uint8_t word;  /* where the word is in the hop */
	uint8_t shift; /* then mask: the bits of the word that are meant */
	uint8_t len;   /* of the word, if odd */
	uint32_t scale;
	uint64_t mask;
	/* Where the field is too, if that word is all ones (struct int_part);
	 * len 0: nowhere. */
	struct {
		uint8_t word, shift, len, bytes;
	} other;
};

struct fields {
	const struct int_word *words; /* of whose layout, with the bitmap, this
					 was made */
	uint32_t bitmap;
	uint16_t len;
	struct hop_field node, id[FIELD_IDS], metric[METRIC_OF_HOP];
	bool derives; /* no latency, but time stamps */
	struct hop_field ingress_time, egress_time, seconds, fraction;
};

/* enum int_field of each id and metric of a hop. */
extern const uint8_t field_of_id[FIELD_IDS];
extern const uint8_t field_of_metric[METRIC_OF_HOP];

void fields_of(struct fields *f, const struct int_layout *layout);

/* Whether f was made of this layout, or of one like it. */
static inline bool fields_are(const struct fields *f,
			      const struct int_layout *layout)
{
	return f->words == layout->words && f->bitmap == layout->bitmap;
}

uint64_t field_odd(const struct hop_field *f, const uint8_t *hop, bool *told);

/* A field's number, not scaled; *told is false if there is none. */
static inline uint64_t field_raw(const struct hop_field *f, const uint8_t *hop,
				 bool *told)
{
	uint64_t w;

	if (f->width == FIELD_4) {
		w = be32_load(hop + f->word);
		*told = w != UINT32_MAX;
		return w >> f->shift & f->mask;
	}
	*told = false;
	return f->width == FIELD_NONE ? 0 : field_odd(f, hop, told);
}

static inline uint64_t field_number(const struct hop_field *f,
				    const uint8_t *hop, bool *told)
{
	return int_scaled(field_raw(f, hop, told), f->scale);
}

/* An id of an interface, a queue or a buffer. */
static inline uint32_t field_id(const struct hop_field *f, const uint8_t *hop)
{
	bool told;
	uint32_t v = (uint32_t)field_raw(f, hop, &told);

	return told ? v : METRIC_NONE;
}

/* The node of a hop: NODE_UNKNOWN if it does not tell. */
static inline uint64_t field_node(const struct hop_field *f, const uint8_t *hop)
{
	bool told;
	uint64_t v = field_raw(f, hop, &told);

	return told ? v : NODE_UNKNOWN;
}

enum telemetry_kind {
	EVENT_NEW_KEY,
	EVENT_CHANGE,
	EVENT_RISE,
	EVENT_FALL,
	EVENT_PATH_CHANGE,
	EVENT_LOOP,
	EVENT_REPORT_LOSS,
	EVENT_RESTART,
	EVENT_DROP,
	EVENTS,
	EVENTS_ALL = (1 << EVENTS) - 1, /* as a set: 1 << each */
};

const char *event_name(enum telemetry_kind k);
int event_of(const char *name); /* -1: none */

/* A node's id in a list. */
static inline uint64_t rows_node(uint64_t id)
{
	return id == NODE_UNKNOWN ? UINT32_MAX : id;
}

/* The measurements. */
enum rows_kind {
	ROWS_EVENT,
	ROWS_VALUE,
	ROWS_FLOW,
	ROWS_HOP,
	ROWS_DISTRIBUTION,
	ROWS_BIN,
	ROWS_SNAPSHOT,
	ROWS_KINDS,
};

/* Where each goes; NULL: nowhere. They may be the same. */
struct telemetry_sinks {
	struct row_sink *of[ROWS_KINDS];
};

/* "event": without the int_ of the measurement. */
const char *rows_kind_name(enum rows_kind k);

struct telemetry_rows {
	struct rows *of[ROWS_KINDS]; /* NULL: they go nowhere */
	int err;		     /* of the sinks, the first */
};

/* A list of nodes, n 0: none. */
struct nodes {
	const uint64_t *at;
	unsigned n;
};

/* What is told, and of what. */
struct telemetry_event {
	uint64_t ts_ns;
	uint8_t kind;	    /* of events */
	int8_t metric;	    /* -1: none */
	const uint8_t *key; /* of a flow, or NULL */
	uint8_t key_len;
	uint64_t node;			/* NODE_UNKNOWN: none */
	uint32_t egress, queue, buffer; /* METRIC_NONE: none */
	int hw_id;			/* -1: none */
	uint32_t ingress;		/* METRIC_NONE: none */
	bool has_value, has_reference, has_threshold;
	uint64_t value, reference, threshold;
	struct nodes path, old_path;
};

extern const struct telemetry_event telemetry_event_none; /* to begin with */

/* 0 or -ENOMEM. gather: rows that are put at once. */
int telemetry_rows_open(struct telemetry_rows *rs,
			const struct telemetry_sinks *s, unsigned gather);
int telemetry_rows_flush(struct telemetry_rows *rs);
void telemetry_rows_close(struct telemetry_rows *rs);

void telemetry_row_event(struct telemetry_rows *rs,
			 const struct telemetry_event *what);
void telemetry_row_value(struct telemetry_rows *rs,
			 const struct telemetry_event *what);

/* A flow, and a hop of it (where such rows go somewhere), that leave at a time.
 * hop 0: it is not on the path. */
void telemetry_row_flow(struct telemetry_rows *rs, uint64_t ts_ns,
			const struct flow_entry *f, enum flow_leaves why,
			struct nodes path);
void telemetry_row_hop(struct telemetry_rows *rs, uint64_t ts_ns,
		       const struct flow_entry *f, unsigned hop,
		       const struct hop_key *at, const struct flow_hop *h,
		       const struct flow_wide *wide);

/* Of a packet's hop, 1 is the first. */
void telemetry_row_snapshot(struct telemetry_rows *rs,
			    const struct int_record *v, unsigned hop,
			    uint64_t node, uint32_t schema, const uint8_t *data,
			    size_t len);

/* Of a node, or with NODE_UNKNOWN of a path; with its bins. */
void telemetry_row_distribution(struct telemetry_rows *rs, uint64_t ts_ns,
				enum metric m, uint64_t node, struct nodes path,
				const struct dist *d);

#endif
