/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h - the subcommands, and what they share. */
#ifndef DTA_QUERY_RUN_H
#define DTA_QUERY_RUN_H

#include "options.h"

/* Runs the subcommand o->verb. Returns the exit status, as all of these do. */
int run_query(const struct opts *o, struct query_sources *p);

/* keywrite, path and count */
int run_keys(const struct opts *o, struct query_sources *p);
int run_list(const struct opts *o, struct query_sources *p);
int run_verify(const struct opts *o, struct query_sources *p);
int run_why(const struct opts *o, struct query_sources *p);

/* Tells what the programs on the way of reports count, and where they were
 * lost. */
void tell_way(const struct opts *o);

/* Runs the shell. Every command has the options o, changed by its own. Returns
 * the exit status of the last command. */
int run_shell(const struct opts *o, struct query_sources *p);

/* Opens what o names. Exits with a message on failure. o must outlive it. */
void sources_open(struct query_sources *p, const struct opts *o);

/* Exits if p->gone says that a source can no longer be read. */
void sources_check(const struct query_sources *p);

/* Finds the tables of a kind, or the named one. Exits if there is none. */
void sources_pick(struct query_targets *out, const struct query_sources *p,
		  int kind, const char *name);

/* Room for entries of a list. All zero at first; the caller frees bytes. */
struct list_buf {
	uint8_t *bytes;
	size_t len;
};

/* Makes room for as many of n entries as are read at once; returns how many. */
uint64_t list_buf_reserve(struct list_buf *b, const struct table_view *v,
			  uint64_t n);

/* Lists in p->epoch the epochs of a list, and returns an element for each: the
 * number of its entries. If a machine is lost meanwhile, its mirror's epochs
 * replace it. The caller frees the array. */
struct list_epoch {
	int64_t count;	/* -ENOENT: no such list, or a repeated epoch; -errno */
	uint64_t begin; /* for the caller: the entry to begin at */
};
struct list_epoch *list_find_epochs(struct query_sources *p,
				    const struct query_target *t,
				    uint32_t list);

#endif
