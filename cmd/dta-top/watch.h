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

/* A page that was not written for so long is of a program that stands still:
 * they write four times a second. */
#define WATCH_SILENT_NS UINT64_C(2000000000)

/* Of a counter, between the last two looks. */
struct speed {
	bool known;
	double per_s;
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
	bool met;	       /* by the last look */
	struct speed *counter; /* of each of the page's */
	uint64_t total[TOTALS];
	struct speed of_total[TOTALS];
};

struct seen_region {
	struct seen_region *next;
	char name[REGION_NAME_MAX + 1];
	char path[4096];
	uint64_t size, epoch, began_ns, left_ns;
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
	bool tell_unseen;	    /* each of which is told */
	uint64_t at_ns;		    /* of clock_ns() */
	unsigned unread;	    /* pages that could not be, */
	struct error why;	    /* the first of them */
	struct ledger_page scratch; /* the page in hand */
};

/* Looks again: exits if there is no memory. 0, or -errno: w->why tells why
 * nobody's page can be seen. */
int watch_look(struct watch *w);
void watch_fini(struct watch *w);

/* The counter by which most is lost now; if nothing is, since the start; -1:
 * nothing ever was. */
int watch_worst(const struct program *p);
/* What waits for its confirmation. False: nothing is confirmed. */
bool watch_waiting(const struct program *p, uint64_t *waiting);
/* How old a region's epoch is, in ns; false: not known. */
bool watch_age(const struct seen_region *r, uint64_t *age_ns);
/* Names the regions, or files like them, that may not be looked at. */
void watch_tell_unseen(struct watch *w);
/* For how long a page was not written, in ns; 0: it is, as it should be. */
uint64_t watch_silence(const struct watch *w, const struct program *p);

/* At [ADDR]:PORT, looking so often, until a signal comes; exits if it cannot.
 */
void serve(const char *at, uint64_t every_ns, struct watch *w);

#endif
