/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop.h - a device of an INT-label network: labels packets that leave by a
 * port, as a policy says. At a port to a host it is their last hop: it exports
 * the labels and restores the packet (INT-label, algorithm 1 as a whole).
 *
 * An edge port has a host behind it. A packet from there that has the IP
 * protocol of labels is forged and dropped, for other devices would read labels
 * in it and strip them. Specific flows are marked where they enter by an edge
 * port.
 *
 * An IPv4 packet that a router may fragment (RFC 6864: DF is not set) is not
 * labelled: only the first fragment would have labels, so that no hop could
 * restore the packet. Nor is one whose header checksum is wrong: the next
 * router drops it. Nor is a packet that a router reads itself, which knows no
 * labels: to a router's own address, where labels of earlier hops are stripped,
 * too (algorithm 1, line 14); to a multicast, broadcast or link-local address;
 * with a hop limit of 255 (RFC 4861, RFC 5082).
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

/*
 * The policy: which packets a port labels (INT-label, section 3), with the
 * registers that a switch has. The simulator and label_hop share it.
 *
 * Base A (algorithm 1): one packet each interval T. Base B (algorithm 2): also
 * a packet that has labels already, with probability f(labels), unless the port
 * has labelled one within the rest time T1 (section 5). A packet of a specific
 * flow (section 3.3) is always labelled; in the paper, only with Base B. Pro
 * (section 3.2): the controller changes S of a port, and T and T1 are halved S
 * times.
 *
 * Times are microseconds of the device's clock, the low 48 bits.
 */

enum label_kind { LABEL_BASE_A, LABEL_BASE_B };

enum label_f {
	LABEL_F1,      /* 1 from the second label on */
	LABEL_F2,      /* labels / (MAX_hop - 1) */
	LABEL_F3,      /* F2, times the part of T that has passed */
	LABEL_F_TABLE, /* table[labels], the last entry for more */
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
	bool labelled;	  /* last_us is valid */
};

/* T >> s, as a switch computes it, but at least 1. */
static inline uint64_t label_interval(const struct label_policy *p, uint8_t s)
{
	uint64_t t = p->interval_us >> s;

	return t ? t : 1;
}

/* f(items) of Base B, 0 to 1; elapsed_us: since the port's last label. */
double label_probability(const struct label_policy *p, uint8_t s,
			 unsigned items, uint64_t elapsed_us);

/* Whether a packet that has items labels is to be labelled; specific: it is of
 * a specific flow. The registers stay unchanged until label_wrote(), for the
 * packet may have no room for a label (label_push()). */
bool label_decide(const struct label_policy *p, const struct label_port *port,
		  unsigned items, bool specific, uint64_t now_us,
		  struct rng *rng);

/* Notes that the port has written a label. Returns the label's number. */
static inline uint32_t label_wrote(struct label_port *port, uint64_t now_us)
{
	port->last_us = now_us;
	port->labelled = true;
	if (!++port->number)
		port->number = 1; /* 0: the device does not count */
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
	uint64_t plain;	    /* sent unchanged: without labels */
	uint64_t carried;   /* sent unchanged: with earlier labels */
	uint64_t labelled;  /* sent with one more label */
	uint64_t restored;  /* sent without labels: this is the last hop */
	uint64_t malformed; /* sent unchanged */
	uint64_t forged;    /* dropped */
	uint64_t too_long;  /* dropped: longer than the caller's buffer */
	uint64_t labels;    /* written */
	uint64_t specific;  /* of these, for specific flows */
	/* Labels that were due but not written, as the packet */
	uint64_t over_mtu;     /* would be longer than the MTU */
	uint64_t over_hops;    /* has MAX_hop labels */
	uint64_t fragmentable; /* may be fragmented: DF is not set */
	uint64_t checksum;     /* has a wrong IPv4 header checksum */
	uint64_t local;	       /* is for a router, or does not leave its link */
	uint64_t unfit;	       /* cannot be labelled: label_push() */
	uint64_t exported;     /* packets whose labels were exported */
};

extern const struct ledger label_hop_ledger;

/* An address of a router itself, to which packets are not labelled. */
struct label_router {
	uint8_t version; /* 4 or 6 */
	uint8_t ip[16];
};

struct label_hop_options {
	struct label_policy policy;
	struct label_format format; /* export_port is not used */
	uint32_t device;	    /* its id in labels */
	size_t mtu; /* bytes, of links to other devices; 0: IP's limit */
	const struct label_router *routers; /* outlive the hop */
	unsigned n_routers;
};

enum {
	LABEL_FLOWS_MAX = 256, /* specific flows of a hop */
	LABEL_ROUTERS_MAX = 64,
	LABEL_EXPORT_REST = 8, /* bytes behind the labels that are exported,
				  too, for the flow's ports */
};

struct label_hop;

int label_hop_open(struct label_hop **out, const struct label_hop_options *o);
void label_hop_close(struct label_hop *h); /* NULL is fine */

/* How a packet passes the device. */
struct label_transit {
	uint16_t in, out;	 /* ingress and egress port */
	bool from_edge, to_edge; /* whether these are edge ports */
	uint64_t now_us;
	uint32_t latency_ns, queue;
};

/* What label_hop_pass() has written. */
struct label_outcome {
	size_t len;    /* of the frame to send, in out; 0: it is dropped */
	size_t export; /* of the frame to export; 0: there is none */
};

/* Passes a frame through the device. out and export have room for cap bytes;
 * len + LABEL_GROWTH are enough. What is exported is the labelled frame, up to
 * LABEL_EXPORT_REST bytes behind the labels. export NULL: nothing is. */
struct label_outcome label_hop_pass(struct label_hop *h,
				    const struct label_transit *t,
				    const uint8_t *frame, size_t len,
				    uint8_t *out, uint8_t *export, size_t cap);

/* Sets S of a port, at most LABEL_S_MAX, as the controller says. */
void label_hop_set_s(struct label_hop *h, uint16_t port, uint8_t s);

/* Adds a specific flow, of which one packet each period is marked, or sets the
 * period of a known one. 0 or -ENOSPC. Deletes one: 0 or -ENOENT. */
int label_hop_flow_add(struct label_hop *h, const uint8_t *key, size_t len,
		       uint64_t period_us);
int label_hop_flow_del(struct label_hop *h, const uint8_t *key, size_t len);

const struct label_hop_ledger *label_hop_counters(const struct label_hop *h);

#endif
