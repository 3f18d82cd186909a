/* SPDX-License-Identifier: BSD-2-Clause */
/* row.c - batches, rows made in them. encode.c: what rows are written as;
 * style.c: in which style; line.c: InfluxDB's line protocol; outbuf.c: numbers
 * and strings. */
#include "row/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/key.h"

enum {
	BYTES_FIRST = 512,
};

static void clear_row(struct row_batch *b)
{
	b->hand = row_batch_cell(b, b->rows, 0);
	for (unsigned i = 0; i < b->schema->n; i++)
		b->hand[i].kind = ROW_NULL;
}

static int make_batch(struct row_batch *b, const struct schema *s,
		      unsigned room, size_t size)
{
	*b = (struct row_batch){.schema = s, .room = room, .size = size};
	b->cells = calloc((size_t)(room + 1) * s->n, sizeof(b->cells[0]));
	b->bytes = malloc(b->size);
	if (!b->cells || !b->bytes) {
		row_batch_fini(b);
		return -ENOMEM;
	}
	clear_row(b);
	return 0;
}

int row_batch_init(struct row_batch *b, const struct schema *s, unsigned room)
{
	return make_batch(b, s, room, BYTES_FIRST);
}

void row_batch_fini(struct row_batch *b)
{
	free(b->cells);
	free(b->bytes);
	*b = (struct row_batch){.schema = b->schema};
}

void row_batch_clear(struct row_batch *b)
{
	b->rows = 0;
	b->used = 0;
	b->err = 0;
	clear_row(b);
}

int row_batch_copy(struct row_batch *to, const struct row_batch *b)
{
	size_t cells = (size_t)b->rows * b->schema->n * sizeof(b->cells[0]);

	if (make_batch(to, b->schema, b->rows, b->used + BYTES_FIRST) < 0)
		return -ENOMEM;
	memcpy(to->cells, b->cells, cells);
	memcpy(to->bytes, b->bytes, b->used);
	to->rows = b->rows;
	to->used = b->used;
	to->err = b->err;
	clear_row(to);
	return 0;
}

static int bytes_grow(struct row_batch *b, size_t to)
{
	size_t size = b->size;
	uint8_t *more;

	while (to > size)
		size *= 2;
	if (to > UINT32_MAX || !(more = realloc(b->bytes, size)))
		return -ENOMEM;
	b->bytes = more;
	b->size = size;
	return 0;
}

/* Starts at a multiple of 8 bytes, as lists are read as uint64_t. n: the cell's
 * len, in bytes or numbers. */
static inline void set_bytes(struct row_batch *b, unsigned field, uint8_t kind,
			     const void *data, size_t len, size_t n)
{
	struct row_cell *c = row_batch_set(b, field, ROW_NULL);
	size_t from = (b->used + 7) & ~(size_t)7;

	if (from + len > b->size && !b->err)
		b->err = bytes_grow(b, from + len);
	if (b->err)
		return;
	if (len)
		memcpy(b->bytes + from, data, len);
	b->used = from + len;
	*c = (struct row_cell){
		.kind = kind, .at = (uint32_t)from, .len = (uint32_t)n};
}

void row_batch_str(struct row_batch *b, unsigned field, const char *v)
{
	size_t len;

	if (!v) {
		row_batch_set(b, field, ROW_NULL);
		return;
	}
	len = strlen(v);
	set_bytes(b, field, ROW_STR, v, len + 1, len);
}

void row_batch_bytes(struct row_batch *b, unsigned field, const void *data,
		     size_t len)
{
	set_bytes(b, field, ROW_BYTES, data, len, len);
}

void row_batch_list(struct row_batch *b, unsigned field, const uint64_t *v,
		    size_t n)
{
	set_bytes(b, field, ROW_LIST, v, n * sizeof(*v), n);
}

void row_batch_flow(struct row_batch *b, unsigned field, const uint8_t *key,
		    size_t len)
{
	char text[KEY_TEXT_MAX];

	if (!len)
		return;
	key_format(text, len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6, key,
		   len);
	row_batch_str(b, field, text);
}

static int grow_cells(struct row_batch *b)
{
	unsigned room = b->room * 2 + 1;
	struct row_cell *more = realloc(b->cells, (size_t)(room + 1) *
							  b->schema->n *
							  sizeof(b->cells[0]));

	if (!more)
		return -ENOMEM;
	b->cells = more;
	b->room = room;
	return 0;
}

int row_batch_end(struct row_batch *b)
{
	if (!b->err && b->rows == b->room)
		b->err = grow_cells(b);
	if (!b->err)
		b->rows++;
	clear_row(b);
	return b->err;
}

/* --- rows, field by field ------------------------------------------------- */

struct rows *rows_open(struct row_sink *sink, const struct schema *s,
		       unsigned batch_rows)
{
	struct rows *r = calloc(1, sizeof(*r));

	if (!r || row_batch_init(&r->b, s, batch_rows) < 0) {
		free(r);
		return NULL;
	}
	r->sink = sink;
	r->batch_rows = batch_rows;
	return r;
}

struct rows *rows_open_own(struct row_sink *sink, const struct schema *s,
			   unsigned batch_rows)
{
	struct rows *r = sink ? rows_open(sink, s, batch_rows) : NULL;

	if (r)
		r->own = true;
	else if (sink)
		sink->close(sink);
	return r;
}

struct rows *rows_print(FILE *out, enum row_format fmt, const struct schema *s,
			bool head)
{
	return rows_open_own(stream_sink_open(out, fmt, head, false), s, 1);
}

static int put_batch(struct rows *r)
{
	int rc = r->sink->put(r->sink, &r->b);

	if (!r->err)
		r->err = rc;
	row_batch_clear(&r->b);
	return r->err;
}

int rows_head(struct rows *r)
{
	return put_batch(r);
}

int row_end(struct rows *r)
{
	int rc = row_batch_end(&r->b);

	if (rc < 0 && !r->err)
		r->err = rc;
	return r->b.rows < r->batch_rows ? r->err : put_batch(r);
}

int rows_flush(struct rows *r)
{
	int rc = r->b.rows ? put_batch(r) : r->err, flushed;

	flushed = r->sink->flush(r->sink);
	return rc ? rc : flushed;
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	if (r->b.rows || r->own)
		put_batch(r); /* an empty one, too: it prints a header */
	if (r->own)
		r->sink->close(r->sink);
	row_batch_fini(&r->b);
	free(r);
}
