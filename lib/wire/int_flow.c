/* SPDX-License-Identifier: BSD-2-Clause */
/* int_flow.c - whose packet it is: int.h. */
#include <string.h>

#include "wire/int.h"
#include "wire/key.h"
#include "wire/net.h"

/* The key is as the packet has it: addresses, then ports. */
static inline void set_plain(struct int_view *v, const uint8_t *l4,
			     size_t addresses, uint8_t protocol,
			     uint32_t ip_len)
{
	memcpy(v->key, l4 - addresses, addresses + 4);
	v->key[addresses + 4] = protocol;
	v->key_len = (uint8_t)(addresses + KEY_FLOW_REST);
	v->ip_len = ip_len;
}

/* Whether TCP's or UDP's header is there and whole; len: captured, ip_len: by
 * the header, both from l4 on. */
static inline bool l4_plain(uint8_t protocol, const uint8_t *l4, size_t len,
			    size_t l4_len)
{
	size_t hlen;

	if (len > l4_len)
		len = l4_len;
	if (protocol == NET_PROTO_UDP)
		return len >= NET_UDP_LEN;
	if (protocol != NET_PROTO_TCP || len < NET_TCP_LEN)
		return false;
	hlen = (l4[NET_TCP_AT_OFFSET] >> 4) * 4u;
	return hlen >= NET_TCP_LEN && hlen <= l4_len;
}

static inline bool plain4(struct int_view *v, const uint8_t *ip, size_t len)
{
	const uint8_t *l4 = ip + NET_IP4_LEN;
	uint32_t ip_len;

	if (len < NET_IP4_LEN || ip[0] != NET_IP4_PLAIN ||
	    be16_load(ip + NET_IP4_AT_FRAGMENT) & NET_IP4_OFFSET)
		return false;
	ip_len = be16_load(ip + NET_IP4_AT_LEN);
	if (ip_len < NET_IP4_LEN ||
	    !l4_plain(ip[NET_IP4_AT_PROTO], l4, len - NET_IP4_LEN,
		      ip_len - NET_IP4_LEN))
		return false;
	set_plain(v, l4, 2 * KEY_IP4_LEN, ip[NET_IP4_AT_PROTO], ip_len);
	return true;
}

static inline bool plain6(struct int_view *v, const uint8_t *ip, size_t len)
{
	const uint8_t *l4 = ip + NET_IP6_LEN;
	uint32_t payload;

	if (len < NET_IP6_LEN || ip[0] >> 4 != 6)
		return false;
	payload = be16_load(ip + NET_IP6_AT_LEN);
	if (!l4_plain(ip[NET_IP6_AT_NEXT], l4, len - NET_IP6_LEN, payload))
		return false;
	set_plain(v, l4, 2 * KEY_IP6_LEN, ip[NET_IP6_AT_NEXT],
		  payload + NET_IP6_LEN);
	return true;
}

/* The long way, which tells all else apart. Not inlined, so that the short one
 * keeps no registers for it. */
static __attribute__((noinline)) void
flow_any(struct int_view *v, const uint8_t *data, size_t len,
	 int (*decode)(struct net_packet *, const uint8_t *, size_t))
{
	struct net_packet p;

	_Static_assert(sizeof(v->key) >= KEY_FLOW6_LEN, "a key of IPv6 fits");
	v->key_len = 0;
	v->ip_len = 0;
	if (decode(&p, data, len) != 0)
		return;
	v->key_len = (uint8_t)key_of_packet(v->key, &p);
	v->ip_len = p.ip_len;
}

void int_view_ip(struct int_view *v, const uint8_t *ip, size_t len)
{
	if (!plain4(v, ip, len) && !plain6(v, ip, len))
		flow_any(v, ip, len, net_ip_packet_decode);
}

void int_view_frame(struct int_view *v, const uint8_t *frame, size_t len)
{
	const uint8_t *ip = frame + NET_ETH_LEN;
	unsigned type = 0;

	if (len >= NET_ETH_LEN)
		type = be16_load(frame + NET_ETH_AT_TYPE);
	if (type == NET_ETHERTYPE_IP4 && plain4(v, ip, len - NET_ETH_LEN))
		return;
	if (type == NET_ETHERTYPE_IP6 && plain6(v, ip, len - NET_ETH_LEN))
		return;
	flow_any(v, frame, len, net_packet_decode);
}
