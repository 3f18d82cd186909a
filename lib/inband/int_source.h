/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_source.h - INT put into packets, as its source does: INT 2.1, sections
 * 5.2 to 5.9; formats are in int_md.h.
 */
#ifndef INBAND_INT_SOURCE_H
#define INBAND_INT_SOURCE_H

#include "inband/int_md.h"

/* What a source puts into a packet. */
struct int_source {
	uint8_t version;   /* enum int_version, one that there is */
	uint8_t type;	   /* enum int_type: MD or MX */
	uint8_t over;	   /* enum int_over */
	uint8_t by;	   /* over L4: enum int_by */
	bool discard;	   /* D; C */
	bool early;	   /* MX: as 2.1 had it in May 2020 */
	uint8_t hops_max;  /* RemainingHopCnt, MaxHopCnt at the beginning */
	uint8_t hop_words; /* HopML; 0: what the bitmap asks for */
	uint16_t bitmap;
	uint16_t domain, domain_bits, domain_flags; /* 2.x */
	/* The stack at once: so many hops, newest first, then what only the
	 * source adds. Of MX what the source inserts. A multiple of 4 bytes. */
	const uint8_t *stack;
	size_t stack_len;
	unsigned hops;
	uint16_t src_port; /* of a new UDP header */
	/* GRE: INT brings the tunnel along; around the frame, or the packet. */
	bool tunnel, around_frame;
	uint8_t outer_version; /* 4, 6 */
	uint8_t outer_src[16], outer_dst[16];
};

/*
 * Writes the frame with INT: its length; -ENOTSUP: INT cannot be put over this
 * packet so; -EINVAL: the version cannot say this; -EMSGSIZE: the packet or
 * INT's bytes would be too long; -ENOBUFS. The checksum is changed by what
 * comes, one of 0 of UDP stays. Over VXLAN: the frame is VXLAN-GPE or VXLAN,
 * and over Geneve Geneve, by their ports. out may not overlap frame.
 */
int int_insert(uint8_t *out, size_t cap, const struct int_profile *p,
	       const struct int_source *s, const uint8_t *frame, size_t len);

#endif
