/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region/region_file.h"

enum {
	AHEAD = 16384,	 /* bytes of counts that are read at once */
	CHUNK = 1 << 20, /* bytes between two looks at stop */
	STATE_LEN = offsetof(struct region_state, notified),
};

struct far {
	struct memory memory;
	char *path;
	struct memory_link link;
	const atomic_int *stop;
	struct region_header h; /* a checked copy */
	uint8_t *values;
	bool broken;
	struct error why;
	/* Counts of lists, read ahead. */
	uint64_t ahead_at;
	size_t ahead_len;
	uint8_t ahead[AHEAD];
};

static struct far *far_of(const struct memory *m)
{
	return (struct far *)((char *)m - offsetof(struct far, memory));
}

static int read_pieces(struct far *far, const struct memory_piece *p, size_t n)
{
	int rc = far->broken ? -ENOTCONN
			     : far->link.read(far->link.ctx, p, n, &far->why);

	far->broken = rc < 0;
	return rc;
}

static int read_now(struct far *far, uint64_t offset, void *buf, size_t len)
{
	struct memory_piece p = {offset, len, buf};

	return read_pieces(far, &p, 1);
}

/* V sets may be large: stop ends this between two chunks. Within a chunk it
 * would break the link. */
static int fetch_bytes(struct far *far, uint64_t offset, uint8_t *to,
		       size_t len)
{
	int rc = 0;

	for (size_t n; len && !rc; to += n, offset += n, len -= n) {
		n = len < CHUNK ? len : CHUNK;
		rc = read_now(far, offset, to, n);
		if (!rc && len > n && far->stop && *far->stop)
			rc = -EINTR;
	}
	return rc;
}

static uint64_t file_offset(const struct far *far, const struct memory_read *r)
{
	return region_table_at(&far->h, r->t, r->epoch) + r->offset;
}

/* Reads a list's count, and those behind it, which are wanted next. Any other
 * read drops what was read ahead: to read entries is to compare the count
 * before and after, and the second one must be new. */
static int read_count(struct far *far, const struct memory_read *r)
{
	uint64_t at = file_offset(far, r), left = r->t->length - r->offset;
	int rc;

	if (at < far->ahead_at ||
	    at + r->length > far->ahead_at + far->ahead_len) {
		far->ahead_at = at;
		far->ahead_len = left < AHEAD ? (size_t)left : AHEAD;
		rc = read_now(far, at, far->ahead, far->ahead_len);
		if (rc < 0) {
			far->ahead_len = 0;
			return rc;
		}
	}
	memcpy(r->to, far->ahead + (at - far->ahead_at), r->length);
	return 0;
}

static void read_far(struct memory *m, struct memory_read *r, size_t n)
{
	struct far *far = far_of(m);
	struct memory_piece *piece;
	int rc = -ENOMEM;

	if (n == 1 && r->t->lists && r->offset >= r->t->heads &&
	    r->length == sizeof(uint64_t)) {
		r->rc = read_count(far, r);
		return;
	}
	far->ahead_len = 0;
	piece = calloc(n, sizeof(*piece)); /* short beside a round trip */
	for (size_t i = 0; i < n && piece; i++)
		piece[i] = (struct memory_piece){file_offset(far, &r[i]),
						 r[i].length, r[i].to};
	if (piece)
		rc = read_pieces(far, piece, n);
	free(piece);
	for (size_t i = 0; i < n; i++)
		r[i].rc = rc;
}

static int renew_epochs(struct memory *m)
{
	struct far *far = far_of(m);
	struct region_state s;
	int rc = read_now(far, REGION_STATE_AT, &s, STATE_LEN);

	far->ahead_len = 0; /* counts are to be as new as the epochs */
	if (!rc && !s.epoch) {
		far->broken = true;
		rc = error_set(&far->why, -EBADMSG,
			       "its region is damaged: epoch 0");
	}
	if (rc < 0)
		return rc;
	m->oldest = region_oldest_of(&far->h, s.oldest, s.epoch);
	m->newest = s.epoch;
	return 0;
}

static const char *why_broken(const struct memory *m)
{
	const struct far *far = far_of(m);

	return far->broken ? far->why.text : NULL;
}

static void close_far(struct memory *m)
{
	struct far *far = far_of(m);

	far->link.close(far->link.ctx);
	free(far->values);
	free(far->path);
	free(far);
}

/* Copies and checks what is in front of the tables. */
static int load_head(struct far *far)
{
	struct region_header *h = &far->h;
	int rc = far->link.size < sizeof(*h) ? -EBADMSG
					     : read_now(far, 0, h, sizeof(*h));

	if (!rc)
		rc = region_check(h, far->link.size, &far->why);
	else if (!far->broken)
		error_set(&far->why, rc, "%s", strerror(-rc));
	if (rc < 0)
		return rc;
	far->values = malloc(h->values_len + 1);
	if (!far->values)
		return error_set(&far->why, -ENOMEM, "%s", strerror(ENOMEM));
	rc = fetch_bytes(far, h->values_at, far->values, h->values_len);
	if (rc < 0)
		return far->broken
			       ? rc
			       : error_set(&far->why, rc, "%s", strerror(-rc));
	rc = renew_epochs(&far->memory);
	return rc < 0 ? rc : region_check_values(h, far->values, &far->why);
}

int memory_open_link(struct memory **out, const char *path,
		     const struct memory_link *link, const atomic_int *stop,
		     struct error *err)
{
	static const struct memory_ops ops = {
		.read = read_far,
		.renew = renew_epochs,
		.broken = why_broken,
		.close = close_far,
	};
	struct far *far = calloc(1, sizeof(*far));
	int rc;

	if (!far) {
		link->close(link->ctx);
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	}
	far->memory.ops = &ops;
	far->memory.far = true;
	far->link = *link;
	far->stop = stop;
	far->memory.path = far->path = strdup(path);
	rc = far->path ? load_head(far)
		       : error_set(&far->why, -ENOMEM, "%s", strerror(ENOMEM));
	if (rc < 0) {
		error_set(err, rc, "%s", far->why.text);
		memory_close(&far->memory);
		return rc;
	}
	far->memory.table = far->h.table;
	far->memory.tables = far->h.tables;
	far->memory.values = far->values;
	far->memory.values_at = far->h.values_at;
	*out = &far->memory;
	return 0;
}
