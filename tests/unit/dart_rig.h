/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dart_rig.h - three collectors' tickets, and a DART switch's transports to
 * them.
 */
#ifndef TESTS_UNIT_DART_RIG_H
#define TESTS_UNIT_DART_RIG_H

#include "rdma/roce_out.h"
#include "rdma_rig.h"
#include "test.h"

enum {
	COLLECTORS = 3,
};

static struct ticket ticket[COLLECTORS];

/* Tickets of three collectors, alike but for addresses, queue pairs and keys.
 */
static inline void make_tickets(struct rig *g)
{
	for (unsigned c = 0; c < COLLECTORS; c++) {
		struct ticket *t = &ticket[c];

		*t = g->t;
		t->mac[5] = (uint8_t)(0x10 + c);
		t->ip[3] = (uint8_t)(0x50 + c);
		for (unsigned i = 0; i < t->n; i++) {
			t->at[i].qpn = 0x100 * (c + 1) + i;
			t->at[i].psn = c == 1 ? 0xffffff - 5 : 77 * c;
			t->at[i].rkey = 0x11111111 * (c + 1) + i;
		}
	}
}

struct transports {
	char path[64];
	struct snk *sink;
	struct roce_out *roce[COLLECTORS];
};

static inline void transports_open(struct transports *r, const char *name)
{
	struct error err = {""};

	snprintf(r->path, sizeof(r->path), "/tmp/test-dart-%s-%d.pcap", name,
		 (int)getpid());
	if (snk_open(&r->sink, r->path, &err) < 0)
		rig_die(r->path, &err);
	for (unsigned c = 0; c < COLLECTORS; c++) {
		if (roce_out_open(&r->roce[c], &ticket[c], r->sink, 0, &err) <
			    0 ||
		    roce_out_dart(r->roce[c], &err) < 0)
			rig_die("transport", &err);
	}
}

static inline void transports_close(struct transports *r)
{
	for (unsigned c = 0; c < COLLECTORS; c++)
		roce_out_close(r->roce[c]);
	TEST(snk_close(r->sink) == 0);
}

static inline void run(struct transport *transport, const struct op *op,
		       size_t n)
{
	transport->begin(transport);
	TEST(transport->exec(transport, op, n, 1000) == 0);
}

#endif
