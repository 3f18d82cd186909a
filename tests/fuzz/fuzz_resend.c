/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile NACKs to reporters that send again. Input: a byte for the window and
 * whether it waits; then steps, a byte each and what it needs: reports of a
 * switch, time, packets out, a NACK (its header), a frame as it is. Whatever
 * comes, only reports that were given go out, and the ledger adds up.
 */
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "dta/resend.h"
#include "net/dta.h"
#include "net/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	REPORTERS = 3,
	NACK_BYTES = 5, /* reporter, reason, table, sequence */
};

static uint32_t given[REPORTERS];

static int sent(void *ctx, unsigned reporter, const uint8_t *payload,
		size_t len, uint64_t ts_ns)
{
	struct dta_report r;
	uint32_t n;

	(void)ctx;
	(void)ts_ns;
	if (reporter >= REPORTERS || dta_decode(&r, DTA_FORMAT_1, payload, len))
		abort();
	if (r.opcode == DTA_NACK)
		return 0;
	memcpy(&n, r.data, sizeof(n));
	if (r.data_len != sizeof(n) || n >= given[reporter])
		abort();
	return 0;
}

static void add(struct resend *w, unsigned i)
{
	uint8_t payload[32];
	struct dta_report r = {.opcode = DTA_KEYWRITE,
			       .tracked = true,
			       .key_len = 4,
			       .key = (const uint8_t *)"key!",
			       .data_len = 4,
			       .data = (const uint8_t *)&given[i]};
	int n = dta_encode(payload, sizeof(payload), DTA_FORMAT_1, &r);

	if (!resend_room(w, i))
		return;
	given[i]++;
	if (n < 0 || resend_add(w, i, payload, (size_t)n, 1))
		abort();
}

static void nack(struct resend *w, const uint8_t *p, uint64_t now)
{
	struct net_udp4 h = {.dst = {10, 1, 0, p[0]},
			     .dst_port = DTA_NACK_PORT};
	struct dta_report r = {.opcode = DTA_NACK,
			       .hop = p[1],
			       .table = p[2],
			       .sequence = (uint16_t)(p[3] << 8 | p[4])};
	uint8_t frame[64];
	struct pkt pkt = {.data = frame, .len = 50};

	if (dta_encode(frame + 42, 8, DTA_FORMAT_1, &r) != 8 ||
	    net_udp4_encode(frame, 42, &h, 8) != 42)
		abort();
	resend_rx(w, &pkt, 1, now);
}

static void run(struct resend *w, const uint8_t *p, size_t size)
{
	uint64_t now = 1;

	while (size) {
		unsigned n = *p >> 3;
		size_t eats = 0;

		switch (*p++ & 7) {
		case 0:
		case 1:
			for (unsigned i = 0; i < n; i++)
				add(w, n % REPORTERS);
			break;
		case 2:
			resend_tick(w, now += UINT64_C(1) << n);
			break;
		case 3:
			resend_finish(w);
			break;
		case 4:
			if (size <= NACK_BYTES)
				return;
			nack(w, p, now);
			eats = NACK_BYTES;
			break;
		case 5: {
			struct pkt pkt = {.data = p, .len = n};

			if (size <= n)
				return;
			resend_rx(w, &pkt, 1, now);
			eats = n;
			break;
		}
		case 6:
			if (n == 31)
				resend_alone(w);
			break;
		case 7:
			if (resend_pump(w, 4 * n, now) < 0)
				abort();
			break;
		}
		p += eats;
		size -= eats + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct resend_options o = {.reporters = REPORTERS,
				   .payload_max = 32,
				   .address = 10u << 24 | 1 << 16,
				   .send = sent};
	struct resend_ledger c;
	struct resend *w;

	if (!size)
		return 0;
	o.window = 1 + (*data >> 1);
	o.wait = *data & 1;
	memset(given, 0, sizeof(given));
	if (resend_open(&w, &o, NULL))
		abort();
	run(w, data + 1, size - 1);
	c = resend_counters(w);
	if (!ledger_balanced(&resend_ledger, &c) ||
	    c.reports != given[0] + given[1] + given[2] ||
	    c.confirmed + c.lost > c.reports)
		abort();
	resend_close(w);
	return 0;
}
