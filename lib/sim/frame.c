/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/traffic.h"

#include <errno.h>
#include <string.h>

#include "net/be.h"
#include "net/net.h"

enum {
	WINDOW = 65535, /* of TCP */
	TTL = 64,
	AT_TCP_WINDOW = 14,
	AT_TCP_SUM = 16,
	VXLAN_FLAG_I = 0x08, /* the VNI is valid (RFC 7348, section 5) */
	VNI = 7,	     /* virtual network identifier */
	OFFSET_5 = 5 << 4,   /* TCP's data offset: 5 words, no options */
};

static void put_ip(uint8_t *ip, const struct traffic_packet *p,
		   size_t payload_len, uint8_t dscp)
{
	uint8_t ttl = p->ttl ? p->ttl : TTL;
	size_t addr = traffic_addr_len(p);

	if (p->v6) {
		be32_store(ip, UINT32_C(6) << 28 | (uint32_t)dscp << 22);
		be16_store(ip + NET_IP6_AT_LEN, (uint16_t)payload_len);
		ip[NET_IP6_AT_NEXT] = p->protocol;
		ip[NET_IP6_AT_HOPS] = ttl;
		memcpy(ip + NET_IP6_AT_SRC, traffic_src(p), addr);
		memcpy(ip + NET_IP6_AT_DST, traffic_dst(p), addr);
		return;
	}
	ip[0] = NET_IP4_PLAIN;
	ip[NET_IP4_AT_TOS] = (uint8_t)(dscp << 2);
	be16_store(ip + NET_IP4_AT_LEN, (uint16_t)(NET_IP4_LEN + payload_len));
	be16_store(ip + NET_IP4_AT_ID, p->ip_id);
	be16_store(ip + NET_IP4_AT_FRAGMENT, NET_IP4_DF);
	ip[NET_IP4_AT_TTL] = ttl;
	ip[NET_IP4_AT_PROTO] = p->protocol;
	memcpy(ip + NET_IP4_AT_SRC, traffic_src(p), addr);
	memcpy(ip + NET_IP4_AT_DST, traffic_dst(p), addr);
	be16_store(ip + NET_IP4_AT_SUM, net_checksum(ip, NET_IP4_LEN));
}

/* The checksum of TCP or UDP, header and data; pseudo-header: RFC 9293, 3.1. */
static uint16_t l4_checksum(const struct traffic_packet *p, const uint8_t *l4,
			    size_t len)
{
	size_t addr = traffic_addr_len(p);
	uint8_t pseudo[2 * 16 + 6];

	memcpy(pseudo, p->key, 2 * addr);
	be16_store(pseudo + 2 * addr, p->protocol);
	be32_store(pseudo + 2 * addr + 2, (uint32_t)len);
	return net_checksum_add(net_checksum(l4, len),
				(uint16_t)~net_checksum(pseudo, 2 * addr + 6));
}

int traffic_frame(uint8_t *buf, size_t cap, const struct traffic_packet *p,
		  size_t data_max, uint8_t dscp)
{
	bool tcp = p->protocol == NET_PROTO_TCP;
	bool udp = p->protocol == NET_PROTO_UDP;
	size_t l4 = tcp ? NET_TCP_LEN : udp ? NET_UDP_LEN : 0, data, len;
	size_t head = p->v6 ? NET_IP6_LEN : NET_IP4_LEN;
	uint8_t *at = buf + NET_ETH_LEN + head;
	uint16_t sum;

	data = p->ip_len > head + l4 ? p->ip_len - head - l4 : 0;
	if (data > data_max)
		data = data_max;
	len = NET_ETH_LEN + head + l4 + data;
	if (len > cap)
		return -ENOBUFS;
	memset(buf, 0, len);
	buf[0] = buf[NET_ETH_AT_SRC] = 0x02; /* locally administered */
	buf[NET_ETH_AT_SRC - 1] = 2;
	buf[NET_ETH_AT_TYPE - 1] = 1;
	be16_store(buf + NET_ETH_AT_TYPE,
		   p->v6 ? NET_ETHERTYPE_IP6 : NET_ETHERTYPE_IP4);
	put_ip(buf + NET_ETH_LEN, p, l4 + data, dscp);
	if (l4) {
		be16_store(at, p->src_port);
		be16_store(at + NET_UDP_AT_DST, p->dst_port);
	}
	if (tcp) {
		be32_store(at + NET_TCP_AT_SEQ, p->seq);
		at[NET_TCP_AT_OFFSET] = OFFSET_5;
		at[NET_TCP_AT_FLAGS] = p->tcp_flags;
		be16_store(at + AT_TCP_WINDOW, WINDOW);
		be16_store(at + AT_TCP_SUM, l4_checksum(p, at, l4 + data));
	} else if (udp) {
		be16_store(at + NET_UDP_AT_LEN, (uint16_t)(l4 + data));
		sum = l4_checksum(p, at, l4 + data);
		be16_store(at + NET_UDP_AT_SUM, sum ? sum : UINT16_MAX);
	}
	return (int)len;
}

int traffic_tunnel(uint8_t *buf, size_t cap, const struct net_udp4 *outer,
		   bool vxlan, const uint8_t *frame, size_t len)
{
	size_t head = vxlan ? NET_VXLAN_LEN : NET_GENEVE_LEN;
	int n = net_udp4_encode(buf, cap, outer, head + len);
	uint8_t *p = buf + n;

	if (n < 0)
		return n;
	if ((size_t)n + head + len > cap)
		return -ENOBUFS;
	memset(p, 0, head);
	if (vxlan)
		p[0] = VXLAN_FLAG_I;
	else
		be16_store(p + 2, NET_ETHERTYPE_ETH);
	be32_store(p + 4, VNI << 8);
	memcpy(p + head, frame, len);
	return n + (int)(head + len);
}
