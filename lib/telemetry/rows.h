/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - the rows that the sink makes: the measurements, fields and events of
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
 * A metadata layout (int/int.h) prepared for the sink: which bits of which word
 * of a hop are an id, a metric or a time.
 *
 * A field that the layout does not have reads as ID_UNKNOWN, or as absent,
 * without a test by the caller. So does a field whose word is all ones, which
 * means that the node does not know it.
 */

enum field_width {
	FIELD_NONE,    /* the layout does not have it */
	FIELD_4,       /* in a word of 4 bytes, as almost all are */
	FIELD_GENERAL, /* in a word of any length, or in one of two words */
};

struct hop_field {
	uint8_t width; /* enum field_width */
	uint8_t word;  /* its offset in the hop */
	uint8_t shift; /* value = (word >> shift & mask) * scale */
	uint8_t len;   /* bytes of the word */
	uint32_t scale;
	uint64_t mask;
	/* The word that has the field if the first one is all ones (struct
	 * int_part); len 0: none. bytes: of the field. */
	struct {
		uint8_t word, shift, len, bytes;
	} other;
};

struct hop_fields {
	const struct int_word *words; /* these and bitmap: of the layout that
					 this was made of */
	uint32_t bitmap;
	uint16_t len; /* bytes of a hop */
	struct hop_field node, id[FIELD_IDS], metric[HOP_METRICS];
	bool derives; /* latency is the difference of time stamps */
	struct hop_field ingress_time, egress_time, seconds, fraction;
};

/* enum int_field of each id and metric of a hop. */
extern const uint8_t field_of_id[FIELD_IDS];
extern const uint8_t field_of_metric[HOP_METRICS];

void hop_fields_set(struct hop_fields *f, const struct int_layout *layout);

/* Whether f was made of this layout, or of an equal one. */
static inline bool hop_fields_match(const struct hop_fields *f,
				    const struct int_layout *layout)
{
	return f->words == layout->words && f->bitmap == layout->bitmap;
}

/* field_raw() of a FIELD_GENERAL. */
uint64_t field_general(const struct hop_field *f, const uint8_t *hop,
		       bool *told);

/* A field's value before scaling; *told is false if the hop has none. */
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
	return f->width == FIELD_NONE ? 0 : field_general(f, hop, told);
}

static inline uint64_t field_number(const struct hop_field *f,
				    const uint8_t *hop, bool *told)
{
	return int_scaled(field_raw(f, hop, told), f->scale);
}

/* An id of an interface, a queue or a buffer, or ID_UNKNOWN. */
static inline uint32_t field_id(const struct hop_field *f, const uint8_t *hop)
{
	bool told;
	uint32_t v = (uint32_t)field_raw(f, hop, &told);

	return told ? v : ID_UNKNOWN;
}

/* The node of a hop, or NODE_UNKNOWN. */
static inline uint64_t field_node(const struct hop_field *f, const uint8_t *hop)
{
	bool told;
	uint64_t v = field_raw(f, hop, &told);

	return told ? v : NODE_UNKNOWN;
}

enum telemetry_event_kind {
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

extern const char *const event_names[EVENTS + 1]; /* ends with NULL */
int event_of(const char *name);			  /* -1: none */

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

/* The sink of each kind of row; NULL: it is not made. Sinks may be equal. */
struct telemetry_sinks {
	struct row_sink *of[ROWS_KINDS];
};

extern const struct schema telemetry_schemas[ROWS_KINDS];
/* The measurements without their "int_"; ends with NULL. */
extern const char *const rows_kind_names[ROWS_KINDS + 1];

struct telemetry_rows {
	struct rows *of[ROWS_KINDS]; /* NULL: that kind has no sink */
	int err;		     /* the first -errno of a sink */
};

/* A list of nodes, n 0: none. */
struct nodes {
	const uint64_t *at;
	unsigned n;
};

/* An event, or a periodic value: when, the key of its metric, the value. */
struct telemetry_event {
	uint64_t ts_ns;
	uint8_t kind;	    /* enum telemetry_event_kind, of an event */
	int8_t metric;	    /* enum metric; -1: none */
	const uint8_t *key; /* of the flow, or NULL */
	uint8_t key_len;
	uint64_t node;			/* NODE_UNKNOWN: none */
	uint32_t egress, queue, buffer; /* ID_UNKNOWN: none */
	int hw_id;			/* -1: none */
	uint32_t ingress;		/* ID_UNKNOWN: none */
	bool has_value, has_reference, has_threshold;
	uint64_t value, reference, threshold;
	struct nodes path, old_path;
};

extern const struct telemetry_event telemetry_event_none; /* to begin with */

/* 0 or -ENOMEM. batch_rows: so many are put at once. */
int telemetry_rows_open(struct telemetry_rows *rs,
			const struct telemetry_sinks *s, unsigned batch_rows);
int telemetry_rows_flush(struct telemetry_rows *rs);
void telemetry_rows_close(struct telemetry_rows *rs);

/* Sets a field to a list of nodes; an unknown one is UINT32_MAX. None: null. */
void rows_set_nodes(struct row_batch *b, unsigned field, struct nodes nodes);

void telemetry_row_event(struct telemetry_rows *rs,
			 const struct telemetry_event *event);
void telemetry_row_value(struct telemetry_rows *rs,
			 const struct telemetry_event *event);

/* A flow that leaves the cache, and a hop of it; the latter only if rs has a
 * sink for hops. hop 0: it is not on the path. */
void telemetry_row_flow(struct telemetry_rows *rs, uint64_t ts_ns,
			const struct flow_entry *f, enum flow_leave why,
			struct nodes path);
void telemetry_row_hop(struct telemetry_rows *rs, uint64_t ts_ns,
		       const struct flow_entry *f, unsigned hop,
		       const struct hop_key *at, const struct flow_hop *h,
		       const struct flow_rare *rare);

/* An opaque state snapshot of a packet's hop; hop 1 is the first. */
void telemetry_row_snapshot(struct telemetry_rows *rs,
			    const struct int_record *v, unsigned hop,
			    uint64_t node, uint32_t schema, const uint8_t *data,
			    size_t len);

/* The distribution of a node, or with NODE_UNKNOWN of a path, and its bins. */
void telemetry_row_distribution(struct telemetry_rows *rs, uint64_t ts_ns,
				enum metric m, uint64_t node, struct nodes path,
				const struct dist *d);

#endif
