/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - rows in a file: file:PATH, to which they are added. %m in PATH is
 * the schema's name: a file for each kind of row.
 *
 *	format=ndjson	or csv, text
 *
 * There is a header in the file before the first row, and before that of
 * another schema; none if it was not empty. A CSV file has one kind of row: CSV
 * needs %m, and is not added to a file whose first line is another header.
 *
 * It may be a pipe, which may not be read: writing ends when
 * all waiting does. What cannot be written now, to a full disk or a pipe whose
 * reader is gone, is tried again from where the last try ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/driver.h"
#include "row/row.h"

enum {
	LOOK_MS = 100, /* between looks at whether it is the end */
};

struct out {
	bool open;
	int fd;
	bool heads;		     /* there are some in this file */
	const struct schema *headed; /* whose header was the last */
};

struct file {
	const char *path;
	const char *kind; /* %m in it, or NULL */
	const struct export_stop *stop;
	uint8_t format;
	struct out out; /* without kind */
	/* Of the batch in hand. */
	bool begun;
	struct outbuf text;
	size_t at; /* bytes of it that are written */
};

struct form {
	struct encoder *e;
	const struct schema *schema;
	struct out out; /* with kind */
};

/* clang-format off */
static const struct field fields[] = {
	{"format", FIELD_NAME, 1, offsetof(struct file, format),
	 .names = row_format_names},
	{NULL},
};
/* clang-format on */

static void file_close(void *self)
{
	struct file *x = self;

	if (x->out.open)
		close(x->out.fd);
	free(x->text.text);
	free(x);
}

/* The rest of the text in hand. 0 or -errno. */
static int write_rest(struct file *x, int fd)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	size_t len;
	const char *text = outbuf_text(&x->text, &len);
	ssize_t n;

	if (!text)
		return x->text.err;
	while (x->at < len) {
		n = write(fd, text + x->at, len - x->at);
		if (n >= 0)
			x->at += (size_t)n;
		else if (errno != EAGAIN)
			return -errno;
		else if (x->stop->now)
			return -ECANCELED;
		else
			poll(&room, 1, LOOK_MS);
	}
	return 0;
}

/* The file of a schema. */
static void make_path(const struct file *x, const char *name,
		      char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.*s%s%s",
		 (int)(x->kind ? x->kind - x->path : PATH_MAX), x->path,
		 x->kind ? name : "", x->kind ? x->kind + 2 : "");
}

/* Opens it, if it is not. 0 or -errno with err set. */
static int open_out(struct out *o, const struct file *x, const char *name,
		    struct error *err)
{
	char path[PATH_MAX];

	if (o->open)
		return 0;
	make_path(x, name, path);
	o->fd = open(path,
		     O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC,
		     0666);
	if (o->fd < 0)
		return error_set(err, -errno, "%s",
				 errno == ENXIO ? "nobody reads from it"
						: strerror(errno));
	o->heads = lseek(o->fd, 0, SEEK_END) <= 0;
	o->open = true;
	return 0;
}

static const struct file defaults = {.format = ROW_NDJSON};

static int file_open(void *self, struct url *u, const struct export_options *o,
		     struct export_stop *stop, struct error *err)
{
	const char *slash = strrchr(u->path, '/');
	char folder[PATH_MAX];
	struct file *x = self;

	(void)o;
	x->path = u->path;
	x->kind = strstr(x->path, "%m");
	x->stop = stop;
	if (!*x->path)
		return error_set(err, -EINVAL, "no path: file:PATH");
	if (!x->kind && x->format == ROW_CSV)
		return error_set(err, -EINVAL,
				 "a CSV file has one kind of row: put %%m into "
				 "its name, for the kind's");
	if (!x->kind)
		return open_out(&x->out, x, "", err);
	snprintf(folder, sizeof(folder), "%.*s.",
		 slash ? (int)(slash + 1 - x->path) : 0, x->path);
	return access(folder, W_OK) == 0
		       ? 0
		       : error_set(err, -errno, "%s", strerror(errno));
}

static void file_unshape(void *shape)
{
	struct form *m = shape;

	encoder_close(m->e);
	if (m->out.open)
		close(m->out.fd);
}

/* A CSV file has one header, which is this one's. */
static int check_head(const struct file *x, const struct form *m,
		      struct error *err)
{
	char path[PATH_MAX], there[OUTBUF_SIZE];
	struct outbuf head = {0};
	ssize_t n;
	int fd;

	encoder_head(m->e, &head);
	make_path(x, m->schema->name, path);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	n = fd < 0 ? 0 : pread(fd, there, head.len, 0);
	if (fd >= 0)
		close(fd);
	if (n <= 0 || /* or a pipe */
	    ((size_t)n == head.len && !memcmp(there, head.buf, head.len)))
		return 0;
	return error_set(err, -EEXIST,
			 "%s holds something else: its first line is not the "
			 "header of %s",
			 path, m->schema->name);
}

static int file_shape(void *shape, void *self, const struct schema *s,
		      struct error *err)
{
	const struct file *x = self;
	struct form *m = shape;

	m->schema = s;
	if (!(m->e = encoder_open(x->format, s, true)))
		return error_set(err, -ENOMEM, "out of memory");
	return x->format == ROW_CSV ? check_head(x, m, err) : 0;
}

static int file_take(void *self, void *shape, const struct row_batch *b,
		     struct export_tally *t, struct error *err)
{
	struct form *m = shape;
	struct file *x = self;
	struct out *o = x->kind ? &m->out : &x->out;
	int rc = open_out(o, x, m->schema->name, err);

	if (rc < 0)
		return rc;
	if (!x->begun) {
		outbuf_cut(&x->text, 0);
		x->text.err = 0;
		x->at = 0;
		if (o->heads && o->headed != m->schema)
			encoder_head(m->e, &x->text);
		for (unsigned i = 0; i < b->rows; i++)
			encoder_row(m->e, &x->text, b, i);
	}
	rc = write_rest(x, o->fd);
	x->begun = rc < 0;
	if (rc < 0)
		return error_set(err, rc, "%s", strerror(-rc));
	o->headed = m->schema;
	t->written += b->rows;
	return 0;
}

const struct export_scheme export_file = {
	.scheme = "file",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = file_open,
	.driver =
		{
			.close = file_close,
			.shape_size = sizeof(struct form),
			.shape = file_shape,
			.unshape = file_unshape,
			.take = file_take,
		},
};
