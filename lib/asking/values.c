/* SPDX-License-Identifier: BSD-2-Clause */
#include "asking/values.h"

#include <string.h>

#include "cli/cli.h"

/*
 * What is said of a table's values: --as, or the layout. Flows of IPv6 are none
 * of IPv4, whatever --as says of all tables.
 */
static void choose(struct values *v, unsigned i, const struct values_as *as)
{
	const struct table *t = v->targets->target[i].t;
	struct show *s = &v->show[i], told = {0};
	struct fault why;

	v->render[i] = *as->render;
	s->n = 0;
	if (*t->show && show_of(&told, t->show, &why) < 0)
		told.n = 0; /* of a newer version: as it is */
	if (as->show->n)
		*s = *as->show;
	else if (!as->given)
		*s = told;
	else if (as->render->as == RENDER_KEY && told.n &&
		 told.part[0].render.as == RENDER_KEY)
		v->render[i] = told.part[0].render;
	/* One part without a name is no column of its own. */
	if (s->n == 1 && !s->part[0].named) {
		v->render[i] = s->part[0].render;
		s->n = 0;
	}
	if (!s->n && v->render[i].as == RENDER_NUMBER) {
		show_one(s, &v->render[i]); /* and perhaps more */
		show_rest(s, t->value_len);
		s->n = s->n == 1 ? 0 : s->n;
	} else {
		show_rest(s, t->value_len);
	}
	v->render[i].escape_blank = as->text;
}

/* --as that no table has the bytes for. */
static void check(const struct values *v, const struct values_as *as)
{
	struct fault why;
	int rc = 0;

	for (unsigned i = 0; i < v->targets->n; i++) {
		rc = show_fits(as->show, v->targets->target[i].t->value_len,
			       &why);
		if (!rc)
			return;
	}
	if (rc < 0)
		cli_refuse("--as: %s", why.text);
}

/* Whether the values of all tables go to one column. */
static bool is_one_column(const struct values *v)
{
	for (unsigned i = 0; i < v->targets->n; i++)
		if (v->show[i].n ||
		    render_type(&v->render[i]) != render_type(&v->render[0]))
			return false;
	return true;
}

static void one_column(struct values *v)
{
	size_t len = 0;

	for (unsigned i = 0; i < v->targets->n; i++)
		if (v->targets->target[i].t->value_len > len)
			len = v->targets->target[i].t->value_len;
	v->field[v->at].type = render_type(&v->render[0]);
	v->field[v->at].width = render_column(&v->render[0], len);
}

/* Where some tables have columns, the values of others are one, too. */
static void others(struct values *v)
{
	struct fault why;

	for (unsigned i = 0; i < v->targets->n; i++)
		if (!v->show[i].n) {
			show_of(&v->show[i], "hex:value", &why);
			v->show[i].part[0].render = v->render[i];
		}
}

void values_open(struct values *v, const struct schema *s, unsigned at,
		 const struct values_as *as, const struct targets *t)
{
	v->at = at;
	v->targets = t;
	memcpy(v->field, s->fields, s->n * sizeof(*s->fields));
	v->schema = (struct schema){s->name, v->field, s->n};
	if (as->show->n)
		check(v, as);
	for (unsigned i = 0; i < t->n; i++)
		choose(v, i, as);
	if (is_one_column(v)) {
		one_column(v);
		return;
	}
	others(v);
	for (unsigned i = 0; i < t->n; i++)
		if (!shown_add(&v->shown, &v->show[i], v->column[i]))
			cli_fail("values have more than %d columns",
				 SHOW_COLUMNS);
	v->shift = v->shown.n - 1;
	memcpy(v->field + at, v->shown.field,
	       v->shown.n * sizeof(*v->shown.field));
	memcpy(v->field + at + v->shown.n, s->fields + at + 1,
	       (s->n - at - 1) * sizeof(*s->fields));
	v->schema.n += v->shift;
}

void values_set(struct values *v, struct rows *rows, const struct target *t,
		const uint8_t *value)
{
	unsigned i = (unsigned)(t - v->targets->target);

	if (v->shown.n)
		shown_set(&v->show[i], v->column[i], &v->room, rows, v->at,
			  value, t->t->value_len);
	else
		render_set(&v->render[i], &v->room, rows, v->at, value,
			   t->t->value_len);
}
