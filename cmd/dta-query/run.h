/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h - the subcommands, and what they share. */
#ifndef DTA_QUERY_RUN_H
#define DTA_QUERY_RUN_H

#include "options.h"

/* One of them, by o->verb. The exit status. */
int run_query(const struct opts *o, struct query_sources *p);

/* keywrite, path, count */
int run_keys(const struct opts *o, struct query_sources *p);
int run_list(const struct opts *o, struct query_sources *p);
int run_verify(const struct opts *o, struct query_sources *p);
int run_why(const struct opts *o, struct query_sources *p);

/*
 * The shell: every command is o, changed by its own options. The exit status of
 * the last command.
 */
int run_shell(const struct opts *o, struct query_sources *p);

/* Opens what o names. Exits with a message on failure. o outlives it. */
void sources_open(struct query_sources *p, struct opts *o);

/* Exits if the only source can no longer be read. */
void sources_check(const struct query_sources *p);

/* The tables of a kind, or the one that is named. Exits if there are none. */
void sources_pick(struct query_targets *out, const struct query_sources *p,
		  int kind, const char *name);

/* Room for entries, and for as many of n as are best read at once; how many
 * these are. Begins with all zero, ends with free(). */
struct list_buf {
	uint8_t *bytes;
	size_t len;
};
uint64_t list_room(struct list_buf *b, const struct table_view *v, uint64_t n);

/*
 * Lists the epochs of a list, and reads how many entries it has in each before
 * any is read: if a machine is lost, its mirror may do. The caller frees them.
 */
struct list_epoch {
	int64_t count;	/* -ENOENT: it is not there, or there twice; -errno */
	uint64_t begin; /* the caller's */
};
struct list_epoch *list_find(struct query_sources *p,
			     const struct query_target *t, uint32_t list);

#endif
