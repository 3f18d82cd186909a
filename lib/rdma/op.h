/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.h - the operation: all that passes from telemetry to memory.
 *
 * Left of it nothing knows transports; right of it nothing knows telemetry.
 * A transport takes batches of operations: local.h (copies them into a region),
 * roce_out.h (RoCEv2 packets). One capture leaves the same memory by every
 * transport.
 */
#ifndef RDMA_OP_H
#define RDMA_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/ledger.h"
#include "region/table.h"

enum op_verb {
	OP_WRITE,     /* length bytes at data */
	OP_WRITE_IMM, /* the same, then the immediate to the collector's CPU */
	OP_FETCH_ADD, /* add to the 8-byte host-order counter at offset */
	OP_CMP_SWAP,  /* data: two uint64_t of host order: compare, then swap */
};

struct op {
	uint64_t offset; /* from the start of the table */
	union {
		const uint8_t *data; /* not owned: valid until exec() returns */
		uint64_t add;
	};
	uint32_t length; /* bytes at offset; 8 for the atomics */
	uint32_t immediate;
	uint16_t table; /* index in the geometry, not the id */
	uint8_t verb;	/* enum op_verb */
};

_Static_assert(sizeof(struct op) == 32, "two to a cache line");

/* What became of operations that are confirmed one by one: sent = acked +
 * waiting + those that are refused or lost. */
struct transport_account {
	uint64_t sent, acked, waiting;
};

enum {
	TRANSPORT_LEDGERS = 2, /* at most */
};

struct transport_ledger {
	const struct ledger *ledger;
	const void *counters;
};

/*
 * A transport. The translator calls begin(), any number of exec(), end() for
 * each batch of packets. Offsets and lengths are checked by the translator's
 * own arithmetic; a transport that faces strangers (the responder) checks
 * before it makes an op.
 *
 * A program besides calls tick() once a batch, when one of fds() can be read,
 * and when due() has come; finish() behind the last batch, then it reads
 * account(), ledgers() and why(), and calls close(). What a transport has no
 * use for is NULL: the functions below take care of that.
 */
struct transport {
	/*
	 * Returns a generation (the epoch): when it changes, list heads are
	 * asked again.
	 */
	uint64_t (*begin)(struct transport *r);
	/* Carries out ops in order; ts_ns: the packets' time. 0 or -errno. */
	int (*exec)(struct transport *r, const struct op *ops, size_t n,
		    uint64_t ts_ns);
	void (*end)(struct transport *r);
	/* Entries ever written to a list, where the translator goes on. */
	uint64_t (*head)(struct transport *r, unsigned table, uint32_t list);
	/*
	 * Whether operations for a table would be lost now: its queue pair
	 * finds its way back. Asked after begin(); tracked reports of strict
	 * tables are then left to be sent again. May be NULL: never.
	 */
	bool (*busy)(struct transport *r, unsigned table);
	/*
	 * Where each table is in memory, between begin() and end(): to be asked
	 * for before exec() (prefetch.h). NULL: nothing is gained by that.
	 */
	uint8_t *const *mem;
	/*
	 * What it makes bears times: who calls exec() says each operation's in
	 * stamps before. NULL there: ts_ns, for all.
	 */
	bool stamped;
	const uint64_t *stamps;

	const char *name;	   /* where it leads, for messages */
	const char *region;	   /* by a ticket, of this machine; or NULL */
	const struct table *table; /* what it writes to; of each part */
	unsigned tables;
	/* Collectors behind it, where there are several: table t of collector c
	 * is table number c * tables + t; 0: there is one. */
	unsigned parts;

	/* Descriptors to be read from: max at most. Returns how many. */
	unsigned (*fds)(const struct transport *r, int *fd, unsigned max);
	/* When tick() is wanted at the latest, of clock_ns(). */
	uint64_t (*due)(const struct transport *r);
	/* Takes in answers, sends again what was lost, takes new tickets. 0 or
	 * -errno. */
	int (*tick)(struct transport *r);
	/* Looks again at what the transport goes by (SIGHUP). If it sets
	 * `again', reopen() is wanted. */
	void (*renew)(struct transport *r);
	bool again;
	/*
	 * Between two batches, when the translator was flushed: waits as
	 * finish() does, and opens the parts anew, which may be others then; a
	 * translator for them succeeds. 0, also if they stay, or -errno.
	 */
	int (*reopen)(struct transport *r);
	/* What was sent leaves at once: who reads it may wait for it. */
	void (*flush)(struct transport *r);
	/* Waits until all is confirmed, or there is no hope (or exec() failed),
	 * and takes no more. Returns the first error of the way out. */
	int (*finish)(struct transport *r);
	/* False: nobody confirms anything. */
	bool (*account)(struct transport *r, struct transport_account *out);
	unsigned (*ledgers)(struct transport *r,
			    struct transport_ledger out[TRANSPORT_LEDGERS]);
	/* Behind finish(): why nothing was confirmed of what was sent; NULL:
	 * something was, or nothing was sent, or nobody can tell. */
	const char *(*why)(struct transport *r);
	uint64_t (*unsent)(const struct transport *r); /* packets */
	/*
	 * Another way to the same memory, for another thread: begin(), exec(),
	 * end(), head() and busy() of both may be called at the same time. It
	 * is closed before this one. NULL: there is none.
	 */
	int (*clone)(struct transport *r, struct transport **out,
		     struct fault *f);
	/*
	 * Carries out messages that are pairs (message.h), the first of which
	 * is one, as long as they are of its kind and right; returns their
	 * words. What is left is for exec(). NULL: all is.
	 */
	size_t (*pairs)(struct transport *r, const uint64_t *word,
			size_t words);
	void (*close)(struct transport *r);
};

static inline uint64_t transport_due(const struct transport *r)
{
	return r->due ? r->due(r) : UINT64_MAX;
}

static inline unsigned transport_fds(const struct transport *r, int *fd,
				     unsigned max)
{
	return r->fds ? r->fds(r, fd, max) : 0;
}

static inline int transport_tick(struct transport *r)
{
	return r->tick ? r->tick(r) : 0;
}

static inline void transport_flush(struct transport *r)
{
	if (r->flush)
		r->flush(r);
}

static inline int transport_finish(struct transport *r)
{
	return r->finish ? r->finish(r) : 0;
}

static inline bool transport_account(struct transport *r,
				     struct transport_account *out)
{
	return r->account && r->account(r, out);
}

static inline unsigned
transport_ledgers(struct transport *r,
		  struct transport_ledger out[TRANSPORT_LEDGERS])
{
	return r->ledgers ? r->ledgers(r, out) : 0;
}

static inline const char *transport_why(struct transport *r)
{
	return r->why ? r->why(r) : NULL;
}

static inline uint64_t transport_unsent(const struct transport *r)
{
	return r->unsent ? r->unsent(r) : 0;
}

#endif
