/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - rows in a file: file:PATH, to which they are added.
 *
 *	format=ndjson	or csv, text
 *
 * It may be a pipe, of which nobody knows whether it is read: writing ends when
 * all waiting does.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/private.h"
#include "row/encode.h"

struct file {
	int fd;
	FILE *out; /* writes to fd */
	const struct stop *stop;
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
	if (x->fd >= 0)
		close(x->fd);
	free(x);
}

static ssize_t write_out(void *self, const char *p, size_t len)
{
	struct file *x = self;
	struct pollfd fds[] = {{.fd = x->fd, .events = POLLOUT},
			       {.fd = x->stop->fd, .events = POLLIN}};
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write(x->fd, p + done, len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EAGAIN)
			break;
		else if (x->stop->now) {
			errno = ECANCELED;
			break;
		} else
			poll(fds, 2, -1);
	}
	return (ssize_t)done;
}

/* A header is for the beginning of a file. */
static int start(struct file *x, const char *path, struct fault *f)
{
	const cookie_io_functions_t io = {.write = write_out};
	off_t end;

	if (!*path)
		return fault_set(f, -EINVAL, "no path: file:PATH");
	x->fd = open(path,
		     O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC,
		     0666);
	if (x->fd < 0)
		return fault_set(f, -errno, "%s",
				 errno == ENXIO ? "nobody reads from it"
						: strerror(errno));
	end = lseek(x->fd, 0, SEEK_END);
	if (!(x->out = fopencookie(x, "a", io)))
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
	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	x->fd = -1;
	x->stop = stop;
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
