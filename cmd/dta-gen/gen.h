/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gen.h - one run of dta-gen: what its parts share. Packets come in from a
 * capture or a traffic model (input.h), a workload looks at each and hands out
 * reports (lib/workload); or rows of CSV are reports (csv.h). They go through
 * emit.h and leave by a link (link.h) or a DART switch (dart.h).
 */
#ifndef DTA_GEN_GEN_H
#define DTA_GEN_GEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/ledger.h"
#include "options.h"
#include "packet/pkt.h"
#include "traffic/traffic.h"
#include "wire/net.h"
#include "workload/workload.h"

enum {
	HEADER_LEN = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
	REPORT_MAX = 8 + KEY_MAX + 1024,
};

/* packets = used + skipped, by reason. */
struct gen_ledger {
	struct traffic_counters traffic; /* packets, not_ip, malformed; note:
					    evicted, of all flow tables */
	uint64_t used;
	uint64_t fragments;  /* no ports: the flow cannot be told */
	uint64_t not_tcp;    /* for workloads that follow TCP */
	uint64_t ipv6;	     /* a 16-byte address does not fit a DTA/0 key */
	uint64_t unanswered; /* rows: answers that were not found */
	/* notes */
	uint64_t reports;
	uint64_t report_bytes; /* UDP payload */
	struct workload_counters work;
	uint64_t backoffs; /* times that the pace was halved */
};

/* Of traffic; and of rows, which are counted as packets. */
extern const struct ledger gen_ledger, gen_rows_ledger;

struct gen {
	struct workload_run run;
	struct gen_options o;
	struct gen_ledger ctr;
	const struct ledger *ledger; /* of ctr */
	uint64_t round_reports;	     /* reports before this round of flows */
	/* emit.c */
	struct snk *snk;
	struct link *link;
	struct dart_switch *dart; /* dart.c; NULL: reports leave as such */
	FILE *truth;
	uint16_t *sequence;	    /* per switch */
	uint8_t header[HEADER_LEN]; /* without what changes */
	bool own_mac;	  /* all frames come from the interface's address */
	uint32_t ip_sum;  /* of what stays the same in the IP header */
	uint64_t sent_ns; /* when the last report left */
	int err;	  /* sticky */
	int truth_err;	  /* the first of the truth's file */
	bool done;	  /* --count reports are out, or nobody takes more */
};

#endif
