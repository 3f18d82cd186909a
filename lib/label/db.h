/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * db.h - the INT database (INT-label, sections 2 and 3.4): of each port that
 * ever labelled a packet the newest state.
 *
 * The newest label time wins, and of the same one the higher number. What comes
 * behind a newer one is late and not taken, but for its number: a port numbers
 * its labels (label/label.h), so a gap is labels lost, until one that fills it
 * comes late.
 *
 * A device's clock is its own: its label times are compared with each other and
 * not with ours. Between two labels of a port as much time should have passed
 * there as here. If it is more, or less, than 10 s, the item is odd:
 * damaged, or the clock was set, or the device began anew. Odd, too, is a
 * number that says that more labels were lost than microseconds went by, and a
 * burst. An odd item is not taken, unless the numbers begin anew with it or
 * ODD_MAX in a row agree with each other, and go on as our clock does: then the
 * record begins anew, so that neither false times nor a reboot silence a port
 * for ever. Numbers that begin anew while the clock goes on are of a new start,
 * too.
 *
 * There is no clock inside: now_ns is the caller's, virtual or real, and
 * must not go back.
 */
#ifndef LABEL_DB_H
#define LABEL_DB_H

#include <stddef.h>

#include "base/ledger.h"
#include "label/label.h"

enum {
	LABEL_ODD_MAX = 3,     /* odd items that agree: it is the clock */
	LABEL_NUMBERS_NEW = 8, /* a number up to this can be of a new start */
	LABEL_BURST = 1024,    /* labels of a port, if more than one in 1 us */
};

/* Labels of a port that came, and that were lost less those found. */
struct label_lately {
	int64_t labels, lost;
};

/* A port. Its own numbers are for the database alone. What each label touches
 * stands first: of many ports every line of the cache costs. */
struct label_record {
	uint32_t device;
	uint16_t out, in;    /* in: where the labelled packet came from */
	uint64_t time_us;    /* label time */
	uint64_t seen_ns;    /* when that came */
	uint64_t before_ns;  /* when the one before it came; 0: there is none */
	uint64_t changed_ns; /* LRT: when s was last moved; the controller's */
	uint64_t interval;   /* the last one it was seen in, from 1; as well */
	uint64_t labels;     /* taken */
	uint32_t number;
	uint8_t odd; /* in a row */
	/* Of the controller: control.h. */
	uint8_t s;     /* as it wants it */
	bool silent;   /* it has told so */
	bool has_next; /* what is behind its link: next */
	/* The labels before this one: bit i is number - i. */
	uint64_t window;
	uint64_t missing;	       /* numbers that were left out, */
	uint64_t found;		       /* and those of them that came late */
	struct label_lately lately[2]; /* in a minute, and the one before it */
	uint64_t minute;	       /* of now_ns */
	uint32_t latency_ns;	       /* of the newest */
	uint32_t queue, queue_most;
	uint32_t next_device;
	uint16_t next_in; /* its port there */
	uint64_t late;	  /* and not taken */
	uint64_t resets;
	uint64_t odd_us, odd_ns; /* of the last odd item: label time, now_ns */
	uint64_t reported;	 /* of missing - found, in the last decision */
};

static inline uint64_t label_lost(const struct label_record *r)
{
	return r->missing - r->found;
}

/* Items in = new + updated + reset + drops. */
struct label_db_ledger {
	uint64_t items;
	uint64_t new;	    /* ports that were not known */
	uint64_t updated;   /* with a newer state */
	uint64_t reset;	    /* begun anew: the device was */
	uint64_t late;	    /* behind a newer one */
	uint64_t duplicate; /* seen before */
	uint64_t future;    /* label time, or number, too far ahead */
	uint64_t back;	    /* too far back */
	uint64_t unknown;   /* of a device that is none of ours */
	uint64_t full;	    /* no room, or memory, for one port more */
	uint64_t missing;   /* numbers left out, less found */
	uint64_t found;	    /* came late, after all */
	uint64_t forgotten; /* ports */
};

extern const struct ledger label_db_ledger;

/* Devices from and to, both included. */
struct label_range {
	uint32_t from, to;
};

struct label_db_options {
	uint32_t ports_max; /* 0: 1 Mi */
	/* Items of these are taken; n_devices 0: of all. */
	const struct label_range *devices;
	unsigned n_devices;
};

struct label_db;

/* What is pointed at outlives it. 0 or -ENOMEM. */
int label_db_open(struct label_db **out, const struct label_db_options *o);
void label_db_close(struct label_db *db); /* NULL is fine */

/* Prefetches the memory that taking these items will touch. */
void label_db_prefetch(const struct label_db *db,
		       const struct label_item *items, unsigned n);

enum label_taken {
	LABEL_TAKEN, /* the record has its state */
	LABEL_BEGUN, /* and is new, or begins anew */
	LABEL_LEFT,  /* not taken: the ledger says why */
};

/* An item that came at now_ns. *place: the number of its record, if it has one.
 */
enum label_taken label_db_take(struct label_db *db,
			       const struct label_item *item, uint64_t now_ns,
			       uint32_t *place);

/* Records are numbered from 0 in the order they came, one behind the other;
 * pointers are good until the next item. */
uint32_t label_db_ports(const struct label_db *db);
struct label_record *label_db_at(struct label_db *db, uint32_t place);
/* Of a port; NULL: there is none. */
struct label_record *label_db_find(struct label_db *db, uint32_t device,
				   uint16_t out);

/* In this minute and the one before it. */
struct label_lately label_lately(const struct label_record *r, uint64_t now_ns);

/* Forgets a port: the last record has its number then. */
void label_db_forget(struct label_db *db, uint32_t place);
const struct label_db_ledger *label_db_counters(const struct label_db *db);

#endif
