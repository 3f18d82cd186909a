/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bmv2.h - a ticket as commands for simple_switch_CLI, that is, for a BMv2
 * switch which runs p4/v1model/dta_translator: dta-p4(7).
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

/* Writes the commands for a switch that has just been started; port 1 leads to
 * the collector. Returns 0 or -errno. */
int bmv2_write(const struct ticket *t, FILE *out);

#endif
