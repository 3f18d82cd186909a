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

/* values.c: the columns that show values: one for each part of a value, as --as
 * or the layouts of the tables say (query/show.h). */
enum { VALUES_FIELDS = 16 }; /* fields at most of the schema to be expanded */

struct values {
	unsigned at;	/* the first field of a value */
	unsigned shift; /* fields of a value, less one */
	struct row_field field[VALUES_FIELDS + SHOW_COLUMNS];
	struct schema schema;
	struct show_columns shown;
	struct show_scratch room;
	const struct query_targets *targets;
	struct show show[TABLE_MAX]; /* of each target */
	uint8_t column[TABLE_MAX][SHOW_PARTS];
};

/* Makes v->schema: s with the columns of values in place of its field `at'. as:
 * of --as, or NULL. text: for people. Exits if there are too many columns. */
void values_open(struct values *v, const struct schema *s, unsigned at,
		 const struct show *as, bool text,
		 const struct query_targets *t);

/* The index in v->schema of a field of the schema that was expanded. */
static inline unsigned values_field(const struct values *v, unsigned field)
{
	return field > v->at ? field + v->shift : field;
}

void values_set(struct values *v, struct rows *rows,
		const struct query_target *t, const uint8_t *value);

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
