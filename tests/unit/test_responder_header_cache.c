/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that begin as one that is known: what header_cache_match() takes,
 * roce_decode() takes and says the same of; whatever differs in front of the
 * PSN is not taken; the responder forgets with its queue pairs. And answers
 * that wait for each other go where they belong.
 */
#include "rdma/responder_private.h"

#include "base/rng.h"
#include "responder_rig.h"

enum {
	ROOM = 512,
	HEAD = ROCE_AT_ACK_REQ,
};

static struct rng rng = {.state = 7};
static struct header_cache known;
static unsigned taken_total, wrong_total;

/* Each has a head of its own. */
static const struct {
	uint8_t opcode;
	size_t len;
} kinds[] = {
	{ROCE_RC_WRITE_ONLY, 8},  {ROCE_RC_WRITE_ONLY, 13},
	{ROCE_UC_WRITE_ONLY, 8},  {ROCE_UC_WRITE_ONLY, 130},
	{ROCE_RC_WRITE_ONLY, 64}, {ROCE_RC_FETCH_ADD, 0},
};

/* Stand for queue pairs; nobody looks at them. */
static char pair[sizeof(kinds) / sizeof(kinds[0])];

static struct responder_qp *pair_of(unsigned i)
{
	return (struct responder_qp *)&pair[i];
}

static bool same(const struct roce *a, const struct roce *b)
{
	return !memcmp(a->eth_dst, b->eth_dst, 6) &&
	       !memcmp(a->eth_src, b->eth_src, 6) && a->version == b->version &&
	       !memcmp(a->src, b->src, 16) && !memcmp(a->dst, b->dst, 16) &&
	       a->src_port == b->src_port && a->opcode == b->opcode &&
	       a->pad == b->pad && a->ack_req == b->ack_req &&
	       a->dest_qp == b->dest_qp && a->psn == b->psn && a->va == b->va &&
	       a->rkey == b->rkey && a->dma_len == b->dma_len &&
	       a->swap_add == b->swap_add && a->compare == b->compare &&
	       a->imm == b->imm && a->len == b->len &&
	       a->icrc_ok == b->icrc_ok &&
	       (!a->len || a->payload == b->payload);
}

static size_t frame_of(uint8_t *frame, unsigned kind)
{
	uint8_t bytes[256];
	struct roce r = rig_request(&g, kinds[kind].opcode, RIG_KW,
				    rng_u64(&rng), (uint32_t)rng_u64(&rng));

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rng_u64(&rng);
	r.rkey = (uint32_t)rng_u64(&rng);
	r.swap_add = rng_u64(&rng);
	r.compare = rng_u64(&rng);
	r.ack_req = rng_below(&rng, 2);
	r.payload = bytes;
	r.len = kinds[kind].len;
	r.dma_len = (uint32_t)(rng_below(&rng, 4) ? r.len : rng_u64(&rng));
	return (size_t)roce_encode(frame, ROOM, &r);
}

/* A batch of frames, each an exact-size heap copy with its headroom. Returns
 * what was taken of it. */
static uint32_t check_batch(uint8_t frame[][ROOM], const size_t *len,
			    const unsigned *kind, unsigned n)
{
	struct responder_qp *qps[ROCE_BATCH];
	struct roce fast[ROCE_BATCH], slow;
	uint8_t *copy[ROCE_BATCH];
	struct pkt pkts[ROCE_BATCH];
	uint32_t taken;

	memset(fast, 0xee, sizeof(fast));
	for (unsigned i = 0; i < n; i++) {
		copy[i] = malloc(CRC_HEADROOM + len[i]);
		if (!copy[i])
			exit(1);
		memset(copy[i], 0x33, CRC_HEADROOM);
		memcpy(copy[i] + CRC_HEADROOM, frame[i], len[i]);
		pkts[i] = (struct pkt){.data = copy[i] + CRC_HEADROOM,
				       .len = (uint32_t)len[i]};
	}
	taken = header_cache_match(&known, pkts, n, fast, qps);
	for (unsigned i = 0; i < n; i++) {
		if (taken >> i & 1) {
			taken_total++;
			TEST(roce_decode(&slow, pkts[i].data, pkts[i].len) ==
			     0);
			TEST(same(&fast[i], &slow));
			TEST(qps[i] ==
			     (slow.icrc_ok ? pair_of(kind[i]) : NULL));
			wrong_total += !slow.icrc_ok;
		}
		free(copy[i]);
	}
	TEST(n == 32 || !(taken >> n));
	return taken;
}

static void learn(unsigned kind)
{
	uint8_t room[CRC_HEADROOM + ROOM] = {0}, *frame = room + CRC_HEADROOM;
	struct pkt p = {.data = frame, .len = (uint32_t)frame_of(frame, kind)};
	struct roce r;

	TEST(roce_decode(&r, p.data, p.len) == 0 && r.icrc_ok);
	header_cache_add(&known, &p, &r, pair_of(kind));
}

/* Behind the head whatever there may be: it is taken, and judged right. */
static void test_behind(void)
{
	static uint8_t frame[ROCE_BATCH][ROOM];
	unsigned kind[ROCE_BATCH], n;
	size_t len[ROCE_BATCH];

	for (unsigned k = 0; k < sizeof(pair); k++)
		learn(k);
	for (int round = 0; round < 2000; round++) {
		n = (unsigned)rng_below(&rng, ROCE_BATCH) + 1;
		for (unsigned i = 0; i < n; i++) {
			kind[i] = (unsigned)rng_below(&rng, sizeof(pair));
			len[i] = frame_of(frame[i], kind[i]);
			if (!rng_below(&rng, 4))
				frame[i]
				     [HEAD + rng_below(&rng, len[i] - HEAD)] ^=
					(uint8_t)(1 << rng_below(&rng, 8));
			if (!rng_below(&rng, 4)) /* not of the packet */
				frame[i][len[i]++] = 0x55;
		}
		check_batch(frame, len, kind, n);
	}
	/* Kinds may be in each other's places, not many. */
	TEST(taken_total > 20000 && wrong_total > 4000);
}

/* Every bit of the head, the iCRC put right; and every length. */
static void test_head(void)
{
	static uint8_t frame[1][ROOM];
	const unsigned kind = 0;
	size_t len;

	learn(kind);
	len = frame_of(frame[0], kind);
	TEST(check_batch(frame, &len, &kind, 1) == 1);
	for (unsigned bit = 0; bit < HEAD * 8; bit++) {
		frame[0][bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (bit / 8 != 12 && bit / 8 != 13) /* still IPv4 */
			rig_seal(frame[0], len);
		TEST(check_batch(frame, &len, &kind, 1) == 0);
		frame[0][bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	rig_seal(frame[0], len);
	for (size_t n = 0; n < len; n++)
		TEST(check_batch(frame, &n, &kind, 1) == 0);
	TEST(check_batch(frame, &len, &kind, 1) == 1);
}

/* Of a peer who is none any more, or for an address that is not ours; answers
 * are from the queue pair that there is now. */
static void test_forgotten(void)
{
	struct roce r = rig_write(&g, RIG_KW, 0, g.t.at[RIG_KW].psn, slot, 8);
	struct roce answer[4];
	struct ticket t = g.t;

	for (unsigned i = 0; i < 3; i++, r.psn++)
		TEST(send_as(&r, REASON(executed)));
	t.at[RIG_KW].psn = r.psn;
	t.peer_ip[3] ^= 1;
	TEST(responder_reopen(g.p, &t, NULL) == 0);
	TEST(send_as(&r, REASON(bad_peer)));
	t.peer_ip[3] ^= 1;
	t.at[RIG_KW].qpn += 64;
	TEST(responder_reopen(g.p, &t, NULL) == 0);
	TEST(send_as(&r, REASON(bad_qp)));
	TEST(take_answers(answer, 4) == 3);
	r.dest_qp += 64;
	TEST(send_as(&r, REASON(executed)));
	TEST(take_answers(answer, 4) == 1 && answer[0].dest_qp == r.dest_qp);
	r.dest_qp -= 64;
	TEST(responder_reopen(g.p, &g.t, NULL) == 0);
	r.psn = g.t.at[RIG_KW].psn;
	TEST(send_as(&r, REASON(executed)));
}

/* In one batch by two ways in turn, writes and additions: each is answered
 * where it is from, in order. */
static void test_ways(void)
{
	enum { N = 40 };
	static uint8_t room[N][CRC_HEADROOM + ROOM];
	struct roce answer[N + 1];
	struct pkt pkts[N];

	for (uint32_t i = 0; i < N; i++) {
		struct roce r = rig_write(&g, RIG_KW, 8, i, slot, 8);
		uint8_t *frame = room[i] + CRC_HEADROOM;

		if (i % 3 == 0)
			r = rig_request(&g, ROCE_RC_FETCH_ADD, RIG_KW, 8, i);
		r.src_port = (uint16_t)(1000 + i % 2);
		pkts[i] = (struct pkt){
			.data = frame,
			.len = (uint32_t)roce_encode(frame, ROOM, &r),
			.ts_ns = 1000};
	}
	TEST(responder_rx(g.p, pkts, N) == 0);
	TEST(responder_counters(g.p)->executed == N);
	TEST(take_answers(answer, N + 1) == N);
	for (uint32_t i = 0; i < N; i++)
		TEST(answer[i].src_port == 1000 + i % 2 && answer[i].psn == i &&
		     answer[i].msn == i + 1 &&
		     answer[i].opcode ==
			     (i % 3 ? ROCE_RC_ACK : ROCE_RC_ATOMIC_ACK));
}

int main(void)
{
	void (*const tests[])(void) = {test_behind, test_head, test_forgotten,
				       test_ways};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
