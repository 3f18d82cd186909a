/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify.c - verify: looks up all keys of a truth (query/truth.h), and judges
 * the answers. A key is looked up in as many copies as its reports were stored
 * in; counters are summed over all epochs. The entries that lists still hold
 * are compared, in order, with the last ones of the truth.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/svg.h"
#include "cli/table.h"
#include "model/model.h"
#include "cli/lines.h"
#include "run.h"
#include "query/truth.h"

enum field {
	TABLE,
	KIND,
	ASKED,
	RIGHT, /* this and the next: enum truth_verdict */
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
	AGE_RIGHT, /* the same, without VERDICT_OVER */
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
	[AGE_SUCCESS] = {"success", ROW_F64, 9, ROW_VALUE, "ratio"},
	[AGE_PLANNED] = {"planned", ROW_F64, 9, ROW_VALUE, "ratio"},
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
	cli_row_end(r);
}

/* --by-age: the keys in a range of ages. */
struct age_bin {
	struct truth_score score;
	double planned; /* sum of the keys' success probabilities */
};

struct key_age {
	uint64_t last;	  /* number of the truth's row */
	uint64_t written; /* slots written up to it, by last reports only */
	unsigned copies;
};

/* The age of a key is the number of keys whose last report came later. */
struct by_age {
	const struct table *t;
	unsigned copies;     /* of every key; 0: they differ */
	unsigned asked;	     /* --copies; 0: not given */
	double pass;	     /* query_pass_probability() */
	size_t n;	     /* keys */
	struct key_age *key; /* the oldest first */
	unsigned bins;
	struct age_bin *bin; /* equal numbers of keys, the youngest first */
};

static int compare_last(const void *a, const void *b)
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
		.key = cli_allocated(calloc(tt->keys.n + 1, sizeof(*a->key))),
		.bins = (unsigned)o->age_bins,
		.bin = cli_allocated(calloc(o->age_bins, sizeof(*a->bin))),
	};
	for (size_t i = 0; i < a->n; i++) {
		const struct truth_key *k = keymap_record(&tt->keys, i);

		a->key[i].last = k->last;
		a->key[i].copies = (unsigned)k->copies;
		if (i == 0)
			a->copies = a->key[i].copies;
		else if (a->copies != a->key[i].copies)
			a->copies = 0;
	}
	qsort(a->key, a->n, sizeof(*a->key), compare_last);
	for (size_t i = 0; i < a->n; i++) {
		written += a->key[i].copies;
		a->key[i].written = written;
	}
}

static void age_add(struct by_age *a, const struct truth_key *key,
		    enum truth_verdict verdict)
{
	const struct key_age want = {.last = key->last};
	const struct key_age *k = bsearch(&want, a->key, a->n, sizeof(*a->key),
					  compare_last);
	size_t younger = a->n - 1 - (size_t)(k - a->key);
	struct age_bin *b = &a->bin[younger * a->bins / a->n];
	unsigned copies = a->asked && a->asked < k->copies ? a->asked
							   : k->copies;
	/* Writes since then per slot. plan_at() wants keys per slot, and
	 * multiplies by this key's copies, so divide by these. */
	double after = (double)(a->key[a->n - 1].written - k->written) /
		       (double)a->t->units;

	b->score.asked++;
	b->score.verdict[verdict]++;
	b->planned += plan_at(copies, after / copies, a->pass).success;
}

static void bin_row(struct rows *r, const struct by_age *a, unsigned i,
		    bool one_epoch)
{
	const struct age_bin *b = &a->bin[i];
	double asked = (double)b->score.asked, age = (double)(i + 1) / a->bins;
	double success = (double)b->score.verdict[VERDICT_RIGHT] / asked;
	char name[64];

	row_str(r, AGE_TABLE, a->t->name);
	row_str(r, AGE_KIND, table_kind_name(a->t->kind));
	if (a->copies)
		row_u64(r, AGE_COPIES, a->copies);
	row_f64(r, AGE_AGE, age);
	row_u64(r, AGE_ASKED, b->score.asked);
	for (unsigned v = 0; v < VERDICT_OVER; v++)
		row_u64(r, AGE_RIGHT + v, b->score.verdict[v]);
	row_f64(r, AGE_SUCCESS, success);
	snprintf(name, sizeof(name), "%s success", a->t->name);
	svg_point(name, age, success);
	if (one_epoch) {
		row_f64(r, AGE_LOAD, (double)a->n / (double)a->t->units);
		row_f64(r, AGE_PLANNED, b->planned / asked);
		snprintf(name, sizeof(name), "%s planned", a->t->name);
		svg_point(name, age, b->planned / asked);
	}
	cli_row_end(r);
}

struct verifying {
	struct query_sources *sources;
	struct query_rule rule; /* copies 0: those of the truth */
	const struct truth_table *truth;
	struct query_target target;
	struct truth_score score;
	bool aged; /* --by-age */
	struct by_age ages;
};

struct batch {
	struct query_reply reply[QUERY_BATCH];
	const uint8_t *key[QUERY_BATCH];
	const struct truth_key *want[QUERY_BATCH];
	size_t n;
};

/* Looks up a batch, judges the answers, and empties it. */
static void finish_batch(struct verifying *v, unsigned copies, struct batch *b)
{
	const struct table *t = v->truth->t;
	struct query_ask ask = {
		.sources = v->sources,
		.rule = v->rule,
		.sum = t->kind == TABLE_KEYINC,
	};
	struct query_reply *reply[QUERY_BATCH];

	if (!b->n)
		return;
	if (!ask.rule.copies)
		ask.rule.copies = (uint8_t)copies;
	for (size_t i = 0; i < b->n; i++)
		reply[i] = &b->reply[i];
	query_ask_keys(&ask, &v->target, b->key, b->n, reply);
	sources_check(v->sources);
	for (size_t i = 0; i < b->n; i++) {
		enum truth_verdict verdict = truth_verdict_of(t, b->want[i],
							      &b->reply[i]);

		v->score.asked++;
		v->score.verdict[verdict]++;
		if (v->aged)
			age_add(&v->ages, b->want[i], verdict);
	}
	b->n = 0;
}

static void verify_copies(struct verifying *v, unsigned copies)
{
	static struct batch b;
	const struct table *t = v->truth->t;
	const struct keymap *m = &v->truth->keys;

	for (size_t i = 0; i < m->n && !cli_stop; i++) {
		const struct truth_key *k = keymap_record(m, i);

		if (k->copies != copies)
			continue;
		/* A path with a hop that was not reported is not looked up. */
		if (t->kind == TABLE_POSTCARD) {
			bool whole = truth_path_whole(k, t);

			v->score.incomplete += !whole;
			v->score.too_long += truth_path_len(k, t) > t->hops;
			if (!whole)
				continue;
		}
		b.want[b.n] = k;
		b.key[b.n++] = keymap_key(m, i);
		if (b.n == QUERY_BATCH)
			finish_batch(v, copies, &b);
	}
	finish_batch(v, copies, &b);
}

/* An Append list that is verified, from its last entry back: the newest epoch
 * has the last entries, the epoch before has those before them. */
struct list_check {
	struct verifying *v;
	const struct truth_list *truth;
	uint32_t list;
	uint64_t end;  /* entries of the truth that are not yet compared */
	uint64_t held; /* entries that the rings hold */
	struct list_buf buf; /* entries that were read */
};

/* Compares n entries, which are in buf, with the truth's from index on. */
static void compare_entries(struct list_check *c, uint64_t index, uint64_t n)
{
	size_t len = c->v->truth->t->value_len;
	const uint8_t *want = c->truth->entries + index * len;
	struct truth_score *s = &c->v->score;

	s->asked += n;
	for (uint64_t i = 0; i < n; i++)
		s->verdict[memcmp(c->buf.bytes + i * len, want + i * len, len)
				   ? VERDICT_WRONG
				   : VERDICT_RIGHT]++;
}

/* Counts n entries that cannot be read, or that no epoch has. */
static void count_missing(struct list_check *c, uint64_t n)
{
	c->v->score.asked += n;
	c->v->score.verdict[VERDICT_MISSING] += n;
}

/* Checks one epoch: its last entry is number c->end - 1 of the truth. */
static void check_epoch(struct list_check *c, unsigned epoch,
			const struct table_view *view, uint64_t entries)
{
	struct query_sources *p = c->v->sources;
	uint64_t from, shift, next, gone;

	/* The ring may hold more entries than the truth has. */
	from = entries > c->end ? entries - c->end : 0;
	if (entries - from > table_kept(view->t))
		from = entries - table_kept(view->t);
	shift = c->end - entries; /* index = at + shift, modulo 2^64 */
	for (uint64_t at = from; at < entries; at = next) {
		uint64_t want = list_buf_reserve(&c->buf, view, entries - at);
		int64_t n = query_list_read(view, c->list, at, c->buf.bytes,
					    want, &next, &gone);

		if (n == -ENOMEM)
			cli_fail("out of memory");
		if (n < 0) { /* a damaged block, or no connection */
			if (query_source_failed(p, p->epoch[epoch].source)) {
				sources_check(p);
				query_sources_set_failed(p);
			}
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

/* Checks a list in all epochs. Entries that no epoch has are missing if the
 * rings have room for them; others were overwritten. */
static void check_list(struct list_check *c)
{
	struct query_sources *p = c->v->sources;
	struct truth_score *s = &c->v->score;
	struct list_epoch *found = list_find_epochs(p, &c->v->target, c->list);
	uint64_t rooms = 0, left, reported, asked = s->asked;

	reported = c->truth->len / c->v->truth->t->value_len;
	c->end = reported;
	c->held = 0;
	for (unsigned i = 0; i < p->n; i++) {
		struct table_view view;

		if (found[i].count == -ENOENT ||
		    !query_target_view(&view, p, &c->v->target, i))
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

/* Verifies a table. With --by-age, prints a row for each bin, if its keys can
 * be overwritten by others: counters and lists have no bins. */
static void verify_table(struct verifying *v, const struct opts *o,
			 struct rows *r)
{
	const struct table *t = v->truth->t;
	/* In several epochs keys do not overwrite each other as planned. */
	bool one_epoch = v->sources->n == 1 && !v->sources->clustered;
	struct list_check c = {.v = v};

	for (; c.list < t->lists && !cli_stop; c.list++) {
		c.truth = &v->truth->lists[c.list];
		check_list(&c);
	}
	free(c.buf.bytes);
	if (t->kind == TABLE_APPEND)
		return;
	v->aged = o->age_bins && !table_counts(t);
	if (v->aged)
		age_open(&v->ages, v->truth, o);
	for (unsigned n = 1; n <= HASH_COPIES && !cli_stop; n++)
		if (v->truth->copies >> n & 1)
			verify_copies(v, n);
	if (!v->aged)
		return;
	for (unsigned i = 0; i < v->ages.bins; i++)
		bin_row(r, &v->ages, i, one_epoch);
	free(v->ages.bin);
	free(v->ages.key);
}

static void verify_all(struct query_sources *p, const struct opts *o,
		       const struct truth *truth, struct truth_score *total)
{
	static const char *const labels[] = {"age: younger keys, of all",
					     "share of keys found"};
	static const bool log[2];
	struct rows *r = cli_rows(o->format, o->age_bins ? &bins : &verdicts);

	svg_open(o->svg, true, "Success by age", labels, log);
	for (unsigned i = 0; i < truth->n && !cli_stop; i++) {
		const struct table *t = truth->table[i].t;
		struct verifying v = {
			.sources = p,
			.rule = o->rule,
			.truth = &truth->table[i],
		};

		query_target_init(&v.target, p, t);
		verify_table(&v, o, r);
		sources_check(p);
		if (!o->age_bins)
			score_row(r, t, &v.score);
		total->too_long += v.score.too_long;
		for (unsigned k = 0; k < VERDICTS; k++)
			total->verdict[k] += v.score.verdict[k];
	}
	rows_close(r);
	svg_close();
}

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
				(l.cut ? cli_warn : cli_fail)(
					"%s:%llu: %s%s", l.path,
					(unsigned long long)l.number, why.text,
					l.cut ? ": cut short, left out" : "");
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
	struct query_targets one;
	unsigned n = 0;

	if (o->table) {
		sources_pick(&one, p, 0, o->table);
		tables[n++] = one.target[0].t;
	}
	for (unsigned s = 0; s < p->sources && !o->table; s++)
		for (unsigned i = 0;
		     p->source[s].memory && i < p->source[s].memory->tables;
		     i++)
			tables[n++] = &p->source[s].memory->table[i];
	truth_init(&truth, tables, n);
	truth.skips_others = o->table;
	read_truth(&truth, o->truth);
	if (cli_stop)
		exit(CLI_FAIL);
	verify_all(p, o, &truth, &total);
	truth_fini(&truth);
	if (total.verdict[VERDICT_WRONG] || total.too_long)
		return CLI_FAIL;
	return total.verdict[VERDICT_RIGHT] ? CLI_OK : CLI_NOTHING;
}
