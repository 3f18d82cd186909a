/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Common requests decoded fast: what roce_decode_batch() takes, roce_decode()
 * takes and says the same of; what it ought to take it takes.
 */
#include "base/rng.h"
#include "wire/roce_batch.h"
#include "rdma_rig.h"
#include "test.h"

enum {
	ROOM = 512,
};

static struct rig g;
static struct rng rng = {.state = 99};
static unsigned taken_total, refused_total, good_total;

static bool same(const struct roce *a, const struct roce *b)
{
	return !memcmp(a->eth_dst, b->eth_dst, 6) &&
	       !memcmp(a->eth_src, b->eth_src, 6) && a->version == b->version &&
	       !memcmp(a->src, b->src, 16) && !memcmp(a->dst, b->dst, 16) &&
	       a->src_port == b->src_port && a->ip_id == b->ip_id &&
	       a->tos == b->tos && a->ttl == b->ttl && a->opcode == b->opcode &&
	       a->pad == b->pad && a->tver == b->tver &&
	       a->solicited == b->solicited && a->migreq == b->migreq &&
	       a->ack_req == b->ack_req && a->pkey == b->pkey &&
	       a->dest_qp == b->dest_qp && a->psn == b->psn && a->va == b->va &&
	       a->rkey == b->rkey && a->dma_len == b->dma_len &&
	       a->swap_add == b->swap_add && a->compare == b->compare &&
	       a->syndrome == b->syndrome && a->msn == b->msn &&
	       a->orig == b->orig && a->imm == b->imm && a->len == b->len &&
	       a->icrc_ok == b->icrc_ok &&
	       (!a->len || a->payload == b->payload);
}

/* A batch of frames, each an exact-size heap copy with its headroom. */
static void check_batch(uint8_t frame[][ROOM], const size_t *len, unsigned n)
{
	uint8_t *copy[ROCE_BATCH];
	const uint8_t *frames[ROCE_BATCH];
	uint32_t lens[ROCE_BATCH];
	struct roce fast[ROCE_BATCH], slow;
	uint32_t taken;

	memset(fast, 0xee, sizeof(fast));
	for (unsigned i = 0; i < n; i++) {
		copy[i] = malloc(CRC_HEADROOM + len[i]);
		if (!copy[i])
			exit(1);
		memset(copy[i], 0x33, CRC_HEADROOM);
		memcpy(copy[i] + CRC_HEADROOM, frame[i], len[i]);
		frames[i] = copy[i] + CRC_HEADROOM;
		lens[i] = (uint32_t)len[i];
	}
	taken = roce_decode_batch(fast, frames, lens, n);
	for (unsigned i = 0; i < n; i++) {
		if (taken >> i & 1) {
			taken_total++;
			TEST(roce_decode(&slow, frames[i], lens[i]) == 0);
			TEST(same(&fast[i], &slow));
			good_total += fast[i].icrc_ok;
		} else {
			refused_total++;
		}
		free(copy[i]);
	}
	TEST(n == 32 || !(taken >> n));
}

/* A frame of a random kind. Returns its length. */
static size_t random_frame(uint8_t *frame)
{
	static const uint8_t opcodes[] = {
		ROCE_RC_WRITE_ONLY, ROCE_RC_WRITE_ONLY, ROCE_RC_FETCH_ADD,
		ROCE_UC_WRITE_ONLY, ROCE_RC_CMP_SWAP,	ROCE_RC_WRITE_ONLY_IMM,
		ROCE_RC_ACK,
	};
	uint8_t bytes[256];
	struct roce r = rig_request(&g, opcodes[rng_below(&rng, 7)], RIG_KW,
				    rng_u64(&rng), (uint32_t)rng_u64(&rng));

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rng_u64(&rng);
	r.rkey = (uint32_t)rng_u64(&rng);
	r.swap_add = rng_u64(&rng);
	r.compare = rng_u64(&rng);
	r.tos = (uint8_t)rng_u64(&rng);
	r.ack_req = rng_below(&rng, 2);
	r.payload = bytes;
	if (r.opcode == ROCE_RC_WRITE_ONLY || r.opcode == ROCE_UC_WRITE_ONLY ||
	    r.opcode == ROCE_RC_WRITE_ONLY_IMM)
		r.len = rng_below(&rng, 3) ? 8 : rng_below(&rng, 257);
	r.dma_len = (uint32_t)(rng_below(&rng, 4) ? r.len : rng_u64(&rng));
	return (size_t)roce_encode(frame, ROOM, &r);
}

/* Flips a bit, cuts, or lengthens; half of the time the iCRC is put right. */
static size_t mutate(uint8_t *frame, size_t len)
{
	uint64_t how = rng_below(&rng, 6);
	size_t at = rng_below(&rng, rng_below(&rng, 2) ? 74 : len);

	if (how < 3)
		frame[at < len ? at : 0] ^= (uint8_t)(1 << rng_below(&rng, 8));
	else if (how == 3)
		len = rng_below(&rng, len + 1);
	else if (how == 4)
		for (uint64_t more = rng_below(&rng, 20); more; more--)
			frame[len++] = (uint8_t)rng_u64(&rng);
	if (len > 80 && frame[12] == 0x08 && rng_below(&rng, 2))
		rig_seal(frame, len);
	return len;
}

static void test_mutated(void)
{
	static uint8_t frame[ROCE_BATCH][ROOM];
	size_t len[ROCE_BATCH];

	for (int round = 0; round < 3000; round++) {
		unsigned n = (unsigned)rng_below(&rng, ROCE_BATCH) + 1;

		for (unsigned i = 0; i < n; i++) {
			len[i] = random_frame(frame[i]);
			if (rng_below(&rng, 2))
				len[i] = mutate(frame[i], len[i]);
		}
		check_batch(frame, len, n);
	}
	/* or this test would prove little */
	TEST(taken_total > 15000 && refused_total > 15000);
	TEST(good_total > 12000 && good_total < taken_total);
}

/* All prefixes of what is taken. */
static void test_prefixes(void)
{
	static const uint8_t opcodes[] = {
		ROCE_RC_WRITE_ONLY, ROCE_UC_WRITE_ONLY, ROCE_RC_FETCH_ADD};
	static uint8_t frame[1][ROOM];
	uint8_t bytes[150] = {7};

	for (unsigned k = 0; k < 3; k++) {
		struct roce r = rig_request(&g, opcodes[k], RIG_KW, 0, 0);
		unsigned before;
		size_t len;

		r.payload = bytes;
		r.len = k < 2 ? sizeof(bytes) : 0;
		len = (size_t)roce_encode(frame[0], ROOM, &r);
		before = taken_total;
		for (size_t n = 0; n < len; n++)
			check_batch(frame, &n, 1);
		TEST(taken_total == before);
		check_batch(frame, &len, 1);
		TEST(taken_total == before + 1);
	}
}

int main(void)
{
	rig_open(&g, NULL);
	test_mutated();
	test_prefixes();
	rig_close(&g);
	return test_end();
}
