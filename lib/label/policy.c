/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/hop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "label/label.h"

const char *const label_kind_names[] = {"A", "B", NULL};

/* F2 of section 6. */
static double linear_chance(const struct label_policy *p, unsigned items)
{
	if (items + 1 >= p->max_hop)
		return items ? 1 : 0;
	return (double)items / (p->max_hop - 1);
}

double label_probability(const struct label_policy *p, uint8_t s,
			 unsigned items, uint64_t elapsed_us)
{
	uint64_t t = label_interval(p, s);

	switch (p->f) {
	case LABEL_F1:
		return items ? 1 : 0;
	case LABEL_F2:
		return linear_chance(p, items);
	case LABEL_F3:
		if (elapsed_us < t)
			return linear_chance(p, items) * (double)elapsed_us /
			       (double)t;
		return linear_chance(p, items);
	case LABEL_F_TABLE:
		if (!p->table_len)
			return 0;
		return p->table[items < p->table_len ? items
						     : p->table_len - 1u];
	}
	return 0;
}

bool label_decide(const struct label_policy *p, const struct label_port *port,
		  unsigned items, bool specific, uint64_t now_us,
		  struct rng *rng)
{
	/* A clock that was set back looks like a long time, as in a switch. */
	uint64_t elapsed = (now_us - port->last_us) & LABEL_TIME_MASK;
	uint64_t rest = p->rest_us >> port->s; /* T1 */
	double chance;

	if (specific || !port->labelled || elapsed > label_interval(p, port->s))
		return true;
	if (p->kind == LABEL_BASE_A || (rest && elapsed <= rest))
		return false;
	chance = label_probability(p, port->s, items, elapsed);
	return chance > 0 && (chance >= 1 || rng_unit(rng) < chance);
}

int label_policy_f(struct label_policy *p, const char *text, struct error *why)
{
	static const char *const names[] = {"f1", "f2", "f3"};
	char copy[LABEL_TABLE_MAX * 32], *rest = copy, *word;
	struct label_policy read = *p;

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			p->f = (enum label_f)i;
			return 0;
		}
	read.f = LABEL_F_TABLE;
	read.table_len = 0;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		copy[0] = '\0'; /* refused below: it is no number */
	while ((word = strsep(&rest, ","))) {
		double *f = &read.table[read.table_len];

		if (read.table_len++ == LABEL_TABLE_MAX || !text_f64(f, word) ||
		    *f < 0 || *f > 1)
			return error_set(why, -EINVAL,
					 "is not f1, f2, f3 or up to %d "
					 "numbers from 0 to 1: 0,0.5,1",
					 LABEL_TABLE_MAX);
	}
	*p = read;
	return 0;
}
