/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * int_md.h - INT in packets: decode, strip, push. INT-MD 0.5, 1.0, 2.0, 2.1 and
 * INT-MX 2.1 over TCP, UDP, VXLAN-GPE, Geneve and GRE (INT 2.1, sections 5.7 to
 * 5.9).
 *
 * INT's own bytes, here between bars, are contiguous:
 *   TCP, UDP     TCP, UDP |marker?, shim, header, stack, 0.5: tail| payload
 *   new UDP      IP |UDP, shim, header, stack| the packet's own TCP, UDP...
 *   VXLAN-GPE    VXLAN-GPE |shim, header, stack| inner packet
 *   Geneve       options |option: header, stack| options, inner packet
 *   GRE          GRE |shim, header, stack| inner packet; where the tunnel was
 *                made for INT (G), its IP and GRE headers are INT's, too
 *
 *   shim 0.5, 1.0  |Type 8|Rsvd 8|Length 8|DSCP 6|R 2|; VXLAN: Next 8
 *                  Length: words, shim and tail included
 *   shim 2.x       |Type 4|NPT 2|R 2|Length 8|port, protocol or DSCP 16|
 *                  Length: words without the shim
 *   MD 0.5         |0|Rep 2|C|E|R 3|InsCnt 5|MaxHop 8|TotalHop 8|
 *                  bitmap 16|Rsvd 16|
 *   MD 1.0         |1|Rep 2|C|E|M|R 10|HopML 5|RemainingHop 8|
 *                  bitmap 16|Rsvd 16|
 *   MD 2.x         |2|D|E|M|R 12|HopML 5|RemainingHop 8|
 *                  bitmap 16|Domain 16| DS instruction 16|DS flags 16|
 *   MX 2.1         |2|D|R 27|, or with E, M and HopML as MD (the text of
 *                  May 2020); then as MD 2.x
 *
 * Frames are untrusted and may be cut behind INT's bytes.
 */
/* clang-format on */
#ifndef INT_INT_MD_H
#define INT_INT_MD_H

#include "int/int.h"
#include "int/int_profile.h"

/* What became of a packet. */
enum int_result {
	INT_OK,
	INT_NONE,	 /* the packet carries no INT */
	INT_CUT,	 /* the capture ends before INT does */
	INT_BAD_PACKET,	 /* an IP, UDP, TCP... header is invalid */
	INT_BAD_TYPE,	 /* the INT header's type is neither MD nor MX */
	INT_BAD_VERSION, /* not the profile's, or unknown */
	INT_BAD_NEXT,	/* NPT is wrong for where the shim is, or there is none:
			   in 1.0 behind INT's port */
	INT_BAD_LENGTH, /* too short for the headers, or beyond the packet */
	INT_BAD_HOP,	/* HopML, InsCnt: 0, or less than instructions ask */
	INT_BAD_STACK,	/* not whole hops, or not as many as declared */
	INT_RESULTS,
};

/* What INT lies in or behind. */
enum int_over {
	INT_OVER_L4, /* behind the header of TCP, UDP or, with a marker, ICMP */
	INT_OVER_UDP, /* behind the UDP header, whose port is now INT's */
	INT_OVER_NEW_UDP,
	INT_OVER_VXLAN,
	INT_OVER_GENEVE,
	INT_OVER_GRE,
};

/* What identified the packet as INT. */
enum int_by { INT_BY_DSCP, INT_BY_PORT, INT_BY_MARKER, INT_BY_TUNNEL };

/* Where INT is in a frame; offsets are bytes from its beginning. */
struct int_place {
	uint8_t over, by;      /* enum int_over, int_by */
	uint8_t version;       /* enum int_version */
	uint8_t type;	       /* enum int_type: MD or MX */
	uint8_t ip_version;    /* of the (outer) IP header */
	uint8_t protocol;      /* behind that IP header */
	uint8_t dscp;	       /* the packet's own */
	bool tunnel_added;     /* G: it was plain VXLAN, or there was no GRE */
	bool reserved;	       /* reserved bits of the shim are set */
	uint16_t next;	       /* the packet's own port, protocol, type */
	uint32_t ethertype_at; /* the IP header's Ethernet type; 0: none */
	uint32_t ip, ip_proto_at, l4; /* IP header, protocol field, payload */
	uint32_t begin, end;	      /* INT's own bytes */
	uint32_t shim;		      /* or the option's header */
	uint32_t header, stack, stack_len;
	uint8_t tail;	 /* bytes of the tail, which only 0.5 has */
	uint32_t ip_len; /* total length by the IP header */
};

/*
 * Finds INT in a frame (type NET_ETHERTYPE_ETH), or in an IP packet, as reports
 * may carry it (NET_ETHERTYPE_IP4, NET_ETHERTYPE_IP6). Returns INT_OK, or why
 * there is none; then *out is undefined. If INT_OK, all bytes of [begin, end)
 * are in the frame.
 */
enum int_result int_find(struct int_place *out, const struct int_profile *p,
			 uint16_t type, const uint8_t *frame, size_t len);

/* State kept between packets: the layouts of each version. */
struct int_decoder {
	const struct int_profile *profile;
	struct int_layouts layouts[INT_ANY];
	uint8_t plain_versions; /* bits by the header's first nibble: those for
				   which int_read() has a fast path */
};

/* The profile is not copied: it must outlive the decoder. */
void int_decoder_init(struct int_decoder *d, const struct int_profile *p);

/*
 * Decodes the INT that int_find() found in this frame. Returns INT_OK, or
 * INT_BAD_HOP, INT_BAD_STACK; then *out is undefined. The caller sets ts_ns;
 * pointers lead into the frame; layouts last as int_layouts_get() says. The
 * flow is unknown if the packet behind INT has no such headers or is cut.
 */
enum int_result int_decode(struct int_record *out, struct int_decoder *d,
			   const struct int_place *at, const uint8_t *frame,
			   size_t len);

/* int_find() and then int_decode() at once, and faster, for callers that do not
 * need the place. Returns the first failure of the two, or INT_OK. */
enum int_result int_read(struct int_record *out, struct int_decoder *d,
			 uint16_t type, const uint8_t *frame, size_t len);

/*
 * Writes the packet without INT; returns its length, or -ENOBUFS. Checksums are
 * updated by the bytes removed (RFC 1624), not computed anew, so wrong ones
 * stay wrong; but a 0xffff that stood for 0 becomes 0, as the two look the
 * same. out may not overlap frame; cap >= len always suffices.
 */
int int_strip(uint8_t *out, size_t cap, const struct int_profile *p,
	      const struct int_place *at, const uint8_t *frame, size_t len);

/* What a source puts into a packet. */
struct int_source {
	uint8_t version;  /* enum int_version, not INT_ANY */
	uint8_t type;	  /* enum int_type: MD or, since 2.0, MX */
	uint8_t over;	  /* enum int_over; GRE: a tunnel around the packet */
	uint8_t by;	  /* over L4: INT_BY_DSCP, INT_BY_MARKER */
	uint8_t hops_max; /* RemainingHopCnt, MaxHopCnt at the beginning */
	uint16_t bitmap;
	/* The whole stack: hops entries, hops_max at most, newest first; its
	 * length is a multiple of 4. MX has none. */
	const uint8_t *stack;
	size_t stack_len;
	unsigned hops;
	uint16_t src_port;		    /* of a new UDP header */
	uint8_t outer_src[4], outer_dst[4]; /* of GRE */
};

/*
 * Writes the frame with INT; returns its length. -ENOTSUP: this packet cannot
 * carry INT that way; -EINVAL: the version has no such fields; -EMSGSIZE: the
 * packet or INT's bytes would be too long; -ENOBUFS. Checksums are updated by
 * the bytes added; a UDP checksum of 0 stays 0. Over VXLAN or Geneve the frame
 * must already be VXLAN(-GPE) or Geneve, by its port. out may not overlap
 * frame.
 */
int int_insert(uint8_t *out, size_t cap, const struct int_profile *p,
	       const struct int_source *s, const uint8_t *frame, size_t len);

#endif
