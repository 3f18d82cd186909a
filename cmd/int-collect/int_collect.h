/* SPDX-License-Identifier: BSD-2-Clause */
/* int_collect.h - what the files of int-collect share. */
#ifndef INT_COLLECT_INT_COLLECT_H
#define INT_COLLECT_INT_COLLECT_H

#include "base/error.h"
#include "base/ledger.h"
#include "cli/databases.h"
#include "cli/live.h"
#include "cli/option.h"
#include "row/row.h"
#include "telemetry/rows.h"
#include "telemetry/sink.h"
#include "cli/browse.h"

enum {
	THRESHOLDS_MAX = 256, /* on the command line, and in a file */
};

struct opts {
	const char *read, *write, *to;
	struct cli_live live;
	unsigned cores;
	bool xdp; /* compare in the kernel */
	const char *profile;
	const char *filter;
	uint64_t report_port;
	unsigned rows;	 /* on stdout: 1 << enum rows_kind */
	unsigned events; /* 1 << enum telemetry_event_kind */
	const char *threshold[THRESHOLDS_MAX];
	unsigned n_thresholds;
	const char *thresholds; /* a file */
	uint64_t flows, flow_idle_ns;
	uint64_t push_ns;
	const char *export[DATABASES_MAX + 1];
	const char *spool, *dta, *svg;
	uint64_t spool_size, queue; /* bytes */
	uint64_t end_ns;	    /* how long the end waits for databases */
	bool drop; /* drop rows if a queue is full, though --read could wait */
	struct browse_options top;
	enum row_format format;
	bool quiet;
};

extern const char *const table_names[]; /* of --top; ends with NULL */

extern const struct cli cli;

struct opts options_read(int argc, char **argv);

/* --- thresholds.c --- */

/*
 * Thresholds, from the command line and a file:
 *
 *	METRIC[@NODE] = CHANGE[,HIGH[,LOW]]
 *
 * CHANGE and HIGH may be off; LOW is HIGH by default. Latencies are times, a
 * bare number is ns.
 */
struct thresholds {
	struct telemetry_thresholds t;
	struct node_threshold node[THRESHOLDS_MAX];
};

/* Reads the file, then the command line: later ones override. 0 or -errno; err
 * names file, line and reason. */
int thresholds_read(struct thresholds *out, const struct opts *o,
		    struct error *err);

/* --- dta.c --- */

/* clang-format off */
/*
 * A row sink that makes DTA reports, for dta-translate. Keys are flows; tables,
 * with those of IPv6 flows in brackets:
 *
 *	1 (2)	Key-Write: the path, DTA_PATH node ids of 4 bytes, 0 after the
 *		last; when a flow is new, or changes its path
 *	3 (4)	postcards: the same, an id a hop
 *	5 (6)	Key-Increment: packets, when a flow leaves the cache
 *	7 (8)	Key-Increment: bytes
 *	9	Append: events, of kind K to list K, in the order of
 *		telemetry/rows.h: new_key 0, change 1... Entries of 32 bytes,
 *		big-endian: time, ns (8); metric (1); hw_id (1); 0 (2);
 *		node (4); port (4); queue or buffer (4); value (4);
 *		reference (4). All ones: the event does not have that field.
 */
/* clang-format on */
enum {
	DTA_PATH = 5,
	DTA_ENTRY_LEN = 32,
	DTA_EVENTS = 9, /* table */
};

/* rows = reported + reasons why they were not. */
struct dta_ledger {
	uint64_t rows;
	uint64_t reported;
	uint64_t long_path; /* more nodes than DTA_PATH */
	uint64_t wide_node; /* an id of more than 32 bits in the path */
	uint64_t reports;   /* a note: DTA reports that were made */
};

extern const struct ledger dta_ledger;

struct input_row {
	const struct row_batch *b;
	unsigned row;
};

/* A cell's text, "": none; and number, all ones: none. */
const char *text_of(const struct input_row *r, const char *name);
uint64_t number_in(const struct input_row *r, const char *name);

/* Writes a capture, "-" is stdout. 0 or -errno, err says why. */
int dta_open(struct row_sink **out, const char *path, struct error *err);
const struct dta_ledger *dta_counters(const struct row_sink *s);

/* --- top.c --- */

/* --top: shows flows, switches, queues, links or paths, by cli/browse.h. */
struct telemetry;
struct top;

/* Exits if it cannot. */
struct top *top_open(const struct opts *o, struct telemetry *t,
		     struct databases *databases, struct cli_loop *loop);
/* As browse_update(), browse_end() (which checks databases and loop, too) and
 * browse_close(). */
bool top_turn(struct top *top, bool idle);
int top_end(struct top *top);
void top_close(struct top *top);

#endif
