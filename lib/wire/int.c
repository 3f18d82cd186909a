/* SPDX-License-Identifier: BSD-2-Clause */
/* int.c - from a bitmap to where each field is: int.h. */
#include "wire/int.h"

#include <string.h>

static void place(struct int_plan *plan, const struct int_word *w)
{
	for (unsigned i = 0; i < 2 && w->part[i].len; i++) {
		plan->has |= 1U << w->part[i].field;
		plan->part[w->part[i].field] = (struct int_part){
			.at = (uint8_t)(plan->len + w->part[i].at),
			.len = w->part[i].len,
			.word = (uint8_t)plan->len,
			.word_len = w->len,
			.scale = w->part[i].scale ? w->part[i].scale : 1,
		};
	}
}

bool int_plan_of(struct int_plan *out, const struct int_word *words,
		 unsigned bits, uint32_t bitmap)
{
	bool known = true;

	memset(out, 0, sizeof(*out));
	out->bitmap = bitmap;
	for (unsigned bit = 0; bit < bits; bit++) {
		if (!(bitmap >> (bits - 1 - bit) & 1))
			continue;
		if (words[bit].len) {
			place(out, &words[bit]);
			out->len = (uint16_t)(out->len + words[bit].len);
		} else {
			known = false;
			out->len = (uint16_t)(out->len + 4);
		}
	}
	return known;
}
