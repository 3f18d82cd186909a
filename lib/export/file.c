/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - rows in a file: file:PATH, to which they are added.
 *
 *	format=ndjson	or csv, text
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/private.h"
#include "row/encode.h"

struct file {
	FILE *out;
	struct row_sink *sink;
	uint8_t format;
};

static const char *const formats[] = {"text", "csv", "ndjson", NULL};

/* clang-format off */
static const struct field fields[] = {
	{"format", FIELD_NAME, 1, offsetof(struct file, format),
	 .names = formats},
	{NULL},
};
/* clang-format on */

static void file_close(void *self)
{
	struct file *x = self;

	if (!x)
		return;
	if (x->sink)
		x->sink->close(x->sink);
	if (x->out)
		fclose(x->out);
	free(x);
}

/* A header is for the beginning of a file. */
static int start(struct file *x, const char *path, struct fault *f)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (fd < 0 || !(x->out = fdopen(fd, "a")))
		return fault_set(f, -errno, "%s", strerror(errno));
	x->sink = stream_sink_mixed(x->out, x->format, end <= 0);
	return x->sink ? 0 : fault_set(f, -ENOMEM, "out of memory");
}

static int file_open(void **out, struct export_url *u,
		     const struct export_options *o, struct stop *stop,
		     struct fault *f)
{
	struct file *x = calloc(1, sizeof(*x));
	int rc;

	(void)o;
	(void)stop;
	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	x->format = ROW_NDJSON;
	rc = export_url_set(u, fields, x, f);
	if (rc == 0)
		rc = start(x, u->path, f);
	if (rc < 0) {
		file_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

static int file_shape(void **out, void *self, const struct schema *s,
		      struct fault *f)
{
	(void)s;
	(void)f;
	*out = self;
	return 0;
}

static void file_unshape(void *shape)
{
	(void)shape;
}

static int file_take(void *self, void *shape, struct row_batch *b,
		     struct tally *t, struct fault *f)
{
	struct file *x = self;
	int rc = x->sink->put(x->sink, b);

	(void)shape;
	if (rc == 0)
		rc = x->sink->flush(x->sink);
	if (rc == 0) {
		t->written += b->rows;
		return 0;
	}
	t->refused += b->rows;
	fault_set(&t->why, rc, "%s", strerror(-rc));
	return fault_set(f, rc, "%s", strerror(-rc));
}

const struct export_scheme export_file = {
	.scheme = "file",
	.open = file_open,
	.driver =
		{
			.close = file_close,
			.shape = file_shape,
			.unshape = file_unshape,
			.take = file_take,
		},
};
