/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ticket.h - what a translator must know to write into a collector's memory
 * (dta(7), MEMORY): addresses, queue pairs, R_Keys, and the layout of every
 * table. A small INI file, also for a switch's control plane.
 *
 *	[collector]
 *	version = 1
 *	mac = 02:00:00:00:00:02
 *	ip = 10.0.0.51
 *	peer_mac = 02:00:00:00:00:01    ; the translator, as the queue
 *	peer_ip = 10.0.0.101            ; pairs expect it
 *	region = HOST:NAME              ; see ticket_region()
 *	mtu = 1024                      ; longest RDMA payload, bytes
 *	atomics = 16                    ; FETCH_ADDs of a queue pair that may
 *	                                ; be under way; none: any number
 *	epoch = 1
 *	tables = 1                      ; sections that follow
 *
 *	[table flows]           ; one for each table: layout.h's fields (ring
 *	                        ; instead of entries), and
 *	qpn = 0x11              ; the queue pair's number, the same on both ends
 *	psn = 0                 ; the PSN that it expects next
 *	first_psn = 0           ; of a NIC's queue pair: the PSN that it began
 *	                        ; with
 *	rkey = 0x1a2b3c4d
 *	address = 0x100000010000 ; virtual address of the table's first byte
 *	length = 8388608        ; bytes registered from there on
 *	head = 3:64             ; Append: LIST:ENTRIES written, where not 0;
 *	                        ; stands below the field "lists"
 *
 * The queue pairs of a new ticket are new and begin at its PSNs. But a queue
 * pair whose first_psn, qpn and ip are those of the last ticket is still the
 * same: a sender that gets no answers continues with its next PSN, since the
 * responder would take a PSN used before for a duplicate. A ticket equal to the
 * last changes nothing.
 *
 * Tickets are not trusted: every field is checked.
 */
#ifndef RDMA_TICKET_H
#define RDMA_TICKET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "rdma/op.h"
#include "region/region.h"
#include "region/table.h"

enum {
	TICKET_VERSION = 1,
	TICKET_MTU = 1024, /* the default */
	TICKET_REGION = 256,
	TICKET_LISTS_MAX = 1 << 24, /* of a table; a ticket holds their heads */
};

struct ticket_table {
	uint32_t qpn, psn, first_psn; /* 24 bits */
	bool lasting; /* the queue pair outlives tickets: has a first_psn */
	uint32_t rkey;
	uint64_t address;
	uint64_t *heads; /* entries written, per list; malloc'ed or NULL */
};

/* Identifies a version of a ticket's file; all 0: not a regular file. */
struct ticket_stamp {
	uint64_t device, inode, size, written_ns;
};

struct ticket {
	struct ticket_stamp stamp; /* of the file it was read from */
	uint8_t mac[6], peer_mac[6];
	uint8_t version; /* of IP: 4 or 6 */
	uint8_t ip[16], peer_ip[16];
	uint16_t mtu;
	uint16_t atomics; /* 0: any number */
	uint64_t epoch;
	char region[TICKET_REGION]; /* HOST:NAME, or empty */
	unsigned n;
	struct table table[TABLE_MAX];
	struct ticket_table at[TABLE_MAX]; /* where each table is */
};

/* Makes the ticket of a region's current epoch. The caller has set addresses
 * and MTU; those that are zero become the defaults above. R_Keys belong to the
 * epoch: after a rotation those of an older ticket are refused. */
int ticket_of_region(struct ticket *t, const struct region *r,
		     struct error *err);

/* The name of a ticket's region, if it is on this machine; else NULL. */
const char *ticket_region(const struct ticket *t);

/* Sets R_Key and address of a region's table (by its index) in an epoch. */
void ticket_set_address(struct ticket_table *at, const struct region *r,
			unsigned table, uint64_t epoch);

/*
 * Checks the n tables against an MTU (0: the default). On UC lost packets are
 * not retransmitted, so no packet may end within a slot, chunk or entry: the
 * loss of the next would leave a value of two halves behind a valid checksum.
 * Returns 0 or -EINVAL.
 */
int ticket_check_mtu(const struct table *tables, unsigned n, unsigned mtu,
		     struct error *err);

int ticket_write(const struct ticket *t, FILE *out);

/* Reads a file ("-": stdin), or an open one called name in messages. err says
 * FILE:LINE: reason. Returns 0, or -errno with nothing to free. */
int ticket_read(struct ticket *t, const char *path, struct error *err);
int ticket_parse(struct ticket *t, FILE *in, const char *name,
		 struct error *err);
void ticket_fini(struct ticket *t);

/* Whether two tickets of the same tables are equal, whatever their files. */
bool ticket_is_same(const struct ticket *a, const struct ticket *b);

/* Whether a table (by its index) has the same queue pair as in an earlier
 * ticket. */
bool ticket_pair_lasts(const struct ticket *was, const struct ticket *now,
		       unsigned table);

/* The PSN with which a sender that gets no answers continues in a table under a
 * new ticket; next: the PSN it would use next under the earlier one. */
uint32_t ticket_psn(const struct ticket *was, const struct ticket *now,
		    unsigned table, uint32_t next);

/*
 * Heads of lists, by table, for a transport that cannot read them.
 * ticket_take_heads() sets them to the ticket's: 0 or -ENOMEM. It allocates
 * heads[] that are NULL; the caller frees them. ticket_note_head() updates them
 * if op writes one.
 */
int ticket_take_heads(uint64_t *heads[TABLE_MAX], const struct ticket *t);
void ticket_note_head(uint64_t *const heads[TABLE_MAX], const struct ticket *t,
		      const struct op *op);

/* The stamp of the file at path now. */
struct ticket_stamp ticket_stamp(const char *path);
bool ticket_stamps_equal(const struct ticket_stamp *a,
			 const struct ticket_stamp *b);

#endif
