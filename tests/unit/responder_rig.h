/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder_rig.h - frames into the rig's responder one by one, and what is to
 * be seen of it from outside: memory, answers, the ledger.
 */
#ifndef TESTS_UNIT_RESPONDER_RIG_H
#define TESTS_UNIT_RESPONDER_RIG_H

#include "rdma_rig.h"
#include "test.h"
#include "region_sums.h"

static struct rig g;
static const uint8_t slot[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t other[8] = {9, 9, 9, 9, 8, 8, 8, 8};

#define REASON(name) offsetof(struct responder_ledger, name)

static inline uint64_t counter(const struct responder_ledger *c, size_t reason)
{
	return *(const uint64_t *)((const uint8_t *)c + reason);
}

/* A frame in; it is counted once, under this reason. */
static inline bool send_frame(const uint8_t *frame, size_t len, size_t reason)
{
	struct responder_ledger now;
	bool one;

	if (!TEST(rig_rx(&g, frame, len) == 0))
		return false;
	now = *responder_counters(g.p);
	one = now.received == g.before.received + 1 &&
	      counter(&now, reason) == counter(&g.before, reason) + 1 &&
	      ledger_balanced(&responder_ledger, &now);
	g.before = now;
	return one;
}

static inline bool send_as(const struct roce *r, size_t reason)
{
	uint8_t frame[ROCE_FRAME_MAX];
	int len = roce_encode(frame, sizeof(frame), r);

	return TEST(len > 0) && send_frame(frame, (size_t)len, reason);
}

/* The answers that came since the last call, at most max of them. */
static inline size_t take_answers(struct roce *out, size_t max)
{
	static struct pkt pkts[RIG_KEPT];
	struct error err = {""};
	size_t n = 0, i;
	struct src *s;
	int got;

	snk_flush(g.answers);
	if (!TEST(src_open(&s, g.path, &err) == 0))
		return 0;
	while ((got = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
		for (i = 0; i < (size_t)got; i++, n++) {
			const struct pkt *p = &pkts[i];

			if (n < g.seen || n - g.seen >= max)
				continue;
			TEST(roce_decode(&out[n - g.seen], p->data, p->len) ==
			     0);
			TEST(out[n - g.seen].icrc_ok);
			TEST(p->ts_ns == 1000);
			/* zlib agrees on the iCRC */
			TEST(rig_icrc(p->data, p->len) ==
			     ((uint32_t)p->data[p->len - 4] |
			      (uint32_t)p->data[p->len - 3] << 8 |
			      (uint32_t)p->data[p->len - 2] << 16 |
			      (uint32_t)p->data[p->len - 1] << 24));
		}
	src_close(s);
	i = n - g.seen;
	g.seen = n;
	return i;
}

static inline bool silence(void)
{
	struct roce a;

	return take_answers(&a, 1) == 0;
}

/* One answer, back to where the request came from. */
static inline bool answered(unsigned table, uint8_t syndrome, uint32_t psn,
			    uint32_t msn)
{
	struct roce a;

	return take_answers(&a, 1) == 1 && a.opcode == ROCE_RC_ACK &&
	       a.syndrome == syndrome && a.psn == psn && a.msn == msn &&
	       a.dest_qp == g.t.at[table].qpn && a.pkey == 0xffff &&
	       !memcmp(a.dst, g.t.peer_ip, 16) && !memcmp(a.src, g.t.ip, 16) &&
	       !memcmp(a.eth_dst, g.t.peer_mac, 6) &&
	       !memcmp(a.eth_src, g.t.mac, 6);
}

static inline bool answered_old(uint32_t psn, uint64_t old)
{
	struct roce a;

	return take_answers(&a, 1) == 1 && a.opcode == ROCE_RC_ATOMIC_ACK &&
	       a.syndrome == ROCE_ACK && a.psn == psn && a.original == old;
}

static inline bool holds(unsigned table, uint64_t offset, const void *data,
			 size_t len)
{
	return !memcmp(rig_mem(&g, table) + offset, data, len);
}

static inline uint64_t count_at(uint64_t offset)
{
	uint64_t v;

	memcpy(&v, rig_mem(&g, RIG_INC) + offset, sizeof(v));
	return v;
}

/* No table has changed since the rig was opened. */
static inline bool untouched(void)
{
	for (unsigned i = 0; i < RIG_TABLES; i++)
		if (region_digest(g.region, region_table(g.region, i), 1) !=
		    g.digest[i])
			return false;
	return true;
}

/* Runs each test on a region and a responder of its own. */
static inline int run_tests(void (*const *tests)(void), size_t n)
{
	for (size_t i = 0; i < n; i++) {
		rig_open(&g, NULL);
		tests[i]();
		rig_close(&g);
	}
	return test_end();
}

#endif
