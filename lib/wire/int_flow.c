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

void int_view_net(struct int_view *v, const struct net_ip *ip)
{
	size_t addresses = ip->version == 4 ? 2 * KEY_IP4_LEN : 2 * KEY_IP6_LEN;
	bool ports = !ip->later && (ip->protocol == NET_PROTO_TCP ||
				    ip->protocol == NET_PROTO_UDP);

	_Static_assert(sizeof(v->key) >= KEY_FLOW6_LEN, "a key of IPv6 fits");
	v->key_len = 0;
	v->ip_len = 0;
	if (ports &&
	    !l4_plain(ip->protocol, ip->l4.p, cur_left(&ip->l4), ip->l4_len))
		return;
	memcpy(v->key, ip->src, addresses);
	if (ports)
		memcpy(v->key + addresses, ip->l4.p, 4);
	else
		memset(v->key + addresses, 0, 4);
	v->key[addresses + 4] = ip->protocol;
	v->key_len = (uint8_t)(addresses + KEY_FLOW_REST);
	v->ip_len = ip->len;
}

/* The long way, which tells all else apart. Not inlined, so that the short one
 * keeps no registers for it. */
static __attribute__((noinline)) void flow_any(struct int_view *v,
					       uint16_t type, struct cur *c)
{
	struct net_ip ip;

	if (net_ip_decode(&ip, type, c) == 0) {
		int_view_net(v, &ip);
		return;
	}
	v->key_len = 0;
	v->ip_len = 0;
}

void int_view_ip(struct int_view *v, const uint8_t *ip, size_t len)
{
	struct cur c = cur_of(ip, len);

	if (plain4(v, ip, len) || plain6(v, ip, len))
		return;
	flow_any(v,
		 len && ip[0] >> 4 == 4 ? NET_ETHERTYPE_IP4 : NET_ETHERTYPE_IP6,
		 &c);
}

void int_view_frame(struct int_view *v, const uint8_t *frame, size_t len)
{
	const uint8_t *ip = frame + NET_ETH_LEN, *at;
	struct cur c = cur_of(frame, len);
	int type = 0;

	if (len >= NET_ETH_LEN)
		type = be16_load(frame + NET_ETH_AT_TYPE);
	if (type == NET_ETHERTYPE_IP4 && plain4(v, ip, len - NET_ETH_LEN))
		return;
	if (type == NET_ETHERTYPE_IP6 && plain6(v, ip, len - NET_ETH_LEN))
		return;
	type = net_eth_skip(&c, &at);
	flow_any(v, type < 0 ? 0 : (uint16_t)type, &c);
}
