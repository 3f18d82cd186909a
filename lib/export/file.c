/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - rows in a file: file:PATH, to which they are added.
 *
 *	format=ndjson	or csv, text
 *
 * It may be a pipe, of which nobody knows whether it is read: writing ends when
 * all waiting does. What cannot be written now, to a full disk or a pipe whose
 * reader is gone, is tried again from where the last try ended.
 *
 * A block has an item for each row; the key of its first is the header of its
 * rows. There is one in the file before the first row, and before that of
 * another header; none if it was not empty.
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
	const struct stop *stop;
	uint8_t format;
	struct outbuf row; /* the packer's */
	/* The sender's. */
	bool heads;	    /* there are some in this file */
	struct outbuf head; /* the last one */
	size_t torn; /* bytes of the row in hand that are there already */
};

struct form {
	struct encoder *e;
	char *head;
	size_t head_len;
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
	if (x->fd >= 0)
		close(x->fd);
	free(x->row.text);
	free(x->head.text);
	free(x);
}

/* Returns how many bytes were written; fewer: errno says why. */
static size_t write_out(struct file *x, const char *p, size_t len)
{
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
	return done;
}

static int start(struct file *x, const char *path, struct fault *f)
{
	if (!*path)
		return fault_set(f, -EINVAL, "no path: file:PATH");
	x->fd = open(path,
		     O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC,
		     0666);
	if (x->fd < 0)
		return fault_set(f, -errno, "%s",
				 errno == ENXIO ? "nobody reads from it"
						: strerror(errno));
	x->heads = lseek(x->fd, 0, SEEK_END) <= 0;
	return 0;
}

static int file_open(void **out, struct url *u, const struct export_options *o,
		     struct stop *stop, struct fault *f)
{
	struct file *x = calloc(1, sizeof(*x));
	int rc;

	(void)o;
	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	x->fd = -1;
	x->stop = stop;
	x->format = ROW_NDJSON;
	rc = url_set(u, fields, x, f);
	if (rc == 0)
		rc = start(x, u->path, f);
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
	free(m->head);
	free(m);
}

static int file_shape(void **out, void *self, const struct schema *s,
		      struct fault *f)
{
	struct file *x = self;
	struct form *m = calloc(1, sizeof(*m));
	struct outbuf o = {0};

	if (m && (m->e = encoder_open(x->format, s)) &&
	    encoder_say_schema(m->e)) {
		encoder_head(m->e, &o);
		m->head = outbuf_take(&o, &m->head_len);
	}
	if (!m || !m->head) {
		file_unshape(m);
		return fault_set(f, -ENOMEM, "out of memory");
	}
	*out = m;
	return 0;
}

static void file_encode(void *self, void *shape, struct outbuf *to,
			const struct row_batch *b, unsigned row, uint32_t rows)
{
	struct form *m = shape;
	struct file *x = self;
	struct item i = {.key = m->head,
			 .key_len = rows ? 0 : (uint32_t)m->head_len};
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

/* Bytes of the header that goes before a row. */
static size_t head_of(struct file *x, const struct item *i)
{
	size_t len;
	const char *last = outbuf_text(&x->head, &len);

	if (!x->heads || !i->key_len ||
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

	while (item_next(&i, b, &at) > 0) {
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

	while (b->rows && item_next(&i, b, &at) > 0) {
		head = head_of(x, &i);
		if (head + i.len > done)
			break;
		if (head) {
			outbuf_cut(&x->head, 0);
			outbuf_bytes(&x->head, i.key, head);
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
	char *text = malloc(b->len + 1);
	size_t len, done;
	int err = 0;

	if (!text)
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
