/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame_decoder.h - frames in, INT records out: finds in-band telemetry of
 * every format in a batch of frames and decodes it. For an INT sink it also
 * removes the telemetry from the packets that carry it and sends them on.
 *
 * A frame is tried in this order: telemetry reports are known by their UDP
 * port, INT in packets by what the profile says, IOAM by its option type.
 *
 * Threads: none.
 */
#ifndef INT_FRAME_DECODER_H
#define INT_FRAME_DECODER_H

#include "base/ledger.h"
#include "packet/pkt.h"
#include "int/int_profile.h"

/* frames = reports + packets + traces + other + the errors below. */
struct int_frame_ledger {
	uint64_t frames;
	uint64_t reports; /* datagrams of reports: int_report_ledger */
	uint64_t packets; /* with INT */
	uint64_t traces;  /* with IOAM */
	uint64_t other;	  /* none of these */
	uint64_t truncated;
	uint64_t malformed_packet;
	uint64_t unknown_type;
	uint64_t unknown_version;
	uint64_t bad_next_protocol;
	uint64_t bad_length;
	uint64_t bad_hop_length;
	uint64_t bad_stack;
	uint64_t bad_trace; /* IOAM whose lengths contradict */
	/* notes */
	uint64_t restored;	    /* sent on without their telemetry */
	uint64_t passed;	    /* sent on as they came */
	uint64_t partial_checksums; /* reports: see struct net_udp */
	uint64_t discarded; /* copies (INT_DISCARD), which are not sent on */
};

/* reports = taken + the errors below. */
struct int_report_ledger {
	uint64_t reports;
	uint64_t taken;
	uint64_t truncated;
	uint64_t unknown_version;
	uint64_t bad_length;
	uint64_t unknown_type;
	uint64_t own_report;
	uint64_t bad_inner; /* of those taken: INT in their packet is bad */
};

extern const struct ledger int_frame_ledger, int_report_ledger;

enum {
	/* Handed out at once, at most: they stay in the first cache, and their
	 * layouts stay valid (int_layouts_get()). */
	INT_FRAME_RECORDS = 64,
};

struct int_frame_decoder_options {
	const struct int_profile *profile; /* must last */
	/* Where packets go on: those that carried telemetry as they were
	 * before, all others as they came, but for reports, which end here,
	 * and copies (D of INT 2.x, C before). NULL: nowhere. */
	struct snk *out;
	/* Gets records as they are made, some at a time; they point into the
	 * frames. 0, or an -errno that ends int_decode_frames(). */
	int (*records)(void *ctx, const struct int_record *recs, size_t n);
	/* Gets the sequence number of a datagram whose reports were all
	 * refused, if it can be read, so that it does not count as missing.
	 * NULL: nobody asks. */
	int (*number)(void *ctx, uint64_t ts_ns, const struct int_from *from);
	void *ctx;
};

struct int_frame_decoder;

/* 0 or -ENOMEM. The options are copied. */
int int_frame_decoder_open(struct int_frame_decoder **out,
			   const struct int_frame_decoder_options *o);
void int_frame_decoder_close(struct int_frame_decoder *d); /* NULL is fine */

/* A batch of frames; all of their records are handed out before it returns. 0,
 * or -errno of records() or of out. */
int int_decode_frames(struct int_frame_decoder *d, const struct pkt *pkts,
		      size_t n);

const struct int_frame_ledger *
int_frame_decoder_counters(const struct int_frame_decoder *d);
const struct int_report_ledger *
int_frame_decoder_report_counters(const struct int_frame_decoder *d);

#endif
