/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields.h - a metadata layout (int/int.h) prepared for the sink: which word of
 * a hop, and which of its bits, is an id, a metric or a time.
 *
 * A field that the layout does not have reads as METRIC_NONE, or as absent,
 * without a test by the caller. So does a field whose word is all ones, which
 * means that the node does not know it.
 */
#ifndef TELEMETRY_FIELDS_H
#define TELEMETRY_FIELDS_H

#include "telemetry/metric.h"
#include "int/int.h"

enum field_width {
	FIELD_NONE,
	FIELD_4, /* a word of 4 bytes, as almost all are */
	FIELD_8,
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
	bool narrow; /* no field but those of 4 bytes, and no scale */
	struct hop_field node, id[FIELD_IDS], metric[METRIC_OF_HOP];
	bool node_narrow; /* the node, too, is a word of 4 bytes, or not told */
	bool derives;	  /* no latency, but time stamps */
	struct hop_field ingress_time, egress_time, seconds, fraction;
};

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
	if (f->width == FIELD_NONE)
		return 0;
	if (f->width == FIELD_ODD)
		return field_odd(f, hop, told);
	w = be64_load(hop + f->word);
	*told = w != UINT64_MAX;
	return w >> f->shift & f->mask;
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

/* An id of a narrow layout, as field_id(). */
static inline uint32_t field_narrow(const struct hop_field *f,
				    const uint8_t *hop)
{
	uint32_t w;

	if (f->width == FIELD_NONE)
		return METRIC_NONE;
	w = be32_load(hop + f->word);
	return w == UINT32_MAX ? METRIC_NONE
			       : w >> f->shift & (uint32_t)f->mask;
}

#endif
