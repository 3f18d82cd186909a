/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * db.h - the INT database (INT-label, sections 2 and 3.4): the newest state of
 * each port that ever labelled a packet.
 *
 * The newest label time wins; of equal times, the higher number. An older label
 * is late: its state is not taken, only its number. A port numbers its labels
 * (label/label.h), so that a gap is lost labels, until late ones fill it.
 *
 * A device's clock is its own: its label times are compared with each other,
 * not with ours. Between two labels of a port as much time should have passed
 * there as here. If the difference is more than 10 s, the item is odd: it is
 * damaged, or the clock was set, or the device restarted. An item is odd, too,
 * if by its number more labels were lost than microseconds passed (plus
 * LABEL_BURST).
 *
 * An odd item is not taken. But the record begins anew with it if its number
 * can be of a restart, or if it is the last of LABEL_ODD_MAX in a row that
 * agree with each other and with our clock. So neither a false time nor a
 * restart silences a port for ever. The record also begins anew if numbers do
 * while the clock goes on.
 *
 * There is no clock inside: now_ns is the caller's, virtual or real, and must
 * not go back.
 */
#ifndef LABEL_DB_H
#define LABEL_DB_H

#include "base/ledger.h"
#include "label/label.h"

enum {
	LABEL_ODD_MAX = 3, /* odd items that agree: the clock was set */
	LABEL_RESTART_NUMBER_MAX = 8, /* after a restart, numbers begin at 1 */
	LABEL_BURST = 1024, /* labels of a port at more than one per us */
};

/* Labels of a port that came, and that were lost (less those found late). */
struct label_recent {
	int64_t labels, lost;
};

/* A port. Fields that each label touches are first, in as few cache lines as
 * possible. */
struct label_record {
	uint32_t device;
	uint16_t out, in;     /* in: ingress port of the packet labelled last */
	uint64_t time_us;     /* label time */
	uint64_t seen_ns;     /* when the newest label came */
	uint64_t previous_ns; /* when the label before it came; 0: none did */
	uint64_t changed_ns;  /* of the controller: when s changed (LRT) */
	uint64_t interval;    /* of the controller: when last seen, from 1 */
	uint64_t labels;      /* taken */
	uint32_t number;      /* of the newest label */
	uint8_t odd;	      /* odd items in a row */
	/* Of the controller: control.h. */
	uint8_t s; /* that it wants */
	bool silent;
	bool has_next;	  /* the other end of the link is known: next_device */
	uint64_t window;  /* bit i: number - i came */
	uint64_t missing; /* numbers left out, */
	uint64_t found;	  /* and those of them that came late */
	struct label_recent recent[2]; /* in minute, and in the one before */
	uint64_t minute;	       /* of the newest label's now_ns */
	uint32_t latency_ns;	       /* of the newest label */
	uint32_t queue, queue_max;
	uint32_t next_device;
	uint16_t next_in;	 /* ingress port at next_device */
	uint64_t late;		 /* labels not taken */
	uint64_t resets;	 /* times that the record began anew */
	uint64_t odd_us, odd_ns; /* of the last odd item: label time, now_ns */
	uint64_t reported;	 /* label_lost() at the last decision on s */
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
	uint64_t reset;	    /* with which a record began anew */
	uint64_t late;	    /* older than the newest */
	uint64_t duplicate; /* seen before */
	uint64_t future;    /* odd: label time or number too far ahead */
	uint64_t back;	    /* odd: label time too far back */
	uint64_t unknown;   /* of a device not in label_db_options.devices */
	uint64_t full;	    /* no room, or memory, for another port */
	uint64_t missing;   /* numbers left out, less found */
	uint64_t found;	    /* numbers left out that came late */
	uint64_t forgotten; /* ports */
};

extern const struct ledger label_db_ledger;

/* Devices from and to, both included. */
struct label_range {
	uint32_t from, to;
};

struct label_db_options {
	uint32_t ports_max; /* 0: 1 Mi */
	/* Only items of these devices are taken; n_devices 0: of all. */
	const struct label_range *devices;
	unsigned n_devices;
};

struct label_db;

/* o->devices outlive the database. 0 or -ENOMEM. */
int label_db_open(struct label_db **out, const struct label_db_options *o);
void label_db_close(struct label_db *db); /* NULL is fine */

/* Prefetches the memory that taking these items will touch. */
void label_db_prefetch(const struct label_db *db,
		       const struct label_item *items, unsigned n);

enum label_update {
	LABEL_UPDATED, /* the record has the item's state */
	LABEL_STARTED, /* the same, and it is new or began anew */
	LABEL_REFUSED, /* not taken: the ledger says why */
};

/* Takes an item that came at now_ns. *index: of its record, if there is one. */
enum label_update label_db_update(struct label_db *db,
				  const struct label_item *item,
				  uint64_t now_ns, uint32_t *index);

/* Records have indices from 0, without gaps, in the order of their first items
 * (but label_db_forget()). Pointers are good until the next item. */
uint32_t label_db_ports(const struct label_db *db);
struct label_record *label_db_at(struct label_db *db, uint32_t index);
/* The record of a port; NULL: there is none. */
struct label_record *label_db_find(struct label_db *db, uint32_t device,
				   uint16_t out);

/* In the minute of now_ns and the one before it. */
struct label_recent label_recent(const struct label_record *r, uint64_t now_ns);

/* Forgets a port. The last record then has its index. */
void label_db_forget(struct label_db *db, uint32_t index);
const struct label_db_ledger *label_db_counters(const struct label_db *db);

#endif
