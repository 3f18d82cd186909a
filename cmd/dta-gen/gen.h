/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gen.h - one run of dta-gen: what its parts share. Packets come in from a
 * capture or a traffic model (main.c), a workload looks at each and hands out
 * reports (lib/sim); or rows of CSV are reports (csv.c). They become
 * frames in emit.c and leave by a link (link.c).
 */
#ifndef DTA_GEN_GEN_H
#define DTA_GEN_GEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/ledger.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "packet/pkt.h"
#include "csv_reports.h"
#include "dta/resend.h"
#include "sim/traffic.h"
#include "net/dta.h"
#include "net/net.h"
#include "sim/workload.h"

/* --- options.c ----------------------------------------------------------- */

struct gen_options {
	const char *from, *out, *truth;
	uint64_t flows, count;
	struct workload_options work;
	bool repeat; /* synthetic flows are restarted, until told to stop */
	enum dta_format format;
	bool tracked, immediate;
	uint64_t copies, table;
	uint8_t collector[4];
	uint64_t rate; /* packets/s of synthetic traffic, in its own time */
	/* of link.c: */
	struct cli_live live;
	const char *nacks;
	uint8_t to_mac[6];
	bool has_mac, wait, quiet;
	enum row_format output; /* of list and ledger */
	uint64_t pace;		/* reports/s on an interface; 0: any */
	uint64_t resend;	/* reports kept for retransmission, by switch */
	uint64_t ipv6;		/* per cent of the synthetic flows */
	uint64_t hops;
	struct traffic_ends ends; /* of all synthetic flows */
	struct csv_options csv;
};

struct settings {
	struct gen_options gen; /* first: read_collector(), read_to_mac() */
	const struct workload *workload;
	bool list;
};

extern const struct cli cli;

/* Reads, checks and completes the options; with --list only reads them. Exits
 * on a bad one. */
void options_read(struct settings *s, int argc, char **argv);

/* --collector and --to-mac of a struct that begins with gen_options. */
int read_collector(void *opts, const char *text, struct error *why);
int read_to_mac(void *opts, const char *text, struct error *why);

enum {
	RATE_DEFAULT = 1000000,
	HEADER_LEN = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
	REPORT_MAX = 8 + KEY_MAX + 1024,
};

/* packets = used + skipped, by reason. */
struct gen_ledger {
	struct traffic_counters traffic; /* packets, not_ip, malformed; note:
					    evicted, of all flow tables */
	uint64_t used;
	uint64_t fragments;  /* without ports: their flow is not known */
	uint64_t not_tcp;    /* for workloads that follow TCP */
	uint64_t ipv6;	     /* a 16-byte address does not fit a DTA/0 key */
	uint64_t unanswered; /* rows: answers that were not found */
	/* notes */
	uint64_t reports;
	uint64_t report_bytes; /* UDP payload */
	uint64_t retransmissions;
	uint64_t backoffs; /* times that the pace was halved */
	/* int.c, whose reports are packets with INT: */
	uint64_t unfit; /* INT does not fit: fragments, protocols without a
			   place for it, no room */
	uint64_t spikes;
	uint64_t frames; /* made */
	uint64_t lost;	 /* of these, dropped on purpose (--loss) */
};

enum {
	GEN_ARITY = 8, /* of the fat tree */
};

/* Address of switch 0: 10.1.0.0. */
#define GEN_SOURCE (UINT32_C(10) << 24 | 1 << 16)

/* Synthetic time begins here: 2023-11-14 22:13:20 UTC. */
#define GEN_START_NS UINT64_C(1700000000000000000)

struct gen {
	struct workload_run run;
	struct traffic *traffic; /* the input; NULL: rows */
	struct csv_input *rows;	 /* the input; NULL: traffic */
	struct gen_options o;
	struct gen_ledger ctr;
	const struct ledger *ledger; /* of ctr */
	uint64_t round_reports;	     /* reports before this round of flows */
	/* emit.c */
	struct snk *snk;
	struct link *link;
	const char *truth_head; /* the first line of truth */
	FILE *truth;
	uint32_t *sequence;	     /* next number of each switch */
	struct net_udp4 header;	     /* of switch 0 */
	uint8_t headers[HEADER_LEN]; /* encoded, without IP checksum */
	bool own_mac;	  /* all frames come from the interface's address */
	uint64_t sent_ns; /* when the last report left */
	int err;	  /* sticky */
	int truth_err;	  /* the first error of truth */
	bool done;	  /* --count is reached, or nothing more is sent */
};

/* Notes what the sink returned; the first error stays. */
static inline void gen_failed(struct gen *g, int rc)
{
	if (rc < 0 && !g->err)
		g->err = rc;
}

/* --- emit.c: reports out, each one a frame, and a row of the truth ------- */

/* Opens the link and the truth; err names what cannot be opened. */
int emit_open(struct gen *g, struct error *err);
/*
 * Emits a report of switch reporter as a frame and a row of the truth. type: of
 * its key. Keys, values and entries are copied. Sets the report's flags,
 * sequence and, if --copies was given, copies. No effect after an error or when
 * done.
 */
void emit_dta_report(struct gen *g, struct dta_report *r, enum key_type type,
		     unsigned reporter, uint64_t ts_ns);
void emit_flush(void *gen); /* sends the reports so far */
int emit_close(struct gen *g);

/* The headers of a frame that a switch sends. */
struct net_udp4 frame_header(const struct gen *g, unsigned reporter);
/* Writes the headers of a report, HEADER_LEN bytes. */
void frame_headers(const struct gen *g, uint8_t *frame, size_t payload,
		   unsigned reporter);

/* Called after each row of the truth, before which errno was 0: ends the run if
 * it could not be written. */
void truth_check(struct gen *g);

/* --- link.c: a capture or an interface, at a pace, and NACKs from there -- */

/* Opens what the options say; err names it. */
int link_open(struct gen *g, struct error *err);

/* Whether reports are kept for retransmission. If so, link_report() sends them,
 * else they are built in the sink. */
bool link_keeps(const struct gen *g);

/* Sends a report and keeps it; waits until it may go. False: it was not sent,
 * as the run is over. */
bool link_report(struct gen *g, unsigned reporter, const uint8_t *payload,
		 size_t len, uint64_t ts_ns);

/* On an interface, waits until a frame may go. False: the run is over. */
bool link_turn(struct gen *g);

/* Publishes the ledgers for dta-top, when due. */
void show_link_page(struct gen *g);

/* Waits until kept reports are confirmed or given up. */
void link_finish(struct gen *g);

/* The ledger of kept reports, NULL if none are; link_drops() warns of what the
 * interface lost. */
const struct resend_ledger *link_ledger(struct gen *g);
void link_drops(const struct gen *g);

/* Returns the sink's first error. */
int link_close(struct gen *g);

/* --- csv.c: reports from rows of CSV ------------------------------------- */

/* The workload named "csv", whose input is rows. */
extern const struct workload csv_workload;

struct csv_input;

/* Opens g->o.from and reads its header; err names what is wrong with them, and
 * the program ends: *out may be set. */
int csv_open(struct csv_input **out, struct gen *g, struct error *err);
void csv_close(struct csv_input *c); /* NULL is fine */

/* Reports the next row: 1; 0: the end; -EINTR; or another -errno and err. Warns
 * of bad rows; the tenth is an error. */
int csv_next(struct csv_input *c, struct error *err);

/* --- int.c: packets with in-band telemetry, and reports of it ------------- */

/* Reads and checks the options and sets all of g that main() does not open;
 * argv[0] is "int". workload_fini() frees what it allocates. */
void int_options_read(struct gen *g, int argc, char **argv);
/* A message if no packet could carry INT, else NULL. */
const char *int_complaint(const struct gen *g);

extern const struct workload int_workload;

#endif
