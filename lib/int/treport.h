/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * treport.h - telemetry reports of P4.org: 0.5 (2017-11-10), 1.0 (2018-04-20),
 * 2.0 (2020-10-08).
 *
 * 0.5  |Ver 4|NProto 4|D|Q|F|Rsvd 15|hw_id 6| Sequence 32| Ingress time 32|
 *      then by NProto a drop header (12) or a local header (16), Ethernet
 * 1.0  |1|Length 4|NProt 3|RepMdBits 6|Rsvd 6|D|Q|F|hw_id 6| Switch ID 32|
 *      Sequence 32| Ingress time 32| metadata; Ethernet, IPv4 or IPv6
 * 2.0  |2|hw_id 6|Sequence 22| Node ID 32| then reports, each
 *      |RepType 4|InType 4|Length 8|MD Length 8|D|Q|F|I|Rsvd 4|
 *      RepType 1: |RepMdBits 16|Domain 16|DSMdBits 16|DSMdstatus 16| metadata;
 *      then by InType a packet, TLVs, domain specific data, nothing
 *
 * The first four bits tell the version. 0 is taken for 0.5, although 0.5 itself
 * defines no such value; with a profile of INT 0.5 all reports are 0.5.
 *
 * The decoder looks for INT in the packet that a report is about only if F says
 * that its flow is tracked: without F a report embeds no metadata (2.0). The
 * packet may be cut short. In 2.0 a report is whole words, so up to 3 bytes of
 * padding follow the packet. The packet's own headers say how long it was.
 */
#ifndef INT_TREPORT_H
#define INT_TREPORT_H

#include "int/int_md.h"
#include "net/proto.h"

/* What became of a report. */
enum treport_reason {
	TREPORT_OK,
	TREPORT_END,	   /* of the datagram: there are no more */
	TREPORT_TRUNCATED, /* it is shorter than its headers */
	TREPORT_VERSION,   /* none of those above */
	TREPORT_LENGTH,	   /* its lengths do not fit into one another */
	TREPORT_TYPE,	   /* NProto, RepType or InType that is not defined */
	TREPORT_OWN,	   /* it is about a report: telemetry's own traffic */
	TREPORT_REASONS,
};

/* What is kept from report to report: the layouts of their metadata. */
struct treport_decoder {
	const struct int_profile *profile;
	struct int_decoder packets;
	struct int_layouts layouts1, layouts2; /* of reports 1.0, 2.0 */
	struct int_layout drop, local;	       /* of 0.5 */
};

/* The profile stays the caller's and must last. */
void treport_init(struct treport_decoder *d, const struct int_profile *profile);

/* One report. Pointers lead into the datagram. */
struct treport {
	/*
	 * The caller's; ts_ns is not set. own: the metadata of the report;
	 * stack, source and, if there is a stack, domain: of INT in its packet.
	 * The flow is unknown if the packet has no such headers or is cut
	 * before their end.
	 */
	struct int_record *view;
	uint8_t packet; /* enum int_result: INT in the packet; INT_NONE: it was
			   not looked for, too */
	uint8_t inner_type;   /* enum treport_inner: _ETHERNET, _IP4, _IP6, or
				 _NONE: no packet */
	const uint8_t *inner; /* the packet */
	uint32_t inner_len;
};

/* A datagram that is being read. */
struct treport_reader {
	struct treport_decoder *d;
	const uint8_t *p, *end;
	/* The reporter, by the group header (2.0) or by the header of the last
	 * report that was read, refused or not. sequence_bits 0: the header
	 * was cut, or its version is unknown. */
	struct int_from from;
	uint8_t version; /* enum int_from's: 0, 1, 2 */
};

/*
 * Begins to read a UDP payload of len bytes. Returns TREPORT_OK; or why all of
 * it is refused, and then it counts as one report.
 */
enum treport_reason treport_begin(struct treport_reader *r,
				  struct treport_decoder *d,
				  const uint8_t *payload, size_t len);

/*
 * The next report. TREPORT_OK: *out is it, and *record out->record; its layouts
 * last as int_layouts_get() says. TREPORT_END; or why this report is refused,
 * and one may go on: both are undefined then. Each call before TREPORT_END
 * takes at least a byte, so reading ends.
 */
enum treport_reason treport_next(struct treport_reader *r, struct treport *out,
				 struct int_record *view);

/* What is to be reported. Values that a version has no room for are left out.
 */
struct treport_say {
	struct int_from from; /* version; hw_id; node; sequence; time */
	uint8_t flags;	      /* INT_DROPPED to INT_INTERMEDIATE */
	/* 0.5: its header, enum treport_next. 1.0, 2.0: RepMdBits. */
	uint16_t bits;
	/* 2.0: whether it has metadata: RepType 1. */
	bool metadata;
	const uint8_t *md;    /* bytes of all metadata */
	size_t md_len;	      /* a multiple of 4 */
	uint8_t inner_type;   /* enum treport_inner */
	const uint8_t *inner; /* a packet, TLVs, or extension data */
	size_t inner_len;
};

/*
 * Writes a UDP payload: a datagram of one report. Returns its length, -ENOBUFS,
 * or -EINVAL: what the version cannot say. In 2.0 the rest of the last word is
 * zeros.
 */
int treport_encode(uint8_t *buf, size_t cap, const struct treport_say *s);

#endif
