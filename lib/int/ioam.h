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
 * A node's data are the fields of the set trace type bits, in the order of the
 * bits. If bit 22 is set, an opaque state snapshot of any length follows them.
 * A field that the node does not know is all ones, but 255 is a valid hop
 * limit. The profile gives the unit of a second's fraction; Linux has us.
 */
/* clang-format on */
#ifndef INT_IOAM_H
#define INT_IOAM_H

#include "int/int.h"
#include "int/int_profile.h"
#include "net/proto.h"

/* Why an option could not be decoded. */
enum ioam_reason {
	IOAM_OK,
	IOAM_END,	  /* the frame has no more options */
	IOAM_TRUNCATED,	  /* the capture ends within it */
	IOAM_LENGTH,	  /* of the option: beyond its header, too short for its
			     type, or not a multiple of 4 */
	IOAM_NODE_LENGTH, /* is not that of the trace type's fields */
	IOAM_REMAINING,	  /* free space longer than the option */
	IOAM_NODES,	  /* the last node or snapshot is incomplete */
	IOAM_TYPE,	  /* not decoded: proof of transit, edge to edge... */
};

struct ioam_decoder {
	struct int_word words[IOAM_BITS];
	struct int_layouts layouts;
};

void ioam_init(struct ioam_decoder *d, const struct int_profile *profile);

/* The field of each trace type bit; fraction: the profile's ioam_fraction. */
void ioam_words(struct int_word words[IOAM_BITS], uint32_t fraction);

/* One option. It must not be moved: record.stack.at points into it. All other
 * pointers point into the frame. */
struct ioam {
	/* The caller sets ts_ns. stack: the nodes, always with a layout.
	 * domain: the namespace. If the option is in a tunnel's header, the
	 * flow is that of the inner packet. ip_len is without IOAM. */
	struct int_record record;
	uint8_t type;		    /* enum ioam_type */
	uint8_t flags;		    /* IOAM_OVERFLOW, _LOOPBACK, _ACTIVE */
	uint8_t remaining;	    /* free space, in words of 4 bytes */
	bool opaque;		    /* each node has an opaque snapshot */
	const uint8_t *ip, *header; /* IPv6 header; the one with the option */
	const uint8_t *option;	    /* its first byte */
	size_t option_len;
	uint16_t at[IOAM_NODES_MAX]; /* record.stack.at */
};

/* An iterator over the IOAM options of a frame; the extension header that it
 * has reached is the current one. */
struct ioam_reader {
	struct ioam_decoder *d;
	const uint8_t *frame, *ip;
	size_t len;
	const uint8_t *p, *end; /* after the current header; of the packet */
	const uint8_t *header, *option,
		*options_end; /* in the current header */
	uint8_t next; /* type of the header at p; NET_PROTO_NONE: no more */
	bool cut;     /* the current header is truncated */
};

/* Starts on an Ethernet frame, with or without IOAM. */
void ioam_begin(struct ioam_reader *r, struct ioam_decoder *d,
		const uint8_t *frame, size_t len);

/* Decodes the next IOAM option. IOAM_OK: *out is set; its layout lasts as
 * int_layouts_get() says. IOAM_END: no more. Others: why it was not decoded;
 * *out is undefined, and the next call goes on behind the option. */
enum ioam_reason ioam_next(struct ioam_reader *r, struct ioam *out);

/* The snapshot of node i, i < h->n, of a trace whose nodes have them. */
struct ioam_snapshot {
	uint32_t schema; /* IOAM_NO_SCHEMA: there is none */
	const uint8_t *data;
	size_t len; /* bytes */
};

struct ioam_snapshot ioam_snapshot_of(const struct int_hops *h, unsigned i);

/* The trace that an encapsulating node requests. */
struct ioam_request {
	uint8_t type; /* enum ioam_type: _PREALLOCATED, _INCREMENTAL */
	uint16_t namespace;
	uint32_t bitmap; /* trace type */
	uint8_t words;	 /* of 4 bytes, for nodes' data */
	/* Data that nodes have added already, the newest first: whole words. */
	const uint8_t *nodes;
	size_t nodes_len;
};

/*
 * Writes the frame with such an option in its hop-by-hop header, which is added
 * if there is none. Returns the new length; -ENOTSUP: not IPv6, or a jumbogram;
 * -EBADMSG: malformed or truncated; -EMSGSIZE: too long for a length field;
 * -EINVAL: ask is not valid; -ENOBUFS: longer than cap. ioam_strip() undoes it.
 */
int ioam_insert(uint8_t *out, size_t cap, const uint8_t *frame, size_t len,
		const struct ioam_request *ask);

/*
 * Writes the frame without its IOAM options, and without headers that had no
 * other options. The others keep their offsets modulo 8, since these fix their
 * alignment (RFC 8200, section 4.2). Returns the length, or as ioam_insert().
 */
int ioam_strip(uint8_t *out, size_t cap, const uint8_t *frame, size_t len);

#endif
