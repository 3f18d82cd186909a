/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ioam dump CAPTURE: what we read of IOAM in a capture, a line a packet, of
 * those that have a trace; the fields of tshark's names, in its order, as
 *     opt_type ns nodelen flags remlen type hlim id iif ...
 * decimal, as the packet has them; those of several nodes with commas between;
 * - for none. Behind them the flow, when it was captured and when the nodes had
 * it, ns.
 *
 * ioam make CAPTURE COUNT: packets with traces of all kinds, filled at random.
 * ioam source CAPTURE COUNT MAC SRC DST TYPE NAMESPACE WORDS: UDP packets to be
 * sent to a router with that MAC; WORDS 0: without IOAM.
 * ioam strip IN OUT: the packets of a capture without it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "int/ioam.h"
#include "ioam_push.h"
#include "packet/pkt.h"
#include "net/key.h"
#include "net/net.h"

enum {
	ROOM = 4096,
	PAYLOAD = 64,
};

static struct ioam_decoder d;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "ioam: %s\n", what);
	exit(1);
}

static struct src *open_src(const char *path)
{
	struct error err;
	struct src *s;

	must(src_open(&s, path, &err) == 0, path);
	return s;
}

static struct snk *open_snk(const char *path)
{
	struct error err;
	struct snk *k;

	must(snk_open(&k, path, &err) == 0, path);
	return k;
}

/* A field as it is in a node, of that width: the layout's part, or the other.
 */
static const struct int_part *part_of(const struct int_layout *layout,
				      enum int_field field, unsigned len)
{
	const struct int_part *p = &layout->part[field];

	if (!(layout->has & 1u << field))
		return NULL;
	while (p->len != len && p->other)
		p = &layout->part[INT_FIELDS - 1 + p->other];
	return p->len == len ? p : NULL;
}

struct list {
	bool any;
};

static void put(struct list *l, uint64_t v)
{
	printf("%c%" PRIu64, l->any ? ',' : ' ', v);
	l->any = true;
}

static void end(const struct list *l)
{
	if (!l->any)
		fputs(" -", stdout);
}

/* tshark's columns. */
static const struct column {
	uint8_t field, len;
} columns[] = {
	{INT_HOP_LIMIT, 1},	 {INT_NODE, 3},
	{INT_INGRESS, 2},	 {INT_EGRESS, 2},
	{INT_TIME_SECONDS, 4},	 {INT_TIME_FRACTION, 4},
	{INT_LATENCY, 4},	 {INT_NAMESPACE_DATA, 4},
	{INT_OCCUPANCY, 4},	 {INT_NODE, 7},
	{INT_INGRESS, 4},	 {INT_EGRESS, 4},
	{INT_NAMESPACE_DATA, 8}, {INT_BUFFER_OCCUPANCY, 4},
};

/* The hop limit is there twice if the node's id is wide and short. */
static void dump_column(const struct ioam *t, const struct column *c)
{
	const struct int_hops *h = &t->record.stack;
	const struct int_part *p = part_of(h->layout, c->field, c->len);
	struct list l = {0};

	for (unsigned i = 0; p && i < h->n; i++) {
		if (p->other && c->field == INT_HOP_LIMIT)
			put(&l,
			    int_hop(h,
				    i)[h->layout
					       ->part[INT_FIELDS - 1 + p->other]
					       .at]);
		put(&l, int_load(int_hop(h, i) + p->at, p->len));
	}
	end(&l);
}

static void dump_snapshots(const struct ioam *t)
{
	struct list len = {0}, schema = {0};

	for (unsigned i = 0; t->opaque && i < t->record.stack.n; i++)
		put(&len, ioam_snapshot_of(&t->record.stack, i).len / 4);
	end(&len);
	for (unsigned i = 0; t->opaque && i < t->record.stack.n; i++)
		put(&schema, ioam_snapshot_of(&t->record.stack, i).schema);
	end(&schema);
}

/* When node i had the packet, ns. False: it does not say it all. */
static bool time_of(const struct ioam *t, unsigned i, uint64_t *ns)
{
	const struct int_layout *layout = t->record.stack.layout;
	const uint8_t *node = int_hop(&t->record.stack, i);
	uint64_t seconds, fraction;

	if (!int_get(layout, node, INT_TIME_SECONDS, &seconds) ||
	    !int_get(layout, node, INT_TIME_FRACTION, &fraction))
		return false;
	*ns = seconds * 1000000000u + fraction;
	return true;
}

static void dump_trace(const struct ioam *t, uint64_t ts_ns)
{
	const struct int_record *v = &t->record;
	char flow[KEY_TEXT_MAX] = "-";
	struct list l = {0};
	uint64_t ns;

	printf("%u %u %u %u %u %u", t->type, v->domain, v->stack.len / 4,
	       t->flags, t->remaining,
	       be24_load(t->option + IOAM_LEN + IOAM_TRACE_AT_BITMAP));
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		dump_column(t, &columns[i]);
	dump_snapshots(t);
	if (v->key_len)
		key_format(flow,
			   v->key_len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6,
			   v->key, v->key_len);
	printf(" %s %" PRIu64, flow, ts_ns);
	for (unsigned i = 0; i < v->stack.n; i++)
		if (time_of(t, i, &ns))
			put(&l, ns);
	end(&l);
	putchar('\n');
}

static void dump(const char *path)
{
	static struct pkt pkts[PKT_BATCH];
	struct src *s = open_src(path);
	struct ioam_reader r;
	enum ioam_reason why;
	struct ioam t;
	struct error err;
	int n;

	while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++) {
			ioam_begin(&r, &d, pkts[i].data, pkts[i].len);
			while ((why = ioam_next(&r, &t)) != IOAM_END)
				if (why == IOAM_OK)
					dump_trace(&t, pkts[i].ts_ns);
				else
					printf("refused %d\n", (int)why);
		}
	must(n == 0, err.text);
	src_close(s);
}

static size_t plain(uint8_t *frame, const struct net_udp6 *h)
{
	static const uint8_t payload[PAYLOAD] = "a packet of the hosts";
	int n = net_udp6_encode(frame, ROOM, h, payload, PAYLOAD);

	must(n > 0, "no frame");
	memcpy(frame + n, payload, PAYLOAD);
	return (size_t)n + PAYLOAD;
}

static size_t insert(uint8_t *out, const uint8_t *frame, size_t len,
		     const struct ioam_request *ask)
{
	int n = ioam_insert(out, ROOM, frame, len, ask);

	must(n > 0, "it cannot be inserted");
	return (size_t)n;
}

/* So many nodes, or as many as there is room for, and the overflow. */
static size_t fill(uint8_t *frame, size_t len, unsigned nodes, struct rng *rng)
{
	static const uint8_t snapshot[16] = "of any length.";

	while (nodes--) {
		struct ioam_node node = {
			.has = rng_u64(rng) & UINT32_MAX,
			.snapshot = {rng_u64(rng) & 0xffffff, snapshot,
				     rng_below(rng, 5) * 4},
		};
		struct ioam_reader r;
		struct ioam t;
		int n;

		for (unsigned i = 0; i < INT_FIELDS; i++)
			node.value[i] = rng_u64(rng);
		ioam_begin(&r, &d, frame, len);
		must(ioam_next(&r, &t) == IOAM_OK, "it cannot be read");
		n = ioam_push(frame, len, ROOM, &t, &node);
		must(n > 0, "no node can be pushed");
		len = (size_t)n;
	}
	return len;
}

static void make(const char *path, uint64_t count)
{
	struct net_udp6 h = {.src = {0xfd},
			     .dst = {0xfd, 1},
			     .src_port = 1000,
			     .dst_port = 80,
			     .ttl = 64};
	struct snk *k = open_snk(path);
	struct rng rng = {3};
	uint8_t frame[ROOM], *out;

	for (uint64_t i = 0; i < count; i++) {
		/* each bit alone first, then any of them */
		struct ioam_request ask = {
			.type = i % 2,
			.namespace = rng_u64(&rng) & 0xffff,
			.bitmap = 1u << (23 - i / 2 % 12),
			.words = (uint8_t)rng_below(&rng, IOAM_NODES_MAX + 1),
		};

		if (i >= 24)
			ask.bitmap |= rng_u64(&rng) & 0xfff002;
		must((out = snk_room(k, ROOM)), path);
		snk_done(k,
			 fill(out, insert(out, frame, plain(frame, &h), &ask),
			      (unsigned)rng_below(&rng, 8), &rng),
			 i);
	}
	must(snk_close(k) == 0, path);
}

static uint32_t number(const char *text, uint32_t max)
{
	uint64_t v = 0;

	must(text_number(&v, text, max), text);
	return (uint32_t)v;
}

static void source(char **argv)
{
	struct net_udp6 h = {
		.dst_port = 80, .ttl = 64, .eth_src = {2, 0, 0, 0, 0, 1}};
	struct ioam_request ask = {
		.bitmap = number(argv[5], 0xffffff),
		.namespace = (uint16_t)number(argv[6], 0xffff),
		.words = (uint8_t)number(argv[7], IOAM_NODES_MAX),
	};
	uint32_t count = number(argv[1], 50000);
	struct snk *k = open_snk(argv[0]);
	uint8_t frame[ROOM], *out;
	size_t len;

	must(text_mac(h.eth_dst, argv[2]), argv[2]);
	must(text_ip(h.src, argv[3]) == 6, argv[3]);
	must(text_ip(h.dst, argv[4]) == 6, argv[4]);
	for (uint32_t i = 0; i < count; i++) {
		h.src_port = (uint16_t)(10000 + i);
		len = plain(frame, &h);
		must((out = snk_room(k, ROOM)), argv[0]);
		if (ask.words)
			len = insert(out, frame, len, &ask);
		else
			memcpy(out, frame, len);
		snk_done(k, len, i);
	}
	must(snk_close(k) == 0, argv[0]);
}

static void strip(const char *in, const char *to)
{
	static struct pkt pkts[PKT_BATCH];
	struct src *s = open_src(in);
	struct snk *k = open_snk(to);
	struct error err;
	uint8_t *out;
	int n, len;

	while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++) {
			must((out = snk_room(k, pkts[i].len)), to);
			len = ioam_strip(out, pkts[i].len, pkts[i].data,
					 pkts[i].len);
			must(len > 0, "it cannot be taken out");
			snk_done(k, (size_t)len, pkts[i].ts_ns);
		}
	must(n == 0, err.text);
	src_close(s);
	must(snk_close(k) == 0, to);
}

int main(int argc, char **argv)
{
	ioam_init(&d, int_profile_at(0));
	if (argc == 3 && !strcmp(argv[1], "dump"))
		dump(argv[2]);
	else if (argc == 4 && !strcmp(argv[1], "make"))
		make(argv[2], number(argv[3], 100000));
	else if (argc == 10 && !strcmp(argv[1], "source"))
		source(argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "strip"))
		strip(argv[2], argv[3]);
	else
		must(false, "usage: dump, make, source, strip");
	return 0;
}
