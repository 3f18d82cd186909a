/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.c - headers of reports. They are made once; per report only lengths,
 * the reporter's address and the IP checksum change (RFC 1624's sum over what
 * changes).
 */
#include "frame.h"

#include <errno.h>
#include <string.h>

enum {
	REPORTER_PORT = 49374, /* the published reporters' source port */
	IP_AT = NET_ETH_LEN,
	UDP_AT = NET_ETH_LEN + NET_IP4_LEN,
};

/*
 * Ethernet addresses. In a capture they are locally administered, the
 * reporter's ends in the switch's id. On an interface they are true ones.
 */
static int find_macs(struct gen *g, struct net_udp4 *h, struct fault *f)
{
	const struct gen_options *o = &g->o;

	if (o->live.name) {
		struct live_address own;

		g->own_mac = live_address(&own, o->live.name);
		if (g->own_mac)
			memcpy(h->eth_src, own.mac, 6);
		if (!o->has_mac && g->own_mac &&
		    !live_neighbour(h->eth_dst, o->live.name, 4, o->collector))
			return fault_set(f, -EDESTADDRREQ,
					 "%s: %u.%u.%u.%u is no neighbour "
					 "there: say with --to-mac who takes "
					 "the reports",
					 o->live.name, o->collector[0],
					 o->collector[1], o->collector[2],
					 o->collector[3]);
	}
	if (o->has_mac)
		memcpy(h->eth_dst, o->to_mac, 6);
	return 0;
}

int frame_open(struct gen *g, struct fault *f)
{
	struct net_udp4 h = {
		.eth_dst = {0x02, 0x44, 0x54, 0x41, 0xff, 0xff},
		.eth_src = {0x02, 0x44, 0x54, 0x41, 0, 0},
		.src_port = REPORTER_PORT,
		.dst_port = DTA_PORT,
		.ttl = 64,
	};
	int n;

	memcpy(h.dst, g->o.collector, 4);
	n = find_macs(g, &h, f);
	if (n < 0)
		return n;
	n = net_udp4_encode(g->header, sizeof(g->header), &h, 0);
	if (n != HEADER_LEN)
		return fault_set(f, -EINVAL, "no headers");
	memset(g->header + IP_AT + NET_IP4_AT_SUM, 0, 2);
	g->ip_sum = 0;
	for (int i = 0; i < NET_IP4_LEN; i += 2)
		if (i != NET_IP4_AT_LEN)
			g->ip_sum += g->header[IP_AT + i] << 8 |
				     g->header[IP_AT + i + 1];
	return 0;
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

void frame_headers(const struct gen *g, uint8_t *frame, size_t payload,
		   unsigned reporter)
{
	unsigned ip_len = NET_IP4_LEN + NET_UDP_LEN + (unsigned)payload;
	uint32_t address = g->o.source + reporter;
	uint32_t sum = g->ip_sum + ip_len + (address >> 16) +
		       (address & 0xffff);

	memcpy(frame, g->header, HEADER_LEN);
	if (!g->own_mac)
		put16(frame + 10, reporter);
	put16(frame + IP_AT + NET_IP4_AT_LEN, ip_len);
	put16(frame + IP_AT + NET_IP4_AT_SRC, address >> 16);
	put16(frame + IP_AT + NET_IP4_AT_SRC + 2, address);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	put16(frame + IP_AT + NET_IP4_AT_SUM, ~sum & 0xffff);
	put16(frame + UDP_AT + NET_UDP_AT_LEN, NET_UDP_LEN + (unsigned)payload);
}
