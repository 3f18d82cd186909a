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
 *      then by InType a packet, TLVs, domain specific data, or nothing
 *
 * The first four bits are the version. 0.5 does not define its value: it is
 * read as 0. With a profile of INT 0.5 all reports are read as 0.5.
 *
 * The decoder looks for INT in the packet that a report is about only if F says
 * that its flow is tracked: without F a report embeds no metadata (2.0). The
 * packet may be cut short. In 2.0 a report is whole words, so up to 3 bytes of
 * padding follow the packet, whose length is what its own headers say.
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
	TREPORT_VERSION,   /* neither 0.5, 1.0 nor 2.0 */
	TREPORT_LENGTH,	   /* its lengths contradict each other */
	TREPORT_TYPE,	   /* NProto, RepType or InType that is not defined */
	TREPORT_OWN,	   /* it is about a report: telemetry's own traffic */
	TREPORT_REASONS,
};

/* A decoder's state for all reports: above all, their metadata's layouts. */
struct treport_decoder {
	const struct int_profile *profile;
	struct int_decoder packets; /* for INT in the reports' packets */
	struct int_layouts layouts1, layouts2; /* of reports 1.0, 2.0 */
	struct int_layout drop, local;	       /* of 0.5 */
};

/* The profile stays the caller's and must outlive the decoder. */
void treport_init(struct treport_decoder *d, const struct int_profile *profile);

/* One report. Pointers lead into the datagram. */
struct treport {
	/*
	 * The caller's; ts_ns is not set. Its member `own' has the report's
	 * metadata; stack, source and, if there is a stack, domain are those of
	 * INT in the packet. The flow is unknown if the packet lacks the
	 * headers, or is cut before their end.
	 */
	struct int_record *record;
	uint8_t packet; /* enum int_result, of INT in the packet; INT_NONE also
			   if it was not looked for */
	uint8_t inner_type;   /* TREPORT_ETHERNET, _IP4, _IP6, or TREPORT_NONE:
				 no packet */
	const uint8_t *inner; /* the packet */
	uint32_t inner_len;
};

/* A datagram that is being read. */
struct treport_reader {
	struct treport_decoder *d;
	const uint8_t *p, *end;
	/* The reporter: from the group header (2.0), else from the header of
	 * the last report, even if that was refused. sequence_bits 0: the
	 * header was cut short, or its version is unknown. */
	struct int_from from;
	uint8_t version; /* as int_from.version: 0, 1, 2 */
};

/* Begins to read a UDP payload of len bytes. Returns TREPORT_OK, or why the
 * whole datagram is refused; it then counts as one report. */
enum treport_reason treport_begin(struct treport_reader *r,
				  struct treport_decoder *d,
				  const uint8_t *payload, size_t len);

/*
 * Reads the next report into *out, and sets out->record to record; its layouts
 * last as int_layouts_get() says. Returns TREPORT_OK; TREPORT_END; or why this
 * report is refused, after which the next may be read; then *out and *record
 * are undefined. Each call before TREPORT_END consumes a byte or more.
 */
enum treport_reason treport_next(struct treport_reader *r, struct treport *out,
				 struct int_record *record);

/* A report to encode. Values that its version has no field for are left out. */
struct treport_fields {
	struct int_from from; /* version; hw_id; node; sequence; time */
	uint8_t flags;	      /* INT_DROPPED to INT_INTERMEDIATE */
	/* 0.5: NProto, enum treport_next. 1.0, 2.0: RepMdBits. */
	uint16_t bits;
	bool metadata;	      /* 2.0: RepType is 1 */
	const uint8_t *md;    /* bytes of all metadata */
	size_t md_len;	      /* a multiple of 4 */
	uint8_t inner_type;   /* enum treport_inner */
	const uint8_t *inner; /* a packet, TLVs, or extension data */
	size_t inner_len;
};

/* Writes the UDP payload of a datagram with one report. Returns its length,
 * -ENOBUFS, or -EINVAL if the version cannot express it. In 2.0 it is padded
 * with zeros to whole words. */
int treport_encode(uint8_t *buf, size_t cap, const struct treport_fields *f);

#endif
