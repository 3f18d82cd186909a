/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region/region_file.h"

enum {
	AHEAD = 16384, /* bytes of counts that are read at once */
	CHUNK = 1 << 20,
	STATE_LEN = offsetof(struct region_state, notified),
};

struct linked {
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

static struct linked *linked_of(const struct memory *m)
{
	return (struct linked *)((char *)m - offsetof(struct linked, memory));
}

static int read_pieces(struct linked *l, const struct memory_piece *p, size_t n)
{
	int rc = l->broken ? -ENOTCONN
			   : l->link.read(l->link.ctx, p, n, &l->why);

	l->broken = rc < 0;
	return rc;
}

static int read_now(struct linked *l, uint64_t offset, void *buf, size_t len)
{
	struct memory_piece p = {offset, len, buf};

	return read_pieces(l, &p, 1);
}

/* V sets may be large: in chunks, so that it can be interrupted. The first is
 * not: the connection would be lost for nothing. */
static int fetch_bytes(struct linked *l, uint64_t offset, uint8_t *to,
		       size_t len)
{
	int rc = 0;

	for (size_t n; len && !rc; to += n, offset += n, len -= n) {
		n = len < CHUNK ? len : CHUNK;
		rc = read_now(l, offset, to, n);
		if (!rc && len > n && l->stop && *l->stop)
			rc = -EINTR;
	}
	return rc;
}

static uint64_t in_file(const struct linked *l, const struct memory_read *r)
{
	return region_table_at(&l->h, r->t, r->epoch) + r->offset;
}

/*
 * With the count of a list come those behind it: they are wanted next. A reader
 * of entries looks at the count before and after: any other read drops what was
 * read ahead, so that no count is older than it seems.
 */
static int read_count(struct linked *l, const struct memory_read *r)
{
	uint64_t at = in_file(l, r), left = r->t->length - r->offset;
	int rc;

	if (at < l->ahead_at || at + r->length > l->ahead_at + l->ahead_len) {
		l->ahead_at = at;
		l->ahead_len = left < AHEAD ? (size_t)left : AHEAD;
		rc = read_now(l, at, l->ahead, l->ahead_len);
		if (rc < 0) {
			l->ahead_len = 0;
			return rc;
		}
	}
	memcpy(r->to, l->ahead + (at - l->ahead_at), r->length);
	return 0;
}

static void read_linked(struct memory *m, struct memory_read *r, size_t n)
{
	struct linked *l = linked_of(m);
	struct memory_piece *piece;
	int rc = -ENOMEM;

	if (n == 1 && r->t->lists && r->offset >= r->t->heads &&
	    r->length == sizeof(uint64_t)) {
		r->rc = read_count(l, r);
		return;
	}
	l->ahead_len = 0;
	piece = calloc(n, sizeof(*piece)); /* a round trip takes longer */
	for (size_t i = 0; i < n && piece; i++)
		piece[i] = (struct memory_piece){in_file(l, &r[i]), r[i].length,
						 r[i].to};
	if (piece)
		rc = read_pieces(l, piece, n);
	free(piece);
	for (size_t i = 0; i < n; i++)
		r[i].rc = rc;
}

static int renew_epochs(struct memory *m)
{
	struct linked *l = linked_of(m);
	struct region_state s;
	int rc = read_now(l, REGION_STATE_AT, &s, STATE_LEN);

	l->ahead_len = 0; /* not to grow old */
	if (!rc && !s.epoch) {
		l->broken = true;
		rc = error_set(&l->why, -EBADMSG,
			       "its region is damaged: epoch 0");
	}
	if (rc < 0)
		return rc;
	m->oldest = region_oldest_of(&l->h, s.oldest, s.epoch);
	m->newest = s.epoch;
	return 0;
}

static const char *why_broken(const struct memory *m)
{
	const struct linked *l = linked_of(m);

	return l->broken ? l->why.text : NULL;
}

static void close_linked(struct memory *m)
{
	struct linked *l = linked_of(m);

	l->link.close(l->link.ctx);
	free(l->values);
	free(l->path);
	free(l);
}

/* Copies what is in front of the tables, and judges it. */
static int load_head(struct linked *l)
{
	struct region_header *h = &l->h;
	int rc = l->link.size < sizeof(*h) ? -EBADMSG
					   : read_now(l, 0, h, sizeof(*h));

	if (!rc)
		rc = region_check(h, l->link.size, &l->why);
	else if (!l->broken)
		error_set(&l->why, rc, "%s", strerror(-rc));
	if (rc < 0)
		return rc;
	l->values = malloc(h->values_len + 1);
	if (!l->values)
		return error_set(&l->why, -ENOMEM, "%s", strerror(ENOMEM));
	rc = fetch_bytes(l, h->values_at, l->values, h->values_len);
	if (rc < 0)
		return l->broken ? rc
				 : error_set(&l->why, rc, "%s", strerror(-rc));
	rc = renew_epochs(&l->memory);
	return rc < 0 ? rc : region_check_values(h, l->values, &l->why);
}

int memory_open_link(struct memory **out, const char *path,
		     const struct memory_link *link, const atomic_int *stop,
		     struct error *err)
{
	static const struct memory_ops ops = {
		.read = read_linked,
		.renew = renew_epochs,
		.broken = why_broken,
		.close = close_linked,
	};
	struct linked *l = calloc(1, sizeof(*l));
	int rc;

	if (!l) {
		link->close(link->ctx);
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	}
	l->memory.ops = &ops;
	l->memory.far = true;
	l->link = *link;
	l->stop = stop;
	l->memory.path = l->path = strdup(path);
	rc = l->path ? load_head(l)
		     : error_set(&l->why, -ENOMEM, "%s", strerror(ENOMEM));
	if (rc < 0) {
		error_set(err, rc, "%s", l->why.text);
		memory_close(&l->memory);
		return rc;
	}
	l->memory.table = l->h.table;
	l->memory.tables = l->h.tables;
	l->memory.values = l->values;
	l->memory.values_at = l->h.values_at;
	*out = &l->memory;
	return 0;
}
