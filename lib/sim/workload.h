/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload.h - what systems report of traffic: a workload looks at each packet
 * that a network carries and hands out reports, as the rows of the DTA paper's
 * Table 2 have it.
 *
 * It sees only struct traffic_packet: captures and synthetic traffic are the
 * same to it. A run belongs to one caller.
 */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/traffic.h"
#include "net/dta.h"

enum workload_needs {
	NEEDS_NOTHING, /* makes its own keys: uniform */
	NEEDS_HOST,    /* addresses */
	NEEDS_FLOW,    /* and ports */
	NEEDS_TCP,     /* and sequence numbers */
	NEEDS_ROWS,    /* no traffic at all: keys and values that are given */
};

enum {
	WORKLOAD_FLOWS = 1 << 19, /* flows, or hosts, that are remembered */
};

struct workload_run;

/* What is known of a workload before it runs. [0]: IPv4, [1]: IPv6. */
struct workload {
	const char *name;
	uint8_t kind;	    /* enum dta_opcode */
	uint8_t needs;	    /* enum workload_needs */
	bool per_flow;	    /* looks at the first packet of a flow only */
	uint8_t key[2];	    /* enum key_type; append: KEY_U32 */
	uint16_t value[2];  /* bytes of value, entry */
	const char *system; /* the row of the paper's Table 2 */
	void (*packet)(struct workload_run *g, const struct traffic_packet *p);
	void (*end)(struct workload_run *g); /* may be NULL */
	size_t state; /* bytes of its own, of each flow that is interleaved */
	size_t flow;  /* bytes kept of each flow; 0: none is remembered */
	/* A flow is forgotten, at the end all are; ctx is the run; or NULL. */
	void (*leave)(void *ctx, struct flow *f);
};

extern const struct workload workloads[];
extern const unsigned n_workloads;
const struct workload *workload_find(const char *name); /* NULL: no such */

struct workload_options {
	uint64_t seed;
	struct synth_stream stream; /* of the seed */
	uint64_t interleave;	    /* flows between a flow's postcards */
	bool no_path_len;	    /* postcards do not tell it */
	uint64_t link_rate;	    /* bits/s */
	uint64_t lists;
	/* uniform */
	int key_type, kind;
	unsigned key_len;
	uint64_t value_len;
};

/* The caller fills in all but the last part, and zeroes that. */
struct workload_run {
	const struct workload *w;
	struct workload_options o;
	struct topology topology;
	uint64_t *retransmissions;	  /* segments that were sent again */
	struct traffic_counters *traffic; /* evicted, of all flow tables */
	/*
	 * A report of switch reporter; v6 picks the table. Table, copies and
	 * sequence are the taker's. The bytes are the workload's: copy them.
	 */
	void (*emit)(void *ctx, struct dta_report *r, bool v6,
		     unsigned reporter, uint64_t ts_ns);
	void *ctx;

	struct flowtab *flows;
	void *state;	 /* the workload's own, zeros at first */
	uint64_t held;	 /* flows in it that are interleaved */
	uint64_t now_ns; /* time of the last packet: what the end is dated */
};

/* 0, or -ENOMEM; workload_fini() after either. */
int workload_start(struct workload_run *g);
void workload_fini(struct workload_run *g);

static inline void workload_packet(struct workload_run *g,
				   const struct traffic_packet *p)
{
	g->w->packet(g, p);
}

/* The traffic is over: reports of what is remembered. */
void workload_end(struct workload_run *g);

#endif
