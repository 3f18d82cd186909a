/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_reports.h - reports in memory, and a region for them: what the
 * benchmarks of the translator have in common.
 */
#ifndef TESTS_BENCH_BENCH_REPORTS_H
#define TESTS_BENCH_BENCH_REPORTS_H

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "rdma/local.h"
#include "dta/cores.h"
#include "net/be.h"
#include "net/dta.h"
#include "net/key.h"
#include "net/net.h"

enum {
	REPORTS = 1 << 20,
	FRAME = 80,	  /* bytes from one frame to the next, mostly */
	LINE_FRAME = 128, /* of values that make a slot a line */
	KEY = 13,
	HOPS = 5,
	LISTS = 255,
	TABLES = 5,
	LINE = 64, /* bytes of a line: the checksum, the value */
	LINE_VALUE = LINE - 4,
	LINE_TABLE = 9,
	LINE_PART =
		64, /* Key-Write slots for a line: an eighth of the memory */
	REPORTERS = 64,
};

/* Frames one after the other, as in a capture that is in memory. */
struct traffic {
	size_t room; /* bytes from one to the next */
	uint8_t *block;
	struct pkt *pkt;
	uint16_t numbers[REPORTERS];
};

static inline void die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

static inline void *must(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static inline struct traffic traffic_new_of(size_t room)
{
	return (struct traffic){
		.room = room,
		.block = must(calloc(REPORTS + 1, room)),
		.pkt = must(calloc(REPORTS, sizeof(struct pkt))),
	};
}

static inline struct traffic traffic_new(void)
{
	return traffic_new_of(FRAME);
}

/* From one reporter or another, each of which numbers its own. */
static inline void traffic_set(struct traffic *tf, unsigned i,
			       const struct dta_report *report)
{
	uint8_t who = (uint8_t)(rng_mix(i) % REPORTERS);
	struct dta_report numbered = *report, *r = &numbered;
	struct net_udp4 h = {.src = {10, 0, 1, who},
			     .dst = {10, 0, 0, 51},
			     .src_port = 50000,
			     .dst_port = DTA_PORT,
			     .ttl = 64};
	uint8_t *p = tf->block + (size_t)(i + 1) * tf->room;
	int len;

	r->sequence = tf->numbers[who]++;
	len = dta_encode(p + 42, tf->room - 42, DTA_FORMAT_1, r);
	if (len < 0 || net_udp4_encode(p, 42, &h, (size_t)len) < 0)
		die("a report that does not fit");
	tf->pkt[i] = (struct pkt){p, 42u + (uint32_t)len, 42u + (uint32_t)len,
				  i * 100ull};
}

static inline void traffic_free(struct traffic *tf)
{
	free(tf->block);
	free(tf->pkt);
}

/* Random keys, or few: key i is a function of its number. */
static inline void key_of(uint8_t key[16], uint64_t number)
{
	be64_store(key, rng_mix(number + 1));
	be64_store(key + 8, rng_mix(~number));
}

static inline struct table table_of(uint8_t kind, uint16_t key_len,
				    uint16_t value_len, uint32_t stride,
				    uint64_t units)
{
	struct table t = {.id = kind,
			  .kind = kind,
			  .copies = 1,
			  .key_len = key_len,
			  .key_type = KEY_HEX,
			  .value_len = value_len,
			  .stride = stride,
			  .units = units,
			  .sequence = TABLE_SEQ_COUNT};

	snprintf(t.name, sizeof(t.name), "%s", table_kind_name(kind));
	return t;
}

/* A table of each kind; Key-Write is 4 GiB, if the machine has them. */
static inline struct layout layout_of(uint64_t slots)
{
	struct layout l = {.n = TABLES};

	l.table[0] = table_of(TABLE_KEYWRITE, KEY, 4, 8, slots);
	l.table[1] = table_of(TABLE_APPEND, 4, 4, 4, 1 << 16);
	l.table[1].key_type = KEY_U32;
	l.table[1].lists = LISTS;
	l.table[1].batch = 16;
	l.table[1].flush_ms = 1000;
	l.table[2] = table_of(TABLE_KEYINC, KEY, 8, 8, slots / 4);
	l.table[3] = table_of(TABLE_POSTCARD, KEY, 4, 32, 1 << 22);
	l.table[3].hops = HOPS;
	l.table[3].cache_rows = 32768;
	l.table[3].value_min = 1;
	l.table[3].value_max = 1 << 18;
	l.table[4] = table_of(TABLE_KEYWRITE, KEY, LINE_VALUE, LINE,
			      slots / LINE_PART);
	l.table[4].id = LINE_TABLE;
	snprintf(l.table[4].name, sizeof(l.table[4].name), "lines");
	return l;
}

/* The region, its tables' memory, and a transport into it. */
struct bed {
	struct region *region;
	struct local_transport *local;
	struct table table[TABLES];
	uint8_t *mem[TABLES];
	uint64_t slots;
	const char *pages;
};

/* Of so many Key-Write slots, or as many as there is memory for. */
static inline void bed_make(struct bed *b, const char *name, uint64_t slots)
{
	struct region_options o = {.epochs = 1};
	struct writer *w = NULL;
	struct error err = {0};
	char path[64];
	int rc = -ENOMEM;

	snprintf(path, sizeof(path), "dta-test-%d-bench-%s", getpid(), name);
	for (b->slots = slots / 2; rc && b->slots >= 1u << 20; b->slots /= 2) {
		struct layout l = layout_of(b->slots);

		rc = region_create(&b->region, path, &l, &o, &err);
	}
	b->slots *= 2;
	/* The name goes at once: nothing is left behind, come what may. */
	region_remove(path, NULL);
	if (rc || local_open(&b->local, b->region, &err) ||
	    writer_open(&w, b->region, &err))
		die(err.text);
	b->pages = region_page_kind(b->region);
	writer_enter(w);
	for (unsigned i = 0; i < TABLES; i++) {
		b->table[i] = *region_table(b->region, i);
		b->mem[i] = writer_mem(w, &b->table[i]);
		/* map every page now, not in the first round */
		memset(b->mem[i], 0, b->table[i].length);
	}
	writer_leave(w);
	writer_close(w);
}

static inline void bed_unmake(struct bed *b)
{
	local_close(b->local);
	region_close(b->region);
}

static inline struct translator *translator_new(const struct bed *b)
{
	struct translator *t;
	struct error err = {0};

	if (translate_open(&t, b->table, TABLES, local_transport(b->local),
			   NULL, &err))
		die(err.text);
	return t;
}

/* Where the workers of a team take from. */
struct cursor {
	const struct traffic *tf;
	unsigned at;
};

static inline int cursor_take(void *ctx, const struct pkt **pkts,
			      struct pkt *room, int max)
{
	struct cursor *c = ctx;
	unsigned n = REPORTS - c->at < (unsigned)max ? REPORTS - c->at
						     : (unsigned)max;

	(void)room;
	*pkts = c->tf->pkt + c->at;
	c->at += n;
	return (int)n;
}

/* All of the traffic, through a team that takes from this cursor. */
static inline void together(struct translate_cores *c, struct cursor *from)
{
	const struct pkt *pkts;
	int n;

	from->at = 0;
	while ((n = cursor_take(from, &pkts, NULL, TRANSLATE_CORES_BATCH)))
		if (translate_cores_rx(c, pkts, (size_t)n))
			die("translate_cores_rx failed");
	translate_cores_rest(c);
}

static inline void alone(struct translator *t, const struct traffic *tf)
{
	for (unsigned i = 0; i < REPORTS; i += PKT_BATCH)
		if (translate_rx(t, tf->pkt + i, PKT_BATCH))
			die("translate_rx failed");
}

static inline void check(const struct translator *t)
{
	const struct translate_ledger *c = translate_counters(t);

	if (c->stored != c->received)
		die("a report was dropped");
}

/* Of a table's kind and size; the value's last bytes are the key's number. */
static inline void keyed(struct traffic *tf, const struct table *t,
			 uint8_t copies)
{
	uint8_t key[16], value[LINE_VALUE] = {0};
	struct dta_report r = {.opcode = t->kind,
			       .copies = copies,
			       .table = t->id,
			       .key_len = KEY,
			       .data_len = t->value_len,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		key_of(key, i);
		be32_store(value + r.data_len - 4, i);
		traffic_set(tf, i, &r);
	}
}

/* Packets' postcards in order of the hops, between packets of other flows. */
static inline void postcards(struct traffic *tf, unsigned between)
{
	uint8_t key[16], value[4];
	struct dta_report r = {.opcode = TABLE_POSTCARD,
			       .path_len = HOPS,
			       .table = TABLE_POSTCARD,
			       .key_len = KEY,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		r.hop = (uint8_t)(i / between % HOPS);
		key_of(key, i / (between * HOPS) * between + i % between);
		be32_store(value, 1 + i % 1000);
		traffic_set(tf, i, &r);
	}
}

static inline void entries(struct traffic *tf, unsigned lists)
{
	uint8_t key[4], value[4];
	struct dta_report r = {.opcode = TABLE_APPEND,
			       .table = TABLE_APPEND,
			       .key_len = 4,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		be32_store(key, (uint32_t)(rng_mix(i) % lists));
		be32_store(value, i);
		traffic_set(tf, i, &r);
	}
}

#endif
