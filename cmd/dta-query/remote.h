/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remote.h - a collector on another machine, asked by dta-query there.
 *
 * ssh HOST dta-query ... is started when the first key is asked, and kept: keys
 * go to its standard input, rows come back. Its geometry is known from the
 * ticket. What comes back is a stranger's word: judged, and copied into
 * replies.
 */
#ifndef QUERY_REMOTE_H
#define QUERY_REMOTE_H

#include "ask.h"
#include "fleet/cluster.h"

struct remote;

/* Reads the ticket; starts nothing yet. */
int remote_open(struct remote **out, const struct cluster_collector *c,
		const struct opts *o, struct fault *f);
void remote_close(struct remote *r); /* NULL is fine */

unsigned remote_tables(const struct remote *r);
const struct table *remote_table(const struct remote *r, unsigned i);

/*
 * n <= QUERY_BATCH keys of a table of the remote's, in the epochs [from,
 * until]: fills in the replies as they were found there. Returns 0, or -errno
 * with the reason why it cannot be asked.
 */
int remote_ask(struct remote *r, const struct table *t,
	       const struct query_rule *rule, uint64_t from, uint64_t until,
	       const uint8_t *const *keys, size_t n, struct reply *const *reply,
	       struct fault *f);

/* For remote_list.c: its own part of r, and how to reach the machine. */
struct listings **remote_listings(struct remote *r, const char **command,
				  const struct cluster_collector **c);

#endif
