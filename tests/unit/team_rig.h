/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team_rig.h - traffic with something of everything in it, and a source of it
 * that workers take from in turn.
 *
 * Few keys and few slots, so that batches meet in memory; reporters that lose
 * some of their reports, ask, and number tracked reports for strict tables;
 * immediates; frames of other shapes, and such that are none; clocks that jump.
 */
#ifndef TESTS_UNIT_TEAM_RIG_H
#define TESTS_UNIT_TEAM_RIG_H

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	TEAM_REPORTERS = 200,
	TEAM_KEYS = 700,
	TEAM_ROOM = 1152,     /* bytes of a frame, at most */
	TEAM_LONG_LEN = 1000, /* whose batches have no room with each other */
};

/* The tables, by id. */
enum {
	TEAM_COUNTED = 1, /* Key-Write, 8 bytes a slot */
	TEAM_STRICT,	  /* the same */
	TEAM_WIDE,	  /* 24 bytes: some lie across two cache lines */
	TEAM_PATHS,	  /* postcards */
	TEAM_LISTS,	  /* Append, few bytes, many lists */
	TEAM_LONG,	  /* Append, many bytes */
	TEAM_SUMS,
	TEAM_OTHERS, /* postcards, too */
	TEAM_TABLES = TEAM_OTHERS,
};

static const char *const team_fields[][3] = {
	{"counted", "kind", "keywrite"}, {"counted", "key", "hex:13"},
	{"counted", "value", "4"},	 {"counted", "slots", "2Ki"},
	{"strict", "kind", "keywrite"},	 {"strict", "key", "hex:13"},
	{"strict", "value", "4"},	 {"strict", "slots", "1000"},
	{"strict", "copies", "1"},	 {"strict", "sequence", "strict"},
	{"wide", "kind", "keywrite"},	 {"wide", "key", "hex:13"},
	{"wide", "value", "20"},	 {"wide", "slots", "500"},
	{"wide", "stride", "packed"},	 {"wide", "copies", "3"},
	{"wide", "sequence", "off"},	 {"paths", "kind", "postcard"},
	{"paths", "key", "hex:13"},	 {"paths", "chunks", "300"},
	{"paths", "values", "1-1000"},	 {"paths", "copies", "2"},
	{"paths", "cache", "64"},	 {"lists", "kind", "append"},
	{"lists", "value", "4"},	 {"lists", "ring", "100"},
	{"lists", "lists", "40"},	 {"lists", "batch", "8"},
	{"lists", "flush", "2ms"},	 {"long", "kind", "append"},
	{"long", "value", "1000"},	 {"long", "ring", "50"},
	{"long", "lists", "41"},	 {"long", "batch", "4"},
	{"sums", "kind", "keyinc"},	 {"sums", "key", "hex:13"},
	{"sums", "slots", "300"},	 {"others", "kind", "postcard"},
	{"others", "key", "hex:13"},	 {"others", "chunks", "300"},
	{"others", "values", "1-1000"},	 {"others", "cache", "64"},
};

struct traffic {
	struct rng rng;
	uint16_t number[TEAM_REPORTERS];
	uint64_t now_ns;
	unsigned only; /* this table's reports, 0: all */
	/* So many of one table, then so many of the other; 0: not so. */
	unsigned spell, either[2];
	bool quiet; /* nobody asks for immediates */
	/* All frames are good reports of the common shape, and most postcards
	 * of a key come in the order of their hops, and want the same. */
	bool plain;
	uint8_t hop[TEAM_KEYS]; /* there: the next one */
	size_t batch;		/* of so many packets all; 0: any */
	size_t n;
	struct pkt *pkt;
	uint8_t *block;
	size_t at; /* taken so far */
};

static inline unsigned team_pick(struct traffic *tf, unsigned n)
{
	return (unsigned)(rng_u64(&tf->rng) >> 33) % n;
}

static inline uint64_t team_time(struct traffic *tf)
{
	unsigned what = team_pick(tf, 5000);

	tf->now_ns += 700;
	if (what == 0)
		tf->now_ns += 5000000; /* lists are due meanwhile */
	if (what == 1 && tf->now_ns > UINT64_C(60000000000))
		tf->now_ns -= UINT64_C(1000000000); /* a clock was set */
	return what < 50 ? tf->now_ns - 20000 : tf->now_ns; /* out of order */
}

static inline unsigned team_table(struct traffic *tf)
{
	if (tf->spell)
		return tf->either[tf->at / tf->spell % 2];
	return tf->only ? tf->only : 1 + team_pick(tf, TEAM_TABLES);
}

/* Paths of five hops, of three and of none that is known, whose first and last
 * hops change places now and then. */
static inline void team_next_hop(struct traffic *tf, struct dta_report *r,
				 unsigned who)
{
	static const uint8_t path_len[] = {5, 5, 3, 0};
	unsigned hops = path_len[who % 4] ? path_len[who % 4] : 5;

	r->path_len = path_len[who % 4];
	r->hop = tf->hop[who]++ % hops;
	if (!team_pick(tf, 10))
		r->hop = (uint8_t)(hops - 1 - r->hop);
	r->copies = 0;
}

/* A report for a table of its own choice, all but its number. */
static inline void team_report(struct traffic *tf, struct dta_report *r,
			       uint8_t *key, uint8_t *data)
{
	static const uint8_t kind[] = {0,
				       DTA_KEYWRITE,
				       DTA_KEYWRITE,
				       DTA_KEYWRITE,
				       DTA_POSTCARD,
				       DTA_APPEND,
				       DTA_APPEND,
				       DTA_KEYINC,
				       DTA_POSTCARD};
	static const uint16_t len[] = {0, 4, 4, 20, 4, 4, TEAM_LONG_LEN, 8, 4};
	unsigned table = team_table(tf);
	unsigned who = team_pick(tf, TEAM_KEYS);

	who = team_pick(tf, 3) ? who : who % 7; /* some are frequent */
	memset(key, 0, 13);
	be32_store(key, kind[table] == DTA_APPEND ? who % 41 : who);
	for (unsigned i = 0; i < TEAM_LONG_LEN; i += 8)
		be64_store(data + i, rng_u64(&tf->rng) % 1000 + 1);
	be32_store(data, 1 + team_pick(tf, 1000));
	*r = (struct dta_report){
		.opcode = kind[table],
		.immediate = !team_pick(tf, 60) && !tf->quiet,
		.table = (uint16_t)table,
		.copies = team_pick(tf, 4) ? 0 : (uint8_t)team_pick(tf, 5),
		.key_len = kind[table] == DTA_APPEND ? 4 : 13,
		.data_len = len[table],
		.key = key,
		.data = data,
	};
	if (table == TEAM_LISTS && !team_pick(tf, 10))
		r->data_len = 12; /* three entries */
	if (kind[table] == DTA_POSTCARD) {
		r->hop = (uint8_t)team_pick(tf, 5);
		r->path_len = team_pick(tf, 2) ? 5 : 0;
	}
	if (kind[table] == DTA_POSTCARD && tf->plain && team_pick(tf, 20))
		team_next_hop(tf, r, who);
	r->tracked = table == TEAM_STRICT;
}

/* A question, or a frame that is nobody's. */
static inline void team_oddity(struct traffic *tf, struct dta_report *r)
{
	if (team_pick(tf, 2))
		r->table = 99;
	else
		*r = (struct dta_report){.opcode = DTA_NACK,
					 .hop = DTA_NACK_STATE,
					 .table = TEAM_STRICT};
}

static inline size_t team_frame(struct traffic *tf, uint8_t *frame)
{
	unsigned who = team_pick(tf, TEAM_REPORTERS);
	uint8_t key[16], data[TEAM_LONG_LEN];
	struct dta_report r;
	int shape = team_pick(tf, 12) || tf->plain ? SHAPE_COMMON
						   : (int)team_pick(tf, SHAPES);

	who = team_pick(tf, 2) ? who : who % 3;
	team_report(tf, &r, key, data);
	if (!team_pick(tf, 100) && !tf->plain)
		team_oddity(tf, &r);
	if (!team_pick(tf, 80))
		tf->number[who]++; /* one is lost */
	/* What is tracked is a reporter's alone. */
	who = r.tracked || r.opcode == DTA_NACK ? who / 2 * 2 : who | 1;
	who %= TEAM_REPORTERS;
	r.sequence = tf->number[who]++;
	if (!team_pick(tf, 90))
		tf->number[who] -= 3; /* and some come again */
	return frame_of(frame, DTA_FORMAT_1, &r, (uint8_t)who, shape);
}

static inline struct traffic *traffic_make(const struct traffic *like)
{
	struct traffic *tf = calloc(1, sizeof(*tf));
	size_t n = like->n;

	*tf = *like;
	tf->now_ns = UINT64_C(50000000000);
	tf->pkt = calloc(n, sizeof(*tf->pkt));
	tf->block = calloc(n + 1, TEAM_ROOM);
	for (size_t i = 0; i < n; i++, tf->at++) {
		uint8_t *p = tf->block + (i + 1) * TEAM_ROOM, frame[FRAME_ROOM];
		uint32_t len = (uint32_t)team_frame(tf, frame);

		if (!team_pick(tf, 300) && !tf->plain)
			len = team_pick(tf, len); /* cut */
		memcpy(p, frame, len);
		tf->pkt[i] = (struct pkt){p, len, len, team_time(tf)};
	}
	return tf;
}

static inline struct traffic *traffic_new(size_t n, uint64_t seed,
					  unsigned only)
{
	return traffic_make(
		&(struct traffic){.n = n, .rng.state = seed, .only = only});
}

static inline void traffic_free(struct traffic *tf)
{
	free(tf->pkt);
	free(tf->block);
	free(tf);
}

/* The next packets: where a batch ends depends on where it begins alone. */
static inline int traffic_take(void *ctx, const struct pkt **pkts,
			       struct pkt *room, int max)
{
	struct traffic *tf = ctx;
	size_t n = rng_mix(tf->at) % 8 ? 400
				       : 1 + rng_mix(tf->at) % (size_t)max;

	if (tf->batch)
		n = tf->batch;
	if (n > tf->n - tf->at)
		n = tf->n - tf->at;
	(void)pkts;
	memcpy(room, tf->pkt + tf->at, n * sizeof(*room));
	tf->at += n;
	return (int)n;
}

#endif
