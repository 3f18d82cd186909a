/* SPDX-License-Identifier: BSD-2-Clause */
#include "remote_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replies.h"
#include "ssh.h"

enum {
	LISTINGS_MAX = 16, /* at once; the oldest is ended for one more */
	ALL_LISTS = UINT32_MAX,
};

enum list_column {
	LIST_LIST,
	LIST_INDEX,
	LIST_VALUE,
	LIST_WRITTEN,
	LIST_KEPT,
	LIST_LOST,
	LIST_EPOCH,
	LIST_KNOWN,
};

/* A run of dta-query list over there. */
struct listing {
	struct ssh ssh;
	const struct table *t; /* NULL: none */
	uint64_t from, until;
	uint32_t list; /* or ALL_LISTS */
	bool ended, has_row;
	bool taken;	  /* a row was */
	unsigned columns; /* 0: no header yet */
	uint8_t column[REPLIES_COLUMNS];
	struct remote_row row;
};

struct listings {
	struct listing run[LISTINGS_MAX];
	struct listing *last; /* that was peeked at */
	unsigned next;
};

void listings_close(struct listings *l)
{
	for (unsigned i = 0; l && i < LISTINGS_MAX; i++)
		ssh_end(&l->run[i].ssh);
	free(l);
}

static int start(struct listing *l, const char *command,
		 const struct cluster_collector *c, const struct opts *o,
		 struct fault *f)
{
	char table[8], epochs[48], list[16], number[24];
	const char *words[] = {
		"dta-query", "list", "--region", c->region, "--table", table,
		"--epoch",   epochs, "--output", "csv",	    "--as",    "hex",
		"--quiet",   NULL,   NULL,	 NULL,	    NULL,
	};
	unsigned n = 13;

	snprintf(table, sizeof(table), "%u", l->t->id);
	snprintf(epochs, sizeof(epochs), "%" PRIu64 "-%" PRIu64, l->from,
		 l->until);
	snprintf(list, sizeof(list), "%u", l->list);
	snprintf(number, sizeof(number), "%" PRIu64,
		 o->last_given ? o->last : o->from);
	if (o->count_only) {
		words[n++] = "--count-only";
	} else if (o->last_given || o->from_given) {
		words[n++] = o->last_given ? "--last" : "--from";
		words[n++] = number;
	}
	if (l->list != ALL_LISTS)
		words[n] = list;
	return ssh_start(&l->ssh, command, c->host, words, f);
}

static int header(struct listing *l, char *line)
{
	static const char *const names[LIST_KNOWN] = {
		[LIST_LIST] = "list",	[LIST_INDEX] = "index",
		[LIST_VALUE] = "value", [LIST_WRITTEN] = "written",
		[LIST_KEPT] = "kept",	[LIST_LOST] = "lost",
		[LIST_EPOCH] = "epoch",
	};
	char *cell[REPLIES_COLUMNS];
	int n = replies_cells(line, cell);

	if (n <= 0)
		return -EBADMSG;
	l->columns = (unsigned)n;
	for (int i = 0; i < n; i++) {
		l->column[i] = 0;
		while (l->column[i] < LIST_KNOWN &&
		       strcmp(cell[i], names[l->column[i]]) != 0)
			l->column[i]++;
	}
	return 0;
}

static bool take_row(struct listing *l, const struct opts *o, char *line)
{
	const char *of[LIST_KNOWN + 1];
	char *cell[REPLIES_COLUMNS];
	struct remote_row *r = &l->row;
	uint64_t list;

	if (replies_cells(line, cell) != (int)l->columns)
		return false;
	for (unsigned i = 0; i <= LIST_KNOWN; i++)
		of[i] = "";
	for (unsigned i = 0; i < l->columns; i++)
		of[l->column[i]] = cell[i];
	if (!*of[LIST_LIST] ||
	    !replies_number(of[LIST_LIST], l->t->lists - 1, &list) ||
	    !replies_number(of[LIST_INDEX], UINT64_MAX, &r->index) ||
	    !replies_number(of[LIST_WRITTEN], UINT64_MAX, &r->written) ||
	    !replies_number(of[LIST_KEPT], UINT64_MAX, &r->kept) ||
	    !replies_number(of[LIST_LOST], UINT64_MAX, &r->lost) ||
	    !replies_number(of[LIST_EPOCH], UINT64_MAX, &r->epoch))
		return false;
	r->list = (uint32_t)list;
	return o->count_only ||
	       replies_hex(of[LIST_VALUE], r->value, l->t->value_len);
}

/* Goes on to the next row: 1, 0 at the end, or -errno. */
static int advance(struct listing *l, const struct opts *o)
{
	char *line = l->ended ? NULL : ssh_line(&l->ssh);
	int status;

	if (line && !l->columns) {
		if (header(l, line) < 0)
			return -EBADMSG;
		line = ssh_line(&l->ssh);
	}
	if (line) {
		l->has_row = take_row(l, o, line);
		return l->has_row ? 1 : -EBADMSG;
	}
	if (l->ended)
		return 0;
	status = ssh_end(&l->ssh);
	l->ended = true;
	return status == CLI_OK || status == CLI_NOTHING ? 0 : -EPIPE;
}

static struct listing *find(struct listings *all, const struct table *t,
			    uint64_t from, uint64_t until, uint32_t list)
{
	for (unsigned i = 0; i < LISTINGS_MAX; i++) {
		struct listing *l = &all->run[i];

		if (l->t == t && l->from == from && l->until == until &&
		    l->list == list)
			return l;
	}
	return NULL;
}

int remote_list_peek(struct remote *r, const struct opts *o,
		     const struct table *t, uint64_t from, uint64_t until,
		     uint32_t list, const struct remote_row **row,
		     struct fault *f)
{
	const struct cluster_collector *c;
	const char *command;
	struct listings **all = remote_listings(r, &command, &c);
	uint32_t which = o->nargs ? list : ALL_LISTS;
	struct listing *l;
	int rc = 0;

	if (!*all && !(*all = calloc(1, sizeof(**all))))
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	l = find(*all, t, from, until, which);
	/* A list that is named twice is told twice. */
	if (!l || (which != ALL_LISTS && l->ended && l->taken)) {
		if (!l)
			l = &(*all)->run[(*all)->next++ % LISTINGS_MAX];
		ssh_end(&l->ssh);
		*l = (struct listing){
			.t = t, .from = from, .until = until, .list = which};
		rc = start(l, command, c, o, f);
	}
	(*all)->last = l;
	/* Those before it are not its own: copies of its neighbour's. */
	while (rc == 0 && (!l->has_row || l->row.list < list)) {
		l->has_row = false;
		rc = advance(l, o);
		if (rc == 0)
			return 0;
		rc = rc > 0 ? 0 : rc;
	}
	if (rc < 0) {
		ssh_end(&l->ssh);
		l->t = NULL;
		return fault_set(f, rc, "%s: %s", c->host,
				 rc == -EBADMSG ? "an answer that is none"
						: "cannot be asked");
	}
	*row = &l->row;
	return l->row.list == list;
}

void remote_list_take(struct remote *r)
{
	const struct cluster_collector *c;
	const char *command;
	struct listing *l = (*remote_listings(r, &command, &c))->last;

	l->has_row = false;
	l->taken = true;
}
