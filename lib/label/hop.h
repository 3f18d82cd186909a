/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop.h - a device on the way: packets that leave by a port are labelled as the
 * policy says, and, where a host is behind that port, given back as they were,
 * with their labels told (INT-label, algorithm 1 as a whole).
 *
 * An edge port has a host behind it. What comes from there with our IP
 * protocol, readable or not, is forged, and dropped: it would be read as labels
 * on the way, and cut at its end. Specific flows are marked where they come
 * from an edge.
 *
 * A packet of IPv4 that a router may cut up (RFC 6864: DF is not set) is given
 * no label: of its fragments only the first would have labels, and no hop could
 * restore what comes of them. Nor is one whose header has a wrong checksum: the
 * next router drops it, and what it would tell is not believed. Nor is what a
 * router reads itself, which knows no labels: packets to its own addresses,
 * where labels of earlier hops end, too (algorithm 1, line 14), to multicast,
 * broadcast and link-local addresses, and those with a hop limit of 255 (RFC
 * 4861, 5082).
 *
 * There is no clock inside. A hop belongs to one thread.
 */
#ifndef LABEL_HOP_H
#define LABEL_HOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"
#include "base/rng.h"
#include "label/label.h"
#include "net/key.h"
#include "net/proto.h"

/*
 * which packets a port labels: INT-label, section 3. What a switch
 * does, with the registers it has; the simulator and the packet rewriter share
 * it.
 *
 * Base A (algorithm 1): one packet each interval T. Base B (algorithm 2):
 * besides, a packet that has labels already, with probability f(labels), unless
 * the port has labelled one within the rest time T1 (section 5). A packet of a
 * specific flow always (section 3.3): the policy need not be B, as the paper
 * has it. Pro (section 3.2): the controller moves S, and T and T1 are halved S
 * times.
 *
 * Times are microseconds of the device's clock, of which 48 bits count.
 */

enum label_kind {
	LABEL_BASE_A,
	LABEL_BASE_B,
};

enum label_f {
	LABEL_F1,      /* 1 from the second label on */
	LABEL_F2,      /* labels / (MAX_hop - 1) */
	LABEL_F3,      /* that, times the part of T that is over */
	LABEL_F_TABLE, /* table[labels], the last one for more */
};

enum {
	LABEL_S_MAX = 20, /* an interval of 1 s is 1 us then */
	LABEL_TABLE_MAX = 16,
};

struct label_policy {
	enum label_kind kind;
	enum label_f f;	 /* of B */
	uint8_t max_hop; /* label_format's */
	uint8_t table_len;
	double table[LABEL_TABLE_MAX];
	uint64_t interval_us; /* T */
	uint64_t rest_us;     /* T1 <= T; of B */
};

/* A port's registers. All 0: nothing was labelled yet. */
struct label_port {
	uint64_t last_us; /* when it labelled, Reg1 */
	uint32_t number;  /* labels written: label/label.h */
	uint8_t s;	  /* Reg2 */
	bool labelled;	  /* last_us tells */
};

/* As a switch shifts. Never 0, so that an interval stays one. */
static inline uint64_t label_interval(const struct label_policy *p, uint8_t s)
{
	uint64_t t = p->interval_us >> s;

	return t ? t : 1;
}

/* f(items) of Base B, 0 to 1, so long after the port's last label. */
double label_probability(const struct label_policy *p, uint8_t s,
			 unsigned items, uint64_t elapsed_us);

/*
 * Whether a packet that has so many labels (and is of a specific flow) is to be
 * labelled. The registers stay as they are: whether there is room for a label
 * is the packet's affair (label_push()).
 */
bool label_decide(const struct label_policy *p, const struct label_port *port,
		  unsigned items, bool specific, uint64_t now_us,
		  struct rng *rng);

/* The port writes a label. Returns its number. */
static inline uint32_t label_wrote(struct label_port *port, uint64_t now_us)
{
	port->last_us = now_us;
	port->labelled = true;
	if (!++port->number) /* 0 is: not counted */
		port->number = 1;
	return port->number;
}

/* "A", "B". */
extern const char *const label_kind_names[];

/* Sets f from text: "f1", "f2", "f3", or numbers from 0 to 1 with commas
 * between them, f(0) first. Returns 0, or -EINVAL and why. */
int label_policy_f(struct label_policy *p, const char *text, struct error *why);

/* Packets in = done + dropped. */
struct label_hop_ledger {
	uint64_t packets;
	uint64_t plain;	    /* on as they came, without labels */
	uint64_t carried;   /* with those that they had */
	uint64_t labelled;  /* with one more */
	uint64_t restored;  /* without: the last hop */
	uint64_t malformed; /* on as they came */
	uint64_t forged;    /* dropped */
	uint64_t too_long;  /* dropped: for the room there is */
	uint64_t labels;    /* written */
	uint64_t specific;  /* of them of specific flows */
	uint64_t over_mtu;  /* labels not written: the packet would be too long,
			     */
	uint64_t over_hops; /* has MAX_hop of them, */
	uint64_t fragile;   /* may be cut up, */
	uint64_t checksum;  /* has a wrong one, of IPv4, */
	uint64_t local;	    /* is for a router, or for its link alone, */
	uint64_t unfit;	    /* or cannot be given any */
	uint64_t exported;  /* packets whose labels were told */
};

extern const struct ledger label_hop_ledger;

/* An own address of a router next to the device. */
struct label_router {
	uint8_t version; /* 4 or 6 */
	uint8_t ip[16];
};

struct label_hop_options {
	struct label_policy policy;
	struct label_format format; /* export_port is not looked at */
	uint32_t device;
	size_t mtu; /* of the links to other devices; 0: IP's limit */
	const struct label_router *routers; /* outlive the hop */
	unsigned n_routers;
};

enum {
	LABEL_FLOWS_MAX = 256, /* specific flows of a hop */
	LABEL_ROUTERS_MAX = 64,
	LABEL_EXPORT_REST = 8, /* bytes behind the labels that are told, too:
				  ports */
};

struct label_hop;

int label_hop_open(struct label_hop **out, const struct label_hop_options *o);
void label_hop_close(struct label_hop *h); /* NULL is fine */

/* A packet at the device. */
struct label_transit {
	uint16_t in, out; /* ports */
	bool from_edge, to_edge;
	uint64_t now_us;
	uint32_t latency_ns, queue;
};

/* A frame to be sent, and labels to be told of. */
struct label_outcome {
	size_t len;    /* of the frame; 0: dropped */
	size_t export; /* of the other: 0 nothing is to be told */
};

/*
 * Takes a frame through. out has room for cap bytes: LABEL_GROWTH more than len
 * are enough; export for as many: an Ethernet frame that ends
 * LABEL_EXPORT_REST behind its labels. NULL: labels are not exported.
 */
struct label_outcome label_hop_pass(struct label_hop *h,
				    const struct label_transit *t,
				    const uint8_t *frame, size_t len,
				    uint8_t *out, uint8_t *export, size_t cap);

/* S of a port, the control's register: LABEL_S_MAX at most. */
void label_hop_set_s(struct label_hop *h, uint16_t port, uint8_t s);

/* A specific flow, one packet of which is marked each period; added again it
 * gets the new one. 0, -ENOSPC; -ENOENT: there is none. */
int label_hop_flow_add(struct label_hop *h, const uint8_t *key, size_t len,
		       uint64_t period_us);
int label_hop_flow_del(struct label_hop *h, const uint8_t *key, size_t len);

const struct label_hop_ledger *label_hop_counters(const struct label_hop *h);

#endif
