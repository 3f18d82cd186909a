/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * translate.h - DTA reports in, operations out (dta(7)).
 *
 * A batch is decoded, sorted by table, hashed as a whole, and passed to the
 * transport as an array of operations. Key-Write and Key-Increment make N
 * operations of a report; postcards are collected in a cache of rows, Append
 * entries in a batch for each list. Within a table reports stay in order.
 */
#ifndef DTA_TRANSLATE_H
#define DTA_TRANSLATE_H

#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "packet/pkt.h"
#include "rdma/op.h"
#include "region/table.h"
#include "net/dta.h"

/* received = stored + drops. */
struct translate_ledger {
	uint64_t received;  /* packets */
	uint64_t stored;    /* reports carried out, or waiting in a cache */
	uint64_t foreign;   /* not a DTA report: not UDP to DTA_PORT */
	uint64_t malformed; /* cut short, bad lengths, bad checksums */
	uint64_t bad_version;
	uint64_t bad_opcode; /* unknown, or not what the table takes */
	uint64_t bad_table;
	uint64_t bad_key;      /* key length */
	uint64_t bad_data;     /* data length */
	uint64_t bad_copies;   /* N above 4 */
	uint64_t bad_hop;      /* hop or path length outside the chunk */
	uint64_t bad_list;     /* no such list */
	uint64_t bad_value;    /* a postcard of the blank value */
	uint64_t out_of_order; /* strict sequence: after a gap */
	uint64_t repeated;     /* strict sequence: was there already */
	uint64_t rate_limited;
	uint64_t resyncing; /* strict sequence: the transport was busy() */
	uint64_t unwritten; /* counted by the program: its output failed */
	uint64_t probes;    /* no report: a reporter asks for its sequence */
	/* notes */
	uint64_t nacks;	       /* DTA NACKs seen: foreign */
	uint64_t nacks_sent;   /* DTA NACKs made here */
	uint64_t gaps;	       /* in the numbers of reporters */
	uint64_t missing;      /* numbers that did not come, or not yet */
	uint64_t restarts;     /* numberings that began anew */
	uint64_t lost_reports; /* strict sequence: missing and given up */
	uint64_t ops, bytes;   /* operations, payload bytes */
	uint64_t immediates;
	uint64_t chunks;	  /* postcard chunks written whole */
	uint64_t early_emissions; /* partial evictions: for another key, or a
				     flush */
	uint64_t duplicates;	  /* postcards of a hop that the row held */
	uint64_t batches,
		partial_batches; /* Append writes; those below the batch size */
	uint64_t partial_checksums; /* DTA reports with one: see net/net.h */
};

extern const struct ledger translate_ledger;

struct translator;

struct translate_options {
	enum dta_format format; /* accepted besides DTA/1 */
	struct snk *nacks; /* NACK packets of strict sequence checks, or NULL */
	/* Operations a second, 0: any number; and how many at once, at least
	 * DTA_MAX_COPIES. By the packets' time. */
	uint64_t op_rate, op_burst;
	/* Collectors with the same tables; 0 is 1. The transport has the tables
	 * of all: table t of collector c is its number c * n + t. */
	unsigned collectors; /* COLLECTORS_MAX at most */
	bool mirror;   /* each report goes to the next collector as well */
	bool dart;     /* a Key-Write report is one write, of a random copy:
			  DART, section 6; else N writes */
	uint64_t seed; /* of these random copies */
};

enum {
	COLLECTORS_MAX = 256,
};

/* tables: n geometries, 1 to TABLE_MAX, copied. transport outlives the
 * translator. */
int translate_open(struct translator **out, const struct table *tables,
		   unsigned n, struct transport *transport,
		   const struct translate_options *o, struct error *err);

/* One batch, n <= PKT_BATCH. Returns 0 or the transport's -errno. */
int translate_rx(struct translator *t, const struct pkt *pkts, size_t n);

/* Another ns have passed without packets: writes partial batches whose flush
 * time is over. While packets come, their times are the clock. */
int translate_idle(struct translator *t, uint64_t ns);

/* Writes out cached postcards and partial batches. */
int translate_flush(struct translator *t);

/* Replaces *t, which was flushed, by a translator for other collectors, or the
 * same in another order; tables and other options are the same. Ledger, clock
 * and the state of reporters are taken over. On an error *t stays. */
int translate_succeed(struct translator **t, const struct table *tables,
		      unsigned n, struct transport *transport,
		      const struct translate_options *o, struct error *err);

const struct translate_ledger *translate_counters(const struct translator *t);
void translate_close(struct translator *t); /* does not flush */

#endif
