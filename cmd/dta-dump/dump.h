/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.h - what dta-dump was asked for, and its subcommands. */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "net/dta.h"

enum verb {
	VERB_PACKETS,
	VERB_REGION,
	VERB_SNAPSHOT,
	VERB_DIGEST,
	VERB_SERVE,
	VERB_REGIONS,
	VERBS,
};

struct opts {
	enum verb verb;
	const char *what; /* a region's name, or a file; "-": stdin */
	const char *region, *snapshot, *ticket;
	const char *table;
	uint64_t epoch; /* 0: the current (newest) one */
	bool all_epochs;
	uint64_t count; /* packets; UINT64_MAX: all */
	enum dta_format dta;
	enum row_format format;
	bool slots, lists, no_load;
};

/* Each prints and returns the exit status; exits by itself on failure. */
int dump_packets(const struct opts *o);
int dump_memory(const struct opts *o); /* region, snapshot, digest */
int dump_serve(const struct opts *o);
int dump_regions(const struct opts *o);

#endif
