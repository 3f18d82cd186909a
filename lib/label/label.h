/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * label.h - INT-label's packet format: packets carry labels, which tell the
 * state of ports that they passed (INT-label, section 2, algorithms 1 and 4).
 *
 * The IP header's protocol is then 253 (by default). Behind the header come
 * the two bytes of INT OPTION and the labels (items), the newest first. In IPv6
 * they are behind the fixed header, before all extension headers.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *     |      NH       |    INT_num    |    NH: the packet's own protocol
 *     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *
 * INT_num is the number of items; of a specific flow (section 3.3), MAX_hop
 * plus that number. An item, 32 bytes, network order:
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
 * After 2^32 - 1 the number is 1; 0: the device does not count. A missing
 * number is a lost label. (The paper has no such number.) Receivers ignore what
 * is reserved.
 *
 * IPv4 fragments carry no labels: fragments but the first would have no INT
 * OPTION, so that the packet could not be restored. Nor do IPv6 packets whose
 * payload length is 0: jumbograms (RFC 2675), and packets that a network card
 * is still to segment.
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
	/* Bytes that the first label adds to a packet. */
	LABEL_GROWTH = LABEL_OPTION_LEN + LABEL_ITEM_LEN,
};

struct label_item {
	uint32_t device;
	uint16_t in, out; /* ingress and egress port */
	uint64_t time_us; /* 48 bits */
	uint32_t latency_ns;
	uint32_t queue;
	uint32_t number;
};

/* Parameters that all devices of a network share. */
struct label_format {
	uint8_t protocol;     /* of IP */
	uint8_t max_hop;      /* 1 to LABEL_MAX_HOP_MOST */
	uint16_t export_port; /* of UDP datagrams whose payload is a packet with
				 labels; 0: there are no such datagrams */
};

extern const struct label_format label_format_default;

enum label_layout { LABEL_IP4, LABEL_IP6 };

/* A packet that carries labels, or may be given some. */
struct label_view {
	uint8_t layout;	       /* enum label_layout */
	bool claims;	       /* its IP protocol says that it has labels */
	bool exported;	       /* it is the payload of a UDP datagram */
	bool labelled;	       /* it has an INT OPTION */
	bool damaged;	       /* labelled, and a checksum of IP or UDP wrong */
	bool specific;	       /* of a specific flow */
	uint8_t n;	       /* labels */
	uint8_t next;	       /* the packet's own protocol */
	const uint8_t *ip;     /* IP header */
	const uint8_t *option; /* INT OPTION, or where it would be */
	const uint8_t *rest;   /* what follows the labels */
	size_t rest_len;       /* bytes of it that were captured */
	uint32_t ip_len;       /* of the IP packet, by its header */
};

/*
 * Looks for labels in an Ethernet frame. 0: the packet has an INT OPTION and
 * v->n labels; -ENOENT: an IP packet that may be given labels. In both cases *v
 * is set. -ENOTSUP: a packet that cannot be labelled, or whose IP version is
 * not its EtherType's; -EBADMSG: malformed, or cut within the headers. In these
 * cases only v->claims is set, for fragments and cut packets, too.
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
 * Writes the frame of a view with one more label. specific: if it is the first
 * label, the packet is marked as one of a specific flow. mtu: bytes that the IP
 * packet may have; 0: no limit but IP's. Returns the new length; -E2BIG: the
 * packet has MAX_hop labels or, specific, as many as INT_num can count;
 * -EMSGSIZE: it would be longer than mtu or than IP allows; -ENOTSUP: the view
 * is of a datagram's payload, or its IPv4 checksum is 0xffff, which
 * label_strip() would restore as 0 (RFC 1624, section 4); -ENOBUFS. out and
 * frame do not overlap.
 */
int label_push(uint8_t *out, size_t cap, const struct label_format *f,
	       const struct label_view *v, const uint8_t *frame, size_t len,
	       const struct label_item *item, bool specific, size_t mtu);

/*
 * Writes the frame of a view without INT OPTION and labels: bit for bit as it
 * was before the first label, but for what routers have changed since. Returns
 * the new length; -ENOTSUP: the view is of a datagram's payload; -ENOBUFS. out
 * may be frame.
 */
int label_strip(uint8_t *out, size_t cap, const struct label_view *v,
		const uint8_t *frame, size_t len);

/* Bytes of INT OPTION and labels. */
static inline size_t label_extent(const struct label_view *v)
{
	return LABEL_OPTION_LEN + (size_t)v->n * LABEL_ITEM_LEN;
}

/* Writes the flow of a packet, with or without labels, as flow4 or flow6, at
 * most KEY_FLOW6_LEN bytes. Ports that cannot be read are 0. Returns the key's
 * length. */
unsigned label_flow_key(uint8_t *out, const struct label_view *v);

#endif
