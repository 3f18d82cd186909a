/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair.h - private to this room: the responder's queue pairs. What a
 * packet says by itself is judged in responder.c; what depends on the packets
 * before it, in pair.c. team.c does both on several cores.
 */
#ifndef RESPONDER_PAIR_H
#define RESPONDER_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "op/local.h"
#include "wire/roce.h"
#include "responder/answers.h"
#include "responder/known.h"
#include "responder/responder.h"
#include "wire/roce.h"

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
};

/* What packets leave for those that come after them. */
struct responder_state {
	struct ticket t;    /* addresses; R_Keys of the epoch */
	bool rc[TABLE_MAX]; /* not UC */
	uint64_t made;	    /* how often the queue pairs were */
	uint64_t epoch;
	uint64_t receives;
	struct queue_pair qp[TABLE_MAX];
	struct replays replays[TABLE_MAX];
};

/* Of several cores each has one, with one state. */
struct responder {
	struct region *region;
	struct local_road *local;
	struct snk *answers;
	struct responder_options o;
	struct responder_state *s;
	struct responder_ledger ctr;
	/* The first sender that is not the ticket's peer; version 0: none. */
	struct {
		uint8_t version, ip[16];
		bool told;
	} stranger;
	uint64_t made; /* that known is about */
	struct knowns known;
	/* What waits, of one core. */
	bool asks; /* for the lines of operations: prefetch.h */
	unsigned nops, carried_out;
	struct op op[PKT_BATCH];
	uint64_t operand[PKT_BATCH][2]; /* of those that compare and swap */
	/* The packets at hand; those for a queue pair of ours have one. */
	struct roce seen[ROCE_BATCH];
	struct queue_pair *whose[ROCE_BATCH];
	struct answers_due due;
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

static inline unsigned pair_table(const struct responder *p,
				  const struct queue_pair *q)
{
	return (unsigned)(q - p->s->qp);
}

/* What becomes of a request. */
struct verdict {
	bool good;	/* it is to be carried out */
	uint8_t answer; /* enum answer */
	uint32_t psn, aeth;
};

/* 0 if a request may be carried out by what it asks for, else the syndrome that
 * says why not. */
uint8_t pair_access(const struct responder *p, const struct queue_pair *q,
		    const struct roce *r);

/* The verdict of a good one; msn: before it. */
static inline struct verdict pair_good(const struct roce *r, uint32_t msn)
{
	bool acked = is_rc(r->opcode) && r->ack_req;

	return (struct verdict){
		.good = true,
		.answer = is_atomic(r->opcode) ? ANSWER_OLD
			  : acked	       ? ANSWER_PLAIN
					       : ANSWER_NONE,
		.psn = r->psn,
		.aeth = (uint32_t)ROCE_ACK << 24 | ((msn + 1) & ROCE_PSN_MASK),
	};
}

/* The next packet of a queue pair: what is wrong with it is counted. */
struct verdict pair_judge(struct responder *p, struct queue_pair *q,
			  const struct roce *r);

/* Counts a good one, and says its operation, whose length may be 0. operand:
 * room for what it compares and swaps. */
void pair_op(struct responder *p, const struct queue_pair *q,
	     const struct roce *r, uint64_t operand[2], struct op *op);

/* An answer that is due, if there is a sink. Returns its number among d's, or
 * ANSWERS_NONE. */
unsigned pair_answer(const struct responder *p, const struct queue_pair *q,
		     const struct roce *r, const struct verdict *v,
		     struct answers_due *d, uint64_t ts_ns);

/* All of this on one core: operations and answers wait in p. */
void pair_rx(struct responder *p, struct queue_pair *q, const struct roce *r,
	     uint64_t ts_ns);

/*
 * Carries out n operations that were judged. d: answers are told what atomics
 * find, by an operation's immediate, which is a number or ANSWERS_NONE; or
 * NULL. 0 or -errno.
 */
int pair_exec(struct responder *p, const struct op *op, size_t n,
	      struct answers_due *d);

/* The epoch before this one whose R_Key it is; 0: of none that is known. */
uint64_t pair_epoch_of(const struct responder *p, unsigned table,
		       uint32_t rkey);

/*
 * responder.c, for team.c. look: what can be said of n <= ROCE_BATCH packets
 * without knowing what came before; they are decoded to seen, and those for a
 * queue pair have it in whose. An epoch has R_Keys of its own.
 */
void responder_look(struct responder *p, const struct pkt *pkts, unsigned n,
		    struct roce *seen, struct queue_pair **whose);
void responder_follow(struct responder *p, uint64_t epoch);

/* Whether somebody is to be told of a refusal, a dead queue pair, or another
 * epoch. */
bool responder_has_news(const struct responder *p);

#endif
