/* SPDX-License-Identifier: BSD-2-Clause */
/* run_rows.c - what the controller calls back with, as rows. */
#include <stdio.h>

#include "cli/cli.h"
#include "run.h"

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
	struct row_batch *b = hand(ctx, LABEL_ROWS_INTERVAL);

	label_row_interval(b, sum);
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

static void port(void *ctx, const struct label_record *record)
{
	struct row_batch *b = hand(ctx, LABEL_ROWS_PORT);

	label_row_port(b, record);
	end(ctx, LABEL_ROWS_PORT);
}

static void path(void *ctx, const struct label_path *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		label_row_hop(hand(ctx, LABEL_ROWS_HOP), p, i);
		end(ctx, LABEL_ROWS_HOP);
	}
}

static void open_kind(struct run_rows *r, const struct run_options *o,
		      enum label_rows_kind kind)
{
	if (!(o->rows >> kind & 1))
		return;
	/* One at a time, so that kinds stay in the order things happened. */
	r->rows[kind] = rows_open(r->screen, &label_schema[kind], 1);
	if (!r->rows[kind])
		cli_fail("out of memory");
}

void run_rows_open(struct run_rows *r, const struct run_options *o,
		   struct label_control_calls *calls)
{
	if (!(r->screen = stream_sink_mixed(stdout, o->format, true)))
		cli_fail("out of memory");
	for (int k = 0; k < LABEL_ROWS; k++)
		open_kind(r, o, (enum label_rows_kind)k);
	if (run_gives_orders(o))
		r->orders = orders_open(&o->orders);
	*calls = (struct label_control_calls){
		.ctx = r,
		.interval = r->rows[LABEL_ROWS_INTERVAL] ? interval : NULL,
		.decision = decision,
		.silent = r->rows[LABEL_ROWS_SILENCE] ? silence : NULL,
		.port = r->rows[LABEL_ROWS_PORT] ? port : NULL,
		.path = r->rows[LABEL_ROWS_HOP] ? path : NULL,
	};
}

int run_rows_flush(struct run_rows *r)
{
	int rc = r->screen->flush(r->screen);

	return r->err ? r->err : rc;
}

void run_rows_close(struct run_rows *r)
{
	for (int k = 0; k < LABEL_ROWS; k++)
		rows_close(r->rows[k]);
	orders_close(r->orders);
	r->screen->close(r->screen);
}
