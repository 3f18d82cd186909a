/* SPDX-License-Identifier: BSD-2-Clause */
/* int_edit.c - headers changed, and their checksums with them: RFC 1624. */
#include "inband/int_private.h"
#include "wire/be.h"
#include "wire/net.h"

void int_sum_bytes(uint32_t *sum, const uint8_t *p, size_t len)
{
	*sum += (uint16_t)~net_checksum(p, len);
}

void int_sum_less(uint32_t *sum, const uint8_t *p, size_t len)
{
	*sum += net_checksum(p, len);
}

void int_set16(uint8_t *p, uint16_t v, uint32_t *sum)
{
	*sum += 0xffffu - be16_load(p) + v;
	be16_store(p, v);
}

void int_set_dscp(uint8_t *frame, const struct int_place *at, uint8_t dscp)
{
	uint8_t *ip = frame + at->ip;
	uint16_t word = be16_load(ip);

	/* DSCP is the 6 bits above ECN: in IPv6 4 bits further up. */
	if (at->ip_version == 4)
		net_ip4_set16(ip, 0, (uint16_t)((word & ~0xfc) | dscp << 2));
	else
		be16_store(ip, (uint16_t)((word & ~0xfc0) | dscp << 6));
}

void int_set_protocol(uint8_t *frame, const struct int_place *at,
		      uint8_t protocol)
{
	uint8_t *ip = frame + at->ip;

	if (at->ip_version == 4)
		net_ip4_set16(ip, NET_IP4_AT_TTL,
			      (uint16_t)(ip[NET_IP4_AT_TTL] << 8 | protocol));
	else
		frame[at->proto_at] = protocol;
}

/* ICMP of IPv4 and GRE have no pseudo header with a length. */
static bool has_pseudo(const struct int_place *at)
{
	return at->protocol == NET_PROTO_TCP || at->protocol == NET_PROTO_UDP ||
	       at->protocol == NET_PROTO_ICMP6;
}

void int_resize_l4(uint8_t *frame, const struct int_place *at, int by,
		   uint32_t *sum)
{
	uint8_t *len = frame + at->l4 + NET_UDP_AT_LEN;

	if (has_pseudo(at))
		*sum += (uint32_t)(0xffff + by);
	if (at->protocol == NET_PROTO_UDP)
		int_set16(len, (uint16_t)(be16_load(len) + by), sum);
}

uint8_t *int_sum_at(uint8_t *frame, const struct int_place *at,
		    const struct int_profile *p)
{
	uint8_t *l4 = frame + at->l4;

	switch (at->protocol) {
	case NET_PROTO_TCP:
		return p->tcp_sum_left ? NULL : l4 + NET_TCP_AT_SUM;
	case NET_PROTO_UDP: /* 0: none, and none it stays */
		l4 += NET_UDP_AT_SUM;
		return be16_load(l4) ? l4 : NULL;
	case NET_PROTO_ICMP:
	case NET_PROTO_ICMP6:
		return l4 + NET_ICMP_AT_SUM;
	case NET_PROTO_GRE:
		return be16_load(l4) & NET_GRE_SUM ? l4 + NET_GRE_AT_SUM : NULL;
	}
	return NULL;
}

void int_sum_apply(uint8_t *frame, const struct int_place *at,
		   const struct int_profile *p, uint32_t sum)
{
	uint8_t *sum_at = int_sum_at(frame, at, p);
	uint16_t check;

	if (!sum_at)
		return;
	check = net_checksum_add(be16_load(sum_at), sum);
	if (!check && at->protocol == NET_PROTO_UDP)
		check = 0xffff; /* RFC 768: 0 would be none */
	be16_store(sum_at, check);
}
