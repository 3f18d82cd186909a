/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steer.c - several collectors: each report goes to one, by the hash of its key
 * (dta(7), HASHING, "collector of a key"). It runs on one table's valid
 * reports, and only if there are several collectors.
 */
#include "dta/private.h"

#include <errno.h>
#include <stdlib.h>

#include "hash/crc.h"

struct steering {
	unsigned n; /* collectors */
	uint32_t hash[STAGE];
	uint16_t to[STAGE]; /* of the reports in hand */
	/* The reports in hand, in the order of their collectors. */
	uint16_t begin[COLLECTORS_MAX + 1];
	struct report_batch_room room;
};

/* The collectors of one table's reports, to s->to. */
static void find_collectors(struct translator *t, const struct table_state *l,
			    const struct report_batch *j)
{
	static const enum crc_id id = CRC_COLLECTOR;
	struct steering *s = t->steering;
	uint32_t *hash = s->hash;

	crc_batch(&id, 1, j->key, l->key_len, j->n, &hash);
	for (unsigned i = 0; i < j->n; i++)
		s->to[i] = (uint16_t)hash_mod(hash[i], s->n);
}

/* Sorts reports by collector; those of one stay in order. */
static void sort_by_collector(struct steering *s, const struct report_batch *j)
{
	uint16_t at[COLLECTORS_MAX], sum = 0;

	memset(at, 0, s->n * sizeof(at[0]));
	for (unsigned i = 0; i < j->n; i++)
		at[s->to[i]]++;
	for (unsigned c = 0; c < s->n; c++) {
		s->begin[c] = sum;
		sum = (uint16_t)(sum + at[c]);
		at[c] = s->begin[c];
	}
	s->begin[s->n] = sum;
	for (unsigned i = 0; i < j->n; i++) {
		unsigned k = at[s->to[i]]++;

		s->room.key[k] = j->key[i];
		s->room.at[k] = j->at[i];
		s->room.desc[k] = j->desc[i];
	}
}

void steer_run(struct translator *t, unsigned table,
	       const struct report_batch *j)
{
	struct steering *s = t->steering;
	struct report_batch sorted = report_batch_in(&s->room), part;

	find_collectors(t, &t->state[table], j);
	sort_by_collector(s, j);
	sorted.all = j->all;
	sorted.any = j->any;
	for (unsigned c = 0; c < s->n; c++) {
		part = report_batch_part(&sorted, s->begin[c], s->begin[c + 1]);
		if (part.n)
			run_table(t, c * t->n + table, &part);
	}
}

int steer_open(struct translator *t, unsigned collectors)
{
	t->steering = NULL;
	if (collectors <= 1)
		return 0;
	t->steering = calloc(1, sizeof(*t->steering));
	if (!t->steering)
		return -ENOMEM;
	t->steering->n = collectors;
	return 0;
}

void steer_close(struct translator *t)
{
	free(t->steering);
}
