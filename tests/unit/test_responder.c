/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder against the tables of IBTA vol. 1, 9.7 and 9.8: what memory
 * holds afterwards, what is answered, and under which reason the ledger counts
 * it. Here the frame, access, and what is no row of a table;
 * test_responder_pair.c: RC and UC.
 */
#include <errno.h>

#include "base/rng.h"
#include "responder_rig.h"
#include "region_sums.h"

/* Frame: any migreq, solicited event, resv7; P_Key; TVer; addresses. */
static void test_header_fields(void)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce r;
	uint32_t psn = 0;
	int len;

	for (int bits = 0; bits < 4; bits++, psn++) {
		r = rig_write(&g, RIG_KW, 8 * psn, psn, slot, 8);
		r.migreq = bits & 1;
		r.solicited = bits & 2;
		TEST(send_as(&r, REASON(executed)));
		TEST(answered(RIG_KW, ROCE_ACK, psn, psn + 1));
		TEST(holds(RIG_KW, 8 * psn, slot, 8));
	}
	for (int bits = 0; bits < 4;
	     bits++, psn++) { /* congestion, resv6, resv7 */
		r = rig_write(&g, RIG_KW, 8 * psn, psn, slot, 8);
		len = roce_encode(frame, sizeof(frame), &r);
		frame[ROCE_AT_BTH + 4] = (uint8_t)(bits & 1 ? 0xff : 0x40);
		frame[ROCE_AT_ACK_REQ] |= bits & 2 ? 0x7f : 0x15;
		rig_seal(frame, (size_t)len);
		TEST(send_frame(frame, (size_t)len, REASON(executed)));
		TEST(answered(RIG_KW, ROCE_ACK, psn, psn + 1));
	}
	r = rig_write(&g, RIG_KW, 8 * psn, psn, slot, 8);
	r.pkey = 0x7fff;
	memset(r.eth_src, 0x77, 6); /* the source MAC is not checked */
	r.tos = 0xfe;
	r.ttl = 1;
	r.src_port = 1;
	TEST(send_as(&r, REASON(executed)));
	TEST(holds(RIG_KW, 8 * psn, slot, 8));
}

/* Whatever is wrong here is dropped without a word, and the pair lives on. */
static void test_silent_drops(void)
{
	const struct roce good = rig_write(&g, RIG_KW, 16, 0, slot, 8);
	static const uint16_t pkeys[] = {0, 1, 0x8000, 0x7ffe, 0xfffe};
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce r;
	int len;

	for (unsigned i = 0; i < sizeof(pkeys) / sizeof(pkeys[0]); i++) {
		r = good;
		r.pkey = pkeys[i];
		TEST(send_as(&r, REASON(bad_pkey)));
	}
	for (uint8_t tver = 1; tver < 16; tver++) {
		r = good;
		r.tver = tver;
		TEST(send_as(&r, REASON(bad_tver)));
	}
	r = good;
	r.dest_qp = 0;
	TEST(send_as(&r, REASON(bad_qp)));
	r.dest_qp = g.t.at[g.t.n - 1].qpn + 1;
	TEST(send_as(&r, REASON(bad_qp)));
	r.dest_qp = 0xffffff;
	TEST(send_as(&r, REASON(bad_qp)));
	r = good; /* the class of the opcode must fit the queue pair's type */
	r.opcode = ROCE_UC_WRITE_ONLY;
	TEST(send_as(&r, REASON(bad_opcode)));
	r = rig_write(&g, RIG_UC, 0, 0, slot, 8);
	r.opcode = ROCE_RC_WRITE_ONLY;
	TEST(send_as(&r, REASON(bad_opcode)));
	r = rig_request(&g, ROCE_RC_FETCH_ADD, RIG_UC, 0, 0);
	TEST(send_as(&r, REASON(bad_opcode)));
	r = rig_request(&g, ROCE_RC_ACK, RIG_KW, 0, 0); /* an answer */
	TEST(send_as(&r, REASON(bad_opcode)));
	r = good;
	r.src[3] ^= 1;
	TEST(send_as(&r, REASON(bad_peer)));
	r = good; /* another host's frame */
	r.eth_dst[5] ^= 1;
	TEST(send_as(&r, REASON(foreign)));
	len = roce_encode(frame, sizeof(frame), &good);
	for (int bit = 0; bit < 32; bit++) {
		frame[len - 4 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		TEST(send_frame(frame, (size_t)len, REASON(bad_icrc)));
		frame[len - 4 + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (unsigned op = 0; op < 256; op++) {
		if (roce_opcode_name((uint8_t)op))
			continue;
		frame[ROCE_AT_BTH] = (uint8_t)op;
		rig_seal(frame, (size_t)len);
		TEST(send_frame(frame, (size_t)len, REASON(bad_opcode)));
	}
	TEST(silence());
	TEST(untouched());
	TEST(send_as(&good, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 1));
}

/* Not RoCEv2 at all, or not whole. */
static void test_foreign(void)
{
	const struct roce good = rig_write(&g, RIG_KW, 16, 0, slot, 8);
	uint8_t frame[ROCE_FRAME_MAX];
	int len = roce_encode(frame, sizeof(frame), &good);

	for (int n = 0; n < len; n++) /* every prefix */
		TEST(send_frame(frame, (size_t)n, REASON(malformed)));
	frame[ROCE_AT_UDP + 3] ^= 1; /* another port */
	TEST(send_frame(frame, (size_t)len, REASON(foreign)));
	frame[ROCE_AT_UDP + 3] ^= 1;
	frame[12] = 0x08;
	frame[13] = 0x06; /* ARP */
	TEST(send_frame(frame, (size_t)len, REASON(foreign)));
	TEST(silence());
	TEST(untouched());
}

/* Bytes behind the IP length are ignored; so are a VLAN tag and IP options. */
static void test_wrapping(void)
{
	struct roce r = rig_write(&g, RIG_KW, 0, 0, slot, 8);
	uint8_t frame[ROCE_FRAME_MAX + 64];
	int len = roce_encode(frame, sizeof(frame), &r);

	memset(frame + len, 0xee, 40);
	TEST(send_frame(frame, (size_t)len + 40, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 1) && holds(RIG_KW, 0, slot, 8));
	r = rig_write(&g, RIG_KW, 8, 1, slot, 8);
	len = roce_encode(frame, sizeof(frame), &r);
	memmove(frame + 16, frame + 12, (size_t)len - 12);
	memcpy(frame + 12, "\x81\x00\x00\x05", 4);
	TEST(send_frame(frame, (size_t)len + 4, REASON(executed)));
	TEST(holds(RIG_KW, 8, slot, 8));
}

/* The pair is in error: even what would have been right is met by silence. */
static void expect_dead(unsigned table)
{
	struct roce r = rig_write(&g, table, 0, 0, slot, 8);

	for (uint32_t psn = 0; psn < 3; psn++) {
		r.psn = psn;
		TEST(send_as(&r, REASON(qp_error)));
	}
	TEST(silence());
	TEST(untouched());
	/* the others live on */
	r = rig_write(&g, RIG_WIDE, 0, 0, slot, 8);
	TEST(send_as(&r, REASON(executed)));
	TEST(answered(RIG_WIDE, ROCE_ACK, 0, 1));
}

/* Requests that may not touch memory: NAK 0x62 for RC, silence for UC. */
static void test_access(void)
{
	uint64_t length = region_table(g.region, RIG_KW)->length;
	const struct {
		int64_t offset;
		uint32_t key_bits;
		int64_t address; /* added to the table's; 0: as it is */
	} cases[] = {
		{0, 1, 0},
		{0, 0x80000000, 0},
		{(int64_t)length - 7, 0, 0}, /* 1 byte out of bounds */
		{(int64_t)length, 0, 0},
		{(int64_t)length + 8, 0, 0},
		{-1, 0, 0},
		{-8, 0, 0},
		{INT64_MIN, 0, 0},
		{-(int64_t)g.t.at[0].address, 0, 0},	 /* address 0 */
		{-(int64_t)g.t.at[0].address - 1, 0, 0}, /* wraps around */
		{-(int64_t)g.t.at[0].address - 8, 0, 0},
		/* the region's header, and the table behind this one */
		{(int64_t)(0x100000000000 - g.t.at[0].address), 0, 0},
		{(int64_t)(g.t.at[1].address - g.t.at[0].address), 0, 0},
	};

	for (unsigned uc = 0; uc < 2; uc++) {
		unsigned table = uc ? RIG_UC : RIG_KW;

		for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]);
		     i++) {
			struct roce r = rig_write(&g, table,
						  (uint64_t)cases[i].offset, 0,
						  slot, 8);

			if (uc && i > 4)
				break;
			rig_close(&g);
			rig_open(&g, NULL);
			r.rkey ^= cases[i].key_bits;
			TEST(send_as(&r, REASON(access)));
			TEST(untouched());
			if (!uc) {
				TEST(answered(table, ROCE_NAK_ACCESS, 0, 0));
				expect_dead(table);
				continue;
			}
			TEST(silence());
			r = rig_write(&g, table, 0, 0, slot, 8);
			TEST(send_as(&r, REASON(executed)));
			TEST(holds(RIG_UC, 0, slot, 8));
		}
	}
}

/* One table's key does not open another. */
static void test_foreign_key(void)
{
	struct roce r = rig_write(&g, RIG_KW, 0, 0, slot, 8);

	r.rkey = g.t.at[RIG_WIDE].rkey;
	r.va = g.t.at[RIG_WIDE].address;
	TEST(send_as(&r, REASON(access)));
	TEST(answered(RIG_KW, ROCE_NAK_ACCESS, 0, 0));
	TEST(untouched());
}

/* Lengths that do not fit, and PadCount: NAK 0x61. */
static void test_invalid(void)
{
	static const uint8_t big[2048];
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce r;
	int len;

	for (int i = 0; i < 5; i++) {
		rig_close(&g);
		rig_open(&g, NULL);
		r = rig_write(&g, RIG_KW, 0, 0, slot, 8);
		switch (i) {
		case 0:
			r.dma_len = 7;
			break;
		case 1:
			r.dma_len = 9;
			break;
		case 2:
			r.dma_len = 0;
			break;
		case 3: /* above the path MTU */
			r = rig_write(&g, RIG_KW, 0, 0, big, 1025);
			break;
		case 4:
			r = rig_write(&g, RIG_KW, 0, 0, big, 2048);
			break;
		}
		TEST(send_as(&r, REASON(invalid)));
		TEST(answered(RIG_KW, ROCE_NAK_INVALID, 0, 0));
		expect_dead(RIG_KW);
	}
	for (uint8_t pad = 1; pad < 4; pad++) { /* 8 bytes need none */
		rig_close(&g);
		rig_open(&g, NULL);
		r = rig_write(&g, RIG_KW, 0, 0, slot, 8);
		len = roce_encode(frame, sizeof(frame), &r);
		frame[ROCE_AT_BTH + 1] |= (uint8_t)(pad << 4);
		rig_seal(frame, (size_t)len);
		TEST(send_frame(frame, (size_t)len, REASON(invalid)));
		TEST(answered(RIG_KW, ROCE_NAK_INVALID, 0, 0));
		expect_dead(RIG_KW);
	}
	r = rig_write(&g, RIG_WIDE, 0, 1, big, 1024); /* the MTU itself */
	TEST(send_as(&r, REASON(executed)));
}

/* A rotation moves the tables and changes the keys: old ones are refused. */
static void test_epochs(void)
{
	struct roce r = rig_write(&g, RIG_KW, 0, 0, slot, 8), next;
	struct ticket now = {0};
	struct error err;

	TEST(send_as(&r, REASON(executed)));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 1));
	TEST(region_rotate(g.region, NULL, &err) == 0);
	TEST(ticket_of_region(&now, g.region, &err) == 0 && now.epoch == 2);
	next = rig_write(&g, RIG_UC, 8, 0, other, 8);
	TEST(send_as(&next, REASON(access))); /* a stale key */
	next.rkey = now.at[RIG_UC].rkey;
	next.va = now.at[RIG_UC].address + 8;
	TEST(send_as(&next, REASON(executed)));
	TEST(holds(RIG_UC, 8, other, 8)); /* in the new epoch */
	TEST(region_digest(g.region, region_table(g.region, RIG_UC), 1) ==
	     g.digest[RIG_UC]);
	r = rig_write(&g, RIG_KW, 0, 1, slot, 8);
	TEST(send_as(&r, REASON(access)));
	TEST(answered(RIG_KW, ROCE_NAK_ACCESS, 1, 1));
	ticket_fini(&now);
}

static void test_ipv6(void)
{
	struct roce r;

	g.t.version = 6;
	memcpy(g.t.ip, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2", 16);
	memcpy(g.t.peer_ip, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	rig_restart(&g, NULL);
	r = rig_write(&g, RIG_KW, 0, 0, slot, 8);
	TEST(send_as(&r, REASON(executed)));
	TEST(holds(RIG_KW, 0, slot, 8));
	TEST(answered(RIG_KW, ROCE_ACK, 0, 1));
	r = rig_write(&g, RIG_KW, 0, 1, slot, 8);
	r.src[15] ^= 1;
	TEST(send_as(&r, REASON(bad_peer)));
	r = rig_write(&g, RIG_KW, 0, 1, slot, 8);
	r.version = 4; /* the same four bytes do not make it the peer */
	TEST(send_as(&r, REASON(bad_peer)));
}

/* A ticket that is not the region's is refused, not believed. */
static void test_foreign_ticket(void)
{
	const struct responder_options usual = {.receives = UINT64_MAX};
	struct responder *p = NULL;
	struct error err = {""};
	struct ticket *t = malloc(sizeof(*t));

	if (!t)
		exit(1);
	*t = g.t;
	t->n++;
	TEST(responder_open(&p, g.region, t, NULL, &usual, &err) == -EINVAL);
	*t = g.t;
	t->table[0].length += 8;
	TEST(responder_open(&p, g.region, t, NULL, &usual, &err) == -EINVAL);
	TEST(p == NULL);
	free(t);
}

/* Random operations: what the local transport does, frames must do. */
static void test_as_local_transport(void)
{
	struct region *clone;
	struct local_transport *l;
	struct transport *transport;
	struct rng rng = {.state = 7};
	char name[80];
	uint32_t psn[RIG_TABLES] = {0};

	snprintf(name, sizeof(name), "%s-clone", g.name);
	clone = rig_region(name, 2);
	if (!TEST(local_open(&l, clone, NULL) == 0))
		return;
	transport = local_transport(l);
	for (int i = 0; i < 2000; i++) {
		uint16_t k = (uint16_t)rng_below(&rng, RIG_TABLES);
		uint64_t length = region_table(clone, k)->length;
		uint8_t data[1024];
		struct op op = {.table = k};
		struct roce r;

		for (unsigned b = 0; b < sizeof(data); b += 8) {
			uint64_t v = rng_u64(&rng);

			memcpy(data + b, &v, 8);
		}
		if (k == RIG_INC) {
			op.verb = OP_FETCH_ADD;
			op.length = 8;
			op.offset = 8 * rng_below(&rng, length / 8);
			op.add = rng_u64(&rng);
			r = rig_add(&g, op.offset, psn[k], op.add);
		} else {
			op.verb = OP_WRITE;
			op.length = (uint32_t)rng_below(&rng, length < 1024
								      ? length
								      : 1024) +
				    1;
			if (rng_below(&rng, 2))
				op.length = 8;
			op.offset = rng_below(&rng, length - op.length + 1);
			op.data = data;
			r = rig_write(&g, k, op.offset, psn[k], data,
				      op.length);
		}
		psn[k]++;
		r.ack_req = rng_below(&rng, 2);
		TEST(send_as(&r, REASON(executed)));
		TEST(transport->begin(transport) == 1);
		TEST(transport->exec(transport, &op, 1, 0) == 0);
		transport->end(transport);
	}
	for (unsigned k = 0; k < RIG_TABLES; k++)
		TEST(region_digest(clone, region_table(clone, k), 1) ==
		     region_digest(g.region, region_table(g.region, k), 1));
	local_close(l);
	region_close(clone);
	region_remove(name, NULL);
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_header_fields,
		test_silent_drops,
		test_foreign,
		test_wrapping,
		test_access,
		test_foreign_key,
		test_invalid,
		test_epochs,
		test_ipv6,
		test_foreign_ticket,
		test_as_local_transport,
	};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
