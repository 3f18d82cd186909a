/* SPDX-License-Identifier: BSD-2-Clause */
/* verify: every answer against what was reported. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking/truths.h"
#include "asking/verifiers.h"
#include "places/verify.h"
#include "run.h"
#include "sources.h"
#include "verify_age.h"
#include "cli/table.h"

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

static const struct schema verdicts = {"verify", fields, FIELDS};
static const struct schema misses = {"verify_wrong", miss_fields, MISS_FIELDS};

/* --list-wrong */
struct wrong {
	struct rows *rows;
	struct render render;
	struct rendered expected, got;
};

static const char *path_text(struct rendered *room, const uint32_t *value,
			     unsigned n)
{
	size_t at = 0;

	room->text[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(room->text + at, sizeof(room->text) - at,
				       "%s%u", i ? "," : "", value[i]);
	return room->text;
}

static const char *count_text(struct rendered *room, uint64_t n)
{
	snprintf(room->text, sizeof(room->text), "%llu", (unsigned long long)n);
	return room->text;
}

static const char *expected_text(struct wrong *w, const struct verify_miss *m)
{
	const struct truth_key *k = m->want;

	switch (m->t->kind) {
	case TABLE_KEYINC:
		return count_text(&w->expected, k->sum);
	case TABLE_POSTCARD:
		return path_text(&w->expected, k->hop, truth_path_len(k, m->t));
	default:
		return render_text(&w->render, &w->expected, k->value,
				   m->t->value_len);
	}
}

static const char *got_text(struct wrong *w, const struct verify_miss *m)
{
	const struct reply *r = m->got;

	if (r->answer != ANSWER_FOUND)
		return NULL;
	switch (m->t->kind) {
	case TABLE_KEYINC:
		return count_text(&w->got, r->count);
	case TABLE_POSTCARD:
		return path_text(&w->got, r->path.value, r->path.len);
	default:
		return render_text(&w->render, &w->got, r->value,
				   m->t->value_len);
	}
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
	if (m->want_entry)
		row_str(w->rows, MISS_EXPECTED,
			render_text(&w->render, &w->expected, m->want_entry,
				    m->t->value_len));
	if (m->got_entry)
		row_str(w->rows, MISS_GOT,
			render_text(&w->render, &w->got, m->got_entry,
				    m->t->value_len));
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

static struct rows *open_rows(const struct opts *o, const struct schema *s)
{
	struct rows *r = cli_rows(o->format, s);

	if (!r)
		cli_fail("out of memory");
	return r;
}

/* Other machines are waited for, not worked for. */
static unsigned cores_of(const struct opts *o, const struct places *p)
{
	return p->collectors || o->from.verbs ? 1 : (unsigned)o->cores;
}

static void verify_all(const struct verify *v, const struct truth *truth,
		       struct rows *r, const struct opts *o,
		       struct score *total)
{
	const struct verifiers_options by = {cores_of(o, v->places), &o->from};
	struct fault f = {""};

	for (unsigned i = 0; i < truth->n && !cli_stop; i++) {
		const struct table *t = truth->table[i].t;
		struct score s = {0};
		const struct truth_table *tt = &truth->table[i];
		int rc = o->by_age ? age_table(r, &by, v, tt,
					       (unsigned)o->by_age, &s, &f)
				   : verifiers_table(&by, v, tt, &s, &f);

		sources_check(v->places);
		if (rc < 0)
			cli_fail("%s", f.text);
		if (o->by_table)
			score_row(r, t->name, table_kind_name(t->kind), &s);
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
	r = open_rows(o, o->list_wrong ? &misses
			 : o->by_age   ? &age_rows
				       : &verdicts);
	if (o->list_wrong) {
		w->rows = r;
		w->render = o->render;
		w->render.escape_blank = true;
		v.miss = miss_row;
		v.ctx = w;
	}
	verify_all(&v, truth, r, o, total);
	if (!o->list_wrong && !o->by_table && !o->by_age)
		score_row(r, "all", NULL, total);
	rows_close(r);
	free(w);
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
	truths_read(truth, o->truth, o->cores ? (unsigned)o->cores : 1);
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
