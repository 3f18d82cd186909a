/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/series.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "row/encode.h"
#include "row/outbuf.h"

enum {
	SWEEP_NS = 1000000000,
};

/* One set of labels of a measurement. */
struct labelled {
	struct labelled *next; /* of the measurement */
	uint64_t rows, seen_ns;
	const char *labels; /* node="a",port="1" */
	double value[];	    /* by metric; NAN: none yet */
};

struct metric {
	unsigned field;
	double scale;
	bool counter;
	char *name;
};

struct series_form {
	struct series_form *next;
	const struct schema *schema;
	unsigned metrics;
	struct metric *metric;
	struct labelled *first;
	void *by_labels; /* the same, of tsearch(3) */
};

struct series {
	pthread_mutex_t lock;
	uint64_t max, expire_ns, n, swept_ns;
	struct series_form *forms, **last;
	struct outbuf labels, cell;
};

/* Units as promtool wants them: base units, in the plural. */
static const struct unit {
	const char *unit, *name;
	double scale;
} units[] = {
	{"ns", "seconds", 1e-9},
	{"us", "seconds", 1e-6},
	{"ms", "seconds", 1e-3},
	{"s", "seconds", 1},
	{"1/s", "per_second", 1},
	{"%", "ratio", 1e-2},
	{"percent", "ratio", 1e-2},
	{"bit/s", "bits_per_second", 1},
	{"bytes/s", "bytes_per_second", 1},
};

static struct unit unit_of(const struct row_field *f)
{
	if (f->type == ROW_TIME)
		return (struct unit){"ns", "seconds", 1e-9};
	for (unsigned i = 0; f->unit && i < sizeof(units) / sizeof(units[0]);
	     i++)
		if (!strcmp(f->unit, units[i].unit))
			return units[i];
	return (struct unit){f->unit, f->unit, 1};
}

/* Takes "_end" off a name, if it is there. */
static bool strip(char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	if (n <= m + 1 || name[n - m - 1] != '_' || strcmp(name + n - m, end))
		return false;
	name[n - m - 1] = '\0';
	return true;
}

/* MEASUREMENT_FIELD_UNIT, or with _total behind. */
static bool name_metric(struct metric *m, const struct schema *s,
			const struct row_field *f)
{
	struct unit u = unit_of(f);
	char *field = strdup(f->name);
	int n = -1;

	if (field) {
		m->counter = strip(field, "total");
		if (u.unit && strcmp(field, u.unit) != 0)
			strip(field, u.unit);
		if (u.name && strcmp(field, u.name) != 0)
			strip(field, u.name);
		m->scale = u.scale;
		n = asprintf(&m->name, "%s_%s%s%s%s", s->name, field,
			     u.name ? "_" : "", u.name ? u.name : "",
			     m->counter ? "_total" : "");
	}
	free(field);
	if (n < 0)
		m->name = NULL;
	return n >= 0;
}

static bool is_metric(const struct row_field *f)
{
	return f->role == ROW_VALUE && f->type != ROW_STR &&
	       f->type != ROW_BYTES && f->type != ROW_LIST;
}

static void free_form(struct series_form *m)
{
	for (unsigned i = 0; m && i < m->metrics; i++)
		free(m->metric[i].name);
	if (m)
		free(m->metric);
	free(m);
}

struct series_form *series_form(struct series *x, const struct schema *s)
{
	struct series_form *m = calloc(1, sizeof(*m));
	bool ok = m && (m->metric = calloc(s->n + 1, sizeof(*m->metric)));

	for (unsigned i = 0; ok && i < s->n; i++)
		if (is_metric(&s->fields[i])) {
			m->metric[m->metrics].field = i;
			ok = name_metric(&m->metric[m->metrics++], s,
					 &s->fields[i]);
		}
	if (!ok) {
		free_form(m);
		return NULL;
	}
	m->schema = s;
	pthread_mutex_lock(&x->lock);
	*x->last = m;
	x->last = &m->next;
	pthread_mutex_unlock(&x->lock);
	return m;
}

struct series *series_open(uint64_t max, uint64_t expire_ns)
{
	struct series *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	pthread_mutex_init(&x->lock, NULL);
	x->max = max;
	x->expire_ns = expire_ns;
	x->last = &x->forms;
	return x;
}

/* The row's name="value",... in x->labels. NULL: no memory. */
static const char *labels_of(struct series *x, const struct series_form *m,
			     const struct row_batch *b, unsigned row)
{
	const struct schema *s = m->schema;
	struct outbuf *o = &x->labels, *cell = &x->cell;
	size_t n;

	outbuf_cut(o, 0);
	for (unsigned i = 0; i < s->n; i++) {
		const struct row_cell *c = row_batch_cell(b, row, i);
		const char *text;

		if (s->fields[i].role != ROW_TAG)
			continue;
		outbuf_cut(cell, 0);
		if (!encode_is_null(c))
			encode_cell(cell, b, c);
		text = outbuf_text(cell, &n);
		if (outbuf_len(o))
			outbuf_char(o, ',');
		outbuf_word(o, s->fields[i].name);
		outbuf_word(o, "=\"");
		outbuf_escaped(o, text ? text : "", n, "\"\\\n");
		outbuf_char(o, '"');
	}
	outbuf_char(o, '\0');
	return outbuf_text(o, &n);
}

static int by_labels(const void *a, const void *b)
{
	const struct labelled *one = a, *other = b;

	return strcmp(one->labels, other->labels);
}

static struct labelled *make(struct series_form *m, const char *labels)
{
	size_t values = m->metrics * sizeof(double), len = strlen(labels) + 1;
	struct labelled *l = calloc(1, sizeof(*l) + values + len);

	if (!l)
		return NULL;
	for (unsigned i = 0; i < m->metrics; i++)
		l->value[i] = NAN;
	l->labels = memcpy((char *)l->value + values, labels, len);
	if (!tsearch(l, &m->by_labels, by_labels)) {
		free(l);
		return NULL;
	}
	l->next = m->first;
	m->first = l;
	return l;
}

/* Forgets what no row has come of for long. */
static void sweep(struct series *x, uint64_t now_ns)
{
	x->swept_ns = now_ns;
	for (struct series_form *m = x->forms; x->expire_ns && m; m = m->next) {
		struct labelled **at = &m->first, *l;

		while ((l = *at)) {
			if (now_ns < l->seen_ns ||
			    now_ns - l->seen_ns < x->expire_ns) {
				at = &l->next;
				continue;
			}
			*at = l->next;
			tdelete(l, &m->by_labels, by_labels);
			free(l);
			x->n--;
		}
	}
}

static int find(struct labelled **out, struct series *x, struct series_form *m,
		const char *labels, uint64_t now_ns)
{
	const struct labelled key = {.labels = labels};
	struct labelled **at = tfind(&key, &m->by_labels, by_labels);

	if (at) {
		*out = *at;
		return 0;
	}
	if (x->n >= x->max && now_ns - x->swept_ns >= SWEEP_NS)
		sweep(x, now_ns);
	if (x->n >= x->max)
		return -ENOSPC;
	if (!(*out = make(m, labels)))
		return -ENOMEM;
	x->n++;
	return 0;
}

static double number_of(const struct row_cell *c)
{
	switch (c->kind) {
	case ROW_U64:
	case ROW_BOOL:
		return (double)c->u64;
	case ROW_I64:
	case ROW_TIME:
		return (double)c->i64;
	default:
		return c->f64;
	}
}

static void set_values(const struct series_form *m, struct labelled *l,
		       const struct row_batch *b, unsigned row)
{
	for (unsigned i = 0; i < m->metrics; i++) {
		const struct row_cell *c = row_batch_cell(b, row,
							  m->metric[i].field);

		if (!encode_is_null(c))
			l->value[i] = number_of(c) * m->metric[i].scale;
	}
}

int series_take(struct series *x, struct series_form *m,
		const struct row_batch *b, unsigned row, uint64_t now_ns)
{
	const char *labels;
	struct labelled *l;
	int rc = -ENOMEM;

	pthread_mutex_lock(&x->lock);
	if ((labels = labels_of(x, m, b, row)))
		rc = find(&l, x, m, labels, now_ns);
	if (rc == 0) {
		set_values(m, l, b, row);
		l->rows++;
		l->seen_ns = now_ns;
	}
	pthread_mutex_unlock(&x->lock);
	return rc;
}

static void head(struct outbuf *o, const char *name, const char *type)
{
	outbuf_word(o, "# TYPE ");
	outbuf_word(o, name);
	outbuf_char(o, ' ');
	outbuf_word(o, type);
	outbuf_char(o, '\n');
}

static void sample(struct outbuf *o, const char *name, const char *end,
		   const struct labelled *l)
{
	outbuf_word(o, name);
	outbuf_word(o, end);
	if (*l->labels) {
		outbuf_char(o, '{');
		outbuf_word(o, l->labels);
		outbuf_char(o, '}');
	}
	outbuf_char(o, ' ');
}

static void help(struct outbuf *o, const char *name, const char *what,
		 const char *field, const char *measurement)
{
	outbuf_word(o, "# HELP ");
	outbuf_word(o, name);
	outbuf_word(o, what);
	outbuf_word(o, field);
	outbuf_word(o, " of ");
	outbuf_word(o, measurement);
	outbuf_char(o, '\n');
}

static void render_metric(const struct series_form *m, unsigned i,
			  struct outbuf *o)
{
	const struct metric *t = &m->metric[i];

	help(o, t->name, " The latest ", m->schema->fields[t->field].name,
	     m->schema->name);
	head(o, t->name, t->counter ? "counter" : "gauge");
	for (const struct labelled *l = m->first; l; l = l->next) {
		char text[32];

		if (!isfinite(l->value[i]))
			continue;
		snprintf(text, sizeof(text), "%.15g\n", l->value[i]);
		sample(o, t->name, "", l);
		outbuf_word(o, text);
	}
}

static void render_rows(const struct series_form *m, struct outbuf *o)
{
	const char *name = m->schema->name;

	outbuf_word(o, "# HELP ");
	outbuf_word(o, name);
	outbuf_word(o, "_rows_total Rows that came\n# TYPE ");
	outbuf_word(o, name);
	outbuf_word(o, "_rows_total counter\n");
	for (const struct labelled *l = m->first; l; l = l->next) {
		sample(o, name, "_rows_total", l);
		outbuf_u64(o, l->rows);
		outbuf_char(o, '\n');
	}
}

void series_render(struct series *x, struct outbuf *o, uint64_t now_ns,
		   bool rows)
{
	pthread_mutex_lock(&x->lock);
	sweep(x, now_ns);
	for (const struct series_form *m = x->forms; m; m = m->next) {
		for (unsigned i = 0; i < m->metrics; i++)
			render_metric(m, i, o);
		if (rows)
			render_rows(m, o);
	}
	pthread_mutex_unlock(&x->lock);
}

void series_close(struct series *x)
{
	struct series_form *m, *next;
	struct labelled *l;

	if (!x)
		return;
	for (m = x->forms; m; m = next) {
		next = m->next;
		while ((l = m->first)) {
			m->first = l->next;
			tdelete(l, &m->by_labels, by_labels);
			free(l);
		}
		free_form(m);
	}
	free(x->labels.text);
	free(x->cell.text);
	pthread_mutex_destroy(&x->lock);
	free(x);
}
