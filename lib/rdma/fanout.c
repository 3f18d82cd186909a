/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fanout.c - operations come ordered by collector (dta/admit.c), so each run of
 * them goes to its collector's transport at once, with that one's table
 * numbers.
 */
#include "rdma/fanout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 512, /* operations handed on at once */
};

struct branch {
	struct transport *transport;
	uint64_t generation; /* as it last said */
};

struct fanout {
	struct transport transport;
	unsigned n, tables;
	uint64_t generation; /* grows when a branch's changes */
	struct op piece[PIECE];
	struct branch branch[FANOUT_MAX];
};

static inline struct fanout *self(struct transport *r)
{
	return (struct fanout *)r;
}

static uint64_t fanout_begin(struct transport *transport)
{
	struct fanout *o = self(transport);
	bool changed = false;

	for (unsigned i = 0; i < o->n; i++) {
		struct branch *b = &o->branch[i];
		uint64_t generation = b->transport->begin(b->transport);

		changed = changed || generation != b->generation;
		b->generation = generation;
	}
	o->generation += changed;
	return o->generation;
}

static void fanout_end(struct transport *transport)
{
	struct fanout *o = self(transport);

	for (unsigned i = 0; i < o->n; i++)
		o->branch[i].transport->end(o->branch[i].transport);
}

static uint64_t fanout_head(struct transport *transport, unsigned table,
			    uint32_t list)
{
	struct fanout *o = self(transport);
	struct transport *r = o->branch[table / o->tables].transport;

	return r->head(r, table % o->tables, list);
}

/* Reports are admitted before their collector is known: any may be busy. */
static bool fanout_busy(struct transport *transport, unsigned table)
{
	struct fanout *o = self(transport);

	for (unsigned i = 0; i < o->n; i++) {
		struct transport *r = o->branch[i].transport;

		if (r->busy && r->busy(r, table % o->tables))
			return true;
	}
	return false;
}

static int fanout_exec(struct transport *transport, const struct op *ops,
		       size_t n, uint64_t ts_ns)
{
	struct fanout *o = self(transport);
	const uint64_t *stamps = transport->stamps;
	int rc = 0;

	while (n && !rc) {
		unsigned collector = ops->table / o->tables;
		unsigned first = collector * o->tables;
		struct transport *r;
		size_t k;

		if (collector >= o->n)
			return -ERANGE;
		r = o->branch[collector].transport;
		for (k = 0; k < n && k < PIECE; k++) {
			unsigned table = ops[k].table - first;

			if (table >= o->tables)
				break;
			o->piece[k] = ops[k];
			o->piece[k].table = (uint16_t)table;
		}
		r->stamps = stamps;
		rc = r->exec(r, o->piece, k, ts_ns);
		stamps = stamps ? stamps + k : NULL;
		ops += k;
		n -= k;
	}
	return rc;
}

int fanout_open(struct fanout **out, struct transport *const *transports,
		unsigned n, unsigned tables, struct error *err)
{
	struct fanout *o = calloc(1, sizeof(*o));

	if (!o)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	o->transport = (struct transport){
		.begin = fanout_begin,
		.exec = fanout_exec,
		.end = fanout_end,
		.head = fanout_head,
		.busy = fanout_busy,
	};
	o->tables = tables;
	o->n = n;
	for (unsigned i = 0; i < n; i++) {
		o->branch[i].transport = transports[i];
		o->transport.stamped |= transports[i]->stamped;
	}
	*out = o;
	return 0;
}

struct transport *fanout_transport(struct fanout *o)
{
	return &o->transport;
}

void fanout_close(struct fanout *o)
{
	free(o);
}
