/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - the state of all running programs, read from their ledger pages,
 * and of the regions in shared memory. Rates come from two successive looks.
 */
#ifndef DTA_TOP_WATCH_H
#define DTA_TOP_WATCH_H

#include "base/error.h"
#include "base/ledger_page.h"
#include "region/region.h"
#include "row/row.h"

/* Programs write their pages four times a second. One whose page was not
 * written for so long is stopped, or hangs. */
#define WATCH_SILENT_NS UINT64_C(2000000000)

#define WATCH_UNKNOWN UINT64_MAX

struct rate {
	bool known;
	double per_s;
	int64_t grown; /* between them */
	uint64_t max;  /* the largest value that the counter ever had */
};

enum total {
	TOTAL_RECEIVED, /* by its first stage */
	TOTAL_DONE, /* confirmed by a collector or database; or first stage */
	TOTAL_LOST, /* by all stages */
	TOTALS,
};

struct program {
	struct program *next;
	char name[64]; /* of its page's file */
	struct ledger_page page;
	struct ledger_owner owner;
	char user[33];
	bool found; /* the last look found it */
	struct rate
		counter_rate[LEDGER_COUNTERS]; /* by place in page.counter */
	uint64_t total[TOTALS];
	struct rate total_rate[TOTALS];
	/* The loss that grows fastest; if none, the largest; NULL: none. */
	const char *reason;
	/* Not confirmed yet; WATCH_UNKNOWN: nothing it does is confirmed. */
	uint64_t waiting;
	const char *waiting_unit; /* "requests"; NULL: nothing waits */
	uint64_t silent_s; /* since its page was written; 0: it is alive */
	bool dead;	   /* it was killed or crashed */
	uint64_t dead_s;   /* since its last write; WATCH_UNKNOWN: it lives */
	char ended_by[16]; /* "SIGSEGV", or "killed"; empty: it lives */
};

struct seen_region {
	struct seen_region *next;
	char name[REGION_NAME_MAX + 1];
	char path[4096];
	uint64_t size, epoch, began_ns;
	uint64_t age_s;		/* of the epoch; or WATCH_UNKNOWN */
	uint64_t last_write_ns; /* now, if there is a writer */
	unsigned tables, writers;
	uint32_t writer[REGION_WRITERS]; /* their processes */
	double fill; /* of its fullest table, by a sample; NAN: unknown */
	struct rate stored; /* by the watched programs that write it */
};

struct watch {
	const char *dir;    /* of the pages */
	const char *region; /* only this one, and its programs; NULL: all */
	struct program *programs;
	struct seen_region *regions;
	unsigned n_programs, n_regions;
	unsigned unseen;	    /* regions that could not be opened */
	bool warn_unseen;	    /* warn about each of those */
	unsigned damaged;	    /* of those, other than by permissions */
	struct error damage;	    /* of the first one */
	unsigned unread;	    /* pages that could not be read */
	struct error why;	    /* that, and why the first one could not */
	struct ledger_page scratch; /* the page being read */
};

/* Reads all pages and regions again; exits if there is no memory. Returns 0; or
 * -errno, with w->why set, if the directory of pages cannot be read. */
int watch_look(struct watch *w);

/* --- as rows -------------------------------------------------------------- */

/* A column, and the struct member that fills it: part says which struct
 * (PART_*); at and width are the member's offset and size. */
struct column {
	struct row_field field;
	uint8_t part;
	uint16_t at, width; /* a text is a char array or a pointer to chars */
};

#define COLUMN_OF(i, type, member)                                             \
	i, offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define ALL_COLUMNS(array) array, sizeof(array) / sizeof((array)[0])

enum { COLUMNS_MAX = 20 };

struct columns {
	const char *name;
	const struct column *column;
	unsigned n;
	struct row_field field[COLUMNS_MAX]; /* set by columns_open() */
	struct schema schema;
};

/* What else a row about a counter can show. For Prometheus, its value is in
 * level if it may fall, else in total; the other one is WATCH_UNKNOWN. */
struct counter_extra {
	const char *role;
	struct rate rate;
	uint64_t total, level;
};

enum {
	PART_PROGRAM,		    /* struct program */
	PART_REGION = PART_PROGRAM, /* or struct seen_region */
	PART_COUNTER,		    /* struct ledger_counter */
	PART_STAGE,		    /* struct ledger_stage */
	PART_EXTRA,		    /* struct counter_extra */
	PARTS,
};

void columns_open(struct columns *v);
/* Sets the row in hand of a batch. */
void columns_set(const struct columns *v, struct row_batch *b,
		 const void *const part[PARTS]);
/* The same for counter i of a program. */
void columns_set_counter(const struct columns *v, struct row_batch *b,
			 const struct program *p, unsigned i);

/* Serves Prometheus at [ADDR]:PORT until a signal; exits if it cannot. */
void serve(const char *at, uint64_t every_ns, struct watch *w);

#endif
