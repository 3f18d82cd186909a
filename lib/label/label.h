/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * label.h - INT-label: packets that carry the state of the ports they came
 * through (INT-label, section 2, and its algorithms 1 and 4).
 *
 * Behind the IP header, whose protocol is then one for this (253 by default),
 * stand two bytes, INT OPTION, and items, the newest first. In IPv6 that is
 * behind the fixed header, before all extension headers.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |      NH       |    INT_num    |    NH: the protocol before
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *
 * INT_num counts the items. Of a specific flow it begins with MAX_hop, and is
 * above that: section 3.3. An item, 32 bytes, network order:
 *
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |                           device id                           |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |         ingress port          |          egress port          |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |             label time, microseconds of the device            |
 *     +                               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |                               |         reserved, 0           |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |               hop latency, nanoseconds, saturating            |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |               queue depth, as the device counts it            |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |  number: labels that this port has written, this one included |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |                          reserved, 0                          |
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *
 * The number goes on from 2^32 - 1 with 1; 0: the device does not count. Where
 * one is missing a label was lost: the paper has nothing like it. What is
 * reserved is not looked at.
 *
 * Fragments of IPv4 carry no labels: those behind the first would have none to
 * be told by, and a router may make them of a packet that has some, which then
 * cannot be restored: hop.h. Nor do packets of IPv6 whose length is told
 * elsewhere (RFC 2675), or is 0 because a network card will cut them up.
 *
 * Decoded values are in host order; pointers point into the frame.
 */
/* clang-format on */
#ifndef LABEL_LABEL_H
#define LABEL_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/proto.h"

#define LABEL_TIME_MASK ((UINT64_C(1) << 48) - 1)

enum {
	LABEL_GROWTH = LABEL_OPTION_LEN + LABEL_ITEM_LEN, /* of a packet by its
							     first label */
};

struct label_item {
	uint32_t device;
	uint16_t in, out; /* ports */
	uint64_t time_us; /* 48 bits */
	uint32_t latency_ns;
	uint32_t queue;
	uint32_t number;
};

/* What a network has agreed on. */
struct label_format {
	uint8_t protocol;     /* of IP */
	uint8_t max_hop;      /* 1 to LABEL_MAX_HOP_MOST */
	uint16_t export_port; /* UDP destination: the payload is a packet that
				 carries labels; 0: none is */
};

extern const struct label_format label_format_default;

enum label_layout {
	LABEL_IP4,
	LABEL_IP6,
};

/* A packet that carries labels, or may be given some. */
struct label_view {
	uint8_t layout;	       /* enum label_layout */
	bool claims;	       /* to have labels, readable or not */
	bool exported;	       /* it is the payload of a datagram */
	bool labelled;	       /* it has the option */
	bool damaged;	       /* and a checksum of IP or UDP is wrong */
	bool specific;	       /* of a specific flow */
	uint8_t n;	       /* labels */
	uint8_t next;	       /* the packet's own protocol */
	const uint8_t *ip;     /* IP header */
	const uint8_t *option; /* or where it would be */
	const uint8_t *rest;   /* what follows the labels: rest_len bytes were
				  captured */
	size_t rest_len;
	uint32_t ip_len; /* IP header and all behind it, by the header */
};

/*
 * Looks for labels in an Ethernet frame. 0: it carries the option, *v tells
 * with how many labels; -ENOENT: an IP packet that may be given some, *v is of
 * that; -ENOTSUP: anything else, which goes on as it is, as does a packet whose
 * IP version is not that of its EtherType; -EBADMSG: malformed or cut short
 * within what must be read. Of these two only v->claims is to be used:
 * fragments and cut packets claim labels, too, by the IP protocol.
 */
int label_find(struct label_view *v, const struct label_format *f,
	       const uint8_t *frame, size_t len);

/* Whether the checksum of its IPv4 header is wrong. */
bool label_ip_damaged(const struct label_view *v);

/* Label i < v->n, 0 is the newest. */
void label_item_get(struct label_item *out, const struct label_view *v,
		    unsigned i);

/* An item as it stands in a packet, LABEL_ITEM_LEN bytes. */
void label_item_put(uint8_t *out, const struct label_item *item);

/*
 * Writes the frame of a view with one label more; specific: of those, if it has
 * none yet. mtu: bytes that its IP packet may have; 0: no limit but IP's.
 * Returns the new length; -E2BIG: it has MAX_hop labels, or, specific, all that
 * INT_num can count; -EMSGSIZE: it would be longer than the mtu, or has more in
 * it already than IP can tell; -ENOTSUP: a datagram's, or its
 * IPv4 checksum is 0xffff: taken back it would be 0 (RFC 1624, section 4);
 * -ENOBUFS. out and frame are apart.
 */
int label_push(uint8_t *out, size_t cap, const struct label_format *f,
	       const struct label_view *v, const uint8_t *frame, size_t len,
	       const struct label_item *item, bool specific, size_t mtu);

/*
 * Writes the frame of a view without option and labels: bit for bit what it was
 * before the first one, but for what routers have done to it since. Returns the
 * new length; -ENOTSUP: a datagram's; -ENOBUFS. out may be frame.
 */
int label_strip(uint8_t *out, size_t cap, const struct label_view *v,
		const uint8_t *frame, size_t len);

/* Bytes of option and labels. */
static inline size_t label_extent(const struct label_view *v)
{
	return LABEL_OPTION_LEN + (size_t)v->n * LABEL_ITEM_LEN;
}

/* The flow of a packet with or without labels: flow4 or flow6, out has room for
 * KEY_FLOW6_LEN. Ports are 0 where there are none to be read. Returns its
 * length. */
unsigned label_flow_key(uint8_t *out, const struct label_view *v);

#endif
