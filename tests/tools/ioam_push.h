/* SPDX-License-Identifier: BSD-2-Clause */
/* ioam_push.h - what a node on the way does: its data onto a trace. */
#ifndef TESTS_TOOLS_IOAM_PUSH_H
#define TESTS_TOOLS_IOAM_PUSH_H

#include <errno.h>
#include <string.h>

#include "base/put.h"
#include "int/ioam.h"
#include "net/be.h"

/* What a node says. */
struct ioam_node {
	uint32_t has; /* 1 << enum int_field; of others all ones */
	uint64_t value[INT_FIELDS];
	struct ioam_snapshot snapshot; /* len: a multiple of 4 */
};

/* Bytes of the option at p, left bytes before its header's end; 0: it is not
 * whole. */
static inline size_t ioam_push_option_len(const uint8_t *p, size_t left)
{
	size_t len = 1;

	if (*p != NET_IP6_PAD1)
		len = left < 2 ? 0 : p[1] + 2u;
	return len <= left ? len : 0;
}

static inline void ioam_push_pad(struct put *w, size_t n)
{
	if (n == 1)
		put_u8(w, NET_IP6_PAD1);
	if (n < 2)
		return;
	put_u8(w, NET_IP6_PADN);
	put_u8(w, (uint8_t)(n - 2));
	put_zero(w, n - 2);
}

/* The end of a header of options: whole 8 bytes, and its length. */
static inline void ioam_push_end(struct put *w)
{
	ioam_push_pad(w, -put_len(w) % 8);
	if (put_ok(w))
		w->start[1] = (uint8_t)(put_len(w) / 8 - 1);
}

enum {
	IOAM_PUSH_NODE_MAX = 31 * 4 + IOAM_SNAPSHOT_LEN + 255 * 4,
};

/* Returns the node's length, or -EINVAL. */
static inline int ioam_push_node(uint8_t out[IOAM_PUSH_NODE_MAX],
				 const struct ioam *t,
				 const struct ioam_node *node)
{
	const struct ioam_snapshot *s = &node->snapshot;
	size_t len = t->record.stack.len;

	int_put(out, t->record.stack.layout, node->has, node->value);
	if (!t->opaque)
		return (int)len;
	if (s->len % 4 || s->len / 4 > UINT8_MAX)
		return -EINVAL;
	out[len] = (uint8_t)(s->len / 4);
	out[len + 1] = (uint8_t)(s->schema >> 16);
	be16_store(out + len + 2, (uint16_t)s->schema);
	if (s->len)
		memcpy(out + len + IOAM_SNAPSHOT_LEN, s->data, s->len);
	return (int)(len + IOAM_SNAPSHOT_LEN + s->len);
}

static inline void ioam_push_lengths(uint8_t *trace, unsigned flags,
				     unsigned remaining)
{
	uint8_t *p = trace + IOAM_TRACE_AT_LENGTHS;

	be16_store(p, (uint16_t)((be16_load(p) & ~(15u << IOAM_FLAGS_SHIFT |
						   IOAM_REMAINING_MASK)) |
				 flags << IOAM_FLAGS_SHIFT | remaining));
}

/* Up to the last option that is no padding. */
static inline size_t ioam_push_solid(const uint8_t *p, size_t len)
{
	size_t solid = 0, n;

	for (size_t at = 0; at < len; at += n) {
		n = ioam_push_option_len(p + at, len - at);
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
static inline int ioam_push_header(uint8_t out[NET_IP6_OPTIONS_MAX],
				   const struct ioam *t, size_t more)
{
	const uint8_t *end = t->option + t->option_len;
	const uint8_t *nodes = t->option + IOAM_LEN + IOAM_TRACE_LEN;
	size_t len = t->header[1] * 8u + 8, behind;
	struct put w = put_to(out, NET_IP6_OPTIONS_MAX);

	behind = ioam_push_solid(end, (size_t)(t->header + len - end));
	put_bytes(&w, t->header, (size_t)(nodes - t->header));
	put_zero(&w, more);
	put_bytes(&w, nodes, (size_t)(end - nodes));
	if (behind)
		ioam_push_pad(&w, -more % 8);
	put_bytes(&w, end, behind);
	ioam_push_end(&w);
	return put_ok(&w) ? (int)put_len(&w) : -EMSGSIZE;
}

/* Makes room in the frame for a node of an incremental trace. Returns its
 * length. */
static inline int ioam_push_grow(uint8_t *frame, size_t len, size_t cap,
				 const struct ioam *t, size_t more)
{
	uint8_t header[NET_IP6_OPTIONS_MAX];
	size_t at = (size_t)(t->header - frame), was = t->header[1] * 8u + 8;
	uint8_t *ip = frame + (t->ip - frame), *option;
	size_t payload;
	int n;

	if (at + was > len)
		return -EBADMSG;
	if ((n = ioam_push_header(header, t, more)) < 0)
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

/*
 * Adds a node to a trace, which was read from this frame, or sets the overflow
 * flag where there is no room. Returns the frame's new length (an incremental
 * trace grows); -ENOBUFS: it would be beyond cap; -EMSGSIZE: no length could
 * say it; -EBADMSG: its header is cut short; -EINVAL: not a trace, or a
 * snapshot of no whole words. What was read of the frame is void then.
 */
static inline int ioam_push(uint8_t *frame, size_t len, size_t cap,
			    const struct ioam *t, const struct ioam_node *node)
{
	uint8_t bytes[IOAM_PUSH_NODE_MAX];
	uint8_t *trace = frame + (t->option - frame) + IOAM_LEN, *to;
	unsigned left = t->remaining;
	int n, rc = (int)len;

	if (t->type > IOAM_INCREMENTAL)
		return -EINVAL;
	if ((n = ioam_push_node(bytes, t, node)) < 0)
		return n;
	if ((size_t)n > left * 4u ||
	    (t->type == IOAM_INCREMENTAL &&
	     t->option_len + (size_t)n > IOAM_OPTION_MAX)) {
		ioam_push_lengths(trace, t->flags | IOAM_OVERFLOW, left);
		return rc;
	}
	left -= (unsigned)n / 4;
	to = trace + IOAM_TRACE_LEN;
	if (t->type == IOAM_PREALLOCATED)
		to += left * 4u;
	else if ((rc = ioam_push_grow(frame, len, cap, t, (size_t)n)) < 0)
		return rc;
	memcpy(to, bytes, (size_t)n);
	ioam_push_lengths(trace, t->flags, left);
	return rc;
}

#endif
