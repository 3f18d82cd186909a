/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intake.h - frames in, views out: what of the traffic is in-band telemetry, in
 * whatever form it comes. As an INT sink it also takes the telemetry out of
 * the packets that carry it and sends them on.
 *
 * Reports are known by their UDP port, INT in packets by what the profile says,
 * IOAM by its option; asked in this order.
 *
 * Threads: none.
 */
#ifndef INT_INTAKE_H
#define INT_INTAKE_H

#include "base/fault.h"
#include "base/ledger.h"
#include "packet/pkt.h"
#include "int/int_profile.h"

/* frames = reports + packets + traces + other + what is not as it should be. */
struct intake_ledger {
	uint64_t frames;
	uint64_t reports; /* datagrams of reports: intake_report_ledger */
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
	uint64_t bad_trace; /* IOAM whose lengths lie */
	/* notes */
	uint64_t restored;	    /* sent on without their telemetry */
	uint64_t passed;	    /* sent on as they came */
	uint64_t partial_checksums; /* reports: see struct net_udp */
	uint64_t discarded;	    /* copies, not sent on: they say so */
};

/* reports = taken + what is not as it should be. */
struct intake_report_ledger {
	uint64_t reports;
	uint64_t taken;
	uint64_t truncated;
	uint64_t unknown_version;
	uint64_t bad_length;
	uint64_t unknown_type;
	uint64_t own_report;
	uint64_t bad_inner; /* of those taken: INT in their packet is bad */
};

extern const struct ledger intake_ledger, intake_report_ledger;

enum {
	INTAKE_VIEWS = 64, /* handed out at once, at most: they stay in the
			      first cache, and their plans alive (int/int.h) */
};

struct intake_options {
	const struct int_profile *profile; /* must last */
	/*
	 * Where packets go on: those that carried telemetry as they were
	 * before, all others as they came, but for reports, which end here,
	 * and copies (D of INT 2.x, C before). NULL: nowhere.
	 */
	struct snk *out;
	/* Gets views as they are made, some at a time; they point into the
	 * frames. 0, or an -errno that ends intake_take(). */
	int (*views)(void *ctx, const struct int_view *v, size_t n);
	/* Gets the number of a datagram of reports that were all refused, where
	 * it can be read: nothing is missing there (int/int.h, numbered).
	 * NULL: nobody asks. */
	int (*number)(void *ctx, uint64_t ts_ns, const struct int_from *from);
	void *ctx;
};

struct intake;

/* 0 or -ENOMEM. The options are copied. */
int intake_open(struct intake **out, const struct intake_options *o);
void intake_close(struct intake *in); /* NULL is fine */

/* A batch of frames; all of their views are handed out before it returns. 0, or
 * -errno of views() or of out. */
int intake_take(struct intake *in, const struct pkt *pkts, size_t n);

const struct intake_ledger *intake_counters(const struct intake *in);
const struct intake_report_ledger *
intake_report_counters(const struct intake *in);

#endif
