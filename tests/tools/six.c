/* SPDX-License-Identifier: BSD-2-Clause */
/* six IN OUT: a capture's UDP datagrams over IPv4 again, over IPv6: each
 * address behind 2001:db8::, with the checksums that IPv6 asks for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet/pkt.h"
#include "net/be.h"
#include "net/net.h"

enum {
	IP6 = NET_ETH_LEN,
	UDP = NET_ETH_LEN + NET_IP6_LEN,
	FRAME_MAX = 65536,
};

static size_t convert(uint8_t *out, const struct pkt *p)
{
	static const uint8_t prefix[12] = {0x20, 0x01, 0x0d, 0xb8};
	uint8_t pseudo[FRAME_MAX];
	size_t udp = p->len - NET_ETH_LEN - NET_IP4_LEN;
	uint16_t sum;

	memcpy(out, p->data, 12);
	be16_store(out + 12, 0x86dd);
	be32_store(out + IP6, 6u << 28);
	be16_store(out + IP6 + 4, (uint16_t)udp);
	out[IP6 + 6] = NET_PROTO_UDP;
	out[IP6 + 7] = 64;
	memcpy(out + IP6 + 8, prefix, 12);
	memcpy(out + IP6 + 20, p->data + NET_ETH_LEN + 12, 4);
	memcpy(out + IP6 + 24, prefix, 12);
	memcpy(out + IP6 + 36, p->data + NET_ETH_LEN + 16, 4);
	memcpy(out + UDP, p->data + NET_ETH_LEN + NET_IP4_LEN, udp);
	be16_store(out + UDP + 6, 0);
	/* RFC 8200 8.1 */
	memcpy(pseudo, out + IP6 + 8, 32);
	be32_store(pseudo + 32, (uint32_t)udp);
	be32_store(pseudo + 36, NET_PROTO_UDP);
	memcpy(pseudo + 40, out + UDP, udp);
	sum = net_checksum(pseudo, 40 + udp);
	be16_store(out + UDP + 6, sum ? sum : 0xffff);
	return UDP + udp;
}

int main(int argc, char **argv)
{
	static struct pkt pkts[PKT_BATCH];
	struct error err = {.text = "usage: six IN OUT"};
	struct net_udp u;
	struct snk *k;
	struct src *s = NULL;
	uint8_t *room;
	int n = -1;

	if (argc == 3 && !src_open(&s, argv[1], &err) &&
	    !snk_open(&k, argv[2], &err))
		while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
			for (int i = 0; i < n; i++) {
				room = snk_room(k, FRAME_MAX);
				if (!room || net_udp_decode(&u, pkts[i].data,
							    pkts[i].len))
					return 1;
				snk_done(k, convert(room, &pkts[i]),
					 pkts[i].ts_ns);
			}
	if (n < 0) {
		fprintf(stderr, "six: %s\n", err.text);
		return 1;
	}
	src_close(s);
	return snk_close(k) < 0;
}
