/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder_pair.h - private to this room: the responder's queue pairs. What a
 * packet says by itself is judged in responder.c; what depends on the packets
 * before it, in responder_pair.c.
 */
#ifndef ROCE_RESPONDER_PAIR_H
#define ROCE_RESPONDER_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "roce/template.h"
#include "op/local.h"
#include "wire/roce_batch.h"
#include "roce/responder.h"
#include "wire/roce.h"

enum {
	REPLAYS = 16, /* atomics whose answer is kept, as NICs do */
};

struct replay {
	uint32_t psn;
	bool used;
	uint64_t old;
};

/* Answers to one requester: most queue pairs have no other. */
struct answers {
	struct roce to; /* where they go; version 0: not made yet */
	struct template ack, atomic;
};

struct queue_pair {
	const struct table *table;
	uint32_t qpn, rkey;
	uint64_t address;
	uint32_t expected, msn;
	bool error, nak_sent;
	bool refused;	       /* a request, and none was carried out since */
	bool told;	       /* what responder_refused() has told of that */
	uint32_t refused_rkey; /* that it had */
	uint32_t other_rkey;   /* the last that was not its own, and of which */
	uint64_t other_epoch;  /* epoch it is; 0: of none that went by */
	unsigned next_replay;
	struct replay replay[REPLAYS];
	struct answers answers;
};

struct responder {
	struct region *region;
	struct local_road *local;
	struct ticket t; /* addresses; R_Keys of the epoch */
	struct snk *answers;
	struct responder_options o;
	struct responder_ledger ctr;
	uint64_t epoch, ts_ns;
	/* The first sender that is not the ticket's peer; version 0: none. */
	struct {
		uint8_t version, ip[16];
		bool told;
	} stranger;
	unsigned nops;
	struct op op[PKT_BATCH];
	struct queue_pair qp[TABLE_MAX];
	/* The packets at hand; those for a queue pair of ours have one. */
	struct roce seen[ROCE_BATCH];
	struct queue_pair *whose[ROCE_BATCH];
};

static inline bool is_rc(uint8_t opcode)
{
	return opcode < ROCE_UC_WRITE_ONLY;
}

static inline bool is_atomic(uint8_t opcode)
{
	return opcode == ROCE_RC_FETCH_ADD || opcode == ROCE_RC_CMP_SWAP;
}

static inline bool is_immediate(uint8_t opcode)
{
	return opcode == ROCE_RC_WRITE_ONLY_IMM ||
	       opcode == ROCE_UC_WRITE_ONLY_IMM;
}

static inline bool is_answer(uint8_t opcode)
{
	return opcode == ROCE_RC_ACK || opcode == ROCE_RC_ATOMIC_ACK;
}

/*
 * A packet of a queue pair: carried out, answered, counted. Writes may wait for
 * pair_flush(). Returns 0 or -errno of the answers' sink.
 */
int pair_rx(struct responder *p, struct queue_pair *q, const struct roce *r);

/* The epoch before this one whose R_Key it is; 0: of none that is known. */
uint64_t pair_epoch_of(const struct responder *p, unsigned table,
		       uint32_t rkey);

/* Carries out what waits. The road's bounds hold: they were judged. */
int pair_flush(struct responder *p);

#endif
