/* SPDX-License-Identifier: BSD-2-Clause */
/* verify: every answer against what was reported. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "model/plan.h"
#include "places/verify.h"
#include "reading/lines.h"
#include "run.h"

enum {
	CHECKSUM_BITS = 32, /* of slots, and of hops */
};

enum field {
	TABLE,
	KIND,
	ASKED,
	RIGHT,
	WRONG,
	MISSING,
	AMBIGUOUS,
	OVER,
	INCOMPLETE,
	TOO_LONG,
	OVERWRITTEN,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[TABLE] = {"table", ROW_STR, 12, ROW_TAG},
	[KIND] = {"kind", ROW_STR, 8, ROW_TAG},
	[ASKED] = {"asked", ROW_U64, 9},
	[RIGHT] = {"right", ROW_U64, 9},
	[WRONG] = {"wrong", ROW_U64, 9, .good = "0"},
	[MISSING] = {"missing", ROW_U64, 9, .good = "0"},
	[AMBIGUOUS] = {"ambiguous", ROW_U64, 9, .good = "0"},
	[OVER] = {"over", ROW_U64, 9, .good = "0"},
	[INCOMPLETE] = {"incomplete", ROW_U64, 10},
	[TOO_LONG] = {"too_long", ROW_U64, 8, .good = "0"},
	[OVERWRITTEN] = {"overwritten", ROW_U64, 11},
};

enum miss_field {
	MISS_TABLE,
	MISS_KEY,
	MISS_INDEX,
	MISS_VERDICT,
	MISS_EXPECTED,
	MISS_GOT,
	MISS_EPOCH,
	MISS_SOURCE,
	MISS_FIELDS,
};

static const struct row_field miss_fields[MISS_FIELDS] = {
	[MISS_TABLE] = {"table", ROW_STR, 8, ROW_TAG},
	[MISS_KEY] = {"key", ROW_STR, 47},
	[MISS_INDEX] = {"index", ROW_U64, 8},
	[MISS_VERDICT] = {"verdict", ROW_STR, 9, ROW_TAG},
	[MISS_EXPECTED] = {"expected", ROW_STR, 16},
	[MISS_GOT] = {"got", ROW_STR, 16},
	[MISS_EPOCH] = {"epoch", ROW_U64, 5},
	[MISS_SOURCE] = {"source", ROW_STR, 8, ROW_TAG},
};

enum age_field {
	AGE_TABLE,
	AGE_KIND,
	AGE_COPIES,
	AGE_LOAD,
	AGE_AGE,
	AGE_ASKED,
	AGE_RIGHT,
	AGE_WRONG,
	AGE_MISSING,
	AGE_AMBIGUOUS,
	AGE_SUCCESS,
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
	[AGE_WRONG] = {"wrong", ROW_U64, 9, .good = "0"},
	[AGE_MISSING] = {"missing", ROW_U64, 9, .spare = 1},
	[AGE_AMBIGUOUS] = {"ambiguous", ROW_U64, 9, .spare = 1},
	[AGE_SUCCESS] = {"success", ROW_F64, 9},
	[AGE_PLANNED] = {"planned", ROW_F64, 9},
};

static const struct schema verdicts = {"verify", fields, FIELDS};
static const struct schema misses = {"verify_wrong", miss_fields, MISS_FIELDS};
static const struct schema ages = {"verify_age", age_fields, AGE_FIELDS};

/* --list-wrong */
struct wrong {
	struct rows *rows;
	const struct show *told; /* --as, or NULL */
	struct rendered room;
	char expected[RENDER_TEXT_MAX], got[RENDER_TEXT_MAX];
};

static void bytes_text(struct wrong *w, const struct table *t, char *out,
		       const uint8_t *value)
{
	struct show s;

	show_for(&s, t, w->told);
	show_text(&s, &w->room, out, RENDER_TEXT_MAX, value, t->value_len);
}

static void count_text(char *out, uint64_t n)
{
	snprintf(out, RENDER_TEXT_MAX, "%" PRIu64, n);
}

static const char *expected_text(struct wrong *w, const struct verify_miss *m)
{
	const struct truth_key *k = m->want;

	if (m->t->kind == TABLE_KEYINC)
		count_text(w->expected, k->sum);
	else if (m->t->kind == TABLE_POSTCARD)
		show_path(w->expected, k->hop, truth_path_len(k, m->t),
			  UINT32_MAX);
	else
		bytes_text(w, m->t, w->expected, k->value);
	return w->expected;
}

static const char *got_text(struct wrong *w, const struct verify_miss *m)
{
	const struct reply *r = m->got;

	if (r->answer != ANSWER_FOUND)
		return NULL;
	if (m->t->kind == TABLE_KEYINC)
		count_text(w->got, r->count);
	else if (m->t->kind == TABLE_POSTCARD)
		show_path(w->got, r->path.value, r->path.len, UINT32_MAX);
	else
		bytes_text(w, m->t, w->got, r->value);
	return w->got;
}

static void key_row(struct wrong *w, const struct verify_miss *m)
{
	const struct table *t = m->t;
	char text[KEY_TEXT_MAX];

	key_format(text, (enum key_type)t->key_type, m->key, t->key_len);
	row_str(w->rows, MISS_KEY, text);
	row_str(w->rows, MISS_EXPECTED, expected_text(w, m));
	row_str(w->rows, MISS_GOT, got_text(w, m));
	if (m->got->source)
		row_u64(w->rows, MISS_EPOCH, m->got->epoch);
	row_str(w->rows, MISS_SOURCE, m->got->source);
}

static void entry_row(struct wrong *w, const struct verify_miss *m)
{
	char list[16];

	snprintf(list, sizeof(list), "%u", m->list);
	row_str(w->rows, MISS_KEY, list);
	row_u64(w->rows, MISS_INDEX, m->index);
	if (m->want_entry) {
		bytes_text(w, m->t, w->expected, m->want_entry);
		row_str(w->rows, MISS_EXPECTED, w->expected);
	}
	if (m->got_entry) {
		bytes_text(w, m->t, w->got, m->got_entry);
		row_str(w->rows, MISS_GOT, w->got);
	}
}

static void miss_row(void *ctx, const struct verify_miss *m)
{
	struct wrong *w = ctx;

	row_str(w->rows, MISS_TABLE, m->t->name);
	row_str(w->rows, MISS_VERDICT, verdict_name(m->verdict));
	if (m->key)
		key_row(w, m);
	else
		entry_row(w, m);
	row_write(w->rows);
}

static void score_row(struct rows *r, const char *table, const char *kind,
		      const struct score *s)
{
	row_str(r, TABLE, table);
	row_str(r, KIND, kind);
	row_u64(r, ASKED, s->asked);
	row_u64(r, RIGHT, s->verdict[VERDICT_RIGHT]);
	row_u64(r, WRONG, s->verdict[VERDICT_WRONG]);
	row_u64(r, MISSING, s->verdict[VERDICT_MISSING]);
	row_u64(r, AMBIGUOUS, s->verdict[VERDICT_AMBIGUOUS]);
	row_u64(r, OVER, s->verdict[VERDICT_OVER]);
	row_u64(r, INCOMPLETE, s->incomplete);
	row_u64(r, TOO_LONG, s->too_long);
	row_u64(r, OVERWRITTEN, s->overwritten);
	row_write(r);
}

/* --by-age: keys of some ages. */
struct age_bin {
	struct score score;
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

static void put_in_order(struct by_age *a, const struct keymap *keys)
{
	uint64_t written = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct truth_key *k = keymap_record(keys, i);

		a->key[i] = (struct key_age){
			.last = k->last,
			.copies = (unsigned)k->copies,
		};
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

/* The chance that a chunk of another key passes for a path. */
static double pass_of_chunks(const struct table *t)
{
	double values = t->values ? (double)t->values
				  : (double)t->value_max - t->value_min + 1;

	return plan_pass_postcard(CHECKSUM_BITS, values, t->hops);
}

static void age_open(struct by_age *a, const struct truth_table *tt,
		     const struct opts *o)
{
	const struct table *t = tt->t;

	*a = (struct by_age){
		.t = t,
		.asked = o->rule.copies,
		.pass = t->kind == TABLE_POSTCARD
				? pass_of_chunks(t)
				: plan_pass_keywrite(CHECKSUM_BITS),
		.n = tt->keys.n,
		.key = calloc(tt->keys.n + 1, sizeof(*a->key)),
		.bins = (unsigned)o->by_age,
		.bin = calloc(o->by_age, sizeof(*a->bin)),
	};
	if (!a->bin || !a->key)
		cli_fail("out of memory");
	put_in_order(a, &tt->keys);
}

/* Any answer: a verify's miss(), with all set. */
static void age_note(void *ctx, const struct verify_miss *m)
{
	struct by_age *a = ctx;
	const struct key_age want = {.last = m->want->last};
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
	b->score.verdict[m->verdict]++;
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
	row_u64(r, AGE_RIGHT, b->score.verdict[VERDICT_RIGHT]);
	row_u64(r, AGE_WRONG, b->score.verdict[VERDICT_WRONG]);
	row_u64(r, AGE_MISSING, b->score.verdict[VERDICT_MISSING]);
	row_u64(r, AGE_AMBIGUOUS, b->score.verdict[VERDICT_AMBIGUOUS]);
	if (b->score.asked)
		row_f64(r, AGE_SUCCESS,
			(double)b->score.verdict[VERDICT_RIGHT] / asked);
	if (b->score.asked && alone)
		row_f64(r, AGE_PLANNED, b->planned / asked);
	row_write(r);
}

/* verify_table(), with a row for each bin; tables whose keys do not age have
 * none. */
static int verify_by_age(const struct verify *v, const struct truth_table *tt,
			 struct rows *r, const struct opts *o, struct score *s)
{
	struct verify by_age = *v;
	struct by_age a;
	/* In older epochs, and on other collectors, keys overwrite no others.
	 */
	bool alone = v->places->n == 1 && !v->places->clustered;
	int rc;

	if (tt->t->kind != TABLE_KEYWRITE && tt->t->kind != TABLE_POSTCARD)
		return verify_table(v, tt, s);
	age_open(&a, tt, o);
	by_age.miss = age_note;
	by_age.all = true;
	by_age.ctx = &a;
	rc = verify_table(&by_age, tt, s);
	for (unsigned i = 0; i < a.bins && !rc; i++)
		bin_row(r, &a, i, alone);
	free(a.bin);
	free(a.key);
	return rc;
}

static void verify_all(const struct verify *v, const struct truth *truth,
		       struct rows *r, const struct opts *o,
		       struct score *total)
{
	for (unsigned i = 0; i < truth->n && !cli_stop; i++) {
		const struct truth_table *tt = &truth->table[i];
		struct score s = {0};
		int rc = o->by_age ? verify_by_age(v, tt, r, o, &s)
				   : verify_table(v, tt, &s);

		sources_check(v->places);
		if (rc < 0)
			cli_fail("%s: %s", tt->t->name, strerror(-rc));
		if (o->by_table)
			score_row(r, tt->t->name, table_kind_name(tt->t->kind),
				  &s);
		score_add(total, &s);
	}
}

static void show_all(struct places *p, const struct opts *o,
		     const struct truth *truth, struct score *total)
{
	struct wrong *w = calloc(1, sizeof(*w));
	struct verify v = {.places = p, .rule = o->rule, .stop = &cli_stop};
	struct rows *r;

	if (!w)
		cli_fail("out of memory");
	r = cli_rows(o->format, o->list_wrong ? &misses
				: o->by_age   ? &ages
					      : &verdicts);
	if (!r)
		cli_fail("out of memory");
	if (o->list_wrong) {
		w->rows = r;
		w->told = opts_show(o);
		w->room.escape_blank = true;
		v.miss = miss_row;
		v.ctx = w;
	}
	verify_all(&v, truth, r, o, total);
	if (!o->list_wrong && !o->by_table && !o->by_age)
		score_row(r, "all", NULL, total);
	rows_close(r);
	free(w);
}

/* Reads a truth. If a signal comes, the rest is not read. */
static void read_truth(struct truth *t, const char *path)
{
	struct fault why = {""};
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
	if (!t->begun && !cli_stop)
		cli_fail("%s: empty: not even a header", l.path);
	lines_close(&l);
}

int run_verify(const struct opts *o, struct places *p)
{
	struct truth *truth = malloc(sizeof(*truth));
	const struct table *const *tables;
	struct score total = {0};
	int n = verify_tables(&tables, p);

	if (!truth || n < 0)
		cli_fail("out of memory");
	truth_init(truth, tables, (unsigned)n);
	read_truth(truth, o->truth);
	if (cli_stop)
		exit(CLI_FAIL);
	show_all(p, o, truth, &total);
	truth_fini(truth);
	free(truth);
	free((void *)tables);
	if (total.verdict[VERDICT_WRONG] || total.too_long)
		return CLI_FAIL;
	return total.verdict[VERDICT_RIGHT] ? CLI_OK : CLI_NOTHING;
}
