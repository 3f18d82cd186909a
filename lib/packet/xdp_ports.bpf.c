/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_ports.bpf.c - which packets are ours: UDP for some ports, over IPv4 or
 * IPv6 (behind up to two VLAN tags), that is not a fragment. What cannot be
 * read that far is the host's.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "net/proto.h"

enum {
	PORTS_MAX = 4, /* as in xdp_ports.h */
};

/* Host order; ends with 0 or after PORTS_MAX. None: all packets are ours. */
const volatile __u16 ports[PORTS_MAX];

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
} dta_sockets SEC(".maps"); /* by queue; ports_load() sets max_entries */

/* What is left of a packet. */
struct span {
	void *pos, *end;
};

/* Steps over n bytes. Returns where they begin; NULL: there are fewer. */
static __always_inline const __u8 *span_take(struct span *s, __u32 n)
{
	void *p = s->pos;

	if (p + n > s->end)
		return NULL;
	s->pos = p + n;
	return p;
}

static __always_inline __u16 be16_load(const __u8 *p)
{
	return bpf_ntohs(*(const __u16 *)p);
}

/* Steps over the Ethernet header and VLAN tags. Returns the type of what
 * follows; -1: cut short. */
static __always_inline int ether_type(struct span *s)
{
	const __u8 *p = span_take(s, NET_ETH_LEN);
	int type;

	if (!p)
		return -1;
	type = be16_load(p + NET_ETH_AT_TYPE);
	for (int i = 0; i < NET_VLAN_MAX; i++) {
		if (type != NET_ETHERTYPE_VLAN && type != NET_ETHERTYPE_QINQ)
			break;
		if (!(p = span_take(s, NET_VLAN_LEN)))
			return -1;
		type = be16_load(p + NET_VLAN_AT_TYPE);
	}
	return type;
}

/* Steps over the IPv4 header. Whether UDP follows, and no fragment of it. */
static __always_inline bool ip4_of_udp(struct span *s)
{
	struct span plain = *s;
	const __u8 *p = span_take(&plain, NET_IP4_LEN);

	return p && p[NET_IP4_AT_PROTO] == NET_PROTO_UDP &&
	       !(be16_load(p + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT) &&
	       span_take(s, (p[0] & 15) * 4);
}

/* The same for IPv6, where a fragment has an extension header. */
static __always_inline bool ip6_of_udp(struct span *s)
{
	const __u8 *p = span_take(s, NET_IP6_LEN);

	return p && p[NET_IP6_AT_NEXT] == NET_PROTO_UDP;
}

static __always_inline bool ip_of_udp(struct span *s)
{
	switch (ether_type(s)) {
	case NET_ETHERTYPE_IP4:
		return ip4_of_udp(s);
	case NET_ETHERTYPE_IP6:
		return ip6_of_udp(s);
	default:
		return false;
	}
}

static __always_inline bool is_ours(struct span *s)
{
	const __u8 *udp = ip_of_udp(s) ? span_take(s, NET_UDP_LEN) : NULL;

	if (!udp)
		return false;
	for (int i = 0; i < PORTS_MAX && ports[i]; i++)
		if (be16_load(udp + NET_UDP_AT_DST) == ports[i])
			return true;
	return false;
}

SEC("xdp") int dta_take(struct xdp_md *ctx)
{
	struct span s = {(void *)(long)ctx->data, (void *)(long)ctx->data_end};

	if (ports[0] && !is_ours(&s))
		return XDP_PASS;
	/* also to the host where the queue has no socket */
	return bpf_redirect_map(&dta_sockets, ctx->rx_queue_index, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
