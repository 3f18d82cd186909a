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

static bool draw_chance(double probability, struct rng *rng)
{
	if (probability <= 0)
		return false;
	return probability >= 1 || rng_unit(rng) < probability;
}

bool label_decide(const struct label_policy *p, const struct label_port *port,
		  unsigned items, bool specific, uint64_t now_us,
		  struct rng *rng)
{
	/* A clock that was set back looks like a long time, as in a switch. */
	uint64_t elapsed = (now_us - port->last_us) & LABEL_TIME_MASK;
	uint64_t rest = p->rest_us >> port->s;

	if (specific || !port->labelled || elapsed > label_interval(p, port->s))
		return true;
	if (p->kind == LABEL_BASE_A || (rest && elapsed <= rest))
		return false;
	return draw_chance(label_probability(p, port->s, items, elapsed), rng);
}

/* One number of a table; returns what is behind it, NULL if it is none. */
static const char *read_number(double *out, const char *text)
{
	size_t len = strcspn(text, ",");
	char word[32];

	if (len >= sizeof(word))
		return NULL;
	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	if (!text_f64(out, word) || *out < 0 || *out > 1)
		return NULL;
	return text + len;
}

static int read_table(struct label_policy *p, const char *text,
		      struct error *why)
{
	struct label_policy read = *p;

	read.f = LABEL_F_TABLE;
	for (read.table_len = 0;; text++) {
		if (read.table_len == LABEL_TABLE_MAX)
			return error_set(why, -EINVAL,
					 "has more than %d "
					 "numbers",
					 LABEL_TABLE_MAX);
		text = read_number(&read.table[read.table_len++], text);
		if (!text)
			return error_set(why, -EINVAL,
					 "is not f1, f2, f3 or "
					 "numbers from 0 to 1: 0,0.5,1");
		if (!*text)
			break;
	}
	*p = read;
	return 0;
}

int label_policy_f(struct label_policy *p, const char *text, struct error *why)
{
	static const char *const names[] = {"f1", "f2", "f3"};

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			p->f = (enum label_f)i;
			return 0;
		}
	return read_table(p, text, why);
}
