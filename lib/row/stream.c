/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.c - the sink that writes to a stream, and the one before several. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "row/encode.h"
#include "row/outbuf.h"

struct stream_sink {
	struct row_sink sink;
	enum row_format fmt;
	bool head, mixed;
	const struct schema *schema; /* of e */
	struct encoder *e;
	struct outbuf o;
};

/* The encoder of a schema, and its header, if it is not the last one's. */
static int turn_to(struct stream_sink *s, const struct schema *to)
{
	if (s->schema == to)
		return 0;
	encoder_close(s->e);
	s->schema = NULL;
	if (!(s->e = encoder_open(s->fmt, to)) ||
	    (s->mixed && !encoder_say_schema(s->e)))
		return -ENOMEM;
	s->schema = to;
	if (s->head)
		encoder_head(s->e, &s->o);
	return 0;
}

static int stream_put(struct row_sink *sink, struct row_batch *b)
{
	struct stream_sink *s = (struct stream_sink *)sink;
	int rc = turn_to(s, b->schema);

	for (unsigned i = 0; !rc && i < b->rows; i++) {
		encoder_row(s->e, &s->o, b, i);
		outbuf_spill(&s->o);
	}
	if (s->o.len) /* a header alone */
		outbuf_spill(&s->o);
	return rc ? rc : s->o.err;
}

static int stream_flush(struct row_sink *sink)
{
	struct stream_sink *s = (struct stream_sink *)sink;

	errno = 0;
	if (!s->o.err && fflush(s->o.out) != 0)
		s->o.err = errno ? -errno : -EIO;
	return s->o.err;
}

static int stream_close(struct row_sink *sink)
{
	struct stream_sink *s = (struct stream_sink *)sink;
	int rc = s->o.err;

	encoder_close(s->e);
	free(s);
	return rc;
}

static struct row_sink *open_sink(FILE *out, enum row_format fmt, bool head,
				  bool mixed)
{
	struct stream_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sink = (struct row_sink){stream_put, stream_flush, stream_close};
	s->fmt = fmt;
	s->head = head;
	s->mixed = mixed;
	s->o.out = out;
	return &s->sink;
}

struct row_sink *stream_sink_open(FILE *out, enum row_format fmt, bool head)
{
	return open_sink(out, fmt, head, false);
}

struct row_sink *stream_sink_mixed(FILE *out, enum row_format fmt, bool head)
{
	return open_sink(out, fmt, head, true);
}

/* --- to several ---------------------------------------------------------- */

struct tee {
	struct row_sink sink;
	unsigned n;
	struct row_sink *to[];
};

static int put_copy(struct row_sink *to, const struct row_batch *b)
{
	struct row_batch copy;
	int rc = row_batch_copy(&copy, b);

	if (rc < 0)
		return rc;
	rc = to->put(to, &copy);
	row_batch_fini(&copy);
	return rc;
}

/* Sinks may take the rows over: all but the last get a copy. */
static int tee_put(struct row_sink *sink, struct row_batch *b)
{
	struct tee *t = (struct tee *)sink;
	int first = 0, rc;

	for (unsigned i = 0; i < t->n; i++) {
		rc = i + 1 < t->n ? put_copy(t->to[i], b)
				  : t->to[i]->put(t->to[i], b);
		first = first ? first : rc;
	}
	return first;
}

static int tee_flush(struct row_sink *sink)
{
	struct tee *t = (struct tee *)sink;
	int first = 0, rc;

	for (unsigned i = 0; i < t->n; i++) {
		rc = t->to[i]->flush(t->to[i]);
		first = first ? first : rc;
	}
	return first;
}

static int tee_close(struct row_sink *sink)
{
	int rc = tee_flush(sink);

	free(sink);
	return rc;
}

struct row_sink *tee_open(struct row_sink *const *to, unsigned n)
{
	struct tee *t = calloc(1, sizeof(*t) + n * sizeof(t->to[0]));

	if (!t)
		return NULL;
	t->sink = (struct row_sink){tee_put, tee_flush, tee_close};
	t->n = n;
	memcpy(t->to, to, n * sizeof(t->to[0]));
	return &t->sink;
}
