/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/tee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
