/* SPDX-License-Identifier: BSD-2-Clause */
#include "top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "screen/browse.h"
#include "match.h"

/* What was counted, and when: for rates. */
struct counted {
	uint64_t at_ns, views, hops, events;
};

struct top {
	const struct opts *o;
	struct telemetry *t;
	struct lookup look;
	struct browse *shown;
	struct expr *filter;
	struct match *match;
	struct counted before, rate;
	void (*look_on)(void *ctx); /* of top_end() */
	void *look_ctx;
};

static const struct schema *schema(unsigned table)
{
	return table_schema((enum table)table);
}

static unsigned sort(unsigned table)
{
	return table_sort((enum table)table);
}

static unsigned fixed(unsigned table)
{
	return table_fixed((enum table)table);
}

static int begin(void *ctx)
{
	return lookup_begin(&((struct top *)ctx)->look);
}

static uint32_t size(void *ctx, unsigned table)
{
	return table_size(&((struct top *)ctx)->look, (enum table)table);
}

static bool has(void *ctx, unsigned table, uint32_t i)
{
	return table_has(&((struct top *)ctx)->look, (enum table)table, i);
}

static void row(void *ctx, unsigned table, uint32_t i, struct row_batch *b)
{
	table_row(&((struct top *)ctx)->look, (enum table)table, i, b);
}

static bool key(void *ctx, unsigned table, uint32_t i, unsigned column,
		struct row_batch *b, uint64_t *out)
{
	return table_key(&((struct top *)ctx)->look, (enum table)table, i,
			 column, b, out);
}

static int set_filter(void *ctx, const char *text, struct fault *why)
{
	struct top *top = ctx;
	struct expr *e = NULL;
	int rc = text[0] ? expr_parse(&e, text, why) : 0;

	if (rc < 0)
		return rc;
	expr_free(top->filter);
	top->filter = e;
	return 0;
}

static bool match(void *ctx, unsigned table, uint32_t i)
{
	struct top *top = ctx;

	return match_is(top->match, top->filter, &top->look, (enum table)table,
			i);
}

static uint64_t per_second(uint64_t now, uint64_t before, uint64_t ns)
{
	return (uint64_t)((double)(now - before) * 1e9 / (double)ns);
}

static void set_rates(struct top *top)
{
	const struct telemetry_ledger *l = telemetry_counters(top->t);
	struct counted now = {clock_ns(), l->views, l->hops, l->events};
	uint64_t ns = now.at_ns - top->before.at_ns;

	if (ns < top->o->top.every_ns / 2 + 1)
		return; /* drawn for a key */
	top->rate.views = per_second(now.views, top->before.views, ns);
	top->rate.hops = per_second(now.hops, top->before.hops, ns);
	top->rate.events = per_second(now.events, top->before.events, ns);
	top->before = now;
}

static void head(void *ctx, unsigned table, bool ended,
		 char line[2][BROWSE_LINE])
{
	const struct top *top = ctx;
	const struct telemetry_ledger *l = telemetry_counters(top->t);
	const struct flows_ledger *f = telemetry_flows(top->t);
	const char *from = top->o->read ? top->o->read : top->o->live.name;

	set_rates(ctx);
	snprintf(line[0], BROWSE_LINE,
		 "int-collect %s: %s%s; a second: %" PRIu64 " views, %" PRIu64
		 " hops, %" PRIu64 " events",
		 from, table_names[table], ended ? ", the input has ended" : "",
		 top->rate.views, top->rate.hops, top->rate.events);
	snprintf(line[1], BROWSE_LINE,
		 "views %" PRIu64 " = %" PRIu64 " used + %" PRIu64
		 " empty; events %" PRIu64 "; reports lost %" PRIu64
		 "; flows %" PRIu64 " = %" PRIu64 " live + %" PRIu64
		 " evicted + %" PRIu64 " expired",
		 l->views, l->used, l->empty, l->events, l->reports_lost,
		 f->created, f->live, f->evicted, f->expired);
}

static const struct browse_tables tables = {
	.names = table_names,
	.schema = schema,
	.sort = sort,
	.fixed = fixed,
	.begin = begin,
	.size = size,
	.has = has,
	.row = row,
	.key = key,
	.filter = set_filter,
	.match = match,
	.head = head,
};

struct top *top_open(const struct opts *o, struct telemetry *t)
{
	struct top *top = calloc(1, sizeof(*top));

	if (!top || !(top->match = match_open()))
		cli_fail("out of memory");
	top->o = o;
	top->t = t;
	top->look.t = t;
	top->before.at_ns = clock_ns();
	top->shown = browse_open(&tables, top, &o->top, o->format);
	return top;
}

bool top_turn(struct top *top, bool idle)
{
	return browse_turn(top->shown, idle);
}

static void look_on(void *ctx)
{
	struct top *top = ctx;

	top->look_on(top->look_ctx);
}

int top_end(struct top *top, void (*look)(void *ctx), void *ctx)
{
	top->look_on = look;
	top->look_ctx = ctx;
	return browse_end(top->shown, look_on);
}

void top_close(struct top *top)
{
	if (!top)
		return;
	browse_close(top->shown);
	lookup_end(&top->look);
	expr_free(top->filter);
	match_close(top->match);
	free(top);
}
