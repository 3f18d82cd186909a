/* SPDX-License-Identifier: BSD-2-Clause */
/* dart_out_private.h - between dart_out.c, which sends, and dart_answer.c. */
#ifndef ROCE_DART_OUT_PRIVATE_H
#define ROCE_DART_OUT_PRIVATE_H

#include "roce/dart_out.h"
#include "op/fanout.h"
#include "roce/template.h"
#include "wire/roce.h"

enum {
	NONE = UINT16_MAX, /* not a Key-Write table */
	VERBS = OP_CMP_SWAP + 1,
	DART_FORGET_EVERY = ROCE_PSN_HALF / 4,
};

/*
 * What a responder is known to have had, beside the state of its queue pair: it
 * sends one NAK for a PSN, and another that says the same, or less, was copied
 * or kept back on the way.
 */
struct heard {
	uint32_t from; /* PSNs before this one were executed */
	bool back;     /* that PSN was gone back to */
};

/* Frames of one table and verb. */
struct cached_template {
	struct template template;
	uint32_t length; /* that it was made for; 0: not yet */
	uint32_t ip_sum; /* of the IP header without destination */
	uint32_t icrc;	 /* before the destination address */
};

/* A Key-Write table of the deployment. */
struct common {
	struct table t;
	uint64_t address;
	struct cached_template cached[VERBS];
};

struct dart_out {
	struct road road;
	struct road *rest;
	struct snk *sink;
	unsigned n, tables; /* collectors, tables of each */
	unsigned ncommon;
	unsigned ack_every;
	bool mirror;
	struct dart_ledger ctr;
	uint8_t mac[6], ip[4]; /* ours */
	uint16_t common_of[TABLE_MAX];
	struct common *common;
	struct dart_state *state; /* of collector c: [c * ncommon + ...] */
	struct heard *heard;	  /* the same */
};

/* To be called every so many PSNs of a queue pair. */
void dart_forget(struct heard *h, uint32_t psn);

#endif
