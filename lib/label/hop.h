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

#include "base/ledger.h"
#include "label/policy.h"
#include "net/key.h"
#include "label/label.h"

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
	LABEL_HOP_GROWTH = LABEL_GROWTH,
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
 * LABEL_EXPORT_REST behind its labels. NULL: nobody is told of labels.
 */
struct label_outcome label_hop_pass(struct label_hop *h,
				    const struct label_transit *t,
				    const uint8_t *frame, size_t len,
				    uint8_t *out, uint8_t *export, size_t cap);

/* S of a port, the control's register. Above LABEL_S_MAX: false. */
bool label_hop_set_s(struct label_hop *h, uint16_t port, uint64_t s);

/* A specific flow, one packet of which is marked each period; added again it
 * gets the new one. 0, -ENOSPC; -ENOENT: there is none. */
int label_hop_flow_add(struct label_hop *h, const uint8_t *key, size_t len,
		       uint64_t period_us);
int label_hop_flow_del(struct label_hop *h, const uint8_t *key, size_t len);

const struct label_hop_ledger *label_hop_counters(const struct label_hop *h);

#endif
