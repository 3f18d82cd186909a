/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The transports, against what the memory itself allows: the local transport's
 * limit is a plain loop of random stores (or additions) into the same table, in
 * the same rounds. RoCEv2 frames: made into /dev/null, and carried out from
 * memory.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench_parts.h"
#include "bench_two.h"
#include "rdma/local.h"
#include "rdma/responder.h"
#include "rdma/roce_out.h"
#include "region/layout.h"

enum {
	BATCH = 1024,
	OPS = 1 << 23,	  /* of a round */
	FRAMES = 1 << 20, /* kept in memory for the responder */
	FRAME_ROOM = 128,
	GIB = 1 << 30,
};

/* The table's size; small machines take less. */
static const uint64_t memory = UINT64_C(4) * GIB;

struct bench {
	struct region *region;
	struct local_transport *local;
	struct ticket ticket;
	struct op op[BATCH];
	uint64_t data[BATCH];
	uint8_t *frames; /* of both tables, FRAMES each */
	uint32_t frame_len[2];
};

static struct bench b;
static const char *const names[2] = {"slots", "counters"};

_Noreturn static void die(const struct error *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void make_region(const char *name)
{
	static struct layout l = {.n = 2};
	struct region_options o = {.epochs = 1};
	struct error err = {""};
	char text[32];

	for (int i = 0; i < 2; i++) {
		struct table *t = &l.table[i];

		snprintf(t->name, sizeof(t->name), "%s", names[i]);
		t->id = (uint16_t)(i + 1);
		layout_set(t, "kind", i ? "keyinc" : "keywrite", &err);
		layout_set(t, "key", "flow4", &err);
		if (!i)
			layout_set(t, "value", "4", &err);
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)memory / (i ? 4 : 1));
		layout_set(t, "memory", text, &err);
	}
	region_remove(name, NULL);
	if (region_create(NULL, name, &l, &o, &err) < 0 ||
	    region_open(&b.region, name, true, &err) < 0)
		die(&err);
	/* The name goes at once: nothing is left behind. */
	region_remove(name, NULL);
	if (local_open(&b.local, b.region, &err) < 0 ||
	    ticket_of_region(&b.ticket, b.region, &err) < 0)
		die(&err);
}

/* Maps every page, so that no round pays for it. */
static void touch(void)
{
	struct transport *transport = local_transport(b.local);
	uint64_t zero = 0;

	transport->begin(transport);
	for (uint16_t k = 0; k < 2; k++)
		for (uint64_t at = 0; at < region_table(b.region, k)->length;
		     at += 4096) {
			struct op op = {.verb = OP_WRITE,
					.table = k,
					.offset = at,
					.length = 8,
					.data = (const uint8_t *)&zero};

			transport->exec(transport, &op, 1, 0);
		}
	transport->end(transport);
}

static void fill(uint16_t table, struct rng *rng)
{
	uint64_t slots = region_table(b.region, table)->length / 8;

	for (int i = 0; i < BATCH; i++) {
		b.data[i] = rng_u64(rng);
		b.op[i] = (struct op){
			.verb = table ? OP_FETCH_ADD : OP_WRITE,
			.table = table,
			.length = 8,
			.offset = 8 * rng_below(rng, slots),
		};
		if (table)
			b.op[i].add = b.data[i];
		else
			b.op[i].data = (const uint8_t *)&b.data[i];
	}
}

/* Seconds that a transport takes for OPS operations; making them is not
 * counted. */
static double run(struct transport *transport, uint16_t table, uint64_t seed)
{
	struct rng rng = {.state = seed};
	double t, all = 0;

	for (int i = 0; i < OPS; i += BATCH) {
		fill(table, &rng);
		t = bench_now();
		transport->begin(transport);
		if (transport->exec(transport, b.op, BATCH, 0) < 0)
			exit(1);
		if (transport->end)
			transport->end(transport);
		all += bench_now() - t;
	}
	return all;
}

/* The same stores, by a loop that does nothing else. */
static double run_plain(uint16_t table, uint64_t seed)
{
	uint8_t *mem = (uint8_t *)region_read(b.region,
					      region_table(b.region, table), 1);
	struct rng rng = {.state = seed};
	double t, all = 0;

	for (int i = 0; i < OPS; i += BATCH) {
		fill(table, &rng);
		t = bench_now();
		for (int k = 0; k < BATCH; k++) {
			uint64_t *p = (uint64_t *)(mem + b.op[k].offset);

			if (table)
				*p += b.op[k].add;
			else
				memcpy(p, b.op[k].data, 8);
			__asm__ volatile("" ::: "memory");
		}
		all += bench_now() - t;
	}
	return all;
}

static void bench_local(uint16_t table, const char *what)
{
	double ours[BENCH_ROUNDS], limit[BENCH_ROUNDS];

	for (int r = 0; r < BENCH_ROUNDS; r++) {
		uint64_t seed = (uint64_t)r + 1;

		ours[r] = OPS / run(local_transport(b.local), table, seed) /
			  1e6;
		limit[r] = OPS / run_plain(table, seed + 99) / 1e6;
	}
	bench_row(what, bench_median(ours, BENCH_ROUNDS),
		  bench_median(limit, BENCH_ROUNDS),
		  region_page_kind(b.region));
}

static void bench_roce_out(uint16_t table, const char *what)
{
	double ours[BENCH_ROUNDS];
	struct error err = {""};

	for (int r = 0; r < BENCH_ROUNDS; r++) {
		struct roce_out *o;
		struct snk *s;

		if (snk_open(&s, "/dev/null", &err) < 0 ||
		    roce_out_open(&o, &b.ticket, s, 0, &err) < 0)
			die(&err);
		ours[r] = OPS / run(roce_out_transport(o), table, 5) / 1e6;
		roce_out_close(o);
		snk_close(s);
	}
	bench_row(what, bench_median(ours, BENCH_ROUNDS), 0, NULL);
}

/* FRAMES frames of a table, one after the other in memory. */
static void keep_frames(uint16_t table, const char *path)
{
	uint8_t *to = b.frames + (size_t)table * FRAMES * FRAME_ROOM;
	static struct pkt pkts[PKT_BATCH];
	struct rng rng = {.state = 77};
	struct error err = {""};
	struct roce_out *o;
	struct snk *k;
	struct src *s;
	int n;

	if (snk_open(&k, path, &err) < 0 ||
	    roce_out_open(&o, &b.ticket, k, 0, &err) < 0)
		die(&err);
	for (int i = 0; i < FRAMES; i += BATCH) {
		struct transport *transport = roce_out_transport(o);

		fill(table, &rng);
		if (transport->exec(transport, b.op, BATCH, 0) < 0)
			exit(1);
	}
	roce_out_close(o);
	if (snk_close(k) < 0 || src_open(&s, path, &err) < 0)
		die(&err);
	while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++, to += FRAME_ROOM) {
			b.frame_len[table] = pkts[i].len;
			memcpy(to, pkts[i].data, pkts[i].len);
		}
	src_close(s);
	unlink(path);
}

static double run_responder(uint16_t table, bool answers)
{
	const uint8_t *from = b.frames + (size_t)table * FRAMES * FRAME_ROOM;
	struct responder_options o = {.receives = UINT64_MAX};
	static struct pkt pkts[BATCH];
	struct error err = {""};
	struct responder *p;
	struct snk *k = NULL;
	double t;

	if ((answers && snk_open(&k, "/dev/null", &err) < 0) ||
	    responder_open(&p, b.region, &b.ticket, k, &o, &err) < 0)
		die(&err);
	t = bench_now();
	for (int i = 0; i < FRAMES; i += BATCH) {
		for (int j = 0; j < BATCH; j++, from += FRAME_ROOM)
			pkts[j] = (struct pkt){from, b.frame_len[table],
					       b.frame_len[table], 0};
		if (responder_rx(p, pkts, BATCH) < 0)
			exit(1);
	}
	t = bench_now() - t;
	if (responder_counters(p)->executed != FRAMES)
		exit(1);
	responder_close(p);
	snk_close(k);
	return FRAMES / t / 1e6;
}

static void bench_responder(uint16_t table, bool answers, const char *what)
{
	double ours[BENCH_ROUNDS];

	for (int r = 0; r < BENCH_ROUNDS; r++)
		ours[r] = run_responder(table, answers);
	bench_row(what, bench_median(ours, BENCH_ROUNDS), 0,
		  region_page_kind(b.region));
}

/* Where workers take from. */
struct cursor {
	uint16_t table;
	int at;
};

static int take(void *ctx, struct pkt *room, int max)
{
	struct cursor *c = ctx;
	const uint8_t *from = b.frames +
			      ((size_t)c->table * FRAMES + (size_t)c->at) *
				      FRAME_ROOM;
	int n = FRAMES - c->at < max ? FRAMES - c->at : max;

	for (int i = 0; i < n; i++, from += FRAME_ROOM)
		room[i] = (struct pkt){from, b.frame_len[c->table],
				       b.frame_len[c->table], 0};
	c->at += n;
	return n;
}

static double run_team(uint16_t table, bool answers)
{
	struct responder_options o = {.receives = UINT64_MAX};
	struct cursor from = {table, 0};
	const struct responder_cores_options co = {
		.workers = 2, .take = take, .ctx = &from};
	static struct pkt pkts[PKT_BATCH];
	struct responder_cores *c;
	struct error err = {""};
	struct responder *p;
	struct snk *k = NULL;
	double t;
	int n;

	if ((answers && snk_open(&k, "/dev/null", &err) < 0) ||
	    responder_open(&p, b.region, &b.ticket, k, &o, &err) < 0 ||
	    responder_cores_open(&c, p, &co, &err) < 0)
		die(&err);
	t = bench_now();
	while ((n = take(&from, pkts, PKT_BATCH)))
		if (responder_cores_rx(c, pkts, (size_t)n) < 0)
			exit(1);
	responder_cores_rest(c);
	t = bench_now() - t;
	responder_cores_close(c);
	if (responder_counters(p)->executed != FRAMES)
		exit(1);
	responder_close(p);
	snk_close(k);
	return FRAMES / t / 1e6;
}

static void bench_team(uint16_t table, bool answers, const char *what)
{
	double ours[BENCH_ROUNDS], one[BENCH_ROUNDS];

	parts_begin();
	for (int r = 0; r < BENCH_ROUNDS; r++) {
		one[r] = run_responder(table, answers);
		ours[r] = run_team(table, answers);
	}
	bench_row(what, bench_median(ours, BENCH_ROUNDS),
		  bench_median(one, BENCH_ROUNDS), region_page_kind(b.region));
	parts_row(what, (double)FRAMES * BENCH_ROUNDS);
}

int main(void)
{
	char name[64], path[64];

	snprintf(name, sizeof(name), "dta-test-%d-bench-rdma", (int)getpid());
	snprintf(path, sizeof(path), "/tmp/bench-rdma-%d.pcap", (int)getpid());
	make_region(name);
	touch();
	b.frames = malloc((size_t)2 * FRAMES * FRAME_ROOM);
	if (!b.frames)
		return 1;
	bench_local(0, "local transport, 8-byte stores (limit: plain loop)");
	bench_local(1, "local transport, FETCH_ADD (limit: plain loop)");
	bench_roce_out(0, "RoCEv2 frames made, 8-byte WRITE");
	bench_roce_out(1, "RoCEv2 frames made, FETCH_ADD");
	keep_frames(0, path);
	keep_frames(1, path);
	bench_responder(0, false, "responder, 8-byte WRITE");
	bench_responder(1, false, "responder, FETCH_ADD");
	bench_responder(1, true, "responder, FETCH_ADD answered");
	bench_line();
	bench_team(0, false, "Two cores: responder, WRITE (limit: one)");
	bench_team(1, false, "Two cores: responder, FETCH_ADD");
	bench_team(1, true, "Two cores: responder, FETCH_ADD answered");
	free(b.frames);
	ticket_fini(&b.ticket);
	local_close(b.local);
	region_close(b.region);
	return 0;
}
