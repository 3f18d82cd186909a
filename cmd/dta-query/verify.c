/* SPDX-License-Identifier: BSD-2-Clause */
/* verify: every answer against what was reported. */
#include "verify.h"

#include <stdlib.h>

#include "run.h"

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
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[TABLE] = {"table", ROW_STR, 12, ROW_TAG},
	[KIND] = {"kind", ROW_STR, 8, ROW_TAG},
	[ASKED] = {"asked", ROW_U64, 9},
	[RIGHT] = {"right", ROW_U64, 9},
	[WRONG] = {"wrong", ROW_U64, 9},
	[MISSING] = {"missing", ROW_U64, 9},
	[AMBIGUOUS] = {"ambiguous", ROW_U64, 9},
	[OVER] = {"over", ROW_U64, 9},
	[INCOMPLETE] = {"incomplete", ROW_U64, 10},
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

void verify_count(struct verify *v, struct score *s, const struct table *t,
		  enum verdict verdict, const struct miss *m)
{
	static const char *const name[VERDICTS] = {
		[VERDICT_RIGHT] = "right",
		[VERDICT_WRONG] = "wrong",
		[VERDICT_MISSING] = "missing",
		[VERDICT_AMBIGUOUS] = "ambiguous",
		[VERDICT_OVER] = "over",
	};

	s->asked++;
	s->verdict[verdict]++;
	if (!verify_listed(v, verdict))
		return;
	row_str(v->wrong, MISS_TABLE, t->name);
	row_str(v->wrong, MISS_KEY, m->key);
	if (m->index != UINT64_MAX)
		row_u64(v->wrong, MISS_INDEX, m->index);
	row_str(v->wrong, MISS_VERDICT, name[verdict]);
	row_str(v->wrong, MISS_EXPECTED, m->expected);
	row_str(v->wrong, MISS_GOT, m->got);
	if (m->source)
		row_u64(v->wrong, MISS_EPOCH, m->epoch);
	row_str(v->wrong, MISS_SOURCE, m->source);
	row_write(v->wrong);
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
	row_write(r);
}

static const struct schema verdicts = {"verify", fields, FIELDS};
static const struct schema misses = {"verify_wrong", miss_fields, MISS_FIELDS};

static void add_score(struct score *to, const struct score *s)
{
	to->asked += s->asked;
	to->incomplete += s->incomplete;
	for (int i = 0; i < VERDICTS; i++)
		to->verdict[i] += s->verdict[i];
}

static struct rows *open_rows(const struct opts *o, const struct schema *s)
{
	struct rows *r = rows_print(stdout, o->format, s, true);

	if (!r)
		cli_fail("out of memory");
	return r;
}

static void verify_all(struct verify *v, struct score *total)
{
	struct rows *r = NULL;

	if (v->o->list_wrong)
		v->wrong = open_rows(v->o, &misses);
	else
		r = open_rows(v->o, &verdicts);
	for (unsigned i = 0; i < v->truth->n && !cli_stop; i++) {
		struct truth_table *tt = &v->truth->table[i];
		const struct table *t = tt->target.t;
		struct score s = {0};

		if (t->kind == TABLE_APPEND)
			verify_lists(v, &s, tt);
		else
			verify_keys(v, &s, tt);
		if (v->o->by_table)
			score_row(r, t->name, table_kind_name(t->kind), &s);
		add_score(total, &s);
	}
	if (r && !v->o->by_table)
		score_row(r, "all", NULL, total);
	rows_close(r);
	rows_close(v->wrong);
}

int run_verify(const struct opts *o, struct places *p)
{
	struct verify *v = calloc(1, sizeof(*v));
	struct truth *truth = calloc(1, sizeof(*truth));
	struct score total = {0};

	if (!v || !truth)
		cli_fail("out of memory");
	v->o = o;
	v->p = p;
	v->truth = truth;
	v->render = o->render;
	v->render.escape_blank = true;
	truth_read(truth, o->truth, p);
	verify_all(v, &total);
	truth_fini(truth);
	free(truth);
	free(v);
	if (total.verdict[VERDICT_WRONG])
		return CLI_FAIL;
	return total.verdict[VERDICT_RIGHT] ? CLI_OK : CLI_NOTHING;
}
