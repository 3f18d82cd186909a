/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify: looks up everything that a truth says was reported, and judges the
 * answers. Keys are asked in as many copies as their reports were stored in;
 * counters are summed over all epochs. Of lists, the entries that the rings
 * still hold are the newest: they are compared, in order, with the newest of
 * the truth.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "model/model.h"
#include "cli/lines.h"
#include "run.h"
#include "query/truth.h"
#include "net/be.h"

enum field {
	TABLE,
	KIND,
	ASKED,
	RIGHT, /* enum truth_verdict from here, */
	INCOMPLETE = RIGHT + VERDICTS,
	TOO_LONG,
	OVERWRITTEN,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[TABLE] = {"table", ROW_STR, 12, ROW_TAG},
	[KIND] = {"kind", ROW_STR, 8, ROW_TAG},
	[ASKED] = {"asked", ROW_U64, 9},
	[RIGHT] = {"right", ROW_U64, 9},
	{"wrong", ROW_U64, 9, .good = "0"},
	{"missing", ROW_U64, 9, .good = "0"},
	{"ambiguous", ROW_U64, 9, .good = "0"},
	{"over", ROW_U64, 9, .good = "0"},
	[INCOMPLETE] = {"incomplete", ROW_U64, 10},
	[TOO_LONG] = {"too_long", ROW_U64, 8, .good = "0"},
	[OVERWRITTEN] = {"overwritten", ROW_U64, 11},
};

enum age_field {
	AGE_TABLE,
	AGE_KIND,
	AGE_COPIES,
	AGE_LOAD,
	AGE_AGE,
	AGE_ASKED,
	AGE_RIGHT, /* and here, but the last one */
	AGE_SUCCESS = AGE_RIGHT + VERDICT_OVER,
	AGE_PLANNED,
	AGE_FIELDS,
};

static const struct row_field age_fields[AGE_FIELDS] = {
	[AGE_TABLE] = {"table", ROW_STR, 12, ROW_TAG},
	[AGE_KIND] = {"kind", ROW_STR, 8, ROW_TAG, .spare = 1},
	[AGE_COPIES] = {"copies", ROW_U64, 6},
	[AGE_LOAD] = {"load", ROW_F64, 9},
	[AGE_AGE] = {"age", ROW_F64, 5},
	[AGE_ASKED] = {"asked", ROW_U64, 9},
	[AGE_RIGHT] = {"right", ROW_U64, 9, .spare = 1},
	{"wrong", ROW_U64, 9, .good = "0"},
	{"missing", ROW_U64, 9, .spare = 1},
	{"ambiguous", ROW_U64, 9, .spare = 1},
	[AGE_SUCCESS] = {"success", ROW_F64, 9},
	[AGE_PLANNED] = {"planned", ROW_F64, 9},
};

static const struct schema verdicts = {"verify", fields, FIELDS};
static const struct schema bins = {"verify_age", age_fields, AGE_FIELDS};

static void score_row(struct rows *r, const struct table *t,
		      const struct truth_score *s)
{
	row_str(r, TABLE, t->name);
	row_str(r, KIND, table_kind_name(t->kind));
	row_u64(r, ASKED, s->asked);
	for (unsigned i = 0; i < VERDICTS; i++)
		row_u64(r, RIGHT + i, s->verdict[i]);
	row_u64(r, INCOMPLETE, s->incomplete);
	row_u64(r, TOO_LONG, s->too_long);
	row_u64(r, OVERWRITTEN, s->overwritten);
	row_end_or_exit(r);
}

/* --by-age: keys of some ages. */
struct age_bin {
	struct truth_score score;
	double planned; /* the sum of what is to be expected of each key */
};

/* A key, by its last report; and the slots that it and the keys before it have
 * written, of those that did not come again. */
struct key_age {
	uint64_t last;
	uint64_t written;
	unsigned copies;
};

/* A key is as old as there are keys whose last report came after its own: those
 * are what may have overwritten it. */
struct by_age {
	const struct table *t;
	unsigned copies; /* of all keys; 0: not of all the same */
	unsigned asked;	 /* copies that are asked at most, 0: all */
	double pass; /* the chance that a foreign slot passes for one's own */
	size_t n;    /* keys */
	struct key_age *key; /* the oldest first */
	unsigned bins;
	struct age_bin *bin; /* as many keys each, the youngest first */
};

static int by_last(const void *a, const void *b)
{
	const struct key_age *x = a, *y = b;

	return (x->last > y->last) - (x->last < y->last);
}

static void age_open(struct by_age *a, const struct truth_table *tt,
		     const struct opts *o)
{
	const struct table *t = tt->t;
	uint64_t written = 0;

	*a = (struct by_age){
		.t = t,
		.asked = o->rule.copies,
		.pass = query_pass_probability(t),
		.n = tt->keys.n,
		.key = calloc(tt->keys.n + 1, sizeof(*a->key)),
		.bins = (unsigned)o->age_bins,
		.bin = calloc(o->age_bins, sizeof(*a->bin)),
	};
	if (!a->bin || !a->key)
		cli_fail("out of memory");
	for (size_t i = 0; i < a->n; i++) {
		const struct truth_key *k = keymap_record(&tt->keys, i);

		a->key[i].last = k->last;
		a->key[i].copies = (unsigned)k->copies;
		if (i == 0)
			a->copies = a->key[i].copies;
		else if (a->copies != a->key[i].copies)
			a->copies = 0;
	}
	qsort(a->key, a->n, sizeof(*a->key), by_last);
	for (size_t i = 0; i < a->n; i++) {
		written += a->key[i].copies;
		a->key[i].written = written;
	}
}

static void age_note(struct by_age *a, const struct truth_key *of,
		     enum truth_verdict verdict)
{
	const struct key_age want = {.last = of->last};
	const struct key_age *k = bsearch(&want, a->key, a->n, sizeof(*a->key),
					  by_last);
	size_t younger = a->n - 1 - (size_t)(k - a->key);
	struct age_bin *b = &a->bin[younger * a->bins / a->n];
	unsigned copies = a->asked && a->asked < k->copies ? a->asked
							   : k->copies;
	/* Slots written since, for each slot. plan_at() multiplies by the
	 * copies, which need not be those of the others. */
	double after = (double)(a->key[a->n - 1].written - k->written) /
		       (double)a->t->units;

	b->score.asked++;
	b->score.verdict[verdict]++;
	b->planned += plan_at(copies, after / copies, a->pass).success;
}

static void bin_row(struct rows *r, const struct by_age *a, unsigned i,
		    bool alone)
{
	const struct age_bin *b = &a->bin[i];
	double asked = (double)b->score.asked;

	row_str(r, AGE_TABLE, a->t->name);
	row_str(r, AGE_KIND, table_kind_name(a->t->kind));
	if (a->copies)
		row_u64(r, AGE_COPIES, a->copies);
	row_f64(r, AGE_LOAD, (double)a->n / (double)a->t->units);
	row_f64(r, AGE_AGE, (double)(i + 1) / a->bins);
	row_u64(r, AGE_ASKED, b->score.asked);
	for (unsigned v = 0; v < VERDICT_OVER; v++)
		row_u64(r, AGE_RIGHT + v, b->score.verdict[v]);
	if (b->score.asked)
		row_f64(r, AGE_SUCCESS,
			(double)b->score.verdict[VERDICT_RIGHT] / asked);
	if (b->score.asked && alone)
		row_f64(r, AGE_PLANNED, b->planned / asked);
	row_end_or_exit(r);
}

/* A table under verification. */
struct verifying {
	struct query_sources *sources;
	struct query_rule rule; /* copies 0: those of the truth */
	const struct truth_table *truth;
	struct query_target target;
	struct truth_score score;
	bool aged; /* --by-age */
	struct by_age ages;
};

/* A batch of keys, with their replies. */
struct batch {
	struct query_reply reply[QUERY_BATCH];
	const uint8_t *key[QUERY_BATCH];
	const struct truth_key *want[QUERY_BATCH];
	size_t n;
};

/* Asks a batch, judges the answers, and empties it. */
static void finish_batch(struct verifying *w, unsigned copies, struct batch *b)
{
	const struct table *t = w->truth->t;
	struct query_ask ask = {
		.sources = w->sources,
		.rule = w->rule,
		.sum = t->kind == TABLE_KEYINC,
	};
	struct query_reply *reply[QUERY_BATCH];

	if (!b->n)
		return;
	if (!ask.rule.copies)
		ask.rule.copies = (uint8_t)copies;
	for (size_t i = 0; i < b->n; i++)
		reply[i] = &b->reply[i];
	query_ask_keys(&ask, &w->target, b->key, b->n, reply);
	sources_check(w->sources);
	for (size_t i = 0; i < b->n; i++) {
		enum truth_verdict verdict = truth_verdict_of(t, b->want[i],
							      &b->reply[i]);

		w->score.asked++;
		w->score.verdict[verdict]++;
		if (w->aged)
			age_note(&w->ages, b->want[i], verdict);
	}
	b->n = 0;
}

/* Of the keys that were stored in so many copies, no more are asked. */
static void verify_copies(struct verifying *w, unsigned copies)
{
	static struct batch b;
	const struct table *t = w->truth->t;
	const struct keymap *m = &w->truth->keys;

	for (size_t i = 0; i < m->n && !cli_stop; i++) {
		const struct truth_key *k = keymap_record(m, i);

		if (k->copies != copies)
			continue;
		/* A path of which a hop was not reported is not asked for. */
		if (t->kind == TABLE_POSTCARD) {
			bool whole = truth_path_whole(k, t);

			w->score.incomplete += !whole;
			w->score.too_long += truth_path_long(k, t);
			if (!whole)
				continue;
		}
		b.want[b.n] = k;
		b.key[b.n++] = keymap_key(m, i);
		if (b.n == QUERY_BATCH)
			finish_batch(w, copies, &b);
	}
	finish_batch(w, copies, &b);
}

/*
 * Append. Those of the newest epoch are the last ones, those of the epoch
 * before come before them.
 */
struct check {
	struct verifying *w;
	const struct table *t;
	const struct truth_list *truth;
	uint32_t list;
	uint64_t end;  /* entries of the truth that are not yet compared */
	uint64_t held; /* entries that the rings hold */
	struct list_buf buf; /* entries that were read */
};

/* n entries, read from memory, that stand for those from index on. */
static void compare_entries(struct check *c, uint64_t index, uint64_t n)
{
	size_t len = c->t->value_len;
	const uint8_t *want = c->truth->entries + index * len;
	struct truth_score *s = &c->w->score;

	s->asked += n;
	for (uint64_t i = 0; i < n; i++)
		s->verdict[memcmp(c->buf.bytes + i * len, want + i * len, len)
				   ? VERDICT_WRONG
				   : VERDICT_RIGHT]++;
}

/* n entries that cannot be had, or never came. */
static void count_missing(struct check *c, uint64_t n)
{
	c->w->score.asked += n;
	c->w->score.verdict[VERDICT_MISSING] += n;
}

/* A collector that has just been lost does not know all. */
static void note_loss(struct check *c, unsigned epoch)
{
	struct query_sources *p = c->w->sources;

	if (!query_source_failed(p, p->epoch[epoch].source))
		return;
	sources_check(p);
	query_sources_set_failed(p);
}

/* Checks the list in one epoch: its last entry is number c->end - 1 of the
 * truth. */
static void check_epoch(struct check *c, unsigned epoch,
			const struct table_view *view, uint64_t entries)
{
	uint64_t from, shift, next, gone;

	/* The ring may hold more than the truth tells of. */
	from = entries > c->end ? entries - c->end : 0;
	if (entries - from > table_kept(view->t))
		from = entries - table_kept(view->t);
	shift = c->end - entries; /* wraps: index = at + shift */
	for (uint64_t at = from; at < entries; at = next) {
		uint64_t want = list_room(&c->buf, view, entries - at);
		int64_t n = query_list_read(view, c->list, at, c->buf.bytes,
					    want, &next, &gone);

		if (n == -ENOMEM)
			cli_fail("out of memory");
		if (n < 0) { /* a damaged block, or no connection */
			note_loss(c, epoch);
			count_missing(c, want);
			next = at + want;
		} else if ((!n && !gone) || next > entries) {
			break; /* it is being written, or cleared */
		} else {
			compare_entries(c, next - (uint64_t)n + shift,
					(uint64_t)n);
		}
	}
	c->held += entries - from;
	c->end = entries < c->end ? c->end - entries : 0;
}

/*
 * What no epoch has is missing as far as there would have been room for it;
 * the rest was overwritten, or would have been.
 */
static void check_list(struct check *c)
{
	struct query_sources *p = c->w->sources;
	struct truth_score *s = &c->w->score;
	struct list_epoch *found = list_find(p, &c->w->target, c->list);
	uint64_t rooms = 0, left, reported, asked = s->asked;

	reported = c->truth->len / c->t->value_len;
	c->end = reported;
	c->held = 0;
	for (unsigned i = 0; i < p->n; i++) {
		struct table_view view;

		if (found[i].count == -ENOENT ||
		    !query_target_view(&view, p, &c->w->target, i))
			continue;
		rooms += table_kept(view.t);
		if (c->end && found[i].count >= 0)
			check_epoch(c, i, &view, (uint64_t)found[i].count);
	}
	free(found);
	left = rooms > c->held ? rooms - c->held : 0;
	count_missing(c, left < c->end ? left : c->end);
	asked = s->asked - asked;
	s->overwritten += reported > asked ? reported - asked : 0;
}

/* What the truth has of a table. A row for each bin of --by-age; tables whose
 * keys do not age have none. */
static void verify_table(struct verifying *w, const struct opts *o,
			 struct rows *r)
{
	const struct table *t = w->truth->t;
	/* In older epochs, and on other collectors, keys overwrite no others.
	 */
	bool alone = w->sources->n == 1 && !w->sources->clustered;
	struct check c = {.w = w, .t = t};

	for (; c.list < t->lists && !cli_stop; c.list++) {
		c.truth = &w->truth->lists[c.list];
		check_list(&c);
	}
	free(c.buf.bytes);
	if (t->kind == TABLE_APPEND)
		return;
	w->aged = o->age_bins && !table_counts(t);
	if (w->aged)
		age_open(&w->ages, w->truth, o);
	for (unsigned n = 1; n <= HASH_COPIES && !cli_stop; n++)
		if (w->truth->copies >> n & 1)
			verify_copies(w, n);
	if (!w->aged)
		return;
	for (unsigned i = 0; i < w->ages.bins; i++)
		bin_row(r, &w->ages, i, alone);
	free(w->ages.bin);
	free(w->ages.key);
}

static void verify_all(struct query_sources *p, const struct opts *o,
		       const struct truth *truth, struct truth_score *total)
{
	struct rows *r = cli_rows(o->format, o->age_bins ? &bins : &verdicts);

	if (!r)
		cli_fail("out of memory");
	for (unsigned i = 0; i < truth->n && !cli_stop; i++) {
		const struct table *t = truth->table[i].t;
		struct verifying w = {
			.sources = p,
			.rule = o->rule,
			.truth = &truth->table[i],
		};

		query_target_init(&w.target, p, t);
		verify_table(&w, o, r);
		sources_check(p);
		if (!o->age_bins)
			score_row(r, t, &w.score);
		truth_score_add(total, &w.score);
	}
	rows_close(r);
}

/* Reads a truth. If a signal comes, the rest is not read. */
static void read_truth(struct truth *t, const char *path)
{
	struct error why = {""};
	struct lines l;
	char *line;
	size_t len;
	int rc = lines_open(&l, path);

	if (rc < 0)
		cli_fail("%s: %s", path, strerror(-rc));
	do {
		while (!cli_stop && (line = lines_next(&l, &len)))
			if (truth_line(t, line, &why) < 0)
				cli_fail("%s:%llu: %s", l.path,
					 (unsigned long long)l.number,
					 why.text);
		rc = lines_more(&l);
	} while (!cli_stop && (rc > 0 || rc == -EINTR));
	lines_check(&l, rc);
	if (!t->header_read && !cli_stop)
		cli_fail("%s: empty: not even a header", l.path);
	lines_close(&l);
}

int run_verify(const struct opts *o, struct query_sources *p)
{
	static const struct table *tables[QUERY_SOURCES_MAX * TABLE_MAX];
	static struct truth truth;
	struct truth_score total = {0};
	unsigned n = 0;

	for (unsigned s = 0; s < p->sources; s++)
		for (unsigned i = 0;
		     p->source[s].memory && i < p->source[s].memory->tables;
		     i++)
			tables[n++] = &p->source[s].memory->table[i];
	truth_init(&truth, tables, n);
	read_truth(&truth, o->truth);
	if (cli_stop)
		exit(CLI_FAIL);
	verify_all(p, o, &truth, &total);
	truth_fini(&truth);
	if (total.verdict[VERDICT_WRONG] || total.too_long)
		return CLI_FAIL;
	return total.verdict[VERDICT_RIGHT] ? CLI_OK : CLI_NOTHING;
}
