/* SPDX-License-Identifier: BSD-2-Clause */
/* verify --by-age: how answers fade, beside what theory has them do. */
#include "verify_age.h"

#include "cli/table.h"
#include "places/verify_age.h"

enum field {
	TABLE,
	KIND,
	COPIES,
	LOAD,
	AGE,
	ASKED,
	RIGHT,
	WRONG,
	MISSING,
	AMBIGUOUS,
	SUCCESS,
	PLANNED,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[TABLE] = {"table", ROW_STR, 12, ROW_TAG},
	[KIND] = {"kind", ROW_STR, 8, ROW_TAG, .spare = 1},
	[COPIES] = {"copies", ROW_U64, 6},
	[LOAD] = {"load", ROW_F64, 9},
	[AGE] = {"age", ROW_F64, 5},
	[ASKED] = {"asked", ROW_U64, 9},
	[RIGHT] = {"right", ROW_U64, 9, .spare = 1},
	[WRONG] = {"wrong", ROW_U64, 9, .good = "0"},
	[MISSING] = {"missing", ROW_U64, 9, .spare = 1},
	[AMBIGUOUS] = {"ambiguous", ROW_U64, 9, .spare = 1},
	[SUCCESS] = {"success", ROW_F64, 9},
	[PLANNED] = {"planned", ROW_F64, 9},
};

const struct schema age_rows = {"verify_age", fields, FIELDS};

static void bin_row(struct rows *r, const struct verify_age *a, unsigned i,
		    bool alone)
{
	const struct verify_bin *b = &a->bin[i];
	double asked = (double)b->score.asked;

	row_str(r, TABLE, a->t->name);
	row_str(r, KIND, table_kind_name(a->t->kind));
	if (a->copies)
		row_u64(r, COPIES, a->copies);
	row_f64(r, LOAD, a->load);
	row_f64(r, AGE, (double)(i + 1) / a->bins);
	row_u64(r, ASKED, b->score.asked);
	row_u64(r, RIGHT, b->score.verdict[VERDICT_RIGHT]);
	row_u64(r, WRONG, b->score.verdict[VERDICT_WRONG]);
	row_u64(r, MISSING, b->score.verdict[VERDICT_MISSING]);
	row_u64(r, AMBIGUOUS, b->score.verdict[VERDICT_AMBIGUOUS]);
	if (b->score.asked)
		row_f64(r, SUCCESS,
			(double)b->score.verdict[VERDICT_RIGHT] / asked);
	if (b->score.asked && alone)
		row_f64(r, PLANNED, b->planned / asked);
	row_write(r);
}

static void note(void *ctx, const struct verify_miss *m)
{
	verify_age_note(ctx, m);
}

/* Values that a hop may have. */
static double values_of(const struct table *t)
{
	return t->values ? (double)t->values
			 : (double)t->value_max - t->value_min + 1;
}

int age_table(struct rows *r, const struct verifiers_options *by,
	      const struct verify *v, const struct truth_table *tt,
	      unsigned bins, struct score *s, struct fault *f)
{
	struct verify by_age = *v;
	struct verify_age a;
	bool alone = v->places->n == 1 && !v->places->collectors;
	int rc;

	if (tt->t->kind != TABLE_KEYWRITE && tt->t->kind != TABLE_POSTCARD)
		return verifiers_table(by, v, tt, s, f);
	if (verify_age_open(&a, tt, &v->rule, values_of(tt->t), bins) < 0)
		cli_fail("out of memory");
	by_age.miss = note;
	by_age.all = true;
	by_age.ctx = &a;
	rc = verifiers_table(by, &by_age, tt, s, f);
	/* In older epochs, and on other collectors, keys overwrite no others.
	 */
	for (unsigned i = 0; i < bins && rc == 0; i++)
		bin_row(r, &a, i, alone);
	verify_age_close(&a);
	return rc;
}
