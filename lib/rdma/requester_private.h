/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester_private.h - the sending side of RC queue pairs. roce_out.c is the
 * transport and takes tickets; requester.c keeps requests, sends them and
 * processes answers.
 */
#ifndef RDMA_REQUESTER_PRIVATE_H
#define RDMA_REQUESTER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/snd.h"
#include "rdma/roce_out.h"
#include "rdma/roce_template_private.h"
#include "net/roce.h"

enum {
	TEMPLATES = 16, /* cached packets of a table, by opcode and length */
};

struct roce_cached_template {
	uint8_t opcode; /* 0: unused */
	uint32_t length;
	struct roce_template template;
};

/* Requests of a queue pair that may have to be sent again, in order, numbered
 * as in snd.h. The window has room for `size' of them: end - una <= size. */
struct requester_request {
	struct op op; /* data points at payload */
	uint8_t opcode;
	uint8_t payload[] __attribute__((aligned(8)));
};

struct request_window {
	uint8_t *mem;
	size_t stride, longest; /* bytes of a request, of a payload */
	uint64_t mask;		/* size - 1 */
	struct snd snd;
};

static inline struct requester_request *
request_window_at(const struct request_window *w, uint64_t i)
{
	return (struct requester_request *)(w->mem + (i & w->mask) * w->stride);
}

/* size: a power of 2; payload: bytes of the longest request. 0 or -ENOMEM. */
int request_window_open(struct request_window *w, uint64_t size,
			size_t payload); /* the caller frees mem */

/* Drops atomic operations that were sent, which must not be executed twice; the
 * rest moves up and counts as not sent. Returns how many are dropped. */
uint64_t request_window_drop_atomics(struct request_window *w);

enum requester_phase {
	REQUESTER_PROBING, /* the collector's expected PSN is not known */
	REQUESTER_OPEN,
	REQUESTER_DEAD, /* refused; probed now and then */
};

/* The sending side of an RC queue pair. */
struct requester {
	bool on;
	bool was_open; /* at least once */
	bool checking; /* open, and a probe is under way */
	bool doubted;  /* probing, and the connection may be the old one: the
			  PSNs of requests may still be right */
	bool guessed;  /* probe is a PSN from an answer, not probed yet */
	bool stale;    /* refused for its R_Key or address, and nothing was
			  confirmed since */
	uint64_t *dropping;    /* a list's operations are dropped up to the next
				  batch, and counted here; NULL: none is */
	uint8_t phase;	       /* enum requester_phase */
	uint64_t max_at_probe; /* w.snd.max when the last probe was sent */
	uint32_t base;	       /* PSN of a request is base + its number */
	uint32_t unused;       /* the PSN behind the last request's */
	uint32_t probe;	       /* PSN of the last probe while probing */
	uint32_t farthest;   /* not open yet: the highest PSN probed because of
				an answer */
	uint32_t burst;	     /* requests that may be under way */
	uint64_t since_loss; /* requests confirmed since the last loss */
	uint64_t loss_gap;   /* and between two losses, on average */
	uint32_t since_ack;  /* requests since the last AckReq */
	unsigned probed;     /* probes while the expected PSN is unknown */
	unsigned tries;	     /* probes since the last useful answer */
	uint64_t gone_back;  /* request of the last NAK; UINT64_MAX: none */
	uint64_t deadline;   /* ns: an answer is overdue; 0: none expected */
	uint64_t resume;     /* ns: nothing is sent before (RNR); 0: at once */
	uint64_t timeout;    /* ns, from the round trips measured */
	uint64_t timed;	     /* the request whose round trip is measured, */
	uint64_t timed_at;   /* ns: and when it was sent; 0: none */
	struct request_window w;
};

/*
 * What a responder has executed of a DART table. It sends one NAK for a PSN;
 * another of the same or an earlier PSN was duplicated or delayed on the way.
 */
struct dart_sequence {
	bool on;       /* a Key-Write table of a DART switch */
	uint32_t from; /* PSNs before this one were executed */
	bool nakked;   /* a NAK has set from */
};

struct requester_qp { /* a queue pair */
	uint32_t psn, since_ack;
	struct dart_sequence dart;
	struct roce_cached_template cached[TEMPLATES];
	struct requester q;
};

struct roce_out {
	struct transport transport;
	const struct ticket *t;
	struct snk *sink;
	unsigned ack_every;
	uint64_t packets, generation;
	uint64_t *heads[TABLE_MAX];
	struct requester_qp qp[TABLE_MAX];
	bool dart;
	struct dart_ledger dart_ctr;
	/* with a window */
	bool windows;
	uint64_t now_ns, ts_ns; /* the clock; the last packets' time */
	roce_out_wait *wait;
	void *ctx;
	struct requester_ledger ctr;
};

/* roce_out.c: a packet with a request in it; psn holds AckReq in its high bit.
 */
int roce_out_emit(struct roce_out *o, const struct op *op, uint8_t opcode,
		  uint32_t psn, uint64_t ts_ns);

static const uint32_t ack_req = UINT32_C(1) << 31;

/* The PSN of a request, by its number. */
static inline uint32_t psn_of(const struct requester *q, uint64_t request)
{
	return (q->base + (uint32_t)request) & ROCE_PSN_MASK;
}

/* Takes a request, or drops and counts it: *taken. 0 or -errno. */
int requester_add(struct roce_out *o, const struct op *op, uint8_t opcode,
		  bool *taken);

/* Sends what may be sent. */
int requester_push(struct roce_out *o, unsigned table);

/* Processes an answer from the collector to one of our queue pairs. */
int requester_judge(struct roce_out *o, unsigned table, const struct roce *r);

/* Handles what is due at o->now_ns. */
int requester_tick(struct roce_out *o, unsigned table);

/* Starts probing for the expected PSN. */
void requester_restart(struct requester *q, uint32_t psn);

/* Probes whether an open connection is still alive: requests under way may be
 * executed or lost. */
void requester_doubt(struct requester *q);

#endif
