/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair.h - private to this room: the responder's queue pairs. What a
 * packet says by itself is judged in responder.c; what depends on the packets
 * before it, in pair.c.
 */
#ifndef RESPONDER_PAIR_H
#define RESPONDER_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "op/local.h"
#include "wire/roce_batch.h"
#include "responder/answers.h"
#include "responder/known.h"
#include "responder/responder.h"
#include "wire/roce.h"

enum {
	REPLAYS = 16, /* atomics whose answer is kept, as NICs do */
};

struct replay {
	uint32_t psn;
	bool used;
	uint64_t old;
};

struct replays {
	unsigned next;
	struct replay at[REPLAYS];
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
};

/* What packets leave for those that come after them. */
struct responder_state {
	struct ticket t;    /* addresses; R_Keys of the epoch */
	bool rc[TABLE_MAX]; /* not UC */
	uint64_t made;	    /* how often the queue pairs were */
	uint64_t epoch;
	uint64_t receives;
	/* Tables, a bit each, that were added to; and that had anything else
	 * done to them, without an answer. */
	uint64_t added, written;
	/* The first sender that is not the ticket's peer; version 0: none. */
	struct {
		uint8_t version, ip[16];
		bool told;
	} stranger;
	struct queue_pair qp[TABLE_MAX];
	/* Of each; in a team, as of the batches that are through. */
	struct replays replays[TABLE_MAX];
};

/* Of a queue pair, by their numbers among the answers that wait. */
struct promised {
	unsigned n; /* the last REPLAYS of so many */
	uint16_t number[REPLAYS];
};

struct worker; /* of a team */

/* pair_road() */
struct telling {
	struct road road;
	struct responder *p;
};

/* In a team there are several, with one state. */
struct responder {
	struct region *region;
	struct local_road *local;
	struct snk *answers;
	struct responder_options o;
	struct responder_state *s;
	struct responder_ledger ctr;
	uint64_t ts_ns;
	uint8_t strange_version, strange_ip[16]; /* the first at hand */
	bool asks;	      /* for the lines of operations: prefetch.h */
	unsigned carried_out; /* of nops; then those that were asked for */
	unsigned asked;	      /* before the packets at hand */
	unsigned nops;
	struct op op[PKT_BATCH];
	uint64_t operand[PKT_BATCH][2]; /* of those that compare and swap */
	/* In a team: until all batches before are through. Else NULL. */
	void (*wait)(struct responder *p);
	struct worker *worker;
	unsigned waited; /* operations carried out by pair_flush() */
	/* The packets at hand; those for a queue pair of ours have one. */
	struct roce seen[ROCE_BATCH];
	struct queue_pair *whose[ROCE_BATCH];
	struct answers_due due;
	struct promised promised[TABLE_MAX];
	struct telling telling;
	uint64_t made; /* that known and to are about */
	struct knowns known;
	struct answers to[TABLE_MAX]; /* for each queue pair */
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
 * A packet of a queue pair: judged, answered, counted. Operations wait for
 * pair_flush(), answers for pair_answer(), which is to be called after
 * PKT_BATCH packets at most. Returns 0 or -errno of the answers' sink.
 */
int pair_rx(struct responder *p, struct queue_pair *q, const struct roce *r);

/* Sends the answers that wait, once pair_flush() has carried out what they are
 * about; if it fails, they are dropped. */
int pair_answer(struct responder *p);
void pair_drop(struct responder *p);

/* For operations that waited, the local road; answers are told what was there.
 */
struct road *pair_road(struct responder *p);

/* Whether somebody is to be told of a refusal, a stranger, a dead queue pair,
 * or another epoch. */
bool responder_has_news(const struct responder *p);

/* The epoch before this one whose R_Key it is; 0: of none that is known. */
uint64_t pair_epoch_of(const struct responder *p, unsigned table,
		       uint32_t rkey);

/* Carries out what waits; if that fails, answers are dropped. The road's bounds
 * hold: they were judged. */
int pair_flush(struct responder *p);
/* Of that, what waited already when this was called last. */
int pair_flush_asked(struct responder *p);

/*
 * responder.c, for who takes the steps of responder_rx() one by one. look: what
 * can be said of n <= ROCE_BATCH packets without knowing what came before; they
 * are decoded to seen, and those for a queue pair have it in whose. begin, act:
 * in the packets' order; act returns 0 or -errno of the answers' sink.
 */
void responder_look(struct responder *p, const struct pkt *pkts, unsigned n,
		    struct roce *seen, struct queue_pair **whose);
void responder_begin(struct responder *p);
int responder_act(struct responder *p, const struct pkt *pkts, unsigned n,
		  const struct roce *seen, struct queue_pair *const *whose);

#endif
