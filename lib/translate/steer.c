/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steer.c - several collectors: each report goes to the lanes of one, by the
 * hash of its key or by the address that it was sent to.
 *
 * It happens behind the judging and the sequence check, on the jobs of one
 * table, and only where there are several collectors: with one, nothing of
 * this is called.
 */
#include "translate/private.h"

#include <errno.h>
#include <stdlib.h>

#include "hash/crc.h"
#include "wire/be.h"

enum {
	/* In a frame without a VLAN tag. */
	AT_IP4_DST = NET_ETH_LEN + NET_IP4_AT_DST,
	NOBODY = UINT16_MAX,
};

struct steering {
	enum steer mode;
	unsigned n; /* collectors */
	struct collector_address *address;
	uint32_t hash[STAGE];
	uint16_t aim[STAGE]; /* STEER_ADDRESS: of the stage's packets */
	uint16_t to[STAGE];  /* of the jobs in hand */
	/* The jobs in hand, in the order of their collectors. */
	uint16_t begin[COLLECTORS_MAX + 1];
	struct job_room room;
};

static unsigned collector_of(const struct steering *s, uint8_t version,
			     const uint8_t *ip)
{
	for (unsigned c = 0; c < s->n; c++)
		if (s->address[c].version == version &&
		    !memcmp(s->address[c].ip, ip, version == 6 ? 16 : 4))
			return c;
	return NOBODY;
}

/* Whose address a report was sent to. It was decoded once and was good. */
static unsigned aim_of(const struct steering *s, const struct pkt *p)
{
	struct net_udp u;

	if (p->len >= AT_IP4_DST + 4u &&
	    be16_load(p->data + NET_ETH_AT_TYPE) == NET_ETHERTYPE_IP4)
		return collector_of(s, 4, p->data + AT_IP4_DST);
	if (net_udp_decode(&u, p->data, p->len) < 0)
		return NOBODY;
	return collector_of(s, u.version, u.dst);
}

void steer_aim(struct translator *t)
{
	struct steering *s = t->steering;
	struct jobs *j = &t->stage;
	uint64_t all = UINT64_MAX, any = 0;
	unsigned left = 0;

	if (s->mode != STEER_ADDRESS)
		return;
	for (unsigned i = 0; i < j->n; i++) {
		unsigned at = j->at[i], c = aim_of(s, &t->pkts[at]);

		if (c == NOBODY)
			continue;
		s->aim[at] = (uint16_t)c;
		j->key[left] = j->key[i];
		j->at[left] = j->at[i];
		j->head[left++] = j->head[i];
		all &= j->head[i];
		any |= j->head[i];
	}
	t->ctr.bad_address += j->n - left;
	t->ctr.stored -= j->n - left;
	j->n = left;
	j->all = all;
	j->any = any;
}

/* The collectors of one table's jobs, to s->to. */
static void find(struct translator *t, const struct lane *l,
		 const struct jobs *j)
{
	static const enum crc_id id = CRC_COLLECTOR;
	struct steering *s = t->steering;
	uint32_t *hash = s->hash;

	if (s->mode == STEER_ADDRESS) {
		for (unsigned i = 0; i < j->n; i++)
			s->to[i] = s->aim[j->at[i]];
		return;
	}
	crc_batch(&id, 1, j->key, l->key_len, j->n, &hash);
	for (unsigned i = 0; i < j->n; i++)
		s->to[i] = (uint16_t)hash_mod(hash[i], s->n);
}

/* Sorts jobs by collector; those of one stay in order. */
static void sort(struct steering *s, const struct jobs *j)
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
		s->room.head[k] = j->head[i];
	}
}

void steer_run(struct translator *t, unsigned table, const struct jobs *j)
{
	struct steering *s = t->steering;
	struct jobs sorted = jobs_in(&s->room), part;

	find(t, &t->lane[table], j);
	sort(s, j);
	sorted.all = j->all;
	sorted.any = j->any;
	for (unsigned c = 0; c < s->n; c++) {
		part = jobs_part(&sorted, s->begin[c], s->begin[c + 1]);
		if (part.n)
			lane_go(t, c * t->n + table, &part);
	}
}

int steer_open(struct translator *t, const struct translate_options *o,
	       struct fault *f)
{
	size_t addresses = o->collectors * sizeof(*o->address);
	struct steering *s = calloc(1, sizeof(*s));

	t->steering = s;
	if (s)
		s->address = malloc(addresses);
	if (!s || !s->address)
		return fault_set(f, -ENOMEM, "no memory for the collectors");
	s->mode = o->steer;
	s->n = o->collectors;
	if (s->mode == STEER_ADDRESS)
		memcpy(s->address, o->address, addresses);
	return 0;
}

int steer_clone(struct translator *t)
{
	const struct steering *of = t->steering;
	const struct translate_options o = {.collectors = of ? of->n : 0,
					    .steer = of ? of->mode : 0,
					    .address = of ? of->address : NULL};

	t->steering = NULL;
	return of ? steer_open(t, &o, NULL) : 0;
}

void steer_close(struct translator *t)
{
	if (t->steering)
		free(t->steering->address);
	free(t->steering);
	t->steering = NULL;
}
