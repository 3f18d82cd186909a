/* SPDX-License-Identifier: BSD-2-Clause */
/* int_make.c - frames with in-band telemetry, and reports of it. */
#include <errno.h>
#include <string.h>

#include "int.h"
#include "traffic/frame.h"
#include "wire/net.h"

enum {
	REPORTER_PORT = 49374,
	HOPS_MAX = 255,
};

/* The hops' metadata, the last node's first. Returns its bytes. */
static size_t stack_of(const struct int_plan *plan,
		       const struct inband_path *path, uint8_t *out)
{
	for (unsigned i = 0; i < path->n; i++)
		int_put(out + (size_t)(path->n - 1 - i) * plan->len, plan,
			path->hop[i].has, path->hop[i].value);
	return (size_t)path->n * plan->len;
}

static struct net_udp4 outer(uint32_t node, const uint8_t dst[4], uint16_t port)
{
	struct net_udp4 h = {
		.eth_dst = {0x02, 0x44, 0x54, 0x41, 0xff, 0xff},
		.eth_src = {0x02, 0x44, 0x54, 0x41, (uint8_t)(node >> 8),
			    (uint8_t)node},
		.src = {10, 1, (uint8_t)(node >> 8), (uint8_t)node},
		.src_port = REPORTER_PORT,
		.dst_port = port,
		.ttl = 64,
	};

	memcpy(h.dst, dst, sizeof(h.dst));
	return h;
}

/* The frame in a tunnel from the first node to the last. Returns its length, 0:
 * it is too long. */
static size_t tunnel(struct int_gen *g, const struct inband_path *path,
		     const uint8_t *frame, size_t len)
{
	uint32_t last = (uint32_t)path->hop[path->n - 1].value[INT_NODE];
	bool vxlan = g->o.over == INT_OVER_VXLAN;
	bool gpe = vxlan && g->profile.version < INT_V2_0;
	const uint8_t dst[4] = {10, 1, (uint8_t)(last >> 8), (uint8_t)last};
	struct net_udp4 h = outer((uint32_t)path->hop[0].value[INT_NODE], dst,
				  gpe	  ? g->profile.vxlan_gpe_port
				  : vxlan ? NET_VXLAN_PORT
					  : g->profile.geneve_port);
	int n = traffic_tunnel(g->tunnel, INT_FRAME_MAX, &h, vxlan, frame, len);
	uint8_t *head = g->tunnel + NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN;

	if (gpe) { /* 0.5 and 1.0 make no VXLAN-GPE of VXLAN */
		head[0] |= NET_VXLAN_HAS_NEXT;
		head[NET_VXLAN_AT_NEXT] = NET_VXLAN_ETH;
	}
	return n < 0 ? 0 : (size_t)n;
}

/* Where INT goes, and by what it is known. */
static void choose_over(const struct int_gen *g, struct int_source *s,
			const struct traffic_packet *p)
{
	const struct int_profile *pr = &g->profile;

	s->over = (uint8_t)g->o.over;
	if (s->over == INT_OVER_L4 && !pr->dscp_mask && !pr->marker)
		s->over = p->protocol == NET_PROTO_UDP ? INT_OVER_UDP
						       : INT_OVER_NEW_UDP;
	s->by = s->over != INT_OVER_L4 ? INT_BY_PORT
		: pr->dscp_mask	       ? INT_BY_DSCP
				       : INT_BY_MARKER;
}

/* The packet with INT to g->frame: its length, 0: it has no place for it. */
static size_t with_int(struct int_gen *g, const struct inband_path *path,
		       const struct traffic_packet *p, const uint8_t *packet,
		       size_t len)
{
	uint8_t stack[INT_HOP_MAX * 2];
	struct int_source s = {
		.version = g->profile.version,
		.type = g->o.form == FORM_MX ? INT_TYPE_MX : INT_TYPE_MD,
		.hops_max = HOPS_MAX,
		.bitmap = (uint16_t)g->o.instructions,
		.src_port = (uint16_t)(p->id | 0xc000),
		.tunnel = true,
		.outer_version = 4,
		.outer_src = {10, 1, 0, 1},
		.outer_dst = {10, 1, 0, 2},
	};
	int n;

	choose_over(g, &s, p);
	if (s.type == INT_TYPE_MD) {
		if ((size_t)path->n * g->plan.len > sizeof(stack))
			return 0;
		s.stack_len = stack_of(&g->plan, path, stack);
		s.stack = stack;
		s.hops = path->n;
		s.hops_max = (uint8_t)(g->profile.version == INT_V0_5
					       ? HOPS_MAX
					       : HOPS_MAX - path->n);
	}
	if (s.over == INT_OVER_VXLAN || s.over == INT_OVER_GENEVE) {
		len = tunnel(g, path, packet, len);
		packet = g->tunnel;
	}
	n = len ? int_insert(g->frame, INT_FRAME_MAX, &g->profile, &s, packet,
			     len)
		: 0;
	return n < 0 ? 0 : (size_t)n;
}

/* A report by a node, about what is in s. */
static bool report(struct int_gen *g, const struct inband_hop *by,
		   struct treport_say *s, uint64_t ts_ns)
{
	uint32_t node = (uint32_t)by->value[INT_NODE];
	struct net_udp4 h = outer(node, g->o.collector, g->profile.report_port);
	uint8_t *payload = g->tunnel + NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN;
	int len;

	s->from.version = (uint8_t)g->report_version;
	s->from.node = node;
	s->from.sequence = g->sequence[node]++;
	s->from.time = (uint32_t)by->value[INT_INGRESS_TIME];
	s->flags = INT_TRACKED;
	len = treport_encode(payload,
			     INT_FRAME_MAX - (size_t)(payload - g->tunnel), s);
	if (len < 0 ||
	    net_udp4_encode(g->tunnel, INT_FRAME_MAX, &h, (size_t)len) < 0)
		return false;
	int_send(g, g->tunnel, (size_t)(payload - g->tunnel) + (size_t)len,
		 ts_ns);
	return true;
}

/* By the sink, with all that the packet carried. */
static bool sink_report(struct int_gen *g, const struct inband_path *path,
			const struct traffic_packet *p, const uint8_t *packet,
			size_t len)
{
	struct treport_say s = {
		.inner_type = TREPORT_ETHERNET,
		.inner = g->frame,
		.inner_len = with_int(g, path, p, packet, len),
	};

	return s.inner_len && report(g, &path->hop[path->n - 1], &s, p->ts_ns);
}

/* By each node, with its own metadata. */
static bool node_reports(struct int_gen *g, const struct inband_path *path,
			 const struct traffic_packet *p, const uint8_t *packet,
			 size_t len)
{
	uint8_t md[INT_BITMAP_BITS * 8];
	struct treport_say s = {
		.bits = g->bits,
		.metadata = true,
		.md = md,
		.md_len = g->own.len,
		.inner_type = TREPORT_ETHERNET,
		.inner = packet,
		.inner_len = len,
	};

	for (unsigned i = 0; i < path->n; i++) {
		const struct inband_hop *h = &path->hop[i];

		int_put(md, &g->own, h->has, h->value);
		if (!report(g, h, &s,
			    p->ts_ns -
				    path->hop[path->n - 1]
					    .value[INT_EGRESS_TIME] +
				    h->value[INT_EGRESS_TIME]))
			return false;
	}
	return true;
}

/* An IOAM trace with room for the nodes that fill it, here or on its way. */
static size_t with_trace(struct int_gen *g, const struct inband_path *path,
			 const uint8_t *packet, size_t len)
{
	unsigned nodes = g->o.unfilled ? 0 : path->n;
	unsigned room = g->o.unfilled ? (unsigned)g->o.unfilled : path->n;
	struct ioam_ask ask = {
		.type = IOAM_PREALLOCATED,
		.namespace = (uint16_t)g->o.namespace,
		.bitmap = (uint32_t)g->o.instructions,
		.words = (uint8_t)(room * g->plan.len / 4),
	};
	struct ioam_reader r;
	struct ioam t;
	int n;

	if (room * g->plan.len / 4 > UINT8_MAX)
		return 0;
	n = ioam_insert(g->frame, INT_FRAME_MAX, packet, len, &ask);
	for (unsigned i = 0; n > 0 && i < nodes; i++) {
		struct ioam_node node = {.has = path->hop[i].has};

		memcpy(node.value, path->hop[i].value, sizeof(node.value));
		ioam_begin(&r, &g->traces, g->frame, (size_t)n);
		if (ioam_next(&r, &t) != IOAM_OK)
			return 0;
		n = ioam_push(g->frame, (size_t)n, INT_FRAME_MAX, &t, &node);
	}
	return n > 0 ? (size_t)n : 0;
}

bool int_make(struct int_gen *g, const struct inband_path *path,
	      const struct traffic_packet *p, const uint8_t *packet, size_t len)
{
	size_t n;

	switch (g->o.form) {
	case FORM_REPORT:
		return sink_report(g, path, p, packet, len);
	case FORM_XD:
		return node_reports(g, path, p, packet, len);
	case FORM_IOAM:
		n = with_trace(g, path, packet, len);
		break;
	default:
		n = with_int(g, path, p, packet, len);
	}
	if (n)
		int_send(g, g->frame, n, p->ts_ns);
	return n > 0;
}
