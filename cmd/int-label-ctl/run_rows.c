/* SPDX-License-Identifier: BSD-2-Clause */
/* run_rows.c - what the controller calls back with, as rows. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "run.h"

/* The newest state of a port, all else is one after the other. */
static const struct export_rule rules[] = {
	{"label_port", EXPORT_STATE, "port:{device}-{port}"},
	{"label_hop", EXPORT_STATE, "hop:{flow}:{hop}"},
};

/* The row in hand of a kind; NULL: nobody asked. */
static struct row_batch *hand(struct run_rows *r, enum label_rows_kind kind)
{
	return r->rows[kind] ? &r->rows[kind]->b : NULL;
}

static void end(struct run_rows *r, enum label_rows_kind kind)
{
	int rc = row_end(r->rows[kind]);

	if (!r->err)
		r->err = rc;
}

static void interval(void *ctx, const struct label_interval_sum *sum)
{
	label_row_interval(hand(ctx, LABEL_ROWS_INTERVAL), sum);
	end(ctx, LABEL_ROWS_INTERVAL);
}

static void decision(void *ctx, const struct label_decision *d)
{
	struct run_rows *r = ctx;
	struct row_batch *b = hand(r, LABEL_ROWS_DECISION);

	if (r->orders)
		orders_take(r->orders, d);
	if (!b)
		return;
	label_row_decision(b, d);
	end(r, LABEL_ROWS_DECISION);
}

static void silence(void *ctx, const struct label_record *port, bool silent,
		    uint64_t now_ns, uint64_t since_ns)
{
	struct row_batch *b = hand(ctx, LABEL_ROWS_SILENCE);

	label_row_silence(b, port, silent, now_ns, since_ns);
	end(ctx, LABEL_ROWS_SILENCE);
}

static void forgotten(void *ctx, const struct label_record *port,
		      uint64_t now_ns)
{
	label_row_forgotten(hand(ctx, LABEL_ROWS_SILENCE), port, now_ns);
	end(ctx, LABEL_ROWS_SILENCE);
}

static void port(void *ctx, const struct label_record *record)
{
	label_row_port(hand(ctx, LABEL_ROWS_PORT), record);
	end(ctx, LABEL_ROWS_PORT);
}

static void path(void *ctx, const struct label_path *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		label_row_hop(hand(ctx, LABEL_ROWS_HOP), p, i);
		end(ctx, LABEL_ROWS_HOP);
	}
}

/* Rows that are asked for go to the screen, all to databases. */
static void open_kind(struct run_rows *r, const struct run_options *o,
		      enum label_rows_kind kind)
{
	struct row_sink *to[2];
	unsigned n = 0;

	if (o->rows >> kind & 1)
		to[n++] = r->screen;
	if (r->databases)
		to[n++] = r->databases;
	if (!n)
		return;
	r->tees[kind] = tee_open(to, n);
	/* One at a time, so that kinds stay in the order things happened. */
	if (r->tees[kind])
		r->rows[kind] = rows_open(r->tees[kind], &label_schema[kind],
					  1);
	if (!r->rows[kind])
		cli_fail("out of memory");
}

static void open_databases(struct run_rows *r, const struct run_options *o)
{
	const struct export_options eo = {
		.rules = rules,
		.n_rules = sizeof(rules) / sizeof(rules[0]),
	};

	for (unsigned i = 0; i < o->n_exports; i++)
		databases_add(&r->list, "--export", o->export[i], &eo);
	r->databases = databases_all(&r->list);
}

void run_rows_open(struct run_rows *r, const struct run_options *o,
		   struct label_control_calls *calls)
{
	if (!(r->screen = cli_stream(o->format)))
		cli_fail("out of memory");
	open_databases(r, o);
	for (int k = 0; k < LABEL_ROWS; k++)
		open_kind(r, o, (enum label_rows_kind)k);
	if (run_gives_orders(o))
		r->orders = orders_open(o->exec, o->send);
	*calls = (struct label_control_calls){
		.ctx = r,
		.interval = r->rows[LABEL_ROWS_INTERVAL] ? interval : NULL,
		.decision = decision,
		.silent = r->rows[LABEL_ROWS_SILENCE] ? silence : NULL,
		.forgotten = r->rows[LABEL_ROWS_SILENCE] ? forgotten : NULL,
		.port = r->rows[LABEL_ROWS_PORT] ? port : NULL,
		.path = r->rows[LABEL_ROWS_HOP] ? path : NULL,
	};
}

int run_rows_flush(struct run_rows *r)
{
	int rc = r->screen->flush(r->screen);

	return r->err ? r->err : rc;
}

int run_rows_end(struct run_rows *r)
{
	int rc = run_rows_flush(r), told = 0;
	struct fault f;

	if (r->orders)
		told = orders_end(r->orders);
	if (rc < 0) {
		fault_set(&f, rc, "%s", strerror(-rc));
		cli_warn_fault(cli_stdout, &f);
	}
	return databases_end(&r->list) < 0 || told < 0 || rc < 0 ? -1 : 0;
}

void run_rows_close(struct run_rows *r)
{
	for (int k = 0; k < LABEL_ROWS; k++)
		rows_close(r->rows[k]);
	for (int k = 0; k < LABEL_ROWS; k++)
		if (r->tees[k])
			r->tees[k]->close(r->tees[k]);
	label_orders_close(r->orders);
	if (r->databases)
		r->databases->close(r->databases);
	databases_close(&r->list);
	r->screen->close(r->screen);
}
