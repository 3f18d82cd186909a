/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_collector.h - frames in, rows out: the decoder, a filter and the INT sink
 * (sink.h), on one core or on several.
 *
 * On several, workers take batches of packets one at a time
 * (threads/threads.h). What a batch says goes as messages to owners, which take
 * it in the order of batches:
 *
 *	a record		to the owner of its flow: the flow cache, paths,
 *			latencies, distributions
 *	its snapshots	to the owners of their nodes
 *	its number	to the owner of its reporter
 *	the time	to all
 *
 * The owner of a flow, which knows where its hops are, writes down what they
 * tell of queues, links and buffers. In a second round the owners of their
 * nodes read it, in the order of the records.
 *
 * An owner is a worker, with a sink for flows and one for nodes of its own. So
 * the rows are those of one core, and those of each flow and each queue are in
 * their order. Flows are shared out by rows of the flow cache, so that the same
 * flows leave it; of other tables that are full each owner has one, as large as
 * one core's.
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
	INT_COLLECTOR_WORKERS = 32,
};

struct int_collector;

struct int_collector_options {
	unsigned workers;	   /* 1 to INT_COLLECTOR_WORKERS */
	const struct expr *filter; /* NULL: none */
	const struct int_profile *profile;
	struct telemetry_options telemetry;
};

/* What was counted. */
struct int_collector_ledgers {
	struct int_frame_ledger intake;
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

/* out: where packets go on, if on one core; or NULL. take: packets for a worker
 * but 0, up to PKT_BATCH, valid until workers * THREADS_PLACES more batches
 * were taken; it returns how many, 0: none now; one call at a time, by that
 * worker's thread; it must not wait. */
int int_collector_start(struct int_collector *c, struct snk *out,
			int (*take)(void *ctx, struct pkt *room, int max),
			void *ctx, struct error *err);

/* The sink of one worker: to be looked at, at rest. */
struct telemetry *int_collector_sink(struct int_collector *c);

/* The next batch, n <= PKT_BATCH. On several cores it is worker 0's; no other
 * is taken from when this returns until it is called again. */
int int_collector_rx(struct int_collector *c, const struct pkt *pkts, size_t n);

/* Until all that was taken is through. */
int int_collector_rest(struct int_collector *c);

/* These rest; then as those of sink.h. */
int int_collector_set(struct int_collector *c,
		      const struct telemetry_thresholds *th);
int int_collector_tick(struct int_collector *c, uint64_t now_ns);
int int_collector_pass(struct int_collector *c);
int int_collector_flush(struct int_collector *c);
void int_collector_ledgers(struct int_collector *c,
			   struct int_collector_ledgers *out);

/* Rests, if it was started. NULL is fine. */
void int_collector_close(struct int_collector *c);

#endif
