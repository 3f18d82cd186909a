/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - what there is to see: the pages of running programs, and regions;
 * how fast counters go is told by two looks.
 */
#ifndef DTA_TOP_WATCH_H
#define DTA_TOP_WATCH_H

#include "base/error.h"
#include "base/ledger_page.h"
#include "region/region.h"
#include "row/row.h"

/* A page that was not written for so long is of a program that stands still:
 * they write four times a second. */
#define WATCH_SILENT_NS UINT64_C(2000000000)

#define WATCH_UNKNOWN UINT64_MAX

/* Of a counter, between the last two looks. */
struct speed {
	bool known;
	double per_s;
	int64_t grown; /* by so much */
	uint64_t most; /* that a counter ever was */
};

/* What a program does as a whole. */
enum total {
	TOTAL_RECEIVED, /* into its first stage */
	TOTAL_DONE,	/* by it; by those that are confirmed, if there are */
	TOTAL_LOST,	/* by all stages, and before them */
	TOTALS,
};

struct program {
	struct program *next;
	char name[64]; /* of its page */
	struct ledger_page page;
	struct ledger_owner owner;
	char user[33];
	bool met;			       /* by the last look */
	struct speed counter[LEDGER_COUNTERS]; /* of each of the page's */
	uint64_t total[TOTALS];
	struct speed of_total[TOTALS];
	const char *reason; /* the counter by which most is lost now; if
			       nothing is, since the start; NULL: nothing
			       ever was */
	uint64_t waiting;   /* for confirmation; WATCH_UNKNOWN: nothing is
			       confirmed */
	uint64_t silent_ns; /* the page was not written; 0: it is, as it
			       should be */
	uint64_t silent_s;
};

struct seen_region {
	struct seen_region *next;
	char name[REGION_NAME_MAX + 1];
	char path[4096];
	uint64_t size, epoch, began_ns;
	uint64_t age_s;		/* of the epoch; WATCH_UNKNOWN */
	uint64_t last_write_ns; /* now, if there is a writer */
	unsigned tables, writers;
	uint32_t writer[REGION_WRITERS]; /* their processes */
	double fill;	     /* of its fullest table, about; NAN: not known */
	struct speed stored; /* by the programs that show their pages */
	bool met;
};

struct watch {
	const char *dir;
	const char *region; /* only this one; NULL: all */
	struct program *programs;
	struct seen_region *regions;
	unsigned n_programs, n_regions;
	unsigned unseen;	    /* regions, or files like them, */
	bool tell_unseen;	    /* each of which is to be told */
	uint64_t at_ns;		    /* of clock_ns() */
	unsigned unread;	    /* pages that could not be, */
	struct error why;	    /* the first of them */
	struct ledger_page scratch; /* the page in hand */
};

/* Looks again: exits if there is no memory. 0, or -errno: w->why tells why
 * no page can be seen. */
int watch_look(struct watch *w);

/* --- as rows -------------------------------------------------------------- */

/* A column, and where what is in it is: in one of the structs that rows are
 * made of. */
struct column {
	struct row_field field;
	uint8_t part;
	uint16_t at, width; /* of a text: characters, or a pointer to them */
};

#define COLUMN_OF(i, type, member)                                             \
	i, offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define ALL_COLUMNS(of) of, sizeof(of) / sizeof((of)[0])

enum {
	COLUMNS_MAX = 20,
};

struct columns {
	const struct column *column;
	struct row_field field[COLUMNS_MAX];
	struct schema schema;
};

/* What rows of counters have beside the program, the counter and its stage. */
struct counter_more {
	const char *role;
	struct speed speed;
	uint64_t total, level; /* for Prometheus: one of them is unknown */
};

enum {
	PART_PROGRAM,
	PART_REGION = PART_PROGRAM,
	PART_COUNTER,
	PART_STAGE,
	PART_MORE,
	PARTS,
};

void columns_open(struct columns *v, const char *name,
		  const struct column *column, unsigned n);
/* Sets the row in hand. */
void columns_set(const struct columns *v, struct row_batch *b,
		 const void *const part[PARTS]);
/* The same of counter i of a program. */
void columns_set_counter(const struct columns *v, struct row_batch *b,
			 const struct program *p, unsigned i);

/* At [ADDR]:PORT, looking so often, until a signal comes; exits if it cannot.
 */
void serve(const char *at, uint64_t every_ns, struct watch *w);

#endif
