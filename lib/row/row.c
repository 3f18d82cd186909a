/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/row.h"

#include <stdlib.h>

struct rows *rows_open(struct row_sink *sink, const struct schema *s,
		       unsigned gather)
{
	struct rows *r = calloc(1, sizeof(*r));

	if (!r || row_batch_init(&r->b, s, gather) < 0) {
		free(r);
		return NULL;
	}
	r->sink = sink;
	r->gather = gather;
	return r;
}

struct rows *rows_print(FILE *out, enum row_format fmt, const struct schema *s,
			bool head)
{
	struct row_sink *sink = stream_sink_open(out, fmt, head);
	struct rows *r = sink ? rows_open(sink, s, 1) : NULL;

	if (r)
		r->own = true;
	else if (sink)
		sink->close(sink);
	return r;
}

static int put(struct rows *r)
{
	int rc = r->sink->put(r->sink, &r->b);

	if (!r->err)
		r->err = rc;
	row_batch_clear(&r->b);
	return r->err;
}

int rows_head(struct rows *r)
{
	return put(r);
}

int row_end(struct rows *r)
{
	int rc = row_batch_end(&r->b);

	if (rc < 0 && !r->err)
		r->err = rc;
	return r->b.rows < r->gather ? r->err : put(r);
}

int rows_flush(struct rows *r)
{
	int rc = r->b.rows ? put(r) : r->err, flushed;

	flushed = r->sink->flush(r->sink);
	return rc ? rc : flushed;
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	if (r->b.rows || r->own)
		put(r); /* none: a header all the same */
	if (r->own)
		r->sink->close(r->sink);
	row_batch_fini(&r->b);
	free(r);
}
