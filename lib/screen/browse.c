/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/browse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "screen/best.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "screen/screen.h"
#include "cli/tty.h"

#define EVERY_NS UINT64_C(1000000000)

enum {
	LINES_MAX = 1000,   /* rows to scroll through, unless told */
	AT_ONCE = 1 << 13,  /* numbers looked at when a round begins */
	BETWEEN = 64,	    /* between two batches */
	IDLE = 1 << 17,	    /* while no packets come */
	KEYS_NS = 50000000, /* how often keys are asked for */
	END_WAIT_MS = 100,
	NOTE_MAX = BROWSE_LINE + 4096,
};

struct browse {
	const struct browse_tables *tables;
	void *ctx;
	const struct browse_options *o;
	enum row_format format;
	struct best gathering, shown;
	uint32_t at, size; /* of the round: the next number, and all */
	bool round;
	struct row_batch key; /* for sorting: its row in hand only */
	bool filtered;
	/* On a terminal. */
	bool on, ended;
	struct screen s;
	struct row_batch rows;
	struct outbuf text;
	uint64_t keys_ns, draw_ns;
	char head[SCREEN_HEAD][BROWSE_LINE];
	char note[NOTE_MAX]; /* the last line: the filter, a message */
};

static void no_memory(void)
{
	cli_fail("out of memory");
}

static void set_table(struct browse *top, unsigned table, unsigned sort)
{
	const struct schema *schema = top->tables->schema(table);

	top->s.table = table;
	screen_turn(&top->s, schema, top->tables->fixed(table), sort);
	row_batch_fini(&top->key);
	row_batch_fini(&top->rows);
	if (row_batch_init(&top->key, schema, 1) < 0 ||
	    row_batch_init(&top->rows, schema, 64) < 0)
		no_memory();
	top->shown.n = 0;
}

/* --sort names a column, of the table that is asked for. */
static unsigned chosen_sort(const struct browse *top)
{
	unsigned table = top->o->top - 1;
	const struct schema *s = top->tables->schema(table);
	bool (*sorts)(unsigned table, unsigned column) = top->tables->sorts;
	char all[BROWSE_LINE] = "";
	size_t len = 0;

	if (!top->o->sort)
		return top->tables->sort(table);
	for (unsigned i = 0; i < s->n; i++) {
		if (sorts && !sorts(table, i))
			continue;
		if (!strcmp(s->fields[i].name, top->o->sort))
			return i;
		if (len < sizeof(all))
			len += (size_t)snprintf(all + len, sizeof(all) - len,
						"%s%s", len ? ", " : "",
						s->fields[i].name);
	}
	cli_refuse("--sort: '%s': %s have %s", top->o->sort,
		   top->tables->names[table], all);
}

bool browse_defaults(struct browse_options *o, bool live)
{
	if (!o->every_ns)
		o->every_ns = EVERY_NS;
	return live && (o->once || !isatty(STDOUT_FILENO));
}

struct browse *browse_open(const struct browse_tables *t, void *ctx,
			   const struct browse_options *o,
			   enum row_format format)
{
	struct browse *top = calloc(1, sizeof(*top));
	int rc;

	if (!top)
		no_memory();
	top->tables = t;
	top->ctx = ctx;
	top->o = o;
	top->format = format;
	top->s.tables = t->names;
	top->s.sorts = t->sorts;
	set_table(top, o->top - 1, chosen_sort(top));
	top->s.ascending = o->reverse;
	if (o->once || !isatty(STDOUT_FILENO))
		return top;
	if ((rc = tty_open()) < 0)
		cli_fail("the terminal: %s", strerror(-rc));
	top->on = true;
	top->s.colour = tty_colour(STDOUT_FILENO);
	return top;
}

/* --- which rows are first ------------------------------------------------- */

static void round_begin(struct browse *top)
{
	uint64_t room = top->o->lines ? top->o->lines
			: top->on     ? LINES_MAX
				      : UINT32_MAX;

	top->at = 0;
	top->size = top->tables->size(top->ctx, top->s.table);
	top->round = true;
	best_fini(&top->gathering);
	if ((top->tables->begin && top->tables->begin(top->ctx) < 0) ||
	    best_init(&top->gathering,
		      (uint32_t)(room < top->size ? room : top->size)) < 0)
		no_memory();
}

static void judge(struct browse *top, uint32_t i)
{
	const struct browse_tables *t = top->tables;
	unsigned table = top->s.table;
	struct best_one one = {.at = i};

	if (!t->has(top->ctx, table, i) ||
	    (top->filtered && !t->match(top->ctx, table, i)))
		return;
	one.known = t->key(top->ctx, table, i, top->s.sort, &top->key,
			   &one.key);
	if (top->s.ascending)
		one.key = ~one.key;
	best_add(&top->gathering, one);
}

/* So many numbers more; whether the round ended by it. */
static bool round_on(struct browse *top, uint32_t n)
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
static void fill(struct browse *top, uint32_t i, struct row_batch *b)
{
	uint32_t at = top->shown.one[i].at;

	if (!top->tables->has(top->ctx, top->s.table, at))
		return;
	top->tables->row(top->ctx, top->s.table, at, b);
	if (row_batch_end(b) < 0)
		no_memory();
}

/* --- what a row is sorted by ---------------------------------------------- */

uint64_t browse_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t key = 0;

	for (unsigned i = 0; i < 8; i++)
		key = key << 8 | (i < len ? p[i] : 0);
	return key;
}

/* By the first number; of those with the same one, that is of 32 bits, by the
 * second. */
static uint64_t key_of_list(const void *list, uint32_t len)
{
	uint64_t two[2] = {0};

	memcpy(two, list, (len < 2 ? len : 2) * sizeof(two[0]));
	if (two[0] > UINT32_MAX)
		return two[0];
	return two[0] << 32 | (two[1] < UINT32_MAX ? two[1] : UINT32_MAX);
}

bool browse_key(const struct row_batch *b, const struct row_cell *c,
		uint64_t *key)
{
	switch (c->kind) {
	case ROW_NULL:
		return false;
	case ROW_STR:
	case ROW_BYTES:
		*key = browse_bytes(b->bytes + c->at, c->len);
		return true;
	case ROW_LIST:
		*key = key_of_list(b->bytes + c->at, c->len);
		return true;
	case ROW_F64: /* of means: not below 0, and so in order */
		memcpy(key, &c->f64, sizeof(*key));
		return true;
	default: /* times are not below 0 either */
		*key = c->u64;
		return true;
	}
}

/* --- the screen ------------------------------------------------------------
 */

/* A message that is held is seen here. */
static void write_head(struct browse *top)
{
	const char *held = cli_held();

	snprintf(top->note, NOTE_MAX, "%s%s%s", top->head[2],
		 held && top->head[2][0] ? "; " : "", held ? held : "");
	top->tables->head(top->ctx, top->s.table, top->ended, top->head);
}

static void draw(struct browse *top)
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
static void set_filter(struct browse *top)
{
	struct fault f = {0};

	top->head[2][0] = '\0';
	if (!top->tables->filter) {
		snprintf(top->head[2], BROWSE_LINE,
			 "there are no filters here");
		return;
	}
	if (top->tables->filter(top->ctx, top->s.filter, &f) < 0) {
		snprintf(top->head[2], BROWSE_LINE, "filter: %s", f.text);
		return;
	}
	top->filtered = top->s.filter[0];
	if (top->filtered)
		snprintf(top->head[2], BROWSE_LINE, "only %s", top->s.filter);
}

/* False: the end. */
static bool act(struct browse *top, enum screen_act what)
{
	if (what == SCREEN_QUIT)
		return false;
	if (what == SCREEN_TABLE)
		set_table(top, top->s.table, top->tables->sort(top->s.table));
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

static bool keys(struct browse *top, int wait_ms)
{
	int key;

	while ((key = tty_key(wait_ms)) != KEY_NONE) {
		if (!act(top, screen_press(&top->s, key)))
			return false;
		wait_ms = 0;
	}
	return true;
}

bool browse_turn(struct browse *top, bool idle)
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

static int print(struct browse *top)
{
	const struct schema *schema = top->tables->schema(top->s.table);
	struct rows *r = cli_rows(top->format, schema);
	struct fault f;
	int rc = 0;

	if (!r)
		no_memory();
	round_begin(top);
	round_on(top, UINT32_MAX);
	for (uint32_t i = 0; i < top->shown.n && !rc; i++) {
		top->tables->row(top->ctx, top->s.table, top->shown.one[i].at,
				 &r->b);
		rc = row_end(r);
	}
	rows_close(r);
	if (rc < 0) {
		fault_set(&f, rc, "%s", strerror(-rc));
		cli_warn_fault(cli_stdout, &f);
	}
	return rc;
}

int browse_end(struct browse *top, void (*look)(void *ctx))
{
	if (!top->on)
		return print(top);
	top->ended = true;
	while (!cli_stop) {
		look(top->ctx);
		if (!browse_turn(top, true) || !keys(top, END_WAIT_MS))
			break;
	}
	look(top->ctx); /* what a signal asked for before the last key */
	return 0;
}

void browse_close(struct browse *top)
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
	screen_fini(&top->s);
	free(top->text.text);
	free(top);
}
