/* SPDX-License-Identifier: BSD-2-Clause */
/* int.c - from a bitmap to where each field is: int.h. */
#include "wire/int.h"

#include <string.h>

/* A field that the plan has already gets another part, which is tried first:
 * IOAM's wide fields have higher bits than the short ones. */
static uint8_t keep_other(struct int_plan *plan, unsigned field,
			  unsigned *others)
{
	if (!(plan->has & 1U << field) || *others == INT_OTHERS)
		return 0;
	plan->part[INT_FIELDS + *others] = plan->part[field];
	return (uint8_t)++ * others;
}

static void place(struct int_plan *plan, const struct int_word *w,
		  unsigned *others)
{
	for (unsigned i = 0; i < 2 && w->part[i].len; i++) {
		unsigned field = w->part[i].field;
		uint8_t at = (uint8_t)(plan->len + w->part[i].at);
		uint8_t other = keep_other(plan, field, others);
		bool alone = w->part[i].alone;

		plan->has |= 1U << field;
		plan->part[field] = (struct int_part){
			.at = at,
			.len = w->part[i].len,
			.word = alone ? at : (uint8_t)plan->len,
			.word_len = (alone ? w->part[i].len : w->len) & 15,
			.other = other & 15,
			.scale = w->part[i].scale ? w->part[i].scale : 1,
		};
	}
}

bool int_plan_of(struct int_plan *out, const struct int_word *words,
		 unsigned bits, uint32_t bitmap)
{
	unsigned others = 0;

	memset(out, 0, sizeof(*out));
	out->words = words;
	out->bitmap = bitmap;
	for (unsigned bit = 0; bit < bits; bit++) {
		if (!(bitmap >> (bits - 1 - bit) & 1))
			continue;
		if (words[bit].len) {
			place(out, &words[bit], &others);
			out->len = (uint16_t)(out->len + words[bit].len);
		} else {
			out->reserved = true;
			out->len = (uint16_t)(out->len + 4);
		}
	}
	return !out->reserved;
}

void int_plans_init(struct int_plans *p, const struct int_word *words,
		    unsigned bits)
{
	memset(p, 0, sizeof(*p));
	p->words = words;
	p->bits = bits;
	p->latest = p->plan; /* the one of no bits, as it should be */
}

const struct int_plan *int_plans_make(struct int_plans *p, uint32_t bitmap)
{
	struct int_plan *plan;

	if (!++p->made) { /* 0 is no number; so old ones are none's now */
		memset(p->slot, 0, sizeof(p->slot));
		p->made = 1;
	}
	p->slot[int_plans_slot(bitmap)] = p->made;
	plan = &p->plan[p->made % INT_PLANS_MAX];
	int_plan_of(plan, p->words, p->bits, bitmap);
	return plan;
}

static void store(uint8_t *p, unsigned len, uint64_t v)
{
	while (len--) {
		p[len] = (uint8_t)v;
		v >>= 8;
	}
}

/* The inverse of int_scaled(), cut to what the part can say. */
static void put_part(uint8_t *hop, const struct int_part *part, uint64_t v)
{
	if (part->scale == INT_SCALE_NTP)
		v = (uint64_t)(((unsigned __int128)v << 32) / 1000000000u);
	else
		v /= part->scale;
	store(hop + part->at, part->len, v);
}

void int_put(uint8_t *hop, const struct int_plan *plan, uint32_t has,
	     const uint64_t value[INT_FIELDS])
{
	const struct int_part *part;

	memset(hop, 0xff, plan->len);
	for (unsigned i = 0; i < INT_FIELDS; i++) {
		if (!(plan->has & has & 1U << i))
			continue;
		part = &plan->part[i];
		put_part(hop, part, value[i]);
		if (part->other)
			put_part(hop, &plan->part[INT_FIELDS - 1 + part->other],
				 value[i]);
	}
}
