/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h - the subcommands, and what they share. */
#ifndef QUERY_RUN_H
#define QUERY_RUN_H

#include "options.h"

/* One of them, by o->verb. The exit status. */
int run(const struct opts *o, struct places *p);

/* keywrite, path, count */
int run_keys(const struct opts *o, struct places *p);
int run_list(const struct opts *o, struct places *p);
int run_verify(const struct opts *o, struct places *p);
int run_top(const struct opts *o, struct places *p);
int run_why(const struct opts *o, struct places *p);

/*
 * The shell: every command is o, changed by its own options. The exit status of
 * the last command.
 */
int run_shell(const struct opts *o, struct places *p);

/* Opens what o names. Exits with a message on failure. o outlives it. */
void sources_open(struct places *p, struct opts *o);

/* Exits if the only source can no longer be read. */
void sources_check(const struct places *p);

/* The tables of a kind, or the one that is named. Exits if there are none. */
void sources_pick(struct targets *out, const struct places *p, int kind,
		  const char *name);

/* Calls take() with every entry that the lists of some tables keep. target: its
 * number in t. */
void list_each(const struct opts *o, struct places *p, const struct targets *t,
	       void (*take)(void *ctx, unsigned target, const uint8_t *entry),
	       void *ctx);

#endif
