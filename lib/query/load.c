/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/query.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/zero.h"
#include "model/model.h"

enum {
	CHECKSUM_BITS = 32,
	BLOCK = 65536,	/* bytes read at once */
	SAMPLE = 10000, /* units of a table that query_fill() looks at */
};

int64_t query_scan(const struct table_view *v, query_scan_unit *each, void *ctx,
		   const atomic_int *stop)
{
	const struct table *t = v->t;
	uint64_t units = t->units * (t->lists ? t->lists : 1);
	uint64_t at_once = t->stride < BLOCK ? BLOCK / t->stride : 1;
	uint8_t *buf = malloc((size_t)(at_once * t->stride));
	int64_t bad = 0;

	if (!buf)
		return -ENOMEM;
	for (uint64_t u = 0; u < units && !*stop; u += at_once) {
		uint64_t n = units - u < at_once ? units - u : at_once;
		const uint8_t *p = buf;

		if (v->mem) {
			p = v->mem + u * t->stride;
		} else if (memory_load(v, u * t->stride, buf,
				       (size_t)(n * t->stride)) < 0) {
			bad += (int64_t)n;
			continue;
		}
		if (is_zero(p, (size_t)(n * t->stride)))
			continue;
		for (uint64_t i = 0; i < n; i++)
			if (!is_zero(p + i * t->stride, t->stride))
				each(ctx, u + i, p + i * t->stride);
	}
	free(buf);
	return bad;
}

static void count_unit(void *ctx, uint64_t unit, const uint8_t *bytes)
{
	struct query_load *l = ctx;

	(void)unit, (void)bytes;
	l->used++;
}

static void add_counter(void *ctx, uint64_t unit, const uint8_t *bytes)
{
	struct query_load *l = ctx;
	uint64_t count;

	(void)unit;
	memcpy(&count, bytes, sizeof(count));
	l->used++;
	if (__builtin_add_overflow(l->sum, count, &l->sum))
		l->sum_fits = false;
}

/* Counts the entries of a table's lists, and the share of those that can be
 * read; NAN of none. */
static void count_lists(struct query_load *l, const struct table_view *v)
{
	for (uint32_t i = 0; i < v->t->lists; i++) {
		uint64_t n;

		if (query_list_count(&n, v, i) < 0) {
			l->unreadable++;
			continue;
		}
		l->written += n;
		l->lists_used += n > 0;
		l->used += n - query_list_oldest(v->t, n);
	}
	l->used_share = (double)l->used /
			(double)(table_kept(v->t) *
				 (v->t->lists - l->unreadable));
}

double query_load_sample(const struct table_view *v, uint64_t at_most)
{
	const struct table *t = v->t;
	uint64_t units = t->units, n = units < at_most ? units : at_most;
	uint64_t used = 0, read = 0;
	uint8_t *buf;

	if (!(buf = malloc(t->stride)))
		return NAN;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t u = (uint64_t)((double)units / (double)n * (double)i);

		if (memory_load(v, u * t->stride, buf, t->stride) < 0)
			continue;
		read++;
		used += !is_zero(buf, t->stride);
	}
	free(buf);
	return (double)used / (double)read; /* NAN if none could be read */
}

double query_fill(struct memory *m)
{
	double fill = NAN;

	for (unsigned i = 0; i < m->tables; i++) {
		struct table_view v;
		double share;

		if (m->table[i].kind == TABLE_APPEND)
			continue;
		memory_view(&v, m, &m->table[i], m->newest);
		share = query_load_sample(&v, SAMPLE);
		if (isnan(fill) || share > fill)
			fill = share;
	}
	return fill;
}

double query_pass_probability(const struct table *t)
{
	double values = (double)t->values;

	if (t->kind == TABLE_KEYWRITE)
		return plan_pass_keywrite(CHECKSUM_BITS);
	if (table_counts(t))
		return 0; /* nothing is compared */
	if (!t->values)
		values = (double)t->value_max - t->value_min + 1;
	return plan_pass_postcard(CHECKSUM_BITS, values, t->hops);
}

int query_load_of(struct query_load *l, const struct table_view *v,
		  const atomic_int *stop)
{
	const struct table *t = v->t;
	bool append = t->kind == TABLE_APPEND, counts = table_counts(t);
	int64_t bad = 0;
	struct plan_load estimate;
	struct plan p;
	uint64_t units;
	bool known;

	*l = (struct query_load){.sum_fits = true};
	l->load = l->above = l->success = l->average = NAN;
	l->success_below = l->average_below = NAN;
	if (append)
		count_lists(l, v);
	else
		bad = query_scan(v, counts ? add_counter : count_unit, l, stop);
	if (bad < 0)
		return (int)bad;
	if (append)
		return 0;
	l->unreadable = (uint64_t)bad;
	units = t->units - l->unreadable;
	l->used_share = (double)l->used / (double)units; /* NAN: no units */
	estimate = plan_load_of(t->copies, units, l->used);
	known = !isnan(estimate.load);
	l->load = estimate.load;
	l->above = estimate.above;
	if (!known && isnan(estimate.above))
		return 0;
	p = plan_at(t->copies, known ? estimate.load : estimate.above,
		    query_pass_probability(t));
	/* Age does not matter: any key that shares a counter harms it. */
	if (counts)
		p.average_success = p.success;
	*(known ? &l->success : &l->success_below) = p.success;
	*(known ? &l->average : &l->average_below) = p.average_success;
	return 0;
}
