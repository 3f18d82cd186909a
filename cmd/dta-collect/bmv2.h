/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bmv2.h - a ticket as commands for simple_switch_CLI, that is, for BMv2
 * switches which run p4/v1model/dta_translator, dta_reporter, int_node or
 * dart_reporter.
 */
#ifndef DTA_COLLECT_BMV2_H
#define DTA_COLLECT_BMV2_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fault.h"
#include "hash/crc.h"
#include "op/ticket.h"
#include "ticket_file.h"

/* What that program has room for; also in its headers.p4, and a unit test
 * compares them. */
enum {
	P4_ROWS = 65536, /* of postcard caches */
	P4_LISTS = 4096,
	P4_WRITE_LEN = 256, /* bytes of an operation */
	P4_KEY_MIN = 4,
};

enum {
	BMV2_QUEUE = 65536, /* packets, of a port: a burst of operations */
};

/* Whether the program can serve these tables. Returns 0 or -EINVAL. */
ticket_checker bmv2_check;

/* Write the commands for a switch that has just been started. The translator's
 * port 1 leads to the collector, the reporter's port 2 to the translator.
 * Return 0 or -errno. */
ticket_writer bmv2_write, bmv2_write_reporter;

/*
 * For a switch with int_node that sends postcards (INT-XD), of all flows: node
 * number of so many on the way, whose port 3 leads to the translator. -ENOENT:
 * no table takes them (key flow4, that many hops).
 */
ticket_writer bmv2_write_node;

/* For a switch with dart_reporter, whose port 2 + number leads to this
 * collector. -ENOENT: no table takes what it has (key flow4, value 4). */
ticket_writer bmv2_write_dart;

/* What the above share. A calculation is known by its place in the program's
 * source, from 0 on; its CRC begins with begin, or with 0. */
void bmv2_polynomial(FILE *out, unsigned calculation, enum crc_id id,
		     uint32_t begin);
/* Multicast groups 1 to max: group n has n replicas, numbered from 0, to port.
 */
void bmv2_groups(FILE *out, unsigned max, unsigned port);
/* What they share with tofino.h: */
int bmv2_flushed(FILE *out);
enum {
	BMV2_SAMPLE = 127, /* a packet of 128 is sampled */
};
/* The reporter's own address, of a node the next ones, by its hop; its MAC. */
extern const uint8_t bmv2_reporter_ip[4];
extern const char bmv2_reporter_mac[];
/* The tables that a reporter's reports go to: bits of the reports that there is
 * one for, in the order of the ids. */
struct bmv2_targets {
	unsigned mask, value, list, counter, card;
};
void bmv2_targets(struct bmv2_targets *out, const struct ticket *t);
/* Whether some table looks at the numbers of reports: a reporter has one count
 * for all. */
bool bmv2_tracked(const struct ticket *t);
/* The first table of postcards that takes a node's on a way of so many hops;
 * NULL: there is none. */
const struct table *bmv2_card_table(const struct ticket *t, unsigned hops);
/* The table that dart_reporter writes to, by its index; -1: none. */
int bmv2_dart_table(const struct ticket *t);

#endif
