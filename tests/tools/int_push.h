/* SPDX-License-Identifier: BSD-2-Clause */
/* int_push.h - what a transit node does: a hop's metadata onto the stack. */
#ifndef TESTS_TOOLS_INT_PUSH_H
#define TESTS_TOOLS_INT_PUSH_H

#include <errno.h>

#include "int/int_private.h"
#include "int/int_md.h"
#include "net/be.h"
#include "net/net.h"

/* What a transit node does. */
struct int_transit {
	const uint8_t *md; /* its metadata, HopML words */
	size_t md_len;
	uint32_t mtu;	 /* of IP packets; 0: any */
	bool complement; /* if asked for, rather than changing the checksum */
};

/* A frame at a transit node. */
struct transit_node {
	uint8_t *frame;
	struct int_place at;
	const struct int_profile *p;
	uint8_t *h; /* the header */
	uint32_t sum;
};

static inline bool transit_is_0_5(const struct transit_node *n)
{
	return n->at.version == INT_V0_5;
}

/* Bytes that each hop adds. */
static inline size_t transit_hop_len(const struct transit_node *n)
{
	struct int_layout plan;
	unsigned count;

	if (!transit_is_0_5(n))
		return (n->h[INT_AT_HOP_WORDS] & INT_HOP_WORDS_MASK) * 4u;
	int_layout_make(&plan, int_profile_words(n->p, INT_V0_5),
			INT_BITMAP_BITS, be16_load(n->h + INT_AT_BITMAP));
	count = n->h[INT05_AT_HOP_WORDS] & INT_HOP_WORDS_MASK;
	return plan.len +
	       (count - (unsigned)__builtin_popcount(plan.bitmap)) * 4u;
}

static inline bool transit_hops_exceeded(const struct transit_node *n)
{
	if (transit_is_0_5(n))
		return n->h[INT_AT_REMAINING] >= n->h[INT05_AT_MAX];
	return !n->h[INT_AT_REMAINING];
}

/* Bits of the header's first half word. */
static inline void transit_set_flags(struct transit_node *n, unsigned bits)
{
	int_set16(n->h, (uint16_t)(be16_load(n->h) | bits), &n->sum);
	int_sum_apply(n->frame, &n->at, n->p, n->sum);
}

static inline void transit_set_exceeded(struct transit_node *n)
{
	transit_set_flags(n, int_is_old(n->at.version) ? 0x0100 : 0x0400);
}

/* 0.5 has no such flag. */
static inline void transit_set_mtu(struct transit_node *n)
{
	if (!transit_is_0_5(n))
		transit_set_flags(n,
				  int_is_old(n->at.version) ? 0x0080 : 0x0200);
}

/* The words that shim or option count, and what counts the option. */
static inline bool transit_count_words(struct transit_node *n, size_t words)
{
	uint8_t *shim = n->frame + n->at.shim;
	uint8_t *geneve = n->frame + n->at.l4 + NET_UDP_LEN;
	unsigned at = INT_SHIM_AT_WORDS, max = INT_WORDS_MAX;

	if (n->at.over == INT_OVER_GENEVE) {
		at = NET_GENEVE_OPTION_AT_WORDS;
		max = NET_GENEVE_OPTION_MASK;
		if ((geneve[0] & NET_GENEVE_WORDS_MASK) + words >
		    NET_GENEVE_WORDS_MASK)
			return false;
	} else if (int_is_old(n->at.version)) {
		at = INT_SHIM1_AT_WORDS;
	}
	if ((shim[at] & max) + words > max)
		return false;
	if (n->at.over == INT_OVER_GENEVE)
		int_set16(geneve, (uint16_t)(be16_load(geneve) + (words << 8)),
			  &n->sum);
	words <<= at % 2 ? 0 : 8;
	shim += at & ~1u;
	int_set16(shim, (uint16_t)(be16_load(shim) + words), &n->sum);
	return true;
}

static inline void transit_count_hop(struct transit_node *n)
{
	uint8_t *p = n->h + INT_AT_REMAINING - 1;

	int_set16(p, (uint16_t)(be16_load(p) + (transit_is_0_5(n) ? 1 : -1)),
		  &n->sum);
}

/*
 * The last word of the hop at md, if it is a complement: such that the checksum
 * needs no change, or the one that says nothing of it. Which of its halves says
 * so is not specified (trap S11).
 */
static inline void transit_complement(struct transit_node *n, uint8_t *md,
				      size_t len, bool use)
{
	uint8_t *word = md + len - INT_COMPLEMENT_LEN;

	be32_store(word, UINT32_MAX); /* adds nothing, it is 0 as well */
	if (!use || !int_sum_at(n->frame, &n->at, n->p))
		return;
	n->sum = (n->sum & 0xffff) + (n->sum >> 16);
	n->sum = (n->sum & 0xffff) + (n->sum >> 16);
	be32_store(word, 0xffff - n->sum);
	n->sum = 0;
}

static inline void transit_push(struct transit_node *n,
				const struct int_transit *t, size_t behind)
{
	uint8_t *md = n->frame + n->at.stack;
	bool asked = !transit_is_0_5(n) &&
		     be16_load(n->h + INT_AT_BITMAP) & INT_COMPLEMENT;

	memmove(md + t->md_len, md, behind);
	memcpy(md, t->md, t->md_len);
	if (asked)
		memset(md + t->md_len - INT_COMPLEMENT_LEN, 0xff,
		       INT_COMPLEMENT_LEN);
	transit_count_hop(n);
	net_ip_resize(n->frame + n->at.ip, (int)t->md_len);
	int_resize_l4(n->frame, &n->at, (int)t->md_len, &n->sum);
	int_sum_bytes(&n->sum, md, t->md_len);
	if (asked)
		transit_complement(n, md, t->md_len, t->complement);
	int_sum_apply(n->frame, &n->at, n->p, n->sum);
}

/*
 * Pushes a hop's metadata onto the stack of the frame, in place, where INT-MD
 * is found in it. Returns its length, which is the same if there was no way:
 * hops exceeded (E is set), MTU exceeded (M is set; 0.5 has none), no room in
 * the format. -EBADMSG: there is no INT-MD; -EINVAL: metadata of another
 * length; -ENOBUFS.
 */
static inline int int_push(uint8_t *frame, size_t len, size_t cap,
			   const struct int_profile *p,
			   const struct int_transit *t)
{
	struct transit_node n = {.frame = frame, .p = p};

	if (int_find(&n.at, p, NET_ETHERTYPE_ETH, frame, len) ||
	    n.at.type != INT_TYPE_MD)
		return -EBADMSG;
	n.h = frame + n.at.header;
	if (!t->md_len || t->md_len != transit_hop_len(&n))
		return -EINVAL;
	if (transit_hops_exceeded(&n)) {
		transit_set_exceeded(&n);
		return (int)len;
	}
	if (t->mtu && n.at.ip_len + t->md_len > t->mtu) {
		transit_set_mtu(&n);
		return (int)len;
	}
	if (len + t->md_len > cap)
		return -ENOBUFS;
	if (n.at.ip_len + t->md_len > UINT16_MAX ||
	    !transit_count_words(&n, t->md_len / 4))
		return (int)len;
	transit_push(&n, t, len - n.at.stack);
	return (int)(len + t->md_len);
}

#endif
