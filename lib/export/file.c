/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - rows in a file: file:PATH, to which they are added. %m in PATH is
 * the schema's name: a file for each kind of row.
 *
 *	format=ndjson	or csv, text
 *
 * A header comes before the first row, and before the first one of another
 * schema; a file that was not empty gets none. A CSV file has one kind of row:
 * csv needs %m, and does not add to a file whose first line is another header.
 *
 * PATH may be a pipe: a write waits for its reader, until export_stop. What
 * cannot be written now, to a full disk or a pipe whose reader is gone, is
 * tried again from where the last try ended.
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
	POLL_MS = 100, /* between looks at export_stop */
};

struct out {
	bool open;
	int fd;
	bool headers; /* are written: the file was empty */
	const struct schema *last_header;
};

struct file {
	const char *path;
	const char *name_at; /* %m in path; NULL: there is none */
	const struct export_stop *stop;
	uint8_t format;
	struct out out; /* of all schemas, if path has no %m */
	/* The batch that is being written. */
	bool begun; /* by an earlier try, which has made its text */
	struct outbuf text;
	size_t at; /* bytes of text that are written */
};

struct schema_state {
	struct encoder *encoder;
	const struct schema *schema;
	struct out out; /* of this schema, if path has %m */
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

/* Writes the rest of the text. 0 or -errno. */
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
			poll(&room, 1, POLL_MS);
	}
	return 0;
}

/* The path of a schema's file. */
static void make_path(const struct file *x, const char *name,
		      char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.*s%s%s",
		 (int)(x->name_at ? x->name_at - x->path : PATH_MAX), x->path,
		 x->name_at ? name : "", x->name_at ? x->name_at + 2 : "");
}

/* Opens a schema's file, if it is not open. 0 or -errno with err set. */
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
	o->headers = lseek(o->fd, 0, SEEK_END) <= 0;
	o->open = true;
	return 0;
}

static const struct file defaults = {.format = ROW_SPARSE}; /* none asked for */

static int file_open(void *self, struct url *u, const struct export_options *o,
		     struct export_stop *stop, struct error *err)
{
	const char *slash = strrchr(u->path, '/'), *dot = strrchr(u->path, '.');
	char folder[PATH_MAX];
	struct file *x = self;

	(void)o;
	x->path = u->path;
	x->name_at = strstr(x->path, "%m");
	x->stop = stop;
	if (x->format == defaults.format)
		x->format = dot && !strcmp(dot, ".csv") ? ROW_CSV : ROW_NDJSON;
	if (!*x->path)
		return error_set(err, -EINVAL, "no path: file:PATH");
	if (!x->name_at && x->format == ROW_CSV)
		return error_set(err, -EINVAL,
				 "a CSV file has one kind of row: put %%m into "
				 "its name, for the kind's");
	if (!x->name_at)
		return open_out(&x->out, x, "", err);
	snprintf(folder, sizeof(folder), "%.*s.",
		 slash ? (int)(slash + 1 - x->path) : 0, x->path);
	return access(folder, W_OK) == 0
		       ? 0
		       : error_set(err, -errno, "%s", strerror(errno));
}

static void file_close_schema(void *schema_state)
{
	struct schema_state *state = schema_state;

	encoder_close(state->encoder);
	if (state->out.open)
		close(state->out.fd);
}

/* A CSV file that exists must begin with this schema's header. */
static int check_header(const struct file *x, const struct schema_state *state,
			struct error *err)
{
	char path[PATH_MAX], found[OUTBUF_SIZE];
	struct outbuf head = {0};
	ssize_t n;
	int fd;

	encoder_head(state->encoder, &head);
	make_path(x, state->schema->name, path);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	n = fd < 0 ? 0 : pread(fd, found, head.len, 0);
	if (fd >= 0)
		close(fd);
	if (n <= 0 || /* no file, an empty one, or a pipe */
	    ((size_t)n == head.len && !memcmp(found, head.buf, head.len)))
		return 0;
	return error_set(err, -EEXIST,
			 "%s holds something else: its first line is not the "
			 "header of %s",
			 path, state->schema->name);
}

static int file_open_schema(void *schema_state, void *self,
			    const struct schema *s, struct error *err)
{
	const struct file *x = self;
	struct schema_state *state = schema_state;

	state->schema = s;
	if (!(state->encoder = encoder_open(x->format, s, true)))
		return error_set(err, -ENOMEM, "out of memory");
	return x->format == ROW_CSV ? check_header(x, state, err) : 0;
}

static int file_take(void *self, void *schema_state, const struct row_batch *b,
		     struct export_tally *t, struct error *err)
{
	struct schema_state *state = schema_state;
	struct file *x = self;
	struct out *o = x->name_at ? &state->out : &x->out;
	int rc = open_out(o, x, state->schema->name, err);

	if (rc < 0)
		return rc;
	if (!x->begun) {
		outbuf_cut(&x->text, 0);
		x->text.err = 0;
		x->at = 0;
		if (o->headers && o->last_header != state->schema)
			encoder_head(state->encoder, &x->text);
		for (unsigned i = 0; i < b->rows; i++)
			encoder_row(state->encoder, &x->text, b, i);
	}
	rc = write_rest(x, o->fd);
	x->begun = rc < 0;
	if (rc < 0)
		return error_set(err, rc, "%s", strerror(-rc));
	o->last_header = state->schema;
	t->written += b->rows;
	return 0;
}

const struct export_scheme export_file = {
	.scheme = "file",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = file_open,
	.driver = {.close = file_close,
		   .state_size = sizeof(struct schema_state),
		   .open_schema = file_open_schema,
		   .close_schema = file_close_schema,
		   .take = file_take},
};
