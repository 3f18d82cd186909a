/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.h - the INT sink on several cores: rows, ledgers and packets that go on
 * are what one core makes of the same packets, but for the order of rows.
 *
 * Workers take batches of packets in turn, and go through these steps:
 *
 *	take	in turn		packets from the source
 *	look	at once		decodes, filters, hashes flows; takes telemetry
 *				out of packets that go on
 *	pass	in turn		sends them on; it is so late now
 *	part	at once		each worker takes the views of its own flows, of
 *				its batch and of those that the others have now,
 *				in their order: a round
 *	sift	at once		which of what these tell of queues, links and
 *				buffers is to be judged: mostly nothing
 *	judge	in turn		that, and numbers of reporters
 *
 * Why the rows are the same: telemetry/shard.h, measure/copies.h. Rows of one
 * flow come in their order, and so do those of one queue.
 *
 * Between cores a cache line takes longer than a view. One of each view goes to
 * its flow's core, past the caches (batch.h), and nothing of it goes back; what
 * two cores write lies on lines of its own.
 *
 * Ownership: t, its sinks, and what options name outlive the team. While it is
 * open, t belongs to it; collect_team_rest() lends it back.
 * Errors:    0 or -errno; the first of a sink, of out, or -ENOMEM.
 * Threads:   the functions are for the thread that opened it, worker 0.
 */
#ifndef COLLECT_TEAM_H
#define COLLECT_TEAM_H

#include "collect/batch.h"
#include "telemetry/sink.h"

struct collect_team;

struct collect_team_options {
	unsigned workers; /* 1 to TELEMETRY_SHARDS_MAX */
	const struct int_profile *profile;
	const struct expr *filter; /* NULL: none */
	struct snk *out;	   /* where packets go on, or NULL */
	/* Where rows of flows go, from several threads (gate.h), and so do t's.
	 * NULL: all is kept in t, by one worker at a time; so it has to be with
	 * a budget of events. */
	const struct telemetry_sinks *sinks;
	/* Packets for a worker but 0, up to PKT_BATCH, valid until workers more
	 * batches were taken. Returns how many, 0: none now. In turn, by that
	 * worker's thread; must not wait. */
	int (*take)(void *ctx, struct pkt *room, int max);
	void *ctx;
};

/* What a worker did. */
struct collect_share {
	uint64_t batches, packets;
	uint64_t views;	 /* taken */
	uint64_t late;	 /* of them: those that waited for others */
	uint64_t judged; /* values of queues, links and buffers that these tell,
			    and that are to be judged in turn */
};

/* What was counted. */
struct collect_ledgers {
	struct intake_ledger intake;
	struct intake_report_ledger reports;
	struct filter_ledger filtered;
	struct telemetry_ledger telemetry;
	struct flows_ledger flows;
};

int collect_team_open(struct collect_team **out, struct telemetry *t,
		      const struct collect_team_options *o, struct fault *f);

/* The next batch, worker 0's, n <= PKT_BATCH. It returns when that is through
 * and the others have taken theirs. */
int collect_team_rx(struct collect_team *c, const struct pkt *pkts, size_t n);

/* Until all that was taken is through: t is the caller's. */
int collect_team_rest(struct collect_team *c);

/* These rest; then as those of telemetry/sink.h. */
int collect_team_set(struct collect_team *c,
		     const struct telemetry_thresholds *th);
int collect_team_tick(struct collect_team *c, uint64_t now_ns);
int collect_team_pass(struct collect_team *c);
int collect_team_flush(struct collect_team *c);
void collect_team_ledgers(struct collect_team *c, struct collect_ledgers *out);

/* Of frames, as of worker 0's last batch, or at rest of all. */
const struct intake_ledger *collect_team_counters(const struct collect_team *c);

/* At rest. */
struct collect_share collect_team_share(const struct collect_team *c,
					unsigned worker);

/* Rests; t is the caller's again. NULL is fine. */
void collect_team_close(struct collect_team *c);

#endif
