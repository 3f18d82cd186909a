/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.c - prepares metadata layouts; loads uncommon fields (rows.h). */
#include "telemetry/rows.h"

static uint8_t shift_of(const struct int_part *p)
{
	return (uint8_t)(8 * (p->word + p->word_len - p->at - p->len));
}

static struct hop_field field_of(const struct int_layout *layout,
				 enum int_field which)
{
	const struct int_part *p = &layout->part[which];
	struct hop_field f = {.word = p->word, .len = p->word_len, .scale = 1};

	if (!(layout->has & 1U << which) || !p->len || p->at < p->word ||
	    p->at + p->len > p->word + p->word_len)
		return f;
	f.width = p->word_len == 4 ? FIELD_4 : FIELD_GENERAL;
	f.shift = shift_of(p);
	f.mask = int_ones(p->len);
	f.scale = p->scale;
	if (p->other) {
		p = &layout->part[INT_FIELDS - 1 + p->other];
		f.width = FIELD_GENERAL;
		f.other.word = p->word;
		f.other.shift = shift_of(p);
		f.other.len = p->word_len;
		f.other.bytes = p->len;
	}
	return f;
}

const uint8_t field_of_id[FIELD_IDS] = {INT_EGRESS, INT_QUEUE, INT_BUFFER};

const uint8_t field_of_metric[HOP_METRICS] = {
	[METRIC_HOP_LATENCY] = INT_LATENCY,
	[METRIC_QUEUE_OCCUPANCY] = INT_OCCUPANCY,
	[METRIC_LINK_UTILIZATION] = INT_UTILIZATION,
	[METRIC_QUEUE_CONGESTION] = INT_CONGESTION,
	[METRIC_BUFFER_OCCUPANCY] = INT_BUFFER_OCCUPANCY,
};

void hop_fields_set(struct hop_fields *f, const struct int_layout *layout)
{
	*f = (struct hop_fields){.words = layout->words,
				 .bitmap = layout->bitmap,
				 .len = layout->len};
	f->node = field_of(layout, INT_NODE);
	for (unsigned i = 0; i < FIELD_IDS; i++)
		f->id[i] = field_of(layout, field_of_id[i]);
	for (unsigned i = 0; i < HOP_METRICS; i++)
		f->metric[i] = field_of(layout, field_of_metric[i]);
	f->ingress_time = field_of(layout, INT_INGRESS_TIME);
	f->egress_time = field_of(layout, INT_EGRESS_TIME);
	f->seconds = field_of(layout, INT_TIME_SECONDS);
	f->fraction = field_of(layout, INT_TIME_FRACTION);
	f->derives = !f->metric[METRIC_HOP_LATENCY].width &&
		     (f->egress_time.width || f->seconds.width);
}

uint64_t field_general(const struct hop_field *f, const uint8_t *hop,
		       bool *told)
{
	uint64_t w = int_load(hop + f->word, f->len);

	*told = w != int_ones(f->len);
	if (*told || !f->other.len)
		return w >> f->shift & f->mask;
	w = int_load(hop + f->other.word, f->other.len);
	*told = w != int_ones(f->other.len);
	return w >> f->other.shift & int_ones(f->other.bytes);
}
