/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"

#include <string.h>

void values_open(struct values *v, const struct schema *s, unsigned at,
		 const struct show *as, bool text,
		 const struct query_targets *t)
{
	struct error why;
	int rc = as ? -1 : 0;

	v->at = at;
	v->targets = t;
	v->room.escape_blank = text;
	for (unsigned i = 0; i < t->n && rc < 0; i++)
		rc = show_fits(as, t->target[i].t->value_len, &why);
	if (rc < 0) /* all tables' values are too short for it */
		cli_refuse("--as: %s", why.text);
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *table = t->target[i].t;

		show_for_table(&v->show[i], table, as);
		if (!show_columns_add(&v->shown, &v->show[i], table->value_len,
				      v->column[i]))
			cli_fail("values have more than %d columns",
				 SHOW_COLUMNS);
	}
	v->shift = v->shown.n - 1;
	memcpy(v->field, s->fields, at * sizeof(*s->fields));
	memcpy(v->field + at, v->shown.field,
	       v->shown.n * sizeof(*v->shown.field));
	memcpy(v->field + at + v->shown.n, s->fields + at + 1,
	       (s->n - at - 1) * sizeof(*s->fields));
	v->schema = (struct schema){s->name, v->field, s->n + v->shift};
}

void values_set(struct values *v, struct rows *rows,
		const struct query_target *t, const uint8_t *value)
{
	unsigned i = (unsigned)(t - v->targets->target);

	show_columns_set(&v->show[i], v->column[i], &v->room, rows, v->at,
			 value, t->t->value_len);
}
