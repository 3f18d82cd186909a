/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cores.h - what int-collect makes of frames, on one core or on several (-j):
 * views, and all that is kept of them. Counters, and what is kept, are those of
 * all cores.
 */
#ifndef INT_COLLECT_CORES_H
#define INT_COLLECT_CORES_H

#include "collect/team.h"
#include "options.h"

struct cores;

struct cores_options {
	const struct opts *o;
	struct telemetry *t;
	/* t's; with several cores those of a gate (collect/gate.h). */
	const struct telemetry_sinks *sinks;
	const struct int_profile *profile;
	const struct expr *filter; /* NULL: none */
	struct snk *out;	   /* where packets go on, or NULL */
	struct src *source;
	/* Packets for another core than the main thread's. */
	int (*take)(void *ctx, struct pkt *room, int max);
	void *ctx;
};

/* Exits if it cannot. */
struct cores *cores_open(const struct cores_options *o);
void cores_close(struct cores *c); /* NULL is fine */

/* The next batch, n <= PKT_BATCH; 0 or -errno. */
int cores_rx(struct cores *c, const struct pkt *pkts, size_t n);
/* Until all that was taken is through: what is kept can be looked at. */
void cores_rest(struct cores *c);

/* These rest; as in telemetry/sink.h. */
int cores_set(struct cores *c, const struct telemetry_thresholds *th);
int cores_tick(struct cores *c, uint64_t now_ns);
int cores_pass(struct cores *c);
int cores_flush(struct cores *c);
void cores_ledgers(struct cores *c, struct collect_ledgers *out);

/* Of frames, as of the main thread's last batch, or at rest of all. */
const struct intake_ledger *cores_counters(const struct cores *c);

/* With --stats: what each core has done. */
void cores_print(struct cores *c);

#endif
