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
	const char *layout;  /* of the region to be made, or NULL */
	const char *read, *region, *ticket, *write, *nacks, *cluster;
	struct cli_live live; /* -i and what goes with it */
	const char *verbs;    /* ADDRESS[:PORT] of a collector */
	const char *to;	      /* the interface of RoCEv2 packets, or NULL */
	const char *setting[SETTINGS_MAX + 1]; /* of -t, in order */
	uint64_t op_rate;		       /* 0: no limit, the default */
	unsigned ack_every, window;
	unsigned cores;
	const char *answers; /* a capture of them, or NULL */
	enum dta_format dta; /* of reports */
	bool dart;
	uint64_t seed;
	enum row_format format; /* of the ledger */
	bool quiet;
};

extern const struct cli cli;

/* Reads and checks the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

/* keylog.c: writes the keys of reports, one a line, since memory stores only
 * their checksums. A key is skipped while it is in a small cache of recent
 * keys: some keys are repeated, none is left out. */
struct keylog;

/* Exits if the file cannot be written. The n tables outlive it. */
struct keylog *keylog_open(const char *path, enum dta_format format,
			   const struct table *tables, unsigned n);
void keylog_rx(struct keylog *k, const struct pkt *pkts, size_t n);
/* Flushes the file. */
void keylog_flush(struct keylog *k);
/* NULL is fine. Returns 0 or -errno of the file. */
int keylog_close(struct keylog *k);

/* why.c: explains why nothing was stored: what was seen in the packets up to
 * the first valid report. Zero at first. */
struct drop_clues {
	bool nack, roce, report;
	uint8_t version;	 /* of a packet to DTA_PORT */
	struct dta_report first; /* if report; its key and data are gone */
};

void drop_clues_note(struct drop_clues *c, enum dta_format format,
		     const struct pkt *pkts, size_t n);

/* Sets err to what is probably wrong if all was dropped, and returns its text.
 * The reports were checked against the n tables. */
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
	struct translator *translator;
	struct translate_cores *cores; /* NULL: closed */
	struct cli_loop loop;
	/* When packets came last, or handle_idle() ran (atomic), and after how
	 * long without packets it runs. */
	uint64_t last_ns, idle_ns;
	int error;	  /* that ended the loop, -errno */
	struct error err; /* of the source, if loop.source_failed */
	bool unwritten;	  /* the transport failed, and has no account */
};

/* transport.c: opens the transport that the options name, and sets its tables;
 * exits on an error. turn(run) is called while the transport waits. */
void run_open_transport(struct run *r, void (*turn)(void *run));

void run_confine(void *run); /* main.c */

#endif
