/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The RoCEv2 transport: every field of every frame against IBTA vol. 1, 9.2
 * to 9.4, its iCRC against zlib's; lists, splitting, PSNs; and that the
 * responder makes of the frames what the local transport makes of the
 * operations.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>

#include "base/rng.h"
#include "rdma_rig.h"
#include "test.h"
#include "region_sums.h"

enum {
	FRAMES_MAX = 8192,
};

static struct rig g;

/* A transport into a file, and the frames that come out of it. */
struct out {
	char path[64];
	struct snk *sink;
	struct roce_out *o;
	struct transport *transport;
};

static struct pkt frames[FRAMES_MAX];

static struct out open_out(const struct ticket *t, unsigned ack_every)
{
	struct error err = {""};
	struct out k = {0};

	snprintf(k.path, sizeof(k.path), "/tmp/test-roce-out-%d.pcap",
		 (int)getpid());
	if (snk_open(&k.sink, k.path, &err) < 0 ||
	    roce_out_open(&k.o, t, k.sink, ack_every, &err) < 0)
		rig_die("transport", &err);
	k.transport = roce_out_transport(k.o);
	return k;
}

/* Ends the transport; its frames, copied so that all stay. Returns their
 * number. */
static size_t close_out(struct out *k)
{
	static uint8_t *kept;
	struct error err = {""};
	size_t n = 0, room = 0;
	struct src *s;
	int got;

	roce_out_close(k->o);
	TEST(snk_close(k->sink) == 0);
	free(kept);
	kept = malloc((size_t)FRAMES_MAX * 1200);
	if (!kept || src_open(&s, k->path, &err) < 0)
		rig_die("frames", &err);
	while ((got = src_rx(s, frames + n, 1, &err)) > 0 &&
	       n < FRAMES_MAX - 1) {
		memcpy(kept + room + CRC_HEADROOM, frames[n].data,
		       frames[n].len);
		frames[n].data = kept + room + CRC_HEADROOM;
		room += CRC_HEADROOM + frames[n].len;
		n++;
	}
	TEST(got == 0);
	src_close(s);
	unlink(k->path);
	return n;
}

static struct roce decode(size_t i)
{
	struct roce r = {0};
	const uint8_t *end = frames[i].data + frames[i].len;
	uint32_t sum = (uint32_t)end[-4] | (uint32_t)end[-3] << 8 |
		       (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24;

	TEST(roce_decode(&r, frames[i].data, frames[i].len) == 0 && r.icrc_ok);
	TEST(rig_icrc(frames[i].data, frames[i].len) == sum);
	return r;
}

/* What all frames have in common. */
static void check_frame(const struct roce *r, const struct ticket *t,
			unsigned table, uint32_t psn)
{
	TEST(!memcmp(r->eth_dst, t->mac, 6) &&
	     !memcmp(r->eth_src, t->peer_mac, 6));
	TEST(r->version == t->version && !memcmp(r->src, t->peer_ip, 16) &&
	     !memcmp(r->dst, t->ip, 16));
	TEST(r->src_port == (0xc000 | (t->at[table].qpn & 0x3fff)));
	TEST(r->migreq && !r->solicited && r->tver == 0 && r->pkey == 0xffff);
	TEST(r->dest_qp == t->at[table].qpn && r->psn == psn);
	TEST(r->rkey == t->at[table].rkey);
}

static const uint8_t data[1024] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static struct op write_op(unsigned table, uint64_t offset, uint32_t length)
{
	return (struct op){
		.verb = OP_WRITE,
		.table = (uint16_t)table,
		.offset = offset,
		.length = length,
		.data = data,
	};
}

static void check_verbs(const struct ticket *t)
{
	struct out k = open_out(t, 0);
	struct op ops[] = {
		write_op(RIG_KW, 80, 8),
		write_op(RIG_KW, 88, 5),
		write_op(RIG_UC, 0, 8),
		write_op(RIG_UC, 8, 8),
		{.verb = OP_FETCH_ADD,
		 .table = RIG_INC,
		 .offset = 16,
		 .length = 8,
		 .add = 0xfedcba9876543210},
		write_op(RIG_KW, 96, 0),
	};
	struct roce r;

	ops[1].verb = ops[3].verb = OP_WRITE_IMM;
	ops[1].immediate = ops[3].immediate = 0x00010203;
	TEST(k.transport->begin(k.transport) == t->epoch);
	TEST(k.transport->exec(k.transport, ops, 6, 12345678901) == 0);
	if (!TEST(close_out(&k) == 6))
		return;
	for (unsigned i = 0; i < 6; i++)
		TEST(frames[i].ts_ns == 12345678901);
	r = decode(0);
	check_frame(&r, t, RIG_KW, t->at[RIG_KW].psn);
	TEST(r.opcode == ROCE_RC_WRITE_ONLY && !r.ack_req);
	TEST(r.va == t->at[RIG_KW].address + 80 && r.dma_len == 8);
	TEST(r.len == 8 && !memcmp(r.payload, data, 8) && r.pad == 0);
	r = decode(1); /* padded, with an immediate */
	check_frame(&r, t, RIG_KW, (t->at[RIG_KW].psn + 1) & ROCE_PSN_MASK);
	TEST(r.opcode == ROCE_RC_WRITE_ONLY_IMM && r.imm == 0x00010203);
	TEST(r.va == t->at[RIG_KW].address + 88 && r.dma_len == 5);
	TEST(r.len == 5 && r.pad == 3 &&
	     !memcmp(r.payload, "\1\2\3\4\5\0\0\0", 8));
	r = decode(2); /* a queue pair of its own */
	check_frame(&r, t, RIG_UC, t->at[RIG_UC].psn);
	TEST(r.opcode == ROCE_UC_WRITE_ONLY && r.len == 8);
	r = decode(3);
	TEST(r.opcode == ROCE_UC_WRITE_ONLY_IMM && r.imm == 0x00010203);
	r = decode(4);
	check_frame(&r, t, RIG_INC, t->at[RIG_INC].psn);
	TEST(r.opcode == ROCE_RC_FETCH_ADD && r.len == 0 && r.pad == 0);
	TEST(r.va == t->at[RIG_INC].address + 16);
	TEST(r.swap_add == 0xfedcba9876543210);
	r = decode(5);
	TEST(r.opcode == ROCE_RC_WRITE_ONLY && r.len == 0 && r.dma_len == 0);
}

static void test_verbs(void)
{
	struct ticket *t = malloc(sizeof(*t));

	if (!t)
		exit(1);
	*t = g.t;
	check_verbs(t);
	t->at[RIG_KW].psn = 0xffffff; /* wraps */
	t->at[RIG_INC].qpn = 0xabcdef;
	check_verbs(t);
	t->version = 6;
	memset(t->ip, 0xfe, 16);
	memcpy(t->peer_ip, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	check_verbs(t);
	free(t);
}

/* A ticket whose packets would cut an unreliable table's slots is not taken,
 * nor followed. */
static void test_cut(void)
{
	struct ticket *t = malloc(2 * sizeof(*t));
	struct error err = {""};
	struct roce_out *o;
	struct out k;

	if (!t)
		exit(1);
	t[0] = g.t;
	t[0].table[RIG_WIDE].qp = TABLE_QP_UC;
	t[1] = t[0];
	t[1].mtu = 512;
	k = open_out(&t[0], 0);
	TEST(roce_out_open(&o, &t[1], k.sink, 0, &err) == -EINVAL);
	TEST(strstr(err.text, "table wide: qp: packets of 512 bytes") != NULL);
	TEST(roce_out_reticket(k.o, &t[1], &err) == -EINVAL);
	TEST(strstr(err.text, "table wide: qp: packets of 512 bytes") != NULL);
	TEST(close_out(&k) == 0);
	free(t);
}

/* Longer than a packet may be: several; the immediate comes with the last. */
static void test_split(void)
{
	struct ticket *t = malloc(sizeof(*t));
	struct op op = write_op(RIG_WIDE, 1024, 1000);
	struct out k;
	uint32_t done = 0;

	if (!t)
		exit(1);
	*t = g.t;
	t->mtu = 256;
	k = open_out(t, 0);
	op.verb = OP_WRITE_IMM;
	TEST(k.transport->exec(k.transport, &op, 1, 0) == 0);
	op.length = 512; /* whole packets only */
	TEST(k.transport->exec(k.transport, &op, 1, 0) == 0);
	TEST(close_out(&k) == 6);
	for (uint32_t i = 0; i < 6; i++) {
		struct roce r = decode(i);

		if (i == 4)
			done = 0;
		check_frame(&r, t, RIG_WIDE, i);
		TEST(r.opcode == (i == 3 || i == 5 ? ROCE_RC_WRITE_ONLY_IMM
						   : ROCE_RC_WRITE_ONLY));
		TEST(r.va == t->at[RIG_WIDE].address + 1024 + done);
		TEST(r.len == (i == 3 ? 1000 - 768 : 256));
		TEST(!memcmp(r.payload, data + done, r.len));
		done += (uint32_t)r.len;
	}
	free(t);
}

/* AckReq on every n-th packet of each queue pair. */
static void test_ack_every(void)
{
	struct out k = open_out(&g.t, 3);
	unsigned asked[2] = {0, 0};

	for (int i = 0; i < 14; i++) {
		struct op op = write_op(i % 2 ? RIG_KW : RIG_WIDE, 0, 8);

		TEST(k.transport->exec(k.transport, &op, 1, 0) == 0);
	}
	TEST(close_out(&k) == 14);
	for (size_t i = 0; i < 14; i++) {
		struct roce r = decode(i);

		TEST(r.ack_req == (r.psn % 3 == 2));
		asked[i % 2] += r.ack_req;
	}
	TEST(asked[0] == 2 && asked[1] == 2);
}

/* Lists go on where the ticket says, then where this transport has come to. */
static void test_heads(void)
{
	struct ticket *t = malloc(sizeof(*t));
	uint64_t heads[3] = {0, 7, UINT64_MAX};
	uint8_t count[8] = {0, 0, 0, 0, 0, 0, 2, 1};
	struct op op;
	struct out k;

	if (!t)
		exit(1);
	*t = g.t;
	t->at[RIG_LIST].heads = heads;
	k = open_out(t, 0);
	TEST(k.transport->head(k.transport, RIG_LIST, 0) == 0);
	TEST(k.transport->head(k.transport, RIG_LIST, 1) == 7);
	TEST(k.transport->head(k.transport, RIG_LIST, 2) == UINT64_MAX);
	op = write_op(RIG_LIST, table_head(&t->table[RIG_LIST], 1), 8);
	op.data = count;
	TEST(k.transport->exec(k.transport, &op, 1, 0) == 0);
	TEST(k.transport->head(k.transport, RIG_LIST, 1) == 513);
	TEST(k.transport->head(k.transport, RIG_LIST, 0) == 0);
	/* entries are no counts, and what is past the counts is none either */
	op = write_op(RIG_LIST, 0, 8);
	TEST(k.transport->exec(k.transport, &op, 1, 0) == 0);
	op.offset = table_head(&t->table[RIG_LIST], 3);
	TEST(k.transport->exec(k.transport, &op, 1, 0) == 0);
	TEST(k.transport->head(k.transport, RIG_LIST, 0) == 0);
	TEST(close_out(&k) == 3);
	t->at[RIG_LIST].heads = NULL; /* none in the ticket: all empty */
	k = open_out(t, 0);
	TEST(k.transport->head(k.transport, RIG_LIST, 1) == 0);
	close_out(&k);
	free(t);
}

/* UC has no atomics, a queue pair of counters cannot be UC. */
static void test_refused(void)
{
	struct op add = {.verb = OP_FETCH_ADD, .table = RIG_UC, .length = 8};
	struct op far = write_op(RIG_TABLES, 0, 8);
	struct out k = open_out(&g.t, 0);

	TEST(k.transport->exec(k.transport, &add, 1, 0) == -EINVAL);
	TEST(k.transport->exec(k.transport, &far, 1, 0) == -ERANGE);
	TEST(close_out(&k) == 0);
}

static void test_full_disk(void)
{
	struct op op = write_op(RIG_KW, 0, 8);
	struct error err = {""};
	struct roce_out *o;
	struct snk *s;
	int rc = 0;

	if (!TEST(snk_open(&s, "/dev/full", &err) == 0))
		return;
	TEST(roce_out_open(&o, &g.t, s, 0, &err) == 0);
	for (int i = 0; i < 100000 && !rc; i++)
		rc = roce_out_transport(o)->exec(roce_out_transport(o), &op, 1,
						 0);
	TEST(rc == -ENOSPC);
	roce_out_close(o);
	TEST(snk_close(s) == -ENOSPC);
}

/* Small frames until the buffer is full, at most so many; how many. */
static unsigned stuff(struct snk *s, unsigned most)
{
	unsigned n = 0;

	for (; n < most && snk_room(s, 1); n++)
		snk_done(s, 1, 0);
	return n;
}

/* A new ticket is the transport's, also where nothing can be sent under it. */
static void test_full_disk_reticket(void)
{
	struct ticket *t = malloc(sizeof(*t));
	struct op op = write_op(RIG_KW, 0, 8);
	struct error err = {""};
	struct roce_out *o;
	unsigned room;
	struct snk *s;
	int rc;

	if (!TEST(t && snk_open(&s, "/dev/full", &err) == 0))
		return;
	*t = g.t;
	TEST(roce_out_open(&o, &g.t, s, 0, &err) == 0);
	TEST(roce_out_window(o, 8, NULL, NULL, &err) == 0);
	TEST(roce_out_transport(o)->exec(roce_out_transport(o), &op, 1, 0) ==
	     0);
	stuff(s, UINT_MAX); /* and the buffer is empty */
	room = stuff(s, UINT_MAX);
	TEST(stuff(s, room) == room); /* and it is full */
	rc = roce_out_reticket(o, t, &err);
	if (!TEST(rc == 0)) {
		free(t); /* as who is refused would do */
		t = NULL;
	}
	TEST(roce_out_ledger(o, false).requests == 1 &&
	     roce_out_pending(o) == 1);
	for (unsigned i = 0; i < g.t.n; i++) {
		struct roce_out_progress at = roce_out_progress(o, i);

		TEST(at.waiting == (i == RIG_KW) && !at.acked && !at.refused);
	}
	roce_out_close(o);
	TEST(snk_close(s) == -ENOSPC);
	free(t);
}

/* Random operations of all kinds, out by this transport and into the responder.
 */
static void test_there_and_back(bool answers)
{
	const struct responder_options usual = {.receives = UINT64_MAX};
	struct responder *p = NULL;
	static uint8_t bytes[1500][1024];
	static struct op ops[1500];
	struct rng rng = {.state = 3};
	struct region *clone;
	struct local_transport *l;
	struct transport *transport;
	struct out k = open_out(&g.t, 16);
	char name[80];
	size_t n;

	snprintf(name, sizeof(name), "%s-clone", g.name);
	clone = rig_region(name, 2);
	if (local_open(&l, clone, NULL) < 0)
		exit(1);
	transport = local_transport(l);
	for (int i = 0; i < 1500; i++) {
		uint16_t table = (uint16_t)rng_below(&rng, RIG_TABLES);
		uint64_t length = region_table(clone, table)->length;

		for (unsigned b = 0; b < sizeof(bytes[i]); b++)
			bytes[i][b] = (uint8_t)rng_u64(&rng);
		ops[i] = write_op(table, 0, 8);
		ops[i].verb = rng_below(&rng, 8) ? OP_WRITE : OP_WRITE_IMM;
		ops[i].data = bytes[i];
		if (rng_below(&rng, 2)) /* up to more than one packet */
			ops[i].length = (uint32_t)rng_below(&rng, 1025);
		if (table == RIG_INC) {
			ops[i].length = 8;
			ops[i].verb = OP_FETCH_ADD;
			ops[i].offset = 8 * rng_below(&rng, length / 8);
			ops[i].add = rng_u64(&rng);
		} else {
			if (ops[i].length > length)
				ops[i].length = 8;
			ops[i].offset = rng_below(&rng,
						  length - ops[i].length + 1);
		}
	}
	transport->begin(transport);
	TEST(transport->exec(transport, ops, 1500, 0) == 0);
	TEST(k.transport->exec(k.transport, ops, 1500, 0) == 0);
	n = close_out(&k);
	TEST(responder_open(&p, g.region, &g.t, answers ? g.answers : NULL,
			    &usual, NULL) == 0);
	for (size_t i = 0; i < n; i += PKT_BATCH)
		TEST(responder_rx(p, frames + i,
				  n - i < PKT_BATCH ? n - i : PKT_BATCH) == 0);
	TEST(responder_counters(p)->executed == n);
	TEST(ledger_balanced(&responder_ledger, responder_counters(p)));
	responder_close(p);
	TEST(region_notified(clone) == region_notified(g.region));
	for (unsigned i = 0; i < RIG_TABLES; i++) {
		const struct table *t = region_table(clone, i);

		TEST(region_digest(clone, t, 1) ==
		     region_digest(g.region, region_table(g.region, i), 1));
		TEST(region_digest(clone, t, 1) != g.digest[i]);
	}
	local_close(l);
	region_close(clone);
	region_remove(name, NULL);
}

int main(void)
{
	rig_open(&g, NULL);
	test_verbs();
	test_cut();
	test_split();
	test_ack_every();
	test_heads();
	test_refused();
	test_full_disk();
	test_full_disk_reticket();
	test_there_and_back(true);
	rig_close(&g);
	rig_open(&g, NULL);
	test_there_and_back(false);
	rig_close(&g);
	return test_end();
}
