/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tofino.h - a ticket as lines for bfrt_python, the shell of Tofino's control
 * plane: for switches which run p4/tna/dta_translator, dta_reporter, int_node
 * or dart_reporter.
 */
#ifndef DTA_COLLECT_TOFINO_H
#define DTA_COLLECT_TOFINO_H

#include <stdio.h>

#include "base/fault.h"
#include "op/ticket.h"
#include "ticket_file.h"

/* What the programs have room for, and their numbers; also in their headers.p4,
 * and a unit test compares them. */
enum {
	TOFINO_TABLES = 64,
	TOFINO_ROWS = 32768, /* of postcard caches, and lists */
	TOFINO_LISTS = 4096,
	TOFINO_BATCH_LEN = 64,	/* bytes */
	TOFINO_VALUE_MAX = 28,	/* bytes, of Key-Write */
	TOFINO_COLLECTORS = 64, /* of dart_reporter */
	TOFINO_GROUP_BATCH = 2, /* multicast */
	TOFINO_GROUP_ENTRIES = 8,
	TOFINO_FORM_4 = 4, /* forms of an operation: bytes of data, */
	TOFINO_FORM_8 = 8,
	TOFINO_FORM_16 = 16,
	TOFINO_FORM_32 = 32,
	TOFINO_FORM_64 = 64,
	TOFINO_FORM_IMM = 1, /* and this bit: behind an immediate; */
	TOFINO_FORM_ADD = 2, /* FETCH_ADD */
};

/* Whether the program can serve these tables. Returns 0 or -EINVAL. */
ticket_checker tofino_check, tofino_check_reporter, tofino_check_dart;

/* Write the lines for a program that has just been loaded. Return 0 or -errno,
 * tofino_write_dart() as bmv2_write_dart(). */
ticket_writer tofino_write, tofino_write_reporter, tofino_write_node,
	tofino_write_dart;

/* What they share. Groups first + 1 to first + 4: of group first + n, n copies
 * of each replicas, numbered from step * copy on, to the port that the variable
 * names. */
void tofino_groups(FILE *out, unsigned first, unsigned each, unsigned step,
		   const char *port);
/* The entries of table pairs and of the table frames for a queue pair; forms: n
 * of them, of WRITEs or FETCH_ADD. place: of the tables' control. */
void tofino_pair(FILE *out, const char *place, const struct ticket *t,
		 unsigned i, unsigned number);
void tofino_frame(FILE *out, const char *place, const struct ticket *t,
		  unsigned i, unsigned number, unsigned form);

#endif
