/* SPDX-License-Identifier: BSD-2-Clause */
/* RC and UC (IBTA vol. 1, 9.7 and 9.8): sequence, duplicates, atomics,
 * immediates. */
#include "responder_rig.h"

/* RC, the rows of WRITE. */
static void test_rc_write(void)
{
	static const uint8_t five[5] = {5, 5, 5, 5, 5};
	struct roce r = rig_write(&g, RIG_KW, 0, 0, slot, 8);

	TEST(send_as(&r, REASON(executed)));
	TEST(holds(RIG_KW, 0, slot, 8));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 1));
	r = rig_write(&g, RIG_KW, 8, 1, slot, 8);
	r.ack_req = false;
	TEST(send_as(&r, REASON(executed)));
	TEST(holds(RIG_KW, 8, slot, 8));
	TEST(silence());
	r = rig_write(&g, RIG_KW, 17, 2, five, 5); /* padded, unaligned */
	TEST(send_as(&r, REASON(executed)));
	TEST(holds(RIG_KW, 16, "\0\5\5\5\5\5\0\0", 8));
	TEST(answered(RIG_KW, ROCE_ACK, 2, 3));
	r = rig_write(&g, RIG_KW, 8 * 1024 - 8, 3, other,
		      8); /* the last slot */
	TEST(send_as(&r, REASON(executed)));
	TEST(holds(RIG_KW, 8 * 1024 - 8, other, 8));
	TEST(answered(RIG_KW, ROCE_ACK, 3, 4));
	r = rig_write(&g, RIG_KW, 0, 4, slot, 0); /* empty: no key needed */
	r.va = 5;
	r.rkey ^= 1;
	TEST(send_as(&r, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 4, 5));
	TEST(g.before.writes == 5 && g.before.bytes == 8 + 8 + 5 + 8);
}

/* A PSN gap: one NAK with the expected PSN, then silence until it comes. */
static void test_rc_gap(void)
{
	struct roce r = rig_write(&g, RIG_KW, 0, 3, slot, 8);

	TEST(send_as(&r, REASON(out_of_order)));
	TEST(answered(RIG_KW, ROCE_NAK_PSN, 0, 0));
	r.psn = 4;
	TEST(send_as(&r, REASON(out_of_order)));
	r.psn = 0x7fffff; /* the farthest that is still ahead */
	TEST(send_as(&r, REASON(out_of_order)));
	TEST(silence() && untouched());
	r.psn = 0;
	TEST(send_as(&r, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 1));
	r.psn = 2; /* and a new gap is told again */
	TEST(send_as(&r, REASON(out_of_order)));
	TEST(answered(RIG_KW, ROCE_NAK_PSN, 1, 1));
}

/* 20 writes, the 6th lost: 5 executed, 5 ACKs, 1 NAK, and stuck until resent.
 */
static void test_rc_lost(void)
{
	struct roce a[32];

	for (uint32_t psn = 0; psn < 20; psn++) {
		struct roce r = rig_write(&g, RIG_KW, 8 * psn, psn, slot, 8);

		if (psn != 5)
			TEST(send_as(&r, psn < 5 ? REASON(executed)
						 : REASON(out_of_order)));
	}
	TEST(take_answers(a, 32) == 6);
	for (uint32_t i = 0; i < 5; i++)
		TEST(a[i].syndrome == ROCE_ACK && a[i].psn == i);
	TEST(a[5].syndrome == ROCE_NAK_PSN && a[5].psn == 5 && a[5].msn == 5);
	TEST(g.before.executed == 5);
	TEST(holds(RIG_KW, 8 * 5, "\0\0\0\0\0\0\0\0", 8));
	for (uint32_t psn = 5; psn < 20; psn++) { /* go back N */
		struct roce r = rig_write(&g, RIG_KW, 8 * psn, psn, slot, 8);

		TEST(send_as(&r, REASON(executed)));
	}
	TEST(take_answers(a, 32) == 15 && a[14].psn == 19);
	TEST(holds(RIG_KW, 8 * 19, slot, 8));
}

/* A duplicate is not written again; its ACK names the last executed PSN. */
static void test_rc_duplicate(void)
{
	struct roce r;

	for (uint32_t psn = 0; psn < 4; psn++) {
		r = rig_write(&g, RIG_KW, 8 * psn, psn, slot, 8);
		r.ack_req = false;
		TEST(send_as(&r, REASON(executed)));
	}
	r = rig_write(&g, RIG_KW, 8, 1, other, 8);
	TEST(send_as(&r, REASON(duplicate)));
	TEST(answered(RIG_KW, ROCE_ACK, 3, 4));
	TEST(holds(RIG_KW, 8, slot, 8));
	/* a gap of 0x800000 or more is taken for a duplicate */
	r.psn = 4 + 0x800000;
	TEST(send_as(&r, REASON(duplicate)));
	TEST(answered(RIG_KW, ROCE_ACK, 3, 4));
	r.psn = 4 + 0x7fffff;
	TEST(send_as(&r, REASON(out_of_order)));
	TEST(answered(RIG_KW, ROCE_NAK_PSN, 4, 4));
	TEST(holds(RIG_KW, 8, slot, 8));
}

static void test_rc_wrap(void)
{
	struct roce r;

	g.t.at[RIG_KW].psn = 0xffffff;
	rig_restart(&g, NULL);
	r = rig_write(&g, RIG_KW, 0, 0xffffff, slot, 8);
	TEST(send_as(&r, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 0xffffff, 1));
	r = rig_write(&g, RIG_KW, 8, 0, slot, 8);
	TEST(send_as(&r, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 2));
	TEST(holds(RIG_KW, 0, slot, 8) && holds(RIG_KW, 8, slot, 8));
	r = rig_write(&g, RIG_KW, 16, 0xffffff, slot, 8);
	TEST(send_as(&r, REASON(duplicate)));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 2));
}

static void test_atomics(void)
{
	struct roce r, a;

	for (uint32_t psn = 0; psn < 20; psn++) {
		r = rig_add(&g, 8, psn, 10 + psn);
		r.ack_req = psn & 1; /* answered with or without */
		TEST(send_as(&r, REASON(executed)));
		TEST(answered_old(psn, psn * 10 + psn * (psn - 1) / 2));
	}
	TEST(count_at(8) == 20 * 10 + 190 && count_at(0) == 0);
	r = rig_add(&g, 8, 19, 29); /* not added again, the old value again */
	TEST(send_as(&r, REASON(duplicate)));
	TEST(answered_old(19, 19 * 10 + 171));
	r = rig_add(&g, 8, 4, 14); /* the 16th last */
	TEST(send_as(&r, REASON(duplicate)));
	TEST(answered_old(4, 40 + 6));
	r = rig_add(&g, 8, 3, 13); /* the 17th: forgotten */
	TEST(send_as(&r, REASON(duplicate)));
	TEST(silence());
	TEST(count_at(8) == 390);
	r = rig_request(&g, ROCE_RC_CMP_SWAP, RIG_INC, 8, 20);
	r.compare = 390;
	TEST(send_as(&r, REASON(bad_opcode))); /* not carried out */
	TEST(silence());
	TEST(count_at(8) == 390);
	r = rig_add(&g, 8 * 255, 20, UINT64_MAX); /* the last one; wraps */
	TEST(send_as(&r, REASON(executed)));
	r.psn = 21;
	r.swap_add = 2;
	TEST(send_as(&r, REASON(executed)));
	TEST(take_answers(&a, 1) == 2);
	TEST(count_at(8 * 255) == 1);
	TEST(g.before.atomics == 22);
}

/* Address not 8-aligned: 0x61. Key and bounds: 0x62, as for writes. */
static void test_atomics_refused(void)
{
	for (int i = 0; i < 12; i++) {
		struct roce r = rig_add(&g, (uint64_t)i, 0, 1);
		bool key = i == 8;

		if (i == 0)
			continue;
		rig_close(&g);
		rig_open(&g, NULL);
		if (key)
			r.rkey ^= 4;
		if (i == 9)
			r.va = g.t.at[RIG_INC].address + 8 * 256;
		if (i == 10)
			r.va = g.t.at[RIG_INC].address - 8;
		if (i == 11)
			r.va = UINT64_MAX - 7;
		TEST(send_as(&r, i < 8 ? REASON(invalid) : REASON(access)));
		TEST(answered(RIG_INC,
			      i < 8 ? ROCE_NAK_INVALID : ROCE_NAK_ACCESS, 0,
			      0));
		TEST(untouched());
		r = rig_add(&g, 0, 0, 1);
		TEST(send_as(&r, REASON(qp_error)));
		TEST(silence() && untouched());
	}
}

static struct roce write_imm(unsigned table, uint32_t psn, uint32_t imm)
{
	struct roce r = rig_write(&g, table, 8 * psn, psn, slot, 8);

	r.opcode = table == RIG_UC ? ROCE_UC_WRITE_ONLY_IMM
				   : ROCE_RC_WRITE_ONLY_IMM;
	r.imm = imm;
	return r;
}

static void test_immediate(void)
{
	const struct responder_options none = {.receives = 0};
	const struct responder_options two = {.receives = 2};
	struct roce r = write_imm(RIG_KW, 0, 7);
	uint64_t notified = region_notified(g.region);

	TEST(send_as(&r, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 1));
	TEST(holds(RIG_KW, 0, slot, 8));
	TEST(region_notified(g.region) == notified + 1);
	TEST(g.before.immediates == 1);
	rig_close(&g);
	rig_open(&g, &none); /* RNR NAK; the same PSN works later */
	notified = region_notified(g.region);
	TEST(send_as(&r, REASON(rnr)));
	TEST(answered(RIG_KW, ROCE_RNR_NAK | 1, 0, 0));
	TEST(untouched() && region_notified(g.region) == notified);
	r = write_imm(RIG_UC, 0, 7); /* UC: silently dropped */
	TEST(send_as(&r, REASON(rnr)));
	TEST(silence() && untouched());
	rig_restart(&g, &two); /* each takes one */
	for (uint32_t psn = 0; psn < 3; psn++) {
		r = write_imm(RIG_KW, psn, psn);
		TEST(send_as(&r, psn < 2 ? REASON(executed) : REASON(rnr)));
	}
	r = write_imm(RIG_KW, 0,
		      0); /* a duplicate takes none, and tells none */
	notified = region_notified(g.region);
	TEST(send_as(&r, REASON(duplicate)));
	TEST(region_notified(g.region) == notified);
}

/* UC: every PSN is executed and never answered; a repeat is executed again. */
static void test_uc(void)
{
	static const uint32_t psns[] = {0, 1, 5, 5, 2, 0xffffff, 0x800000, 0};
	uint8_t data[8] = {0};

	for (unsigned i = 0; i < sizeof(psns) / sizeof(psns[0]); i++) {
		struct roce r = rig_write(&g, RIG_UC, 8, psns[i], data, 8);

		data[0] = (uint8_t)(i + 1);
		TEST(send_as(&r, REASON(executed)));
		TEST(holds(RIG_UC, 8, data, 8));
	}
	TEST(silence());
}

/* UC: lengths and iCRC that are wrong are dropped; the pair lives on. */
static void test_uc_refused(void)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce r = rig_write(&g, RIG_UC, 0, 0, slot, 8);
	uint64_t notified = region_notified(g.region);
	int len = roce_encode(frame, sizeof(frame), &r);

	frame[len - 1] ^= 1;
	TEST(send_frame(frame, (size_t)len, REASON(bad_icrc)));
	r.dma_len = 4;
	TEST(send_as(&r, REASON(invalid)));
	TEST(silence() && untouched());
	r = write_imm(RIG_UC, 0, 7);
	TEST(send_as(&r, REASON(executed)));
	TEST(holds(RIG_UC, 0, slot, 8) && silence());
	TEST(region_notified(g.region) == notified + 1);
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_rc_write,	      test_rc_gap,    test_rc_lost,
		test_rc_duplicate,    test_rc_wrap,   test_atomics,
		test_atomics_refused, test_immediate, test_uc,
		test_uc_refused,
	};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
