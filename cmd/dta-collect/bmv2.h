/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bmv2.h - a ticket as commands for simple_switch_CLI, that is, for BMv2
 * switches which run p4/v1model/dta_translator or dta_reporter.
 */
#ifndef DTA_COLLECT_BMV2_H
#define DTA_COLLECT_BMV2_H

#include <stdio.h>

#include "base/fault.h"
#include "op/ticket.h"

/* What that program has room for; also in its headers.p4, and a unit test
 * compares them. */
enum {
	P4_ROWS = 65536, /* of postcard caches */
	P4_LISTS = 4096,
	P4_WRITE_LEN = 256, /* bytes of an operation */
	P4_KEY_MIN = 4,
};

/* Whether the program can serve these tables. Returns 0 or -EINVAL. */
int bmv2_check(const struct ticket *t, struct fault *f);

/* Write the commands for a switch that has just been started. The translator's
 * port 1 leads to the collector, the reporter's port 2 to the translator.
 * Return 0 or -errno. */
int bmv2_write(const struct ticket *t, FILE *out);
int bmv2_write_reporter(const struct ticket *t, FILE *out);

#endif
