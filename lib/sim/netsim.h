/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netsim.h - a simulated network in virtual time, packet by packet: INT-label
 * on it, and the schemes that INT-label is compared with.
 *
 * Each port has a queue in front of a link, which has a rate and a delay. A
 * packet is a small struct, not bytes; frames are made of exported labels only.
 * The labelling policy and the controller are those of lib/label, as on real
 * packets.
 *
 * Whether a packet is labelled is decided when it enters the queue of its
 * egress port, for the time at which it will leave; in a first-in first-out
 * queue the order is the same. All devices have one clock, 0 when the run
 * begins.
 *
 * Memory: in proportion to ports and to the packets under way at once.
 * Threads: none; a run belongs to one caller. Equal options give equal runs.
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
	NETSIM_FLAG,	 /* INT-label as its published prototype adapts: a port
			    that is silent for a telemetry interval labels all
			    packets for the next ten */
	NETSIM_INT,	 /* packets are sampled at the ingress, and labelled by
			    all switches of their route */
	NETSIM_HULA,	 /* probes of the ToR switches, flooded */
	NETSIM_INT_PATH, /* probes along Euler trails */
	NETSIM_PINGMESH, /* hosts of a fat tree ping hosts; not labelled */
	NETSIM_NONE,	 /* the traffic alone */
};

extern const char *const netsim_scheme_names[]; /* ends with NULL */

enum netsim_arrivals {
	NETSIM_POISSON,
	NETSIM_PACED, /* gaps of 0.7 to 1.3 times the mean, as of the paper's
			 senders, which sleep between packets */
};

struct netsim_loss {
	uint32_t port; /* egress, of fabric.h */
	double share;  /* of its packets that are lost, 0 to 1 */
};

struct netsim_options {
	struct fabric *fabric; /* the caller's, which outlives the run */
	enum netsim_scheme scheme;
	uint64_t seed;
	uint64_t duration_ns;
	uint64_t start_ns;     /* the controller's clock when the run begins */
	uint64_t telemetry_ns; /* interval of the controller's view */

	uint64_t link_bps, delay_ns; /* of each link */
	uint64_t port_pps;  /* packets a second a port forwards; 0: no limit */
	double port_jitter; /* with port_pps: the time of a packet is uniform
			       from 1 - this to 1 + this times 1/port_pps */
	uint32_t queue_max; /* packets in the queue of a port */
	uint32_t mtu;	    /* bytes of an IP packet; 0: no limit */
	const struct netsim_loss *losses;
	unsigned n_losses;

	/* Traffic: in the paper's network along its routes, in a fat tree
	 * between pairs of hosts. */
	double rate_pps; /* of all senders together */
	enum netsim_arrivals arrivals;
	uint32_t senders;	 /* in a fat tree; else at each host that a
				    given route begins at */
	uint32_t flows;		 /* of a fat tree: pairs of hosts */
	uint32_t specific_flows; /* flows 0 .. this - 1: labelled at each hop */
	uint32_t frame_len;	 /* bytes, without labels */

	struct label_policy policy; /* of LABEL, FLAG; of INT: interval_us */
	uint64_t probe_ns;	    /* of HULA, INT_PATH, PINGMESH: interval */

	bool adapt; /* Pro (label/control.h) */
	double k;   /* of Pro: a port is silent after k * T; above 0 */
	uint8_t s_max;
	uint64_t control_ns; /* delay from the last hop to the controller, and
				from the controller to a switch */
};

/* What has happened since the run began. */
struct netsim_counters {
	uint64_t packets, probes, copies; /* copies: of probes, by switches */
	uint64_t delivered, ended;	  /* packets; probes */
	uint64_t queue_full, lost;	  /* of all these */
	uint64_t packets_lost; /* of queue_full and lost: traffic, no probes */
	uint64_t labels;       /* written */
	uint64_t too_long;     /* not written: MTU */
	uint64_t full;	       /* not written: MAX_hop */
	uint64_t labelled;     /* packets delivered with labels */
	uint64_t items;	       /* labels that last hops took off packets */
	uint64_t reports;      /* labels that the controller got */
	/* Bytes on all links: all, labels on traffic, probes and theirs */
	uint64_t link_bytes, label_bytes, probe_bytes;
	uint64_t raised, lowered; /* S (label/hop.h), by the controller */
};

extern const struct ledger netsim_ledger;

enum {
	NETSIM_CARRIED = FABRIC_HOPS + 1, /* labels of a packet: 0 to hops */
};

/* A telemetry interval. Counters are of the interval. */
struct netsim_interval {
	uint64_t number; /* from 0 */
	uint64_t end_ns;
	struct netsim_counters ctr;
	uint64_t carried[NETSIM_CARRIED]; /* packets delivered with i labels */
	uint32_t known, covered; /* ports the controller knows, hears of */
	uint8_t s_max;		 /* the highest S of ports with traffic */
	uint32_t generators;	 /* switches or hosts that send probes */
};

struct netsim_calls {
	void (*interval)(void *ctx, const struct netsim_interval *i);
	/* Labels reach the controller: the frame that a last hop exports, and
	 * the controller's time. May be NULL. */
	void (*export)(void *ctx, uint64_t ns, const uint8_t *frame,
		       size_t len);
	/* Called now and then. True ends the run: packets under way arrive, no
	 * further interval is reported. May be NULL. */
	bool (*stop)(void *ctx);
	void *ctx;
};

struct netsim;

/* Options are copied, but not what they point at. 0 or -errno, err set. */
int netsim_open(struct netsim **out, const struct netsim_options *o,
		const struct netsim_calls *calls, struct error *err);
/* Runs until the end. 0 or -errno, err set. */
int netsim_run(struct netsim *s, struct error *err);
const struct netsim_counters *netsim_counters(const struct netsim *s);
void netsim_close(struct netsim *s); /* NULL is fine */

#endif
