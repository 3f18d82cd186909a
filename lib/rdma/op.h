/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.h - the operation: all that passes from telemetry to memory.
 *
 * A transport carries batches of operations to a collector's memory: local.h
 * (into a region of this machine), roce_out.h (as RoCEv2 packets),
 * verbs/verbs.h (by an RDMA NIC), cluster/packet_transport.h (to several
 * collectors). Transports know nothing of telemetry, and its rooms nothing of
 * transports. One capture leaves the same memory by every transport.
 */
#ifndef RDMA_OP_H
#define RDMA_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "region/table.h"

enum op_verb {
	OP_WRITE,     /* length bytes at data */
	OP_WRITE_IMM, /* the same, then the immediate to the collector's CPU */
	OP_FETCH_ADD, /* add to the 8-byte host-order counter at offset */
};

struct op {
	uint64_t offset; /* from the start of the table */
	union {
		const uint8_t *data; /* not owned: valid until exec() returns */
		uint64_t add;
	};
	uint32_t length; /* bytes at offset; 8 of an addition */
	uint32_t immediate;
	uint16_t table; /* index in transport.table, not the id */
	uint8_t verb;	/* enum op_verb */
};

_Static_assert(sizeof(struct op) == 32, "two to a cache line");

/* Operations of a transport that confirms each one. */
struct transport_account {
	uint64_t sent, acked;
};

enum {
	TRANSPORT_LEDGERS = 2, /* at most */
};

struct transport_ledger {
	const struct ledger *ledger;
	const void *counters;
};

/*
 * A transport. For each batch of packets the translator calls begin(), exec()
 * any number of times, and end(). The caller guarantees that offsets and
 * lengths are inside the table; the responder, whose packets come from a
 * network, checks them before it makes an op.
 *
 * A program calls tick() once a batch, when one of fds() is readable, and at
 * due(). After the last batch it calls finish(), reads account(), ledgers() and
 * unacked_reason(), and calls close(). A function that a transport does not
 * need is NULL.
 */
struct transport {
	/* Returns a generation (the epoch): when it changes, the translator
	 * reads the list heads again. */
	uint64_t (*begin)(struct transport *t);
	/* Carries out ops in order; ts_ns: the packets' time. 0 or -errno. */
	int (*exec)(struct transport *t, const struct op *ops, size_t n,
		    uint64_t ts_ns);
	void (*end)(struct transport *t);
	/* How many entries were ever written to a list: the translator
	 * continues there. */
	uint64_t (*head)(struct transport *t, unsigned table, uint32_t list);
	/*
	 * Whether operations for a table would be lost now, since its queue
	 * pair is resynchronizing. Called after begin(); if so, tracked reports
	 * of strict tables are not taken, and reporters send them again. NULL:
	 * never.
	 */
	bool (*busy)(struct transport *t, unsigned table);
	/* Address of each table between begin() and end(), for prefetching
	 * before exec() (region/memory.h). NULL: prefetching gains nothing. */
	uint8_t *const *mem;
	/* True if its packets carry times: before exec() the caller sets
	 * stamps, a time for each operation. stamps NULL: all have ts_ns. */
	bool stamped;
	const uint64_t *stamps;

	const char *name;   /* where it leads, for messages */
	const char *region; /* of its ticket: NAME here, or HOST:NAME; NULL */
	const struct table *table; /* what it writes to, in each collector */
	unsigned tables;
	/* Of a cluster: how many; table t of collector c is table number
	 * c * tables + t. 0: one collector, without a cluster. */
	unsigned collectors;
	bool mirror; /* reports belong to the next collector as well */

	/* Descriptors to be read from: max at most. Returns how many. */
	unsigned (*fds)(const struct transport *t, int *fd, unsigned max);
	/* When tick() is wanted at the latest, of clock_ns(). */
	uint64_t (*due)(const struct transport *t);
	/* Takes in answers, sends again what was lost, takes new tickets. 0 or
	 * -errno. */
	int (*tick)(struct transport *t);
	/* On SIGHUP: reads its tickets or cluster file again. If it sets
	 * wants_reopen, the caller calls reopen(). */
	void (*renew)(struct transport *t);
	bool wants_reopen;
	/*
	 * Between two batches, after the translator was flushed: waits as
	 * finish() does, and opens the collectors of the new cluster file. The
	 * caller then opens a translator for them (translate_succeed()). 0
	 * (also if the old collectors are kept) or -errno.
	 */
	int (*reopen)(struct transport *t);
	/* Writes out what is buffered: a reader may be waiting for it. */
	void (*flush)(struct transport *t);
	/* Waits until all is confirmed, or no answer is to be expected, or
	 * exec() has failed. exec() must not be called any more. Returns the
	 * sink's first error. */
	int (*finish)(struct transport *t);
	/* False: this transport gets no confirmations. */
	bool (*account)(struct transport *t, struct transport_account *out);
	unsigned (*ledgers)(struct transport *t,
			    struct transport_ledger out[TRANSPORT_LEDGERS]);
	/* After finish(): why nothing was confirmed of what was sent; NULL:
	 * something was, or nothing was sent, or the reason is unknown. */
	const char *(*unacked_reason)(struct transport *t);
	uint64_t (*unsent)(const struct transport *t); /* packets */
	/* Opens a second transport to the same memory, for another thread:
	 * begin(), exec(), end(), head() and busy() of both may be called at
	 * the same time. The clone is closed first. NULL: cannot be cloned. */
	int (*clone)(struct transport *t, struct transport **out,
		     struct error *err);
	/* Carries out messages of two words (message.h) as long as they are of
	 * the first one's kind and inside their table. Returns the words done;
	 * the rest is for exec(). NULL: all is for exec(). */
	size_t (*exec_pairs)(struct transport *t, const uint64_t *word,
			     size_t words);
	void (*close)(struct transport *t);
};

static inline int transport_tick(struct transport *t)
{
	return t->tick ? t->tick(t) : 0;
}

static inline void transport_flush(struct transport *t)
{
	if (t->flush)
		t->flush(t);
}

#endif
