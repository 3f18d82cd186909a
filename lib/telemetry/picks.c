/* SPDX-License-Identifier: BSD-2-Clause */
#include "telemetry/picks.h"

#include <string.h>

#include "measure/flows.h"
#include "measure/objects.h"

/* A field's bytes become those of the word at byte `to`. */
static void pick(struct pick *p, unsigned to, const struct hop_field *f)
{
	for (unsigned b = 0; f->mask >> 8 * b; b++) {
		p->from[to + b] = (uint8_t)(f->word + 3 - f->shift / 8 - b);
		p->set |= 1ULL << (to + b);
	}
}

static void need(struct picks *p, const struct hop_field *f)
{
	p->usable = p->usable && f->width == FIELD_4 && f->word % 4 == 0 &&
		    f->word < PICK_BYTES && f->shift % 8 == 0;
	p->words |= (uint16_t)(1U << f->word / 4);
}

static void pick_meter(struct pick_meters *p, size_t at, unsigned m)
{
	unsigned latest = (unsigned)at / 4, sum = latest + 2;

	p->from[latest] = p->from[sum] = m;
	p->from[latest + 1] = PICK_ONE;
	p->set |= (uint16_t)(1U << latest | 1U << (latest + 1) | 1U << sum);
	p->keep &= (uint16_t) ~(1U << latest);
}

static void pick_metric(struct picks *p, unsigned m, const struct hop_field *f)
{
	need(p, f);
	if (!p->usable)
		return;
	p->present |= (uint8_t)(1U << m);
	p->metrics_n++;
	pick(&p->metrics, 4 * m, f);
	if (m < FLOW_METERS)
		pick_meter(&p->hop, offsetof(struct flow_hop, meter[m]), m);
	else
		pick_meter(&p->wide, (m - FLOW_METERS) * sizeof(struct meter),
			   m);
}

static void pick_id(struct picks *p, unsigned at, unsigned words,
		    const struct hop_field *f)
{
	if (!f->width) {
		memset(&p->absent[at / 4], 0xff, 4 * words);
		return;
	}
	need(p, f);
	if (p->usable)
		pick(&p->ids, at, f);
}

static void pick_ids(struct picks *p, const struct fields *f)
{
	pick_id(p, offsetof(struct place, node_id), 2, &f->node);
	for (unsigned i = 0; i < FIELD_IDS; i++)
		pick_id(p, (unsigned)offsetof(struct place, id[i]), 1,
			&f->id[i]);
}

void picks_of(struct picks *p, const struct fields *f)
{
	memset(p, 0, sizeof(*p));
	p->usable = f->narrow && f->step_node && !f->derives &&
		    f->len <= PICK_BYTES && f->len >= 4;
	if (!p->usable)
		return;
	p->hop.keep = p->wide.keep = UINT16_MAX;
	p->bytes = UINT64_MAX >> (PICK_BYTES - f->len);
	pick_ids(p, f);
	for (unsigned m = 0; m < METRIC_OF_HOP; m++)
		if (f->metric[m].width)
			pick_metric(p, m, &f->metric[m]);
}
