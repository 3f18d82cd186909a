/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ours: Key-Write reports through the translator into a region, and queries in
 * bulk. The table is as large as 99 % success for the oldest key wants it
 * (model/model.h), as far as memory goes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "rdma/local.h"
#include "peer.h"
#include "query/query.h"
#include "region/region.h"
#include "dta/translate.h"
#include "net/be.h"

#define WHO "ours"

enum {
	SLOT = 8, /* bytes: a checksum, a value */
	CHECKSUM_BITS = 32,
};

static const double success = 0.99;

struct ours {
	struct region *region;
	struct local_transport *local;
	struct translator *translator;
	struct table_view view;
	struct query_rule rule;
};

static void close_ours(void *p)
{
	struct ours *o = p;

	translate_close(o->translator);
	local_close(o->local);
	region_close(o->region);
	free(o);
}

static uint64_t slots_for(const struct peer_setup *s, unsigned copies)
{
	const struct plan_config p = {copies, 0,
				      plan_pass_keywrite(CHECKSUM_BITS), false};
	double load = plan_largest_load(&p, success);
	double slots = (double)s->flows / load + 1;

	return slots * SLOT < (double)s->memory ? (uint64_t)slots
						: s->memory / SLOT;
}

static void describe(struct layout *l, uint64_t slots, unsigned copies)
{
	char slots_text[24], copies_text[4];
	const char *const fields[][2] = {
		{"kind", "keywrite"},  {"id", "1"},
		{"key", "flow4"},      {"value", "4"},
		{"slots", slots_text}, {"copies", copies_text},
	};
	struct error err = {""};

	snprintf(slots_text, sizeof(slots_text), "%ju", (uintmax_t)slots);
	snprintf(copies_text, sizeof(copies_text), "%u", copies);
	snprintf(l->table[0].name, TABLE_NAME_MAX, "flows");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (layout_set(&l->table[0], fields[i][0], fields[i][1], &err))
			peer_fail(WHO, err.text);
}

static struct ours *open_ours(const struct peer_setup *s, unsigned copies)
{
	struct region_options ro = {.epochs = 1};
	struct ours *o = calloc(1, sizeof(*o));
	struct layout l = {.n = 1};
	struct error err = {""};
	char name[64];

	if (!o)
		peer_fail(WHO, "out of memory");
	snprintf(name, sizeof(name), "dta-test-%d-bench-peers", (int)getpid());
	describe(&l, slots_for(s, copies), copies);
	if (region_create(&o->region, name, &l, &ro, &err)) {
		peer_why(WHO, err.text);
		free(o);
		return NULL;
	}
	/* The name goes at once: nothing is left behind, come what may. */
	region_remove(name, NULL);
	o->view.t = region_table(o->region, 0);
	o->view.mem = region_read(o->region, o->view.t, 1);
	o->rule.copies = (uint8_t)copies;
	if (local_open(&o->local, o->region, &err) ||
	    translate_open(&o->translator, o->view.t, 1,
			   local_transport(o->local), NULL, &err))
		peer_fail(WHO, err.text);
	return o;
}

static void *open_one(const struct peer_setup *s)
{
	return open_ours(s, 1);
}

static void *open_two(const struct peer_setup *s)
{
	return open_ours(s, 2);
}

static void take(void *p, const struct pkt *pkts, size_t n)
{
	struct ours *o = p;

	if (translate_rx(o->translator, pkts, n))
		peer_fail(WHO, "translate_rx failed");
}

static void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
		   uint8_t *found, size_t n)
{
	static uint8_t value[QUERY_BATCH * 4];
	static struct query_keywrite_answers a = {.value = value};
	struct ours *o = p;

	for (size_t at = 0; at < n; at += QUERY_BATCH) {
		size_t m = n - at < QUERY_BATCH ? n - at : QUERY_BATCH;

		query_keywrite(&a, &o->view, &o->rule, keys + at, m);
		for (size_t i = 0; i < m; i++) {
			found[at + i] = a.answer[i] == QUERY_FOUND;
			values[at + i] = be32_load(value + 4 * i);
		}
	}
}

static uint64_t bytes(void *p)
{
	struct ours *o = p;

	return o->view.t->length;
}

static const char *pages(void *p)
{
	struct ours *o = p;

	return region_page_kind(o->region);
}

const struct peer peer_ours1 = {
	.open = open_one,
	.take = take,
	.lookup = lookup,
	.bytes = bytes,
	.pages = pages,
	.close = close_ours,
};

const struct peer peer_ours2 = {
	.open = open_two,
	.take = take,
	.lookup = lookup,
	.bytes = bytes,
	.pages = pages,
	.close = close_ours,
};
