/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - the options of dta-query, from the command line or from a line of
 * the interactive shell.
 */
#ifndef DTA_QUERY_OPTIONS_H
#define DTA_QUERY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "keys.h"
#include "query/show.h"
#include "query/sources.h"
#include "query/query.h"

enum {
	CORES_MAX = 32, /* of -j */
	WAY_HOSTS = 64,
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
	struct query_sources_options from;
	const char *snapshot[QUERY_SNAPSHOTS_MAX]; /* from.snapshot's */
	const char *table; /* name or id; NULL: by kind and key */
	struct keys_from keys;
	const char *truth;	/* a file, "-" for stdin */
	struct query_rule rule; /* copies 0: --copies is not given */
	enum row_format format;
	struct show show; /* of --as; n is 0 if it is not given */
	bool interactive, quiet, summary;
	bool follow, last_given; /* of list */
	uint64_t last;
	uint64_t age_bins; /* of verify --by-age; 0: not given */
	const char *svg;   /* of the bins */
	uint64_t cores;	   /* worker threads; 0: one */
	bool in_shell;	   /* a command of the shell */
	unsigned hosts;	   /* of why --ssh: */
	const char *host[WAY_HOSTS];
};

struct verb_row {
	const char *name, *args, *help; /* as the shell's help shows them */
	bool keyed;			/* its operands are keys */
	int kind; /* of the tables it looks in; 0: any, or it has no keys */
	int (*run)(const struct opts *o, struct query_sources *p);
};

extern const struct verb_row verb_rows[VERBS];
extern const struct cli cli;

/* How --as shows values; NULL: as the layout of the table says. */
static inline const struct show *opts_show(const struct opts *o)
{
	return o->show.n ? &o->show : NULL;
}

/* Reads the command line into *o, which holds the defaults, or in the shell the
 * options that it was started with. Exits on misuse. */
void options_read(struct opts *o, int argc, char **argv);

#endif
