/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input is what a collector says to a transport with a window: records of a
 * kind (1 byte) and its operand. Operations go in, time passes, and answers
 * come: well made with any PSN and syndrome, or any bytes. Whatever comes: the
 * ledger adds up, nothing is confirmed that was not sent, and nothing is
 * forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/rdma_rig.h"
#include "net/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	WINDOW = 16,
	OPS = 8,
};

static struct rig g;
static struct snk *nowhere;
static uint64_t now;

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void set_up(void)
{
	rig_open(&g, NULL);
	region_remove(g.name, NULL);
	unlink(g.path);
	must(snk_open(&nowhere, "/dev/null", NULL) == 0);
}

static void some_ops(struct roce_out *o, uint8_t what)
{
	struct transport *transport = roce_out_transport(o);
	const uint64_t value = what;
	struct op ops[OPS];

	for (unsigned i = 0; i < OPS; i++) {
		bool add = what >> i & 1;

		ops[i] = (struct op){
			.verb = add ? OP_FETCH_ADD : OP_WRITE,
			.table = add ? RIG_INC : RIG_KW,
			.offset = 8 * i,
			.length = 8,
		};
		if (add)
			ops[i].add = value;
		else
			ops[i].data = (const uint8_t *)&value;
	}
	transport->begin(transport);
	must(transport->exec(transport, ops, OPS, 0) == 0);
}

static void hear(struct roce_out *o, const uint8_t *frame, size_t len)
{
	uint8_t *copy = malloc(CRC_HEADROOM + len);
	struct pkt p = {.len = (uint32_t)len};

	must(copy != NULL);
	memset(copy, 0, CRC_HEADROOM);
	memcpy(copy + CRC_HEADROOM, frame, len);
	p.data = copy + CRC_HEADROOM;
	must(roce_out_answers(&o, 1, &p, 1, now) == 0);
	free(copy);
}

/* table (1), syndrome (1), PSN past the ticket's (2, signed) */
static void answer(struct roce_out *o, const uint8_t *d)
{
	unsigned table = d[0] & 1 ? RIG_INC : RIG_KW;
	struct roce r = rig_request(
		&g, d[0] & 2 ? ROCE_RC_ATOMIC_ACK : ROCE_RC_ACK, table, 0,
		g.t.at[table].psn + (uint32_t)(int16_t)be16_load(d + 2));
	uint8_t frame[ROCE_FRAME_MAX];
	int len;

	memcpy(r.eth_dst, g.t.peer_mac, 6);
	memcpy(r.eth_src, g.t.mac, 6);
	memcpy(r.src, g.t.ip, 16);
	memcpy(r.dst, g.t.peer_ip, 16);
	r.syndrome = d[1];
	r.va = 0;
	r.rkey = 0;
	r.ack_req = false;
	len = roce_encode(frame, sizeof(frame), &r);
	must(len > 0);
	hear(o, frame, (size_t)len);
}

static void check(const struct roce_out *o)
{
	struct requester_ledger l = roce_out_ledger(o, false);

	must(ledger_balanced(&requester_ledger, &l));
	must(l.acked <= l.requests && l.acked <= l.packets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	struct roce_out *o;

	if (!nowhere)
		set_up();
	now = 1;
	must(roce_out_open(&o, &g.t, nowhere, 0, NULL) == 0);
	must(roce_out_window(o, WINDOW, NULL, NULL, NULL) == 0);
	while (end - data > 4) {
		switch (*data++ & 7) {
		case 0:
			some_ops(o, *data++);
			break;
		case 1:
			now += (uint64_t)*data++ << 20;
			must(roce_out_tick(o, now) == 0);
			break;
		case 2:
			must(roce_out_reticket(o, &g.t, NULL) == 0);
			break;
		case 3:
			hear(o, data, (size_t)(end - data));
			data = end;
			break;
		default:
			answer(o, data);
			data += 4;
		}
		check(o);
	}
	roce_out_close(o);
	return 0;
}
