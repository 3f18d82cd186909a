/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - what there is to look at, as rows of columns:
 *
 * flows   top_flow   of the flow cache: latest latency and mean of all; of each
 *                    metric the highest of its hops, by what they last told
 * nodes   top_node   switches: quantiles of all that they told (the bin's upper
 *                    bound), and of queues, links and buffers the highest value
 *                    that is told now
 * queues  top_queue  queues and buffers: the value that is told now; reference
 *                    is what rows told
 * links   top_link   the same of links
 * paths   top_path   latency from end to end, by packets that told it
 */
#ifndef INT_COLLECT_TABLES_H
#define INT_COLLECT_TABLES_H

#include "row/batch.h"
#include "telemetry/sink.h"

enum table {
	TABLE_FLOWS,
	TABLE_NODES,
	TABLE_QUEUES,
	TABLE_LINKS,
	TABLE_PATHS,
	TABLES,
};

extern const char *const table_names[]; /* NULL behind the last */

/* Of the objects of a node now. */
struct node_now {
	uint32_t value[METRIC_OF_HOP]; /* the highest */
	uint32_t n[METRIC_OF_HOP];     /* so many */
};

/* Where things are looked up. */
struct lookup {
	const struct telemetry *t;
	struct node_now *now; /* by number of the node */
	uint32_t nodes;	      /* that it has room for */
};

/* What of all objects is needed: at the beginning of a round. 0 or -ENOMEM. */
int lookup_begin(struct lookup *l);
void lookup_end(struct lookup *l);

/* Hops of a flow that count: those of its path, or all if that is not known. */
static inline unsigned flow_hops_now(const struct flow_entry *f)
{
	return f->hops && f->hops < f->kept ? f->hops : f->kept;
}

const struct schema *table_schema(enum table which);
/* The column by which rows are sorted unless told, and columns from the left
 * that say what a row is about. */
unsigned table_sort(enum table which);
unsigned table_fixed(enum table which);

/* How many numbers there are; not each is a row. */
uint32_t table_size(const struct lookup *l, enum table which);
bool table_has(const struct lookup *l, enum table which, uint32_t i);
/* Sets all columns of the row in hand. */
void table_row(const struct lookup *l, enum table which, uint32_t i,
	       struct row_batch *b);

/*
 * What a row is sorted by in a column, by way of a batch's row in hand: its
 * number; flows by their addresses, other texts and lists by how they begin.
 * False: null.
 */
bool table_key(const struct lookup *l, enum table which, uint32_t i,
	       unsigned column, struct row_batch *b, uint64_t *key);

#endif
