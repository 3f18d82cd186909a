/* SPDX-License-Identifier: BSD-2-Clause */
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/best.h"
#include "cli/screen.h"
#include "cli/tty.h"
#include "match.h"

enum {
	LINES_MAX = 1000,   /* rows to scroll through, unless told */
	AT_ONCE = 1 << 13,  /* numbers looked at when a round begins */
	BETWEEN = 64,	    /* between two batches */
	IDLE = 1 << 17,	    /* while no packets come */
	KEYS_NS = 50000000, /* how often keys are asked for */
	END_WAIT_MS = 100,
	HEAD_MAX = 640,
	NOTE_MAX = HEAD_MAX + 4096,
};

/* What was counted, and when: for rates. */
struct counted {
	uint64_t at_ns, views, hops, events;
};

struct top {
	const struct opts *o;
	struct telemetry *t;
	struct lookup look;
	struct best gathering, shown;
	uint32_t at, size; /* of the round: the next number, and all */
	bool round;
	struct row_batch key; /* for sorting: its row in hand only */
	struct expr *filter;
	struct match *match;
	/* On a terminal. */
	bool on, ended;
	struct screen s;
	struct row_batch rows;
	struct outbuf text;
	uint64_t keys_ns, draw_ns;
	struct counted before, rate;
	char head[SCREEN_HEAD][HEAD_MAX];
	char note[NOTE_MAX]; /* the last line: the filter, a message */
};

static void no_memory(void)
{
	cli_fail("out of memory");
}

static void set_table(struct top *top, unsigned table, unsigned sort)
{
	const struct schema *schema = table_schema((enum table)table);

	top->s.table = table;
	screen_turn(&top->s, schema, table_fixed((enum table)table), sort);
	row_batch_fini(&top->key);
	row_batch_fini(&top->rows);
	if (row_batch_init(&top->key, schema, 1) < 0 ||
	    row_batch_init(&top->rows, schema, 64) < 0)
		no_memory();
	top->shown.n = 0;
}

/* --sort names a column, of the table that is asked for. */
static unsigned chosen_sort(const struct opts *o)
{
	enum table table = (enum table)(o->top - 1);
	const struct schema *s = table_schema(table);
	char all[HEAD_MAX] = "";
	size_t len = 0;
	int c;

	if (!o->sort)
		return table_sort(table);
	if ((c = table_column(table, o->sort)) >= 0)
		return (unsigned)c;
	for (unsigned i = 0; i < s->n && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					i ? ", " : "", s->fields[i].name);
	cli_refuse("--sort: '%s': %s have %s", o->sort, table_names[table],
		   all);
}

struct top *top_open(const struct opts *o, struct telemetry *t)
{
	struct top *top = calloc(1, sizeof(*top));
	int rc;

	if (!top || !(top->match = match_open()))
		no_memory();
	top->o = o;
	top->t = t;
	top->look.t = t;
	top->s.tables = table_names;
	set_table(top, o->top - 1, chosen_sort(o));
	top->s.ascending = o->reverse;
	if (o->once || !isatty(STDOUT_FILENO))
		return top;
	if ((rc = tty_open()) < 0)
		cli_fail("the terminal: %s", strerror(-rc));
	top->on = true;
	top->before.at_ns = clock_ns();
	return top;
}

/* --- which rows are first ------------------------------------------------- */

static void round_begin(struct top *top)
{
	enum table table = (enum table)top->s.table;
	uint64_t room = top->o->lines ? top->o->lines
			: top->on     ? LINES_MAX
				      : UINT32_MAX;

	top->at = 0;
	top->size = table_size(&top->look, table);
	top->round = true;
	best_fini(&top->gathering);
	if (lookup_begin(&top->look) < 0 ||
	    best_init(&top->gathering,
		      (uint32_t)(room < top->size ? room : top->size)) < 0)
		no_memory();
}

static void judge(struct top *top, uint32_t i)
{
	enum table table = (enum table)top->s.table;
	struct best_one one = {.at = i};

	if (!table_has(&top->look, table, i) ||
	    (top->filter &&
	     !match_is(top->match, top->filter, &top->look, table, i)))
		return;
	one.known = table_key(&top->look, table, i, top->s.sort, &top->key,
			      &one.key);
	if (top->s.ascending)
		one.key = ~one.key;
	best_add(&top->gathering, one);
}

/* So many numbers more; whether the round ended by it. */
static bool round_on(struct top *top, uint32_t n)
{
	struct best old = top->shown;

	if (!top->round)
		return false;
	for (; n && top->at < top->size; n--)
		judge(top, top->at++);
	if (top->at < top->size)
		return false;
	best_sort(&top->gathering);
	top->shown = top->gathering;
	top->gathering = old;
	top->round = false;
	return true;
}

/* Row number i, unless what it was about is gone. */
static void fill(struct top *top, uint32_t i, struct row_batch *b)
{
	enum table table = (enum table)top->s.table;
	uint32_t at = top->shown.one[i].at;

	if (!table_has(&top->look, table, at))
		return;
	table_row(&top->look, table, at, b);
	if (row_batch_end(b) < 0)
		no_memory();
}

/* --- the screen ------------------------------------------------------------
 */

static uint64_t per_second(uint64_t now, uint64_t before, uint64_t ns)
{
	return (uint64_t)((double)(now - before) * 1e9 / (double)ns);
}

static void set_rates(struct top *top)
{
	const struct telemetry_ledger *l = telemetry_counters(top->t);
	struct counted now = {clock_ns(), l->views, l->hops, l->events};
	uint64_t ns = now.at_ns - top->before.at_ns;

	if (ns < top->o->every_ns / 2 + 1)
		return; /* drawn for a key */
	top->rate.views = per_second(now.views, top->before.views, ns);
	top->rate.hops = per_second(now.hops, top->before.hops, ns);
	top->rate.events = per_second(now.events, top->before.events, ns);
	top->before = now;
}

static void write_head(struct top *top)
{
	const struct telemetry_ledger *l = telemetry_counters(top->t);
	const struct flows_ledger *f = telemetry_flows(top->t);
	const char *from = top->o->read ? top->o->read : top->o->live.name;

	const char *held = cli_held();

	snprintf(top->note, NOTE_MAX, "%s%s%s", top->head[2],
		 held && top->head[2][0] ? "; " : "", held ? held : "");
	set_rates(top);
	snprintf(top->head[0], HEAD_MAX,
		 "int-collect %s: %s%s; a second: %" PRIu64 " views, %" PRIu64
		 " hops, %" PRIu64 " events",
		 from, table_names[top->s.table],
		 top->ended ? ", the input has ended" : "", top->rate.views,
		 top->rate.hops, top->rate.events);
	snprintf(top->head[1], HEAD_MAX,
		 "views %" PRIu64 " = %" PRIu64 " used + %" PRIu64
		 " empty; events %" PRIu64 "; reports lost %" PRIu64
		 "; flows %" PRIu64 " = %" PRIu64 " live + %" PRIu64
		 " evicted + %" PRIu64 " expired",
		 l->views, l->used, l->empty, l->events, l->reports_lost,
		 f->created, f->live, f->evicted, f->expired);
}

static void draw(struct top *top)
{
	const char *head[SCREEN_HEAD] = {top->head[0], top->head[1], top->note};
	unsigned columns, lines, page;
	const char *text;
	size_t len;

	tty_size(&columns, &lines);
	page = screen_rows(lines);
	write_head(top);
	top->s.total = top->shown.n;
	if (top->s.first >= top->s.total)
		top->s.first = 0;
	row_batch_clear(&top->rows);
	for (unsigned i = top->s.first;
	     i < top->shown.n && i - top->s.first < page; i++)
		fill(top, i, &top->rows);
	outbuf_cut(&top->text, 0);
	screen_draw(&top->s, head, &top->rows, columns, lines, &top->text);
	if ((text = outbuf_text(&top->text, &len)))
		tty_put(text, len);
}

/* The person's filter; one that is wrong leaves the old one, and says why. */
static void set_filter(struct top *top)
{
	struct fault f = {0};
	struct expr *e = NULL;

	top->head[2][0] = '\0';
	if (top->s.filter[0] && expr_parse(&e, top->s.filter, &f) < 0) {
		snprintf(top->head[2], HEAD_MAX, "filter: %s", f.text);
		return;
	}
	expr_free(top->filter);
	top->filter = e;
	if (e)
		snprintf(top->head[2], HEAD_MAX, "only %s", top->s.filter);
}

/* False: the end. */
static bool act(struct top *top, enum screen_act what)
{
	if (what == SCREEN_QUIT)
		return false;
	if (what == SCREEN_TABLE)
		set_table(top, top->s.table,
			  table_sort((enum table)top->s.table));
	if (what == SCREEN_FILTER)
		set_filter(top);
	if (what > SCREEN_LOOKS) {
		round_begin(top);
		round_on(top, AT_ONCE);
	}
	if (what != SCREEN_NOTHING)
		draw(top);
	return true;
}

static bool keys(struct top *top, int wait_ms)
{
	int key;

	while ((key = tty_key(wait_ms)) != KEY_NONE) {
		if (!act(top, screen_press(&top->s, key)))
			return false;
		wait_ms = 0;
	}
	return true;
}

bool top_turn(struct top *top, bool idle)
{
	uint64_t now;

	if (!top->on)
		return true;
	now = clock_coarse_ns();
	if (now >= top->draw_ns && !top->round) {
		top->draw_ns = now + top->o->every_ns;
		if (!top->s.paused) {
			round_begin(top);
			if (round_on(top, AT_ONCE))
				draw(top);
		}
	} else if (round_on(top, idle ? IDLE : BETWEEN)) {
		draw(top);
	}
	if (now < top->keys_ns)
		return true;
	top->keys_ns = now + KEYS_NS;
	return keys(top, 0);
}

/* --- once ------------------------------------------------------------------
 */

static int print(struct top *top)
{
	const struct schema *schema = table_schema((enum table)top->s.table);
	struct rows *r = rows_print(stdout, top->o->format, schema, true);
	int rc = 0;

	if (!r)
		no_memory();
	round_begin(top);
	round_on(top, UINT32_MAX);
	for (uint32_t i = 0; i < top->shown.n && !rc; i++) {
		table_row(&top->look, (enum table)top->s.table,
			  top->shown.one[i].at, &r->b);
		rc = row_end(r);
	}
	rows_close(r);
	return rc;
}

int top_end(struct top *top, void (*look)(void *ctx), void *ctx)
{
	if (!top->on)
		return print(top);
	top->ended = true;
	while (!cli_stop) {
		look(ctx);
		if (!top_turn(top, true) || !keys(top, END_WAIT_MS))
			break;
	}
	look(ctx); /* what a signal asked for before the last key */
	return 0;
}

void top_close(struct top *top)
{
	if (!top)
		return;
	if (top->on)
		tty_close();
	cli_release();
	best_fini(&top->gathering);
	best_fini(&top->shown);
	row_batch_fini(&top->key);
	row_batch_fini(&top->rows);
	lookup_end(&top->look);
	expr_free(top->filter);
	match_close(top->match);
	screen_fini(&top->s);
	free(top->text.text);
	free(top);
}
