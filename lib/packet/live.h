/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h - sources and sinks of live interfaces, and the interfaces' addresses,
 * MTU and neighbours.
 *
 * A source does not see what its own host sends, and goes on when the interface
 * goes down and comes back; one that was removed is an error, -ENODEV.
 * If there is no peer, the interface is down or its queues are full, a sink
 * does not fail: it counts the frames as drops. Frames are as on the wire, VLAN
 * tags in place.
 */
#ifndef PACKET_LIVE_H
#define PACKET_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packet/pkt.h"

enum live_kind {
	LIVE_AUTO,   /* LIVE_XDP if the driver has it, else LIVE_PACKET; for a
			source only if ports are named, and no filter */
	LIVE_PACKET, /* AF_PACKET: TPACKET_V3; sendmmsg() */
	LIVE_XDP,    /* AF_XDP: what it takes is gone for the host. It has the
			queues that it receives by, or the one it sends by, for
			itself: no other AF_XDP socket can be there. */
};

enum {
	LIVE_PORTS = 4,
};

struct live_options {
	enum live_kind kind;
	/* UDP destination ports that are wanted, 0 for no more; none: all
	 * packets. Others may be left out; LIVE_XDP leaves them to the host. */
	uint16_t port[LIVE_PORTS];
	const char *filter; /* a BPF filter expression as tcpdump's, or NULL */
	bool promiscuous;
};

/*
 * A source, a sink. Where a capability or a limit is missing, err says which
 * and how to grant it. What a sink by AF_XDP cannot hand over waits for the
 * interface to come back, up to 2048 frames, and counts as dropped till then.
 */
int src_open_live(struct src **out, const char *name,
		  const struct live_options *o, struct error *err);
int snk_open_live(struct snk **out, const char *name, enum live_kind kind,
		  struct error *err);

/*
 * The own addresses of an interface of that name, for frames that say where
 * they come from. IPv6: not the link-local one, which routers do not forward.
 */
struct live_address {
	uint8_t mac[6];
	uint8_t ip4[4], ip6[16];
	bool has_ip4, has_ip6;
};

/* false: it has none, as the loopback interface, or is not there. */
bool live_address(struct live_address *out, const char *name);

/* Bytes that an IP packet on an interface may have; 0: it is not there. */
unsigned live_mtu(const char *name);

/* The Ethernet address of a neighbour on an interface of that name; false: the
 * kernel does not know it. A link that is set down loses them all, the
 * permanent ones, too. */
bool live_neighbour(uint8_t mac[6], const char *name, uint8_t version,
		    const uint8_t *ip);

#endif
