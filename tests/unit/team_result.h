/* SPDX-License-Identifier: BSD-2-Clause */
/* team_result.h - what traffic leaves in a region of its own, to be compared.
 */
#ifndef TESTS_UNIT_TEAM_RESULT_H
#define TESTS_UNIT_TEAM_RESULT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "region/layout.h"
#include "region/region.h"
#include "test.h"
#include "dta/translate.h"
#include "region_sums.h"

enum {
	NACKS_MAX = 16 << 20,
};

/* What a run leaves. */
struct result {
	uint32_t digest[TABLE_MAX];
	uint64_t notified;
	uint32_t immediate[REGION_IMMEDIATES];
	uint8_t *nacks;
	size_t nacks_len;
	struct translate_ledger ledger;
};

static inline void region_make(const char *name, const char *const (*fields)[3],
			       size_t n, struct region **out)
{
	struct region_options o = {.epochs = 1};
	struct error err = {""};
	struct layout l = {0};

	for (size_t i = 0; i < n; i++) {
		if (!l.n || strcmp(l.table[l.n - 1].name, fields[i][0]) != 0) {
			snprintf(l.table[l.n].name, TABLE_NAME_MAX, "%s",
				 fields[i][0]);
			l.n++;
		}
		if (!TEST(layout_set(&l.table[l.n - 1], fields[i][1],
				     fields[i][2], &err) == 0))
			fprintf(stderr, "  %s: %s\n", fields[i][0], err.text);
	}
	for (unsigned i = 0; i < l.n; i++)
		l.table[i].id = (uint16_t)(i + 1);
	region_remove(name, NULL);
	if (!TEST(region_create(out, name, &l, &o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(test_end());
	}
	layout_fini(&l);
}

static inline void read_all(const char *path, struct result *r)
{
	FILE *in = fopen(path, "rb");

	r->nacks = malloc(NACKS_MAX);
	r->nacks_len = in ? fread(r->nacks, 1, NACKS_MAX, in) : 0;
	if (in)
		fclose(in);
	unlink(path);
}

static inline void result_of(struct result *r, struct region *region,
			     const struct translator *t)
{
	r->ledger = *translate_counters(t);
	for (unsigned i = 0; i < region_tables(region); i++)
		r->digest[i] = region_digest(region, region_table(region, i),
					     1);
	r->notified = region_notified(region);
	for (uint64_t k = 0; k < REGION_IMMEDIATES && k < r->notified; k++)
		TEST(region_immediate(region, r->notified - k,
				      &r->immediate[k]) == 0);
}

static inline bool same_ledger(const struct translate_ledger *a,
			       const struct translate_ledger *b)
{
	bool same = true;

	for (unsigned i = 0; i < translate_ledger.n; i++) {
		uint64_t x = ledger_get(&translate_ledger, a, i);
		uint64_t y = ledger_get(&translate_ledger, b, i);

		if (x == y)
			continue;
		same = false;
		fprintf(stderr, "  %s: %ju, %ju\n",
			translate_ledger.fields[i].name, (uintmax_t)x,
			(uintmax_t)y);
	}
	return same;
}

#endif
