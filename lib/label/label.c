/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/label.h"

#include <errno.h>
#include <string.h>

#include "base/cur.h"
#include "net/be.h"
#include "net/net.h"

const struct label_format label_format_default = {
	.protocol = LABEL_PROTOCOL,
	.max_hop = LABEL_MAX_HOP,
	.export_port = LABEL_EXPORT_PORT,
};

/* Reads the IP header at c. net_ip_decode() will not do: it goes on to the IPv6
 * extension headers, which are behind the labels. v->claims is set even if the
 * header is malformed. */
static int ip_header(struct label_view *v, const struct label_format *f,
		     struct cur *c)
{
	size_t captured = cur_left(c), head = NET_IP6_LEN;
	const uint8_t *p = c->p;
	bool v6 = captured && p[0] >> 4 == 6;
	size_t next_at = v6 ? NET_IP6_AT_NEXT : NET_IP4_AT_PROTO;

	v->ip = p;
	v->claims = captured > next_at && p[next_at] == f->protocol;
	if (v6) {
		if (!cur_take(c, NET_IP6_LEN))
			return -EBADMSG;
		v->layout = LABEL_IP6;
		v->next = p[NET_IP6_AT_NEXT];
		if (!be16_load(p + NET_IP6_AT_LEN) && v->next != NET_IP6_NONE)
			return -ENOTSUP;
		v->ip_len = NET_IP6_LEN + be16_load(p + NET_IP6_AT_LEN);
	} else {
		if (captured < NET_IP4_LEN || p[0] >> 4 != 4)
			return -EBADMSG;
		head = (p[0] & 15) * 4u;
		if (head < NET_IP4_LEN || !cur_take(c, head))
			return -EBADMSG;
		v->layout = LABEL_IP4;
		v->next = p[NET_IP4_AT_PROTO];
		v->ip_len = be16_load(p + NET_IP4_AT_LEN);
		if (be16_load(p + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT)
			return -ENOTSUP;
	}
	if (v->ip_len < head)
		return -EBADMSG;
	if (captured > v->ip_len)
		*c = cur_of(c->p, v->ip_len - head);
	v->option = v->rest = c->p;
	v->rest_len = cur_left(c);
	return 0;
}

bool label_ip_damaged(const struct label_view *v)
{
	size_t head;

	if (v->layout != LABEL_IP4)
		return false;
	head = (v->ip[0] & 15) * 4u;
	return head == NET_IP4_LEN ? !net_ip4_sum_right(v->ip)
				   : net_checksum(v->ip, head) != 0;
}

/* label_find() from the IP header on. */
static inline int find_ip(struct label_view *v, const struct label_format *f,
			  struct cur *c)
{
	const uint8_t *option;
	int rc = ip_header(v, f, c);
	uint8_t int_num;

	if (rc)
		return rc;
	if (!v->claims)
		return -ENOENT;
	if (!(option = cur_take(c, LABEL_OPTION_LEN)))
		return -EBADMSG;
	v->labelled = true;
	v->damaged = label_ip_damaged(v);
	v->next = option[0];
	int_num = option[LABEL_AT_COUNT]; /* algorithm 4 */
	v->specific = int_num > f->max_hop;
	v->n = v->specific ? (uint8_t)(int_num - f->max_hop) : int_num;
	if (!cur_take(c, (size_t)v->n * LABEL_ITEM_LEN))
		return -EBADMSG;
	v->rest = c->p;
	v->rest_len = cur_left(c);
	return 0;
}

/* label_find() in a UDP datagram. -ENOENT: it is not for the export port. */
static int find_exported(struct label_view *v, const struct label_format *f,
			 const uint8_t *udp, size_t len)
{
	struct label_view inner = {.exported = true};
	bool v6 = v->layout == LABEL_IP6;
	const uint8_t *src = v->ip + (v6 ? NET_IP6_AT_SRC : NET_IP4_AT_SRC);
	struct cur c = cur_of(udp, len);
	size_t udp_len;
	int rc;

	if (len < NET_UDP_LEN ||
	    be16_load(udp + NET_UDP_AT_DST) != f->export_port)
		return -ENOENT;
	udp_len = be16_load(udp + NET_UDP_AT_LEN);
	if (udp_len < NET_UDP_LEN)
		return -EBADMSG;
	if (len > udp_len)
		c = cur_of(udp, udp_len);
	cur_take(&c, NET_UDP_LEN);
	if ((rc = find_ip(&inner, f, &c)))
		return rc == -ENOENT ? rc : -EBADMSG;
	inner.damaged |= label_ip_damaged(v) ||
			 (len >= udp_len && /* captured whole */
			  !net_udp_sum_right(src, v6 ? 6 : 4, udp, udp_len));
	*v = inner;
	return 0;
}

int label_find(struct label_view *v, const struct label_format *f,
	       const uint8_t *frame, size_t len)
{
	struct cur c = cur_of(frame, len);
	const uint8_t *at;
	int type = net_eth_skip(&c, &at), rc;

	*v = (struct label_view){0};
	if (type < 0)
		return type;
	if (type != NET_ETHERTYPE_IP4 && type != NET_ETHERTYPE_IP6)
		return -ENOTSUP;
	if (cur_left(&c) && c.p[0] >> 4 != (type == NET_ETHERTYPE_IP6 ? 6 : 4))
		return -ENOTSUP;
	rc = find_ip(v, f, &c);
	if (rc != -ENOENT || v->next != NET_PROTO_UDP || !f->export_port)
		return rc;
	return find_exported(v, f, v->rest, v->rest_len);
}

void label_item_get(struct label_item *out, const struct label_view *v,
		    unsigned i)
{
	const uint8_t *p = v->option + LABEL_OPTION_LEN +
			   (size_t)i * LABEL_ITEM_LEN;

	*out = (struct label_item){
		.device = be32_load(p),
		.in = be16_load(p + LABEL_ITEM_AT_INGRESS),
		.out = be16_load(p + LABEL_ITEM_AT_EGRESS),
		.time_us = be48_load(p + LABEL_ITEM_AT_TIME),
		.latency_ns = be32_load(p + LABEL_ITEM_AT_LATENCY),
		.queue = be32_load(p + LABEL_ITEM_AT_QUEUE),
		.number = be32_load(p + LABEL_ITEM_AT_NUMBER),
	};
}

void label_item_put(uint8_t *p, const struct label_item *item)
{
	memset(p, 0, LABEL_ITEM_LEN);
	be32_store(p, item->device);
	be16_store(p + LABEL_ITEM_AT_INGRESS, item->in);
	be16_store(p + LABEL_ITEM_AT_EGRESS, item->out);
	be48_store(p + LABEL_ITEM_AT_TIME, item->time_us);
	be32_store(p + LABEL_ITEM_AT_LATENCY, item->latency_ns);
	be32_store(p + LABEL_ITEM_AT_QUEUE, item->queue);
	be32_store(p + LABEL_ITEM_AT_NUMBER, item->number);
}

int label_push(uint8_t *out, size_t cap, const struct label_format *f,
	       const struct label_view *v, const uint8_t *frame, size_t len,
	       const struct label_item *item, bool specific, size_t mtu)
{
	size_t kept = v->labelled ? LABEL_OPTION_LEN : 0;
	size_t growth = LABEL_GROWTH - kept;
	size_t head = (size_t)(v->option - frame);
	size_t ip_len = v->ip_len + growth, ip_max = UINT16_MAX;
	uint8_t *ip, *option = out + head;

	if (v->exported || (v->layout == LABEL_IP4 &&
			    be16_load(v->ip + NET_IP4_AT_SUM) == 0xffff))
		return -ENOTSUP; /* label.h */
	if (v->n)
		specific = v->specific;
	if (v->n >= (specific ? UINT8_MAX - f->max_hop : f->max_hop))
		return -E2BIG;
	if (v->layout == LABEL_IP6)
		ip_max += NET_IP6_LEN;
	if (ip_len > ip_max || (mtu && ip_len > mtu))
		return -EMSGSIZE;
	if (cap < len + growth)
		return -ENOBUFS;
	memcpy(out, frame, head + kept);
	memcpy(option + LABEL_GROWTH, frame + head + kept, len - head - kept);
	ip = out + (v->ip - frame);
	if (!v->labelled)
		net_ip_set_protocol(ip, ip + NET_IP6_AT_NEXT, f->protocol);
	net_ip_resize(ip, (int)growth);
	option[0] = v->next;
	option[LABEL_AT_COUNT] = (uint8_t)(v->n + 1 +
					   (specific ? f->max_hop : 0));
	label_item_put(option + LABEL_OPTION_LEN, item);
	return (int)(len + growth);
}

int label_strip(uint8_t *out, size_t cap, const struct label_view *v,
		const uint8_t *frame, size_t len)
{
	size_t removed = label_extent(v), head = (size_t)(v->option - frame);
	uint8_t *ip = out + (v->ip - frame), next = v->next;

	if (v->exported)
		return -ENOTSUP;
	if (cap < len - removed)
		return -ENOBUFS;
	memmove(out, frame, head);
	memmove(out + head, frame + head + removed, len - head - removed);
	net_ip_set_protocol(ip, ip + NET_IP6_AT_NEXT, next);
	net_ip_resize(ip, -(int)removed);
	return (int)(len - removed);
}

unsigned label_flow_key(uint8_t *out, const struct label_view *v)
{
	bool v6 = v->layout == LABEL_IP6;
	size_t len = v6 ? KEY_IP6_LEN : KEY_IP4_LEN;
	uint8_t *rest = out + 2 * len;

	/* In both versions the destination follows the source. */
	memcpy(out, v->ip + (v6 ? NET_IP6_AT_SRC : NET_IP4_AT_SRC), 2 * len);
	memset(rest, 0, 4);
	if ((v->next == NET_PROTO_TCP || v->next == NET_PROTO_UDP) &&
	    v->rest_len >= 4)
		memcpy(rest, v->rest, 4);
	rest[4] = v->next;
	return v6 ? KEY_FLOW6_LEN : KEY_FLOW4_LEN;
}
