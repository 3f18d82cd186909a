/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - what a command of dta-query asks for: from the command line, or
 * from a line of the interactive shell.
 */
#ifndef QUERY_OPTIONS_H
#define QUERY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "values.h"
#include "cli/cli.h"
#include "keys.h"
#include "query/show.h"
#include "query/sources.h"
#include "query/query.h"

enum {
	CORES_MAX = 32, /* of -j */
};

enum verb {
	VERB_KEYWRITE,
	VERB_PATH,
	VERB_LIST,
	VERB_COUNT,
	VERB_VERIFY,
	VERB_WHY,
	VERBS,
};

struct opts {
	enum verb verb;
	struct query_sources_options from; /* .snapshot is: */
	const char *snapshot[QUERY_SNAPSHOTS_MAX];
	const char *table; /* name or id; NULL: by kind and key */
	struct keys_from keys;
	const char *truth;	/* a file, "-" for stdin */
	struct query_rule rule; /* copies 0: the default */
	enum row_format format;
	struct show show; /* --as; n 0: what layouts say */
	bool interactive, quiet, summary;
	bool follow, last_given; /* list */
	uint64_t last;
	uint64_t by_age; /* verify: bins; 0: not */
	uint64_t cores;	 /* 0: one */
	bool in_shell;	 /* a command of the shell */
};

struct verb_row {
	const char *name, *args, *help; /* as the shell tells them */
	bool keyed;
	int kind; /* of the tables whose keys it asks for; 0: it does not */
	int (*run)(const struct opts *o, struct query_sources *p);
};

extern const struct verb_row verb_rows[VERBS];
extern const struct cli cli;

/* How values are shown: --as, or NULL. */
static inline const struct show *opts_show(const struct opts *o)
{
	return o->show.n ? &o->show : NULL;
}

/* Ends a row; exits where stdout takes no more. */
static inline void row_write(struct rows *r)
{
	int rc = row_end(r);

	if (rc < 0)
		cli_fail("standard output: %s", strerror(-rc));
}

/*
 * Reads options, before and behind the subcommand, over what *o holds (the
 * defaults; in the shell those of its start). Exits on misuse.
 */
void options_read(struct opts *o, int argc, char **argv);

#endif
