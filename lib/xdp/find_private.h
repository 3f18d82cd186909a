/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * find_private.h - for int_fast.bpf.c: finds the INT-MD stack in a frame, the
 * packet's flow, and the telemetry report that embeds the packet, if one does.
 * Layouts and rules are those of int/int_md.h and int/treport.h, whose code in
 * user space reads all but the common forms (FOUND_UNSURE).
 *
 * Loads mask the offset, which the verifier demands, and give 0 behind the end
 * of the frame; so all functions check their offsets against parts.end.
 */
#ifndef XDP_FIND_PRIVATE_H
#define XDP_FIND_PRIVATE_H

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "net/proto.h"
#include "xdp/private.h"

/* What a frame is. */
enum found {
	FOUND_NOT,    /* no telemetry */
	FOUND_STACK,  /* an INT-MD stack, described by struct parts */
	FOUND_UNSURE, /* left to user space: maybe telemetry, of another form */
};

/* Where the parts of a packet are, in bytes from the frame's begin. */
struct parts {
	__u32 end; /* of the frame; then of the packet, as its headers say */
	__u32 ip, l4;
	__u32 ip_len; /* total length; once INT is found, without INT */
	__u32 version, protocol, tos;	/* of IP */
	__u32 int_ver;			/* enum fast_int_ver */
	__u32 header, stack, stack_len; /* of INT, behind its shim */
	__u32 hop_len, hops;
	__u64 reporter; /* as fast_reporter.key; 0: no sequence number */
	__u32 number;	/* the report's sequence number */
	struct fast_flow_key flow;
};

const volatile struct fast_profile profile;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct fast_layout_key);
	__type(value, struct fast_layout);
	__uint(max_entries, 8192);
} int_layouts SEC(".maps");

struct frame {
	const __u8 *data, *end;
};

static __always_inline __u32 load8(const struct frame *f, __u32 at)
{
	const __u8 *p = f->data + (at & (FAST_FRAME - 1));

	return p + 1 > f->end ? 0 : *p;
}

static __always_inline __u32 load16(const struct frame *f, __u32 at)
{
	const __u8 *p = f->data + (at & (FAST_FRAME - 1));

	return p + 2 > f->end ? 0 : bpf_ntohs(*(const __u16 *)p);
}

static __always_inline __u32 load32(const struct frame *f, __u32 at)
{
	const __u8 *p = f->data + (at & (FAST_FRAME - 1));

	return p + 4 > f->end ? 0 : bpf_ntohl(*(const __u32 *)p);
}

/* Does not change the byte order. */
static __always_inline __u64 bytes8(const struct frame *f, __u32 at)
{
	const __u8 *p = f->data + (at & (FAST_FRAME - 1));

	return p + 8 > f->end ? 0 : *(const __u64 *)p;
}

/* Moves *at past Ethernet header and VLAN tags. Returns the Ethernet type of
 * what follows; 0: the frame ends before. */
static __always_inline __u32 link_skip(const struct frame *f,
				       const struct parts *p, __u32 *at)
{
	__u32 type = load16(f, *at + NET_ETH_AT_TYPE);

	*at += NET_ETH_LEN;
	for (int i = 0; i < NET_VLAN_MAX; i++) {
		if (type != NET_ETHERTYPE_VLAN && type != NET_ETHERTYPE_QINQ)
			break;
		type = load16(f, *at + NET_VLAN_AT_TYPE);
		*at += NET_VLAN_LEN;
	}
	return *at > p->end ? 0 : type;
}

static __always_inline enum found ip4_at(const struct frame *f, struct parts *p,
					 __u32 at)
{
	__u32 len = load16(f, at + NET_IP4_AT_LEN);

	if (at + NET_IP4_LEN > p->end)
		return FOUND_NOT;
	if (load8(f, at) != NET_IP4_PLAIN || len < NET_IP4_LEN)
		return FOUND_UNSURE;
	if (load16(f, at + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT)
		return FOUND_NOT; /* INT nodes make none: INT 2.1, 5.3 */
	p->version = 4;
	p->tos = load8(f, at + NET_IP4_AT_TOS);
	p->protocol = load8(f, at + NET_IP4_AT_PROTO);
	p->l4 = at + NET_IP4_LEN;
	p->ip_len = len;
	return FOUND_STACK;
}

static __always_inline enum found ip6_at(const struct frame *f, struct parts *p,
					 __u32 at)
{
	if (at + NET_IP6_LEN > p->end)
		return FOUND_NOT;
	p->version = 6;
	p->tos = load16(f, at) >> 4 & 0xff;
	p->protocol = load8(f, at + NET_IP6_AT_NEXT);
	p->l4 = at + NET_IP6_LEN;
	p->ip_len = NET_IP6_LEN + load16(f, at + NET_IP6_AT_LEN);
	switch (p->protocol) {
	case NET_IP6_HOP_BY_HOP: /* IOAM */
	case NET_IP6_ROUTING:
	case NET_IP6_DESTINATION:
		return FOUND_UNSURE;
	}
	return FOUND_STACK;
}

/* Reads the IP header of the packet that begins at `at' with that Ethernet
 * type. FOUND_STACK: it is plain, and p->l4 is the header behind it. */
static __always_inline enum found ip_at(const struct frame *f, struct parts *p,
					__u32 type, __u32 at)
{
	enum found is = FOUND_NOT;

	if (type == NET_ETHERTYPE_ETH)
		type = link_skip(f, p, &at);
	p->ip = at;
	if (type == NET_ETHERTYPE_IP4)
		is = ip4_at(f, p, at);
	else if (type == NET_ETHERTYPE_IP6)
		is = ip6_at(f, p, at);
	else if (type == NET_ETHERTYPE_MPLS || type == NET_ETHERTYPE_MPLS_UP)
		is = FOUND_UNSURE;
	if (is == FOUND_STACK && at + p->ip_len < p->end)
		p->end = at + p->ip_len;
	return is;
}

/* Whether a whole UDP header is there and its length fits into the IP packet;
 * p->end becomes the end of the datagram. */
static __always_inline bool udp_at(const struct frame *f, struct parts *p)
{
	__u32 len = load16(f, p->l4 + NET_UDP_AT_LEN);

	if (p->l4 + NET_UDP_LEN > p->end || len < NET_UDP_LEN ||
	    p->l4 + len > p->ip + p->ip_len)
		return false;
	if (p->l4 + len < p->end)
		p->end = p->l4 + len;
	return true;
}

static __always_inline bool has_ports(__u32 protocol)
{
	return protocol == NET_PROTO_TCP || protocol == NET_PROTO_UDP;
}

/* Sets the flow key; ports: the offset of the ports. It is stored in words of 8
 * bytes: the hash loads such words next, and would stall on narrower stores. */
static __always_inline void set_flow(const struct frame *f, struct parts *p,
				     __u32 ports, __u32 protocol)
{
	__u64 rest = (__u64)load32(f, ports) << 32 | protocol << 24, len;
	__u64 *word = p->flow.word;

	if (p->version == 4) {
		len = 2 * KEY_IP4_LEN + KEY_FLOW_REST;
		word[0] = bytes8(f, p->ip + NET_IP4_AT_SRC);
		word[1] = bpf_cpu_to_be64(rest);
		word[2] = word[3] = 0;
		rest = 0;
	} else {
		len = 2 * KEY_IP6_LEN + KEY_FLOW_REST;
		for (int i = 0; i < 4; i++)
			word[i] = bytes8(f, p->ip + NET_IP6_AT_SRC + 8 * i);
	}
	word[4] = bpf_cpu_to_be64(rest | len << 16);
}

static __always_inline void set_port(struct parts *p, __u32 port)
{
	__u8 *to = p->flow.key + (p->version == 4 ? 2 * KEY_IP4_LEN + 2
						  : 2 * KEY_IP6_LEN + 2);

	to[0] = port >> 8;
	to[1] = port;
}

/*
 * Divides the stack into hops. False if it does not divide evenly, hops are
 * missing (E, M: max hop count or MTU exceeded), or a domain has instructions.
 */
static __always_inline bool split_hops(const struct frame *f, struct parts *p,
				       const struct fast_layout *layout)
{
	__u32 word = load32(f, p->header);
	__u32 hop = (word >> 8 & INT_HOP_WORDS_MASK) * 4;

	if (p->int_ver == FAST_INT_1_0
		    ? word & 3 << 23
		    : word & 3 << 25 ||
			      load16(f, p->header + INT_AT_DOMAIN_BITS))
		return false;
	if (!hop || hop < layout->len || p->stack_len % hop)
		return false;
	p->hop_len = hop;
	p->hops = p->stack_len / hop;
	return p->hops && p->hops <= FAST_HOPS;
}

/* Sets p->int_ver by the header's version. False: it is not the profile's. */
static __always_inline bool set_int_ver(const struct frame *f, struct parts *p,
					bool old)
{
	__u32 ver = load8(f, p->header) >> 4;

	p->int_ver = profile.any ? ver : profile.int_ver;
	if (ver > FAST_INT_2 && !profile.any_ver)
		return false;
	if (!profile.any && !profile.any_ver && ver != profile.int_ver)
		return false;
	return p->int_ver && p->int_ver <= FAST_INT_2 &&
	       old == (p->int_ver < FAST_INT_2);
}

/* Reads the INT shim at `at', and finds the header and the stack behind it. */
static __always_inline bool shim_at(const struct frame *f, struct parts *p,
				    __u32 at)
{
	__u32 first = load8(f, at), len, least;
	bool old = profile.any ? !(first >> 4) : profile.int_ver < FAST_INT_2;

	if ((old ? first : first >> 4) != INT_TYPE_MD)
		return false;
	len = old ? load8(f, at + INT_SHIM1_AT_WORDS) - 1 /* itself */
		  : load8(f, at + INT_SHIM_AT_WORDS);
	len *= 4;
	p->header = at + INT_SHIM_LEN;
	if (len > INT_WORDS_MAX * 4 || p->header + len > p->end ||
	    !set_int_ver(f, p, old))
		return false;
	least = p->int_ver < FAST_INT_2 ? INT_HEADER1_LEN : INT_HEADER2_LEN;
	p->stack = p->header + least;
	if (len <= least)
		return false;
	p->stack_len = len - least;
	return true;
}

/* Next Protocol Type of a shim of INT 2.1, section 5.7.2. */
static __always_inline __u32 npt_of(const struct frame *f, __u32 shim)
{
	return load8(f, shim) >> 2 & 3;
}

/* INT whose shim follows the TCP or UDP header, which stays the flow's. */
static __always_inline enum found by_mark(const struct frame *f,
					  struct parts *p, __u32 at)
{
	if (!shim_at(f, p, at) || (p->int_ver == FAST_INT_2 && npt_of(f, at)))
		return FOUND_UNSURE;
	set_flow(f, p, p->l4, p->protocol);
	p->ip_len -= p->stack + p->stack_len - at;
	return FOUND_STACK;
}

/* INT announced by its UDP port. In 2.x the shim holds what it replaced: the
 * original UDP port, or the IP protocol of the packet behind the stack. */
static __always_inline enum found by_port(const struct frame *f,
					  struct parts *p, __u32 at)
{
	__u32 next = load16(f, at + INT_SHIM_AT_NEXT), end;

	if (!shim_at(f, p, at) || p->int_ver != FAST_INT_2)
		return FOUND_UNSURE;
	end = p->stack + p->stack_len;
	if (npt_of(f, at) == INT_SHIM_NPT_UDP) {
		set_flow(f, p, p->l4, p->protocol);
		set_port(p, next);
		p->ip_len -= end - at;
		return FOUND_STACK;
	}
	next &= 0xff;
	if (npt_of(f, at) != INT_SHIM_NPT_IP || !has_ports(next) ||
	    end + 4 > p->end)
		return FOUND_UNSURE;
	set_flow(f, p, end, next);
	p->ip_len -= end - p->l4;
	return FOUND_STACK;
}

static __always_inline bool has_marker(const struct frame *f,
				       const struct parts *p, __u32 at)
{
	return profile.marker && at + INT_MARKER_LEN <= p->end &&
	       load32(f, at) == profile.marker >> 32 &&
	       load32(f, at + 4) == (__u32)profile.marker;
}

/* Looks for INT after the TCP or UDP header, as a marker or the DSCP says. */
static __always_inline enum found marked(const struct frame *f, struct parts *p,
					 __u32 at)
{
	__u32 type = load8(f, at);

	if (has_marker(f, p, at))
		return FOUND_UNSURE;
	if (type >> 4 && (profile.any || profile.int_ver == FAST_INT_2))
		type >>= 4;
	if (profile.dscp_mask == INT_DSCP_ANY && type != INT_TYPE_MD &&
	    type != INT_TYPE_MX)
		return FOUND_NOT;
	if (profile.dscp_mask &&
	    !((p->tos >> 2 ^ profile.dscp) & profile.dscp_mask))
		return by_mark(f, p, at);
	return FOUND_NOT;
}

static __always_inline enum found in_udp(const struct frame *f, struct parts *p)
{
	__u32 port = load16(f, p->l4 + NET_UDP_AT_DST);

	if (!udp_at(f, p))
		return FOUND_UNSURE;
	if (port && port == profile.udp_port)
		return by_port(f, p, p->l4 + NET_UDP_LEN);
	if (port &&
	    (port == profile.vxlan_gpe_port || port == profile.geneve_port))
		return FOUND_UNSURE;
	return marked(f, p, p->l4 + NET_UDP_LEN);
}

static __always_inline enum found in_tcp(const struct frame *f, struct parts *p)
{
	__u32 len = (load8(f, p->l4 + NET_TCP_AT_OFFSET) >> 4) * 4;

	if (p->l4 + NET_TCP_LEN > p->end || len < NET_TCP_LEN ||
	    p->l4 + len > p->ip + p->ip_len)
		return FOUND_UNSURE;
	/* INT 0.5 may follow TCP's options. */
	if (profile.any && len > NET_TCP_LEN &&
	    (load32(f, p->l4 + len) & 0xffff00ff) == INT_TYPE_MD << 24)
		return FOUND_UNSURE;
	return marked(f, p,
		      p->l4 + (profile.behind_tcp_options ? len : NET_TCP_LEN));
}

/* Looks for INT behind the IP header. */
static __always_inline enum found in_ip(const struct frame *f, struct parts *p)
{
	switch (p->protocol) {
	case NET_PROTO_UDP:
		return in_udp(f, p);
	case NET_PROTO_TCP:
		return in_tcp(f, p);
	case NET_PROTO_GRE:
		return profile.gre_type ? FOUND_UNSURE : FOUND_NOT;
	case NET_PROTO_ICMP:
	case NET_PROTO_ICMP6:
		return has_marker(f, p, p->l4 + NET_ICMP_LEN) ? FOUND_UNSURE
							      : FOUND_NOT;
	}
	return FOUND_NOT;
}

/* Sets a report's reporter and sequence number, for reports 1.0 and 2.0. */
static __always_inline void set_number(const struct frame *f, struct parts *p,
				       __u32 at)
{
	__u32 first = load32(f, at), ver = first >> 28;
	__u32 hw_id = first & TREPORT_HW_ID_MASK, key = FAST_REPORTER_USED;

	if (!profile.int_ver || (ver != 1 && ver != 2))
		return;
	p->number = load32(f, at + TREPORT_V1_AT_SEQUENCE);
	if (ver == 2) {
		hw_id = first >> 22 & TREPORT_HW_ID_MASK;
		key |= FAST_REPORTER_22;
		p->number = first & TREPORT_SEQUENCE2_MASK;
	}
	p->reporter = (__u64)(key | hw_id) << 32 |
		      load32(f, at + TREPORT_V1_AT_NODE);
}

/* The offset of the packet that a report embeds, and its Ethernet type; 0: the
 * report is not of the common form. */
static __always_inline __u32 embedded_at(const struct frame *f,
					 const struct parts *p, __u32 at,
					 __u32 *type)
{
	static const __u32 types[] = {NET_ETHERTYPE_ETH, NET_ETHERTYPE_IP4,
				      NET_ETHERTYPE_IP6};
	__u32 first = load32(f, at), flags, which = 0;
	__u32 ver = profile.int_ver ? first >> 28 : 0;

	if (ver == 1) {
		flags = first >> 6 & 7;
		which = first >> 21 & 7;
		if (first >> 15 & 0x3f ||
		    (!profile.report_length_wrong &&
		     (first >> 24 & 15) != TREPORT_V1_WORDS))
			return 0;
		at += TREPORT_V1_LEN;
	} else {
		at += TREPORT_V2_GROUP_LEN;
		first = load32(f, at);
		at += TREPORT_V2_LEN;
		flags = first >> 5 & 7;
		which = (first >> 24 & 15) - TREPORT_ETHERNET;
		if (ver != 2 || first >> 28 != TREPORT_INNER_ONLY ||
		    first & 0x10 || /* intermediate */
		    ((first >> 16 & 0xff) != TREPORT_V2_OPEN &&
		     at + (first >> 16 & 0xff) * 4 != p->end))
			return 0;
	}
	/* Of the flags D, Q, F: F (tracked) is set, D (dropped) is not. */
	if (which > 2 || (flags & 5) != 1)
		return 0;
	*type = types[which];
	return at;
}

/* Looks for INT in the packet that a report embeds, which *p becomes. */
static __always_inline enum found in_report(const struct frame *f,
					    struct parts *p)
{
	__u32 type = 0, at = embedded_at(f, p, p->l4 + NET_UDP_LEN, &type);

	set_number(f, p, p->l4 + NET_UDP_LEN);
	if (!at || ip_at(f, p, type, at) != FOUND_STACK ||
	    in_ip(f, p) != FOUND_STACK)
		return FOUND_UNSURE;
	/* A report about reports: user space has to see that. */
	if (p->protocol == NET_PROTO_UDP &&
	    load16(f, p->l4 + NET_UDP_AT_DST) == profile.report_port)
		return FOUND_UNSURE;
	return FOUND_STACK;
}

#endif
