/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netsim.h - a network in virtual time, packet by packet: INT-label on it, and
 * what it is compared with.
 *
 * Each port has a queue in front of a link of a rate and a delay. A packet is a
 * small struct, not bytes; frames are made of what is exported. What labels,
 * and what the controller does, is lib/label's: the same as on real packets.
 *
 * A port decides on a packet when that enters its queue, as of the time at
 * which it will leave it: first in, first out, that is the same order. All
 * devices have one clock, which begins with the run.
 *
 * Memory: in proportion to ports, and to packets that are under way at once.
 * Threads: none; a run belongs to one caller. The same options, the same run.
 */
#ifndef SIM_NETSIM_H
#define SIM_NETSIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "label/hop.h"
#include "sim/fabric.h"

enum netsim_scheme {
	NETSIM_LABEL,	 /* INT-label */
	NETSIM_FLAG,	 /* that with the published prototype's way to adapt: a
			    port that is not heard of for a telemetry interval
			    labels all packets for ten of them */
	NETSIM_INT,	 /* packets are sampled at the ingress, and labelled by
			    all switches on their way */
	NETSIM_HULA,	 /* probes of the ToR switches, flooded */
	NETSIM_INT_PATH, /* probes along Euler trails */
	NETSIM_PINGMESH, /* hosts of a fat tree ping hosts; says nothing of
			    ports */
	NETSIM_NONE,	 /* the traffic alone */
};

extern const char *const netsim_scheme_names[]; /* ends with NULL */

enum netsim_arrivals {
	NETSIM_POISSON,
	NETSIM_PACED, /* evenly, give or take three tenths of the gap, as the
			 paper's senders that sleep between packets */
};

struct netsim_loss {
	uint32_t port; /* of fabric.h: what leaves through it */
	double share;
};

struct netsim_options {
	struct fabric *fabric; /* the caller's, which outlives the run */
	enum netsim_scheme scheme;
	uint64_t seed;
	uint64_t duration_ns;
	uint64_t start_ns;     /* the controller's clock then */
	uint64_t telemetry_ns; /* interval of the controller's view */

	uint64_t link_bps, delay_ns; /* of each link */
	uint64_t port_pps;  /* 0, or packets a second that a port forwards, */
	double port_jitter; /* each in so much less or more than its share */
	uint32_t queue;	    /* packets of a port */
	uint32_t mtu;	    /* of IP packets; 0: none */
	const struct netsim_loss *losses;
	unsigned n_losses;

	/* Traffic: in the paper's network along its routes, in a fat tree
	 * between pairs of hosts. */
	double rate; /* packets a second in all */
	enum netsim_arrivals arrivals;
	uint32_t senders;  /* that share the rate; on the paper's hosts */
	uint32_t flows;	   /* of a fat tree: pairs of hosts with a way each */
	uint32_t specific; /* of them, so many are labelled at each hop */
	uint32_t packet;   /* bytes of a frame */

	struct label_policy policy; /* of LABEL, FLAG, INT: interval_us */
	uint64_t probe_ns;	    /* of HULA, INT_PATH, PINGMESH: interval */

	bool adapt; /* Pro */
	double k;   /* of Pro: silent after k T; above 0 */
	uint8_t s_max;
	uint64_t control_ns; /* from the last hop to the controller, and from
				the controller to a switch */
};

/* What has happened since the run began. */
struct netsim_counters {
	uint64_t packets, probes, copies; /* copies: of probes, by switches */
	uint64_t delivered, ended; /* packets, probes that have arrived */
	uint64_t queue_full, lost;
	/* notes */
	uint64_t packets_lost; /* of all that were lost, those of traffic */
	uint64_t labels;       /* written */
	uint64_t too_long;     /* not written: MTU */
	uint64_t full;	       /* not written: MAX_hop */
	uint64_t labelled;     /* packets delivered with labels */
	uint64_t items;	       /* labels delivered */
	uint64_t reports;      /* labels that the controller got */
	uint64_t link_bytes, label_bytes, probe_bytes; /* on all links */
	uint64_t raised, lowered; /* S, by the controller */
};

extern const struct ledger netsim_ledger;

enum {
	NETSIM_CARRIED = FABRIC_HOPS + 1,
};

/* A telemetry interval. Counters are of the interval. */
struct netsim_interval {
	uint64_t number; /* from 0 */
	uint64_t end_ns;
	struct netsim_counters ctr;
	uint64_t carried[NETSIM_CARRIED]; /* delivered packets by labels */
	uint32_t known, covered;	  /* ports, as the controller sees it */
	uint8_t s_max;			  /* over ports with traffic */
	uint32_t generators;		  /* of probes */
};

struct netsim_calls {
	void (*interval)(void *ctx, const struct netsim_interval *i);
	/* What a last hop exports, as it reaches the controller, by its clock.
	 * May be NULL. */
	void (*export)(void *ctx, uint64_t ns, const uint8_t *frame,
		       size_t len);
	/* Asked now and then; true ends the run: what is under way arrives, no
	 * further interval is told. May be NULL. */
	bool (*stop)(void *ctx);
	void *ctx;
};

struct netsim;

/* Options are copied, what they point at is not. 0 or -errno, err set. */
int netsim_open(struct netsim **out, const struct netsim_options *o,
		const struct netsim_calls *calls, struct error *err);
/* Until the end. 0 or -errno, err set. */
int netsim_run(struct netsim *s, struct error *err);
const struct netsim_counters *netsim_counters(const struct netsim *s);
void netsim_close(struct netsim *s); /* NULL is fine */

#endif
