/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload.h - what monitoring systems report of traffic: a workload looks at
 * each packet that a network carries and makes DTA reports, as a system of the
 * DTA paper's Table 2 does.
 *
 * A packet is a struct traffic_packet, of a capture or synthetic. A run belongs
 * to one caller.
 */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/traffic.h"
#include "net/dta.h"

/* What a workload needs of its input. */
enum workload_needs {
	NEEDS_NOTHING, /* only packets' numbers: uniform */
	NEEDS_HOST,    /* addresses */
	NEEDS_FLOW,    /* and ports */
	NEEDS_TCP,     /* and sequence numbers */
	NEEDS_ROWS,    /* no packets, but rows of keys and values */
};

enum {
	WORKLOAD_FLOWS = 1 << 19, /* flows or hosts in a flow table */
};

struct workload_run;

/* [0]: of IPv4, [1]: of IPv6. */
struct workload {
	const char *name;
	uint8_t kind;	       /* enum dta_opcode */
	uint8_t needs;	       /* enum workload_needs */
	bool per_flow;	       /* looks at the first packet of a flow only */
	uint8_t key_type[2];   /* enum key_type; append: KEY_U32 */
	uint16_t value_len[2]; /* bytes of a value or entry */
	const char *system;    /* the row of the paper's Table 2 */
	void (*packet)(struct workload_run *run,
		       const struct traffic_packet *p);
	void (*end)(struct workload_run *run); /* may be NULL */
	size_t state_len; /* bytes of workload_run.state, in each element */
	size_t flow_len;  /* bytes of data in the flow table; 0: no table */
	/* A flow leaves the flow table. ctx is the run. May be NULL. */
	void (*on_evict)(void *ctx, struct flow *f);
};

extern const struct workload workloads[];
extern const unsigned n_workloads;
const struct workload *workload_find(const char *name); /* NULL: no such */

struct workload_options {
	uint64_t seed;
	struct synth_stream stream; /* of the seed */
	uint64_t interleave;	    /* flows between a flow's postcards */
	bool no_path_len;	    /* postcards have 0 for it */
	uint64_t link_rate;	    /* bits/s, of int-congestion's link */
	uint64_t lists;		    /* of uniform, dshark */
	/* of uniform: */
	int key_type, kind; /* enum key_type, enum dta_opcode */
	unsigned key_len;
	uint64_t value_len;
};

/* The caller fills in all up to ctx and zeroes the rest. */
struct workload_run {
	const struct workload *w;
	struct workload_options o;
	struct topology topology;
	uint64_t *retransmissions;	  /* counts TCP segments sent again */
	struct traffic_counters *traffic; /* evicted counts those of flows */
	/* Takes a report of switch reporter; v6: of an IPv6 flow. It sets the
	 * report's table, copies (but pint's) and sequence. Key and data are
	 * the workload's and valid during the call. */
	void (*emit)(void *ctx, struct dta_report *r, bool v6,
		     unsigned reporter, uint64_t ts_ns);
	void *ctx;

	struct flowtab *flows;
	void *state; /* the workload's own: 1 + interleave elements, zeros */
	uint64_t interleaved; /* elements in use */
	uint64_t now_ns;      /* of the last packet */
};

/* 0, or -ENOMEM; workload_fini() after either. */
int workload_start(struct workload_run *run);
void workload_fini(struct workload_run *run);

/* When the traffic is over: reports what the workload still has. */
void workload_end(struct workload_run *run);

#endif
