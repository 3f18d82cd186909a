/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that begin as the one before: whatever is wrong with them, they are
 * counted as the first one would be; the responder forgets with its queue
 * pairs. And answers that wait for each other go where they belong.
 */
#include "base/rng.h"
#include "responder_rig.h"

enum {
	ROOM = 512,
	PSN = 0x7ff, /* the next differs in more than a bit */
};

static struct rng rng = {.state = 7};

/* Each begins as the one before it of its queue pair. */
static const struct kind {
	uint8_t opcode;
	unsigned table;
	size_t len;
} kinds[] = {
	{ROCE_RC_WRITE_ONLY, RIG_KW, 8},
	{ROCE_RC_WRITE_ONLY, RIG_KW, 13},
	{ROCE_UC_WRITE_ONLY, RIG_UC, 8},
	{ROCE_RC_FETCH_ADD, RIG_INC, 0},
};

static size_t frame_of(uint8_t *frame, const struct kind *k, uint32_t psn)
{
	uint64_t bytes[2] = {rng_u64(&rng), rng_u64(&rng)};
	struct roce r = rig_request(&g, k->opcode, k->table, 8, psn);

	r.swap_add = rng_below(&rng, 100);
	r.ack_req = rng_below(&rng, 2);
	r.payload = (const uint8_t *)bytes;
	r.len = k->len;
	r.dma_len = (uint32_t)k->len;
	return (size_t)roce_encode(frame, ROOM, &r);
}

/* What a frame of PSN + 1 is counted as, behind one of its kind, which the
 * responder knows by then, or as the first since it forgot all. */
static struct responder_ledger fate(const uint8_t *frame, size_t len,
				    const struct kind *k, bool known)
{
	uint64_t *now, *was;
	struct responder_ledger l;
	struct ticket t = g.t;
	uint8_t first[ROOM];

	t.at[k->table].psn = PSN + !known;
	TEST(responder_reopen(g.p, &t, NULL) == 0);
	g.before = *responder_counters(g.p);
	if (known)
		TEST(send_frame(first, frame_of(first, k, PSN),
				REASON(executed)));
	g.before = *responder_counters(g.p);
	TEST(rig_rx(&g, frame, len) == 0);
	l = *responder_counters(g.p);
	TEST(ledger_balanced(&responder_ledger, &l));
	now = (uint64_t *)&l;
	was = (uint64_t *)&g.before;
	for (size_t i = 0; i < sizeof(l) / sizeof(*now); i++)
		now[i] -= was[i];
	return l;
}

static bool same_fate(const uint8_t *frame, size_t len, const struct kind *k)
{
	struct responder_ledger warm = fate(frame, len, k, true);
	struct responder_ledger cold = fate(frame, len, k, false);

	return !memcmp(&warm, &cold, sizeof(warm));
}

/* Every bit, as it is and the iCRC put right; every length; and bytes behind
 * the packet. */
static void test_known(void)
{
	uint8_t frame[ROOM];

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *k = &kinds[i];
		size_t len = frame_of(frame, k, PSN + 1);

		TEST(fate(frame, len, k, true).executed == 1);
		for (size_t bit = 0; bit < len * 8; bit++) {
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			TEST(same_fate(frame, len, k));
			if (bit / 8 != 12 && bit / 8 != 13) /* still IPv4 */
				rig_seal(frame, len);
			TEST(same_fate(frame, len, k));
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			rig_seal(frame, len);
		}
		for (size_t n = 0; n < len; n++)
			TEST(same_fate(frame, n, k));
		frame[len] = 0x55;
		TEST(same_fate(frame, len + 1, k));
	}
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
		struct roce r = rig_write(&g, RIG_INC, 8, i, slot, 8);
		uint8_t *frame = room[i] + CRC_HEADROOM;

		if (i % 3 == 0)
			r = rig_request(&g, ROCE_RC_FETCH_ADD, RIG_INC, 8, i);
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
	void (*const tests[])(void) = {test_known, test_forgotten, test_ways};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
