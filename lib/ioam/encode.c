/* SPDX-License-Identifier: BSD-2-Clause */
/* encode.c - what sources and nodes do: ioam.h. */
#include <errno.h>

#include "base/cur.h"
#include "ioam/ioam.h"
#include "ioam/private.h"
#include "wire/net.h"

/* Words of a node that a trace type asks for, but snapshots. */
static unsigned node_words(uint32_t bitmap)
{
	struct int_word words[IOAM_BITS];
	struct int_plan plan;

	ioam_words(words, 0);
	int_plan_of(&plan, words, IOAM_BITS,
		    bitmap & ~(uint32_t)(IOAM_OPAQUE | IOAM_UNUSED));
	return plan.len / 4u;
}

static void put_trace(struct put *w, const struct ioam_ask *ask)
{
	put_be16(w, ask->namespace);
	put_be16(w, (uint16_t)(node_words(ask->bitmap) << IOAM_NODE_LEN_SHIFT |
			       ask->words));
	put_be32(w, ask->bitmap << 8);
	if (ask->type == IOAM_PREALLOCATED)
		put_zero(w, ask->words * 4u);
}

static void put_direct(struct put *w, const struct ioam_ask *ask)
{
	put_be16(w, ask->namespace);
	put_u8(w, 0);
	put_u8(w, (uint8_t)((ask->has_flow ? IOAM_DIRECT_FLOW : 0) |
			    (ask->has_sequence ? IOAM_DIRECT_SEQUENCE : 0)));
	put_be32(w, ask->bitmap << 8);
	if (ask->has_flow)
		put_be32(w, ask->flow);
	if (ask->has_sequence)
		put_be32(w, ask->sequence);
}

/* The option; returns its length, a multiple of 4, or -EINVAL. */
static int make_option(uint8_t out[IOAM_OPTION_MAX], const struct ioam_ask *ask)
{
	struct put w = put_to(out, IOAM_OPTION_MAX);

	if (ask->bitmap >> IOAM_BITS || ask->words > IOAM_NODES_MAX)
		return -EINVAL;
	put_u8(&w, IOAM_OPTION);
	put_u8(&w, 0); /* its length, below */
	put_u8(&w, 0);
	put_u8(&w, ask->type);
	if (ask->type <= IOAM_INCREMENTAL)
		put_trace(&w, ask);
	else if (ask->type == IOAM_DIRECT)
		put_direct(&w, ask);
	else
		return -EINVAL;
	out[1] = (uint8_t)(put_len(&w) - 2);
	return (int)put_len(&w);
}

/*
 * The hop-by-hop header with the option behind those it has: its whole length
 * is a multiple of 8, so that is aligned. A new one begins with padding to 4.
 * Returns its length or -EMSGSIZE.
 */
static int make_header(uint8_t out[NET_IP6_OPTIONS_MAX], const uint8_t *old,
		       size_t old_len, uint8_t next, const uint8_t *option,
		       size_t len)
{
	const uint8_t fresh[4] = {next, 0, NET_IP6_PADN, 0};
	struct put w = put_to(out, NET_IP6_OPTIONS_MAX);

	if (old_len)
		put_bytes(&w, old, old_len);
	else
		put_bytes(&w, fresh, sizeof(fresh));
	put_bytes(&w, option, len);
	ioam_put_end(&w);
	return put_ok(&w) ? (int)put_len(&w) : -EMSGSIZE;
}

int ioam_insert(uint8_t *out, size_t cap, const uint8_t *frame, size_t len,
		const struct ioam_ask *ask)
{
	uint8_t option[IOAM_OPTION_MAX], header[NET_IP6_OPTIONS_MAX], *new_ip;
	struct put w = put_to(out, cap);
	struct cur c = cur_of(frame, len);
	int n = make_option(option, ask), type, header_len;
	const uint8_t *ip, *at, *old;
	size_t payload, old_len = 0;

	type = net_eth_skip(&c, &at);
	ip = cur_take(&c, NET_IP6_LEN);
	if (n < 0)
		return n;
	if (type < 0 || !ip)
		return type == -ENOTSUP ? type : -EBADMSG;
	if (type != NET_ETHERTYPE_IP6 || ip[0] >> 4 != 6)
		return -ENOTSUP;
	payload = be16_load(ip + NET_IP6_AT_LEN);
	old = c.p;
	if (ip[NET_IP6_AT_NEXT] == NET_IP6_HOP_BY_HOP) {
		if (!payload)
			return -ENOTSUP; /* RFC 2675 */
		old_len = ioam_extension(NET_IP6_HOP_BY_HOP, old, cur_left(&c));
		if (!old_len || old_len > payload || !cur_take(&c, old_len))
			return -EBADMSG;
	}
	header_len = make_header(header, old, old_len, ip[NET_IP6_AT_NEXT],
				 option, (size_t)n);
	if (header_len < 0)
		return header_len;
	payload += (size_t)header_len - old_len;
	if (payload > UINT16_MAX)
		return -EMSGSIZE;
	put_bytes(&w, frame, (size_t)(old - frame));
	new_ip = w.p - NET_IP6_LEN;
	put_bytes(&w, header, (size_t)header_len);
	put_bytes(&w, c.p, cur_left(&c));
	if (!put_ok(&w))
		return -ENOBUFS;
	be16_store(new_ip + NET_IP6_AT_LEN, (uint16_t)payload);
	new_ip[NET_IP6_AT_NEXT] = NET_IP6_HOP_BY_HOP;
	return (int)put_len(&w);
}

enum {
	NODE_MAX = 31 * 4 + IOAM_SNAPSHOT_LEN + 255 * 4,
};

/* Returns the node's length, or -EINVAL. */
static int make_node(uint8_t out[NODE_MAX], const struct ioam *t,
		     const struct ioam_node *node)
{
	const struct ioam_snapshot *s = &node->snapshot;
	size_t len = t->view.stack.len;

	int_put(out, t->view.stack.plan, node->has, node->value);
	if (!t->opaque)
		return (int)len;
	if (s->len % 4 || s->len / 4 > UINT8_MAX)
		return -EINVAL;
	out[len] = (uint8_t)(s->len / 4);
	be24_store(out + len + 1, s->schema);
	if (s->len)
		memcpy(out + len + IOAM_SNAPSHOT_LEN, s->data, s->len);
	return (int)(len + IOAM_SNAPSHOT_LEN + s->len);
}

static void put_lengths(uint8_t *trace, unsigned flags, unsigned remaining)
{
	uint8_t *p = trace + IOAM_TRACE_AT_LENGTHS;

	be16_store(p, (uint16_t)((be16_load(p) & ~(15u << IOAM_FLAGS_SHIFT |
						   IOAM_REMAINING_MASK)) |
				 flags << IOAM_FLAGS_SHIFT | remaining));
}

/* Up to the last option that is no padding. */
static size_t without_padding(const uint8_t *p, size_t len)
{
	size_t solid = 0, n;

	for (size_t at = 0; at < len; at += n) {
		n = ioam_option_len(p + at, len - at);
		if (!n)
			return len;
		if (p[at] != NET_IP6_PAD1 && p[at] != NET_IP6_PADN)
			solid = at + n;
	}
	return solid;
}

/*
 * The header with so many bytes more in the option, of zeros behind the trace's
 * header; the options behind it move by a multiple of 8. Returns its length, or
 * -EMSGSIZE.
 */
static int grow_header(uint8_t out[NET_IP6_OPTIONS_MAX], const struct ioam *t,
		       size_t more)
{
	const uint8_t *end = t->option + t->option_len;
	const uint8_t *nodes = t->option + IOAM_LEN + IOAM_TRACE_LEN;
	size_t len = t->header[1] * 8u + 8, behind;
	struct put w = put_to(out, NET_IP6_OPTIONS_MAX);

	behind = without_padding(end, (size_t)(t->header + len - end));
	put_bytes(&w, t->header, (size_t)(nodes - t->header));
	put_zero(&w, more);
	put_bytes(&w, nodes, (size_t)(end - nodes));
	if (behind)
		ioam_put_pad(&w, -more % 8);
	put_bytes(&w, end, behind);
	ioam_put_end(&w);
	return put_ok(&w) ? (int)put_len(&w) : -EMSGSIZE;
}

/* Makes room in the frame for a node of an incremental trace. Returns its
 * length. */
static int grow(uint8_t *frame, size_t len, size_t cap, const struct ioam *t,
		size_t more)
{
	uint8_t header[NET_IP6_OPTIONS_MAX];
	size_t at = (size_t)(t->header - frame), was = t->header[1] * 8u + 8;
	uint8_t *ip = frame + (t->ip - frame), *option;
	size_t payload;
	int n;

	if (at + was > len)
		return -EBADMSG;
	if ((n = grow_header(header, t, more)) < 0)
		return n;
	payload = be16_load(ip + NET_IP6_AT_LEN) + (size_t)n - was;
	if (payload > UINT16_MAX)
		return -EMSGSIZE;
	if (len + (size_t)n - was > cap)
		return -ENOBUFS;
	option = frame + (t->option - frame);
	memmove(frame + at + n, frame + at + was, len - at - was);
	memcpy(frame + at, header, (size_t)n);
	be16_store(ip + NET_IP6_AT_LEN, (uint16_t)payload);
	option[1] = (uint8_t)(option[1] + more);
	return (int)(len + (size_t)n - was);
}

int ioam_push(uint8_t *frame, size_t len, size_t cap, const struct ioam *t,
	      const struct ioam_node *node)
{
	uint8_t bytes[NODE_MAX];
	uint8_t *trace = frame + (t->option - frame) + IOAM_LEN, *to;
	unsigned left = t->remaining;
	int n, rc = (int)len;

	if (t->type > IOAM_INCREMENTAL)
		return -EINVAL;
	if ((n = make_node(bytes, t, node)) < 0)
		return n;
	if ((size_t)n > left * 4u ||
	    (t->type == IOAM_INCREMENTAL &&
	     t->option_len + (size_t)n > IOAM_OPTION_MAX)) {
		put_lengths(trace, t->flags | IOAM_OVERFLOW, left);
		return rc;
	}
	left -= (unsigned)n / 4;
	to = trace + IOAM_TRACE_LEN;
	if (t->type == IOAM_PREALLOCATED)
		to += left * 4u;
	else if ((rc = grow(frame, len, cap, t, (size_t)n)) < 0)
		return rc;
	memcpy(to, bytes, (size_t)n);
	put_lengths(trace, t->flags, left);
	return rc;
}
