/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_collector.h - frames in, rows out: the decoder, a filter and the INT sink
 * (sink.h), on one core or on several.
 *
 * On several, workers take turns at taking a batch of packets
 * (threads/threads.h). What they decode they send as messages to owners, which
 * receive them in the order of batches:
 *
 *	a record	to the owner of its flow: the flow cache, paths,
 *			latencies, distributions
 *	its snapshots	to the owners of their nodes
 *	its number	to the owner of its reporter
 *	the time	to all
 *
 * The owner of a flow, which keeps the hop keys of its hops, writes down their
 * values of queues, links and buffers. In a second round the owners of their
 * nodes read these, in the order of the records.
 *
 * An owner is a worker with two sinks, one for flows and one for nodes. So the
 * rows are those of one core, and those of each flow and each queue are in
 * their order. Flows are shared out by rows of the flow cache, so that the same
 * flows are evicted. Of other tables each owner has one as large as one core's:
 * what finds no room may differ.
 *
 * Ownership: what options name outlives the collector.
 * Errors:    0 or -errno: the first of a sink, of out, or -ENOMEM.
 * Threads:   the functions are for the thread that opened it.
 */
#ifndef TELEMETRY_INT_COLLECTOR_H
#define TELEMETRY_INT_COLLECTOR_H

#include "base/error.h"
#include "telemetry/filter.h"
#include "int/frame_decoder.h"
#include "packet/pkt.h"
#include "telemetry/sink.h"

enum {
	INT_COLLECTOR_WORKERS = 32, /* at most */
};

struct int_collector;

struct int_collector_options {
	unsigned workers;	   /* 1 to INT_COLLECTOR_WORKERS */
	const struct expr *filter; /* NULL: none */
	const struct int_profile *profile;
	struct telemetry_options telemetry;
};

struct int_collector_ledgers {
	struct int_frame_ledger frames;
	struct int_report_ledger reports;
	struct filter_ledger filtered;
	struct telemetry_ledger telemetry;
	struct flows_ledger flows;
};

/* 0, -EINVAL or -ENOMEM: as telemetry_open(). Rows are put by one thread at a
 * time. */
int int_collector_open(struct int_collector **out,
		       const struct int_collector_options *o,
		       const struct telemetry_thresholds *th,
		       const struct telemetry_sinks *sinks);

/* out: gets the packets without their telemetry, with one worker; or NULL.
 * take: fetches up to max packets for a worker other than 0, whose thread calls
 * it, one at a time. It returns how many, and must not wait. They stay valid
 * until workers * THREADS_PLACES more batches were taken. */
int int_collector_start(struct int_collector *c, struct snk *out,
			int (*take)(void *ctx, struct pkt *room, int max),
			void *ctx, struct error *err);

/* The only sink, with one worker: for telemetry_items() and so on. */
struct telemetry *int_collector_sink(struct int_collector *c);

/* Adds a batch, n <= PKT_BATCH. On several cores it is worker 0's, and others
 * call take() only during this call. */
int int_collector_rx(struct int_collector *c, const struct pkt *pkts, size_t n);

/* Waits until all packets that were taken are processed. */
int int_collector_rest(struct int_collector *c);

/* Each of these rests, and does as the function of the same name in sink.h. */
int int_collector_set_thresholds(struct int_collector *c,
				 const struct telemetry_thresholds *th);
int int_collector_tick(struct int_collector *c, uint64_t now_ns);
int int_collector_put_rows(struct int_collector *c);
int int_collector_flush(struct int_collector *c);
void int_collector_ledgers(struct int_collector *c,
			   struct int_collector_ledgers *out);

/* Rests; does not flush. NULL is fine. */
void int_collector_close(struct int_collector *c);

#endif
