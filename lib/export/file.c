/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - rows in a file: file:PATH, to which they are added. %m in PATH is
 * the schema's name: a file for each kind of row.
 *
 *	format=ndjson	or csv, text
 *
 * A CSV file has one kind of row: CSV needs %m, and is not added to a file
 * whose first line is another header.
 *
 * It may be a pipe, of which nobody knows whether it is read: writing ends when
 * all waiting does. What cannot be written now, to a full disk or a pipe whose
 * reader is gone, is tried again from where the last try ended.
 *
 * A block has an item for each row, of one schema. Its key is the schema's name
 * where PATH has %m, and a colon; of the first row in the block, the header is
 * behind that. There is a header in the file before the first row, and before
 * that of another header; none if it was not empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/private.h"
#include "row/encode.h"

enum {
	NAME_MAX_LEN = 64, /* of a schema */
};

/* A file that is open. */
struct out {
	struct out *next;
	char name[NAME_MAX_LEN]; /* of its schema; "" where PATH has no %m */
	int fd;
	bool heads;	    /* there are some in this file */
	struct outbuf head; /* the last one */
};

struct file {
	const char *path;
	const char *kind; /* %m in it, or NULL */
	const struct stop *stop;
	uint8_t format;
	struct outbuf row; /* the packer's */
	/* The sender's. */
	struct out *outs;
	struct out *x; /* of the block in hand */
	size_t torn;   /* bytes of the row in hand that are there already */
};

/* The key of a block's first row is whole, of the others named bytes. */
struct form {
	struct encoder *e;
	char *key;
	size_t key_len, named;
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
	struct out *next;

	if (!x)
		return;
	for (struct out *o = x->outs; o; o = next) {
		next = o->next;
		close(o->fd);
		free(o->head.text);
		free(o);
	}
	free(x->row.text);
	free(x);
}

/* Returns how many bytes were written; fewer: errno says why. */
static size_t write_out(struct file *x, const char *p, size_t len)
{
	struct pollfd fds[] = {{.fd = x->x->fd, .events = POLLOUT},
			       {.fd = x->stop->fd, .events = POLLIN}};
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write(x->x->fd, p + done, len - done);
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
	return done;
}

/* The file of a schema. */
static void path_of(const struct file *x, const char *name, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.*s%s%s",
		 (int)(x->kind ? x->kind - x->path : PATH_MAX), x->path, name,
		 x->kind ? x->kind + 2 : "");
}

/* Makes it the file in hand. */
static int turn_to(struct file *x, const char *name, struct fault *f)
{
	char path[PATH_MAX];
	struct out *o = x->outs;

	while (o && strcmp(o->name, name) != 0)
		o = o->next;
	x->x = o;
	if (o)
		return 0;
	if (!(o = calloc(1, sizeof(*o))))
		return fault_set(f, -ENOMEM, "out of memory");
	path_of(x, name, path);
	o->fd = open(path,
		     O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC,
		     0666);
	if (o->fd < 0) {
		int err = errno;

		free(o);
		return fault_set(f, -err, "%s",
				 err == ENXIO ? "nobody reads from it"
					      : strerror(err));
	}
	snprintf(o->name, sizeof(o->name), "%s", name);
	o->heads = lseek(o->fd, 0, SEEK_END) <= 0;
	o->next = x->outs;
	x->x = x->outs = o;
	return 0;
}

static int start(struct file *x, struct fault *f)
{
	const char *slash = strrchr(x->path, '/');
	char folder[PATH_MAX];

	if (!*x->path)
		return fault_set(f, -EINVAL, "no path: file:PATH");
	if (!x->kind && x->format == ROW_CSV)
		return fault_set(f, -EINVAL,
				 "a CSV file has one kind of row: put %%m into "
				 "its name, for the kind's");
	if (!x->kind)
		return turn_to(x, "", f);
	snprintf(folder, sizeof(folder), "%.*s.",
		 slash ? (int)(slash + 1 - x->path) : 0, x->path);
	return access(folder, W_OK) == 0
		       ? 0
		       : fault_set(f, -errno, "%s", strerror(errno));
}

static int file_open(void **out, struct url *u, const struct export_options *o,
		     struct stop *stop, struct fault *f)
{
	struct file *x = calloc(1, sizeof(*x));
	int rc;

	(void)o;
	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	x->path = u->path;
	x->kind = strstr(x->path, "%m");
	x->stop = stop;
	x->format = ROW_NDJSON;
	rc = url_set(u, fields, x, f);
	if (rc == 0)
		rc = start(x, f);
	if (rc < 0) {
		file_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

static void file_unshape(void *shape)
{
	struct form *m = shape;

	if (!m)
		return;
	encoder_close(m->e);
	free(m->key);
	free(m);
}

/* Whether a file, of CSV, begins with a header, if it is there. */
static bool begins_with(const char *path, const char *head, size_t len)
{
	struct stat st;
	char *text;
	bool same;
	FILE *in;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return true;
	text = malloc(len);
	in = fopen(path, "re");
	same = text && in && fread(text, 1, len, in) == len &&
	       !memcmp(text, head, len);
	free(text);
	if (in)
		fclose(in);
	return same;
}

static int shape(struct form *m, const struct file *x, const struct schema *s,
		 struct fault *f)
{
	struct outbuf o = {0};
	char path[PATH_MAX];

	m->e = encoder_open(x->format, s);
	if (!m->e || !encoder_say_schema(m->e))
		return fault_set(f, -ENOMEM, "out of memory");
	if (x->kind) {
		outbuf_bytes(&o, s->name, strnlen(s->name, NAME_MAX_LEN - 1));
		outbuf_char(&o, ':');
		m->named = outbuf_len(&o);
	}
	encoder_head(m->e, &o);
	if (!(m->key = outbuf_take(&o, &m->key_len)))
		return fault_set(f, -ENOMEM, "out of memory");
	path_of(x, s->name, path);
	if (x->format == ROW_CSV &&
	    !begins_with(path, m->key + m->named, m->key_len - m->named))
		return fault_set(f, -EEXIST,
				 "%s holds something else: its first line is "
				 "not the header of %s",
				 path, s->name);
	return 0;
}

static int file_shape(void **out, void *self, const struct schema *s,
		      struct fault *f)
{
	struct form *m = calloc(1, sizeof(*m));
	int rc = m ? shape(m, self, s, f)
		   : fault_set(f, -ENOMEM, "out of memory");

	if (rc < 0)
		file_unshape(m);
	else
		*out = m;
	return rc;
}

static void file_encode(void *self, void *shape, struct outbuf *to,
			const struct row_batch *b, unsigned row, uint32_t rows)
{
	struct form *m = shape;
	struct file *x = self;
	struct item i = {.key = m->key,
			 .key_len = (uint32_t)(rows ? m->named : m->key_len)};
	size_t len;

	outbuf_cut(&x->row, 0);
	encoder_row(m->e, &x->row, b, row);
	i.payload = outbuf_text(&x->row, &len);
	i.len = (uint32_t)len;
	if (i.payload)
		item_put(to, &i);
	else
		to->err = -ENOMEM;
}

/* Takes the schema's name off an item's key. False: there is none. */
static bool take_name(const struct file *x, struct item *i,
		      char name[NAME_MAX_LEN])
{
	const char *colon = x->kind ? memchr(i->key, ':', i->key_len) : NULL;
	size_t n = colon ? (size_t)(colon - i->key) : 0;

	if (x->kind && (!n || n >= NAME_MAX_LEN || memchr(i->key, '/', n)))
		return false;
	memcpy(name, i->key, n);
	name[n] = '\0';
	i->key += n + (x->kind != NULL);
	i->key_len -= (uint32_t)(n + (x->kind != NULL));
	return true;
}

/* The next row of the block in hand, its key the header alone. */
static bool next_row(struct item *i, const struct file *x,
		     const struct block *b, size_t *at)
{
	char name[NAME_MAX_LEN];

	return item_next(i, b, at) > 0 && take_name(x, i, name) &&
	       !strcmp(name, x->x->name);
}

/* The file of a block. 0; -errno: it cannot be opened, or nothing in the block
 * says which it is. */
static int file_of(struct file *x, const struct block *b, struct fault *f)
{
	char name[NAME_MAX_LEN];
	size_t at = b->at;
	struct item i;

	if (item_next(&i, b, &at) <= 0 || !take_name(x, &i, name))
		return fault_set(f, -EBADMSG, "damaged");
	return turn_to(x, name, f);
}

/* Bytes of the header that goes before a row. */
static size_t head_of(struct file *x, const struct item *i)
{
	size_t len;
	const char *last = outbuf_text(&x->x->head, &len);

	if (!x->x->heads || !i->key_len ||
	    (last && len == i->key_len && !memcmp(last, i->key, len)))
		return 0;
	return i->key_len;
}

/* All rows of a block as they are in the file. Returns how many bytes that is.
 * What is no row any more, in a spool, ends it. */
static size_t gather(struct file *x, char *text, const struct block *b)
{
	size_t at = b->at, len = 0, head;
	struct item i;

	while (next_row(&i, x, b, &at)) {
		head = head_of(x, &i);
		memcpy(text + len, i.key, head);
		memcpy(text + len + head, i.payload, i.len);
		len += head + i.len;
	}
	return len;
}

/* So many bytes of the block are in the file: the rows which that makes. */
static void settle(struct file *x, struct block *b, struct tally *t,
		   size_t done)
{
	size_t at = b->at, head;
	struct item i;

	while (b->rows && next_row(&i, x, b, &at)) {
		head = head_of(x, &i);
		if (head + i.len > done)
			break;
		if (head) {
			outbuf_cut(&x->x->head, 0);
			outbuf_bytes(&x->x->head, i.key, head);
		}
		done -= head + i.len;
		b->at = at;
		b->rows--;
		t->written++;
	}
	x->torn = done;
}

static int file_send(void *self, struct block *b, struct tally *t,
		     struct fault *f)
{
	struct file *x = self;
	int err = file_of(x, b, f);
	size_t len, done;
	char *text;

	if (err == -EBADMSG) {
		block_refuse(b, t, "damaged");
		return 0;
	}
	if (err)
		return err;
	if (!(text = malloc(b->len + 1)))
		return fault_set(f, -ENOMEM, "out of memory");
	len = gather(x, text, b);
	if (len < x->torn) /* not the block it was: as for a new one */
		x->torn = 0;
	done = x->torn + write_out(x, text + x->torn, len - x->torn);
	if (done < len)
		err = errno;
	free(text);
	settle(x, b, t, done);
	if (err)
		return fault_set(f, -err, "%s", strerror(err));
	if (b->rows)
		block_refuse(b, t, "damaged");
	return 0;
}

const struct export_scheme export_file = {
	.scheme = "file",
	.open = file_open,
	.driver =
		{
			.close = file_close,
			.shape = file_shape,
			.unshape = file_unshape,
			.encode = file_encode,
			.send = file_send,
		},
};
