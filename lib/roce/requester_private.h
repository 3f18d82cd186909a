/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester_private.h - private to this room. From below: roce_emit.c makes
 * packets of requests, requester_heed.c takes what answers tell of them,
 * requester_ask.c asks where a collector is, requester.c sends and judges, and
 * roce_out.c is the road.
 */
#ifndef ROCE_REQUESTER_PRIVATE_H
#define ROCE_REQUESTER_PRIVATE_H

#include "roce/template.h"
#include "roce/roce_out.h"
#include "roce/window.h"
#include "wire/roce.h"

enum {
	TEMPLATES = 16,		     /* of a table, by opcode and length */
	TIMEOUT_MAX = 500 * 1000000, /* ns */
};

/* Until an R_Key that was refused is tried again, ns. */
static const uint64_t stale_ns = UINT64_C(5000000000);

struct cached_template {
	uint8_t opcode; /* 0: unused */
	uint32_t length;
	struct template template;
};

enum phase {
	PHASE_ASKING, /* the collector's expected PSN is not known */
	PHASE_OPEN,
	PHASE_DEAD, /* refused; asks now and then whether it lives again */
};

/* The sending side of an RC queue pair. */
struct requester {
	bool on;
	bool met;	      /* was open once */
	bool asked;	      /* open, and a probe is out */
	bool doubted;	      /* asking, and it may be the one that was open:
				 the PSNs of requests may still be right */
	bool guessed;	      /* probe is what somebody said, not sent yet */
	bool stale;	      /* refused for its R_Key or address, and nothing
				 was confirmed since */
	uint64_t *dropping;   /* a list's operations are dropped, up to the next
				 batch, and counted here */
	uint8_t phase;	      /* enum phase */
	uint64_t asked_about; /* requests that were sent before it */
	uint32_t base;	      /* PSN of a request is base + its number */
	uint32_t unused;      /* the PSN behind the last that a request had */
	uint32_t probe;	      /* PSN of the last probe while asking */
	uint32_t farthest;    /* until it is met: of the probes of a PSN that
				 was told, the last */
	uint32_t burst;	      /* requests that may be under way */
	uint64_t clear;	      /* confirmed since the last loss */
	uint64_t apart;	      /* as many are confirmed between two, on average
			       */
	uint32_t since_ack;
	unsigned probed; /* probes since what is expected is not known */
	unsigned tries;	 /* probes since the last answer that told something */
	uint64_t gone_back; /* where to, by the last NAK; UINT64_MAX: none */
	uint64_t deadline;  /* an answer is overdue then; 0: none is waited for
			     */
	uint64_t resume;    /* not to send before (RNR) */
	uint64_t timeout;   /* ns, from the round trips measured */
	uint64_t timed, timed_at; /* the request whose round trip is measured,
				     and when it was sent; 0: none */
	struct window w;
};

struct pair { /* a queue pair */
	uint32_t psn, since_ack;
	struct cached_template cached[TEMPLATES];
	struct requester q;
};

struct roce_out {
	struct road road;
	const struct ticket *t;
	struct snk *sink;
	unsigned ack_every;
	uint64_t packets, generation;
	uint64_t *heads[TABLE_MAX];
	struct pair pair[TABLE_MAX];
	/* with a window */
	bool windows;
	uint64_t now_ns, ts_ns; /* the clock; the last packets' time */
	roce_out_wait *wait;
	void *ctx;
	struct requester_ledger ctr;
};

static inline bool has_payload(uint8_t verb)
{
	return verb == OP_WRITE || verb == OP_WRITE_IMM;
}

/* A packet with a request in it; psn holds AckReq in its high bit. */
int roce_out_emit(struct roce_out *o, const struct op *op, uint8_t opcode,
		  uint32_t psn, uint64_t ts_ns);

/* The PSN of a request, by its number. */
static inline uint32_t psn_of(const struct requester *q, uint64_t request)
{
	return (q->base + (uint32_t)request) & ROCE_PSN_MASK;
}

static const uint32_t ack_req = UINT32_C(1) << 31;

/* Takes a request, or drops and counts it: *taken. 0 or -errno. */
int requester_add(struct roce_out *o, const struct op *op, uint8_t opcode,
		  bool *taken);

/* Sends what may be sent. */
int requester_push(struct roce_out *o, unsigned table);

/* An answer to a queue pair of ours, from where it has to come. */
int requester_judge(struct roce_out *o, unsigned table, const struct roce *r);

/* Does what is due at o->now_ns. */
int requester_tick(struct roce_out *o, unsigned table);

/* What an answer is. */
enum meaning {
	MEANS_ACK,
	MEANS_GAP,
	MEANS_LATER,
	MEANS_REFUSED,
	MEANS_NOTHING,
};

/* An answer about a request of ours: all before the n-th are carried out. */
void requester_heed(struct roce_out *o, struct requester *q, uint32_t n,
		    enum meaning m, uint8_t syndrome);

/* An answer is waited for, from now on. */
void requester_expect(const struct roce_out *o, struct requester *q);

/* How many requests may be under way when a connection begins. */
void requester_begin_burst(struct requester *q);

/* Starts to ask for the expected PSN. */
void requester_restart(struct requester *q, uint32_t psn);

/* Asks whether an open connection is still the one that was. */
void requester_doubt(struct requester *q);

/* Sends a probe: of an open connection; while nothing is known. */
int requester_ask(struct roce_out *o, unsigned table);
int requester_ask_anew(struct roce_out *o, unsigned table);

/* An answer tells what is expected: a probe asks about that, once no other
 * answer has come for a while. */
void requester_guess(const struct roce_out *o, struct requester *q,
		     uint32_t expected);

/* An answer while the expected PSN is unknown. */
int requester_listen(struct roce_out *o, unsigned table, uint32_t expected,
		     bool ack, uint32_t msn);

#endif
