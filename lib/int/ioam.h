/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * ioam.h - IOAM in IPv6 packets: traces that nodes fill, pre-allocated and
 * incremental (RFC 9197, section 4.4), and direct export, which only asks for
 * reports (RFC 9326), in hop-by-hop and destination options (RFC 9486).
 *
 *	|0x31|length|0|type 0, 1|            the option; it begins at 4n bytes
 *	|Namespace 16|Node length 5|Flags 4|Remaining length 7|
 *	|Trace type 24|0|                    bit 0 is the most significant
 *	free space (type 0)|newest node|...|oldest node|
 *
 * A node's data are the fields of the set bits in their order. With bit 22 a
 * snapshot of any length follows. A field is all ones where the node does not
 * know it, save that 255 is a valid hop limit. The unit of the fraction of a
 * second is the profile's; Linux has microseconds.
 */
/* clang-format on */
#ifndef INT_IOAM_H
#define INT_IOAM_H

#include "int/int.h"
#include "int/int_profile.h"
#include "net/proto.h"

/* What became of an option. */
enum ioam_reason {
	IOAM_OK,
	IOAM_END,	  /* of the frame: there are no more, or were none */
	IOAM_TRUNCATED,	  /* the capture ends within it */
	IOAM_LENGTH,	  /* the option's length: beyond its header, too short
			     for its type, no whole words */
	IOAM_NODE_LENGTH, /* not what the trace type asks */
	IOAM_REMAINING,	  /* more than the option has */
	IOAM_NODES,	  /* not whole nodes, or snapshots beyond the end */
	IOAM_TYPE,	  /* no trace: proof of transit, edge to edge, others */
	IOAM_REASONS,
};

struct ioam_decoder {
	struct int_word words[IOAM_BITS];
	struct int_layouts layouts;
};

void ioam_init(struct ioam_decoder *d, const struct int_profile *profile);

/* What a trace type asks; fraction: as in the profile. */
void ioam_words(struct int_word words[IOAM_BITS], uint32_t fraction);

/* One option. Pointers lead into the frame, save record.stack.at, which leads
 * into this struct: it must not be moved. */
struct ioam {
	/* ts_ns is the caller's. stack: the nodes; its layout is always there.
	 * domain: the namespace. The flow is that of the packet in a tunnel,
	 * if the option is in the tunnel's header; ip_len is without IOAM. */
	struct int_record view;
	uint8_t type;		    /* enum ioam_type */
	uint8_t flags;		    /* IOAM_OVERFLOW, _LOOPBACK, _ACTIVE */
	uint8_t remaining;	    /* words that are free */
	bool opaque;		    /* a snapshot behind each node */
	const uint8_t *ip, *header; /* the IPv6 header, the option's header */
	const uint8_t *option;	    /* its first byte */
	size_t option_len;
	uint16_t at[IOAM_NODES_MAX]; /* record.stack.at */
};

/* A frame that is being read. */
struct ioam_reader {
	struct ioam_decoder *d;
	const uint8_t *frame, *ip;
	size_t len;
	const uint8_t *p, *end; /* behind the header in hand; of the packet */
	const uint8_t *header, *option, *options_end; /* within it */
	uint8_t next; /* the next header's type; NET_PROTO_NONE: no more */
	bool cut;     /* the header in hand is not all there */
};

/* Any Ethernet frame, with or without IOAM. */
void ioam_begin(struct ioam_reader *r, struct ioam_decoder *d,
		const uint8_t *frame, size_t len);

/*
 * The next IOAM option. IOAM_OK: *out is it; its layout lasts as
 * int_layouts_get() says. IOAM_END; or why this one is refused, and one may go
 * on: *out is undefined then.
 */
enum ioam_reason ioam_next(struct ioam_reader *r, struct ioam *out);

/* The snapshot of node i, i < h->n, of a trace with snapshots: h->at. */
struct ioam_snapshot {
	uint32_t schema; /* IOAM_NO_SCHEMA: there is none */
	const uint8_t *data;
	size_t len; /* bytes */
};

struct ioam_snapshot ioam_snapshot_of(const struct int_hops *h, unsigned i);

/* What a source asks. */
struct ioam_ask {
	uint8_t type; /* enum ioam_type: _PREALLOCATED, _INCREMENTAL */
	uint16_t namespace;
	uint32_t bitmap; /* trace type */
	uint8_t words;	 /* room for nodes, 4 bytes each */
	/* Nodes that have filled some of it, the newest first: whole words. */
	const uint8_t *nodes;
	size_t nodes_len;
};

/*
 * Writes a frame with such an option in its hop-by-hop header, which is made if
 * there is none. Returns its length; -ENOTSUP: not IPv6, or a jumbogram;
 * -EBADMSG: malformed or cut short; -EMSGSIZE: no length could say it;
 * -EINVAL: what cannot be asked; -ENOBUFS. ioam_strip() gives the frame back as
 * it was.
 */
int ioam_insert(uint8_t *out, size_t cap, const uint8_t *frame, size_t len,
		const struct ioam_ask *ask);

/*
 * Writes a frame without its IOAM options, and without headers that nothing
 * else was in. Other options stay as they are, at offsets that are the same
 * modulo 8. Returns the length, or as ioam_insert().
 */
int ioam_strip(uint8_t *out, size_t cap, const uint8_t *frame, size_t len);

#endif
