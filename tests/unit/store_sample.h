/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_sample.h - a small region with one table of every kind, for the tests
 * of the store's parts.
 */
#ifndef TESTS_UNIT_STORE_SAMPLE_H
#define TESTS_UNIT_STORE_SAMPLE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "region/layout.h"
#include "region/region.h"
#include "test.h"

/* The sample's tables, by index. */
enum {
	SAMPLE_FLOWS,
	SAMPLE_DART,
	SAMPLE_PATHS,
	SAMPLE_LOSS,
	SAMPLE_SUMS,
	SAMPLE_TABLES,
};

static const char *const sample_fields[][3] = {
	{"flows", "kind", "keywrite"},	{"flows", "key", "flow4"},
	{"flows", "value", "4"},	{"flows", "slots", "64Ki"},
	{"dart", "kind", "keywrite"},	{"dart", "key", "u32"},
	{"dart", "value", "20"},	{"dart", "slots", "1000"},
	{"dart", "stride", "packed"},	{"paths", "kind", "postcard"},
	{"paths", "key", "flow4"},	{"paths", "chunks", "1Ki"},
	{"paths", "values", "7,1,500"}, {"loss", "kind", "append"},
	{"loss", "value", "4"},		{"loss", "ring", "100"},
	{"loss", "lists", "3"},		{"sums", "kind", "keyinc"},
	{"sums", "key", "u32"},		{"sums", "slots", "4Ki"},
};

static inline void sample_layout(struct layout *l)
{
	static const uint32_t set[] = {1, 7, 500};
	struct error err = {""};

	memset(l, 0, sizeof(*l));
	for (unsigned i = 0;
	     i < sizeof(sample_fields) / sizeof(sample_fields[0]); i++) {
		const char *const *field = sample_fields[i];

		if (!l->n || strcmp(l->table[l->n - 1].name, field[0]) != 0) {
			snprintf(l->table[l->n].name, TABLE_NAME_MAX, "%s",
				 field[0]);
			l->n++;
		}
		if (!TEST(layout_set(&l->table[l->n - 1], field[1], field[2],
				     &err) == 0))
			fprintf(stderr, "%s\n", err.text);
	}
	l->values[SAMPLE_PATHS] = malloc(sizeof(set));
	memcpy(l->values[SAMPLE_PATHS], set, sizeof(set));
}

/* Makes the sample under a name of this process; gives its name. */
static inline const char *sample_create(unsigned epochs)
{
	static char name[64];
	struct region_options o = {.epochs = epochs};
	struct error err = {""};
	struct layout l;

	snprintf(name, sizeof(name), "dta-test-%d-store", (int)getpid());
	region_remove(name, NULL);
	sample_layout(&l);
	if (!TEST(region_create(NULL, name, &l, &o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(test_end());
	}
	layout_fini(&l);
	return name;
}

static inline bool says(const struct error *err, const char *what)
{
	if (strstr(err->text, what))
		return true;
	fprintf(stderr, "  \"%s\" does not say \"%s\"\n", err->text, what);
	return false;
}

static inline struct region *sample_open(const char *name, bool write)
{
	struct error err = {""};
	struct region *r = NULL;

	if (!TEST(region_open(&r, name, write, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(test_end());
	}
	return r;
}

#endif
