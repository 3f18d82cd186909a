/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h - a run of dta-translate: what its parts share. */
#ifndef DTA_TRANSLATE_RUN_H
#define DTA_TRANSLATE_RUN_H

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "rdma/op.h"
#include "rdma/rate.h"
#include "packet/pkt.h"
#include "region/table.h"
#include "dta/cores.h"
#include "dta/translate.h"
#include "net/dta.h"

/* options.c: the command line. */

enum {
	SETTINGS_MAX = 256,
};

struct opts {
	const char *key_log; /* a file, or NULL */
	const char *layout;  /* of the region, if it is to be made; or NULL */
	const char *read, *region, *ticket, *write, *nacks, *cluster;
	struct cli_live live; /* -i and what goes with it */
	const char *verbs;    /* ADDRESS[:PORT] of a collector */
	const char *to;	      /* the interface of RoCEv2 packets, or NULL */
	const char *setting[SETTINGS_MAX]; /* of -T, in order */
	unsigned settings;
	uint64_t op_rate; /* 0: no limit, the default */
	unsigned ack_every, window;
	unsigned cores;
	const char *answers; /* a capture of them, or NULL */
	enum dta_format dta;
	enum dart dart;
	uint64_t seed;
	enum row_format format;
	bool quiet;
};

extern const struct cli cli;

/* Reads and checks the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

/*
 * keylog.c: writes the keys of reports, one a line, since memory stores only
 * their checksums. A key is skipped while it is in a small cache of recent
 * keys: some keys are repeated, none is left out.
 */
struct keylog;

/* Exits if the file cannot be written. tables: n, which outlive it. */
struct keylog *keylog_open(const char *path, enum dta_format format,
			   const struct table *tables, unsigned n);
void keylog_rx(struct keylog *k, const struct pkt *pkts, size_t n);
/* Flushes the file. */
void keylog_flush(struct keylog *k);
/* NULL is fine. Returns 0 or -errno of the file. */
int keylog_close(struct keylog *k);

/* why.c: explains why nothing was stored, by what was seen in the packets up to
 * the first valid report. Zero at first. */
struct drop_clues {
	bool nack, roce, report;
	uint8_t version;	 /* of a packet to DTA_PORT */
	struct dta_report first; /* if report; its key and data are gone */
};

void drop_clues_note(struct drop_clues *c, enum dta_format format,
		     const struct pkt *pkts, size_t n);

/* Sets err to what is probably wrong if all was dropped, and returns its text.
 * tables: n, which the reports were checked against. */
const char *drop_clues_explain(struct error *err, const struct drop_clues *c,
			       const struct translate_ledger *l,
			       const struct table *tables, unsigned n);

struct run {
	struct opts o;
	struct transport *transport;
	struct table table[TABLE_MAX]; /* the transport's, as -T changes them */
	unsigned tables;
	struct drop_clues clues;
	struct keylog *keylog; /* or NULL */
	struct translate_options t_options;
	struct translator *t;
	struct translate_cores *cores; /* NULL: closed */
	struct cli_loop loop;
	/* When packets came last, or handle_silence() looked at what waits; in
	 * turn of taking. And how long it is until it looks again. */
	uint64_t since_ns, silence_ns;
	int error;   /* what stopped it; err: of the reports */
	bool failed; /* the way out, without a ledger of what got through */
	struct error err;
};

/* transport.c: the transport that the options name, and its tables; exits if
 * there is none. turn(run) is called while it waits. */
void run_open_transport(struct run *r, void (*turn)(void *run));

#endif
