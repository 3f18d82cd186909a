/* SPDX-License-Identifier: BSD-2-Clause */
#include "reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "verbs/verbs_reader.h"

enum {
	AHEAD = 16384, /* bytes of rings, or of counts, that are read at once */
	CHUNK = 1 << 20,
};

enum mode {
	READ_NOW,
	READ_PLAN,
	READ_PLANNED,
};

/* What a view of one table in one set of the region has as its context. */
struct table_at {
	struct reach *reach;
	const struct table *t;
	uint64_t offset;
};

struct reach {
	struct verbs_reader *reader;
	struct region *image;
	struct table_at *at; /* set by set, table by table */
	bool broken;
	struct fault why;
	enum mode mode;
	/* The plan: pieces, and their bytes one after the other. */
	struct verbs_piece *piece;
	size_t pieces, piece_room, next;
	uint8_t *bytes;
	size_t used, room;
	/* Entries read ahead, or counts. */
	uint64_t ahead_at;
	size_t ahead_len;
	uint8_t ahead[AHEAD];
};

static int read_pieces(struct reach *r, const struct verbs_piece *p, size_t n)
{
	int rc = r->broken ? -ENOTCONN
			   : verbs_reader_read(r->reader, p, n, &r->why);

	r->broken = rc < 0;
	return rc;
}

static int read_now(struct reach *r, uint64_t offset, void *buf, size_t len)
{
	struct verbs_piece p = {offset, len, buf};

	return read_pieces(r, &p, 1);
}

/*
 * For the image: it may hold large sets, and somebody may lose patience. What
 * comes at once is not interrupted: the connection would be lost for nothing.
 */
static int fetch(void *ctx, uint64_t offset, void *buf, size_t len)
{
	int rc = 0;

	for (size_t done = 0; done < len && !rc; done += CHUNK) {
		size_t some = len - done < CHUNK ? len - done : CHUNK;

		rc = done && cli_stop ? -EINTR
				      : read_now(ctx, offset + done,
						 (uint8_t *)buf + done, some);
	}
	return rc;
}

static void *grow(void *p, size_t *room, size_t need, size_t size)
{
	if (need <= *room)
		return p;
	*room = 2 * need;
	p = realloc(p, *room * size);
	if (!p)
		cli_fail("out of memory");
	return p;
}

static void plan(struct reach *r, uint64_t offset, size_t len)
{
	r->piece = grow(r->piece, &r->piece_room, r->pieces + 1,
			sizeof(r->piece[0]));
	r->piece[r->pieces++] = (struct verbs_piece){offset, len, NULL};
	r->used += len;
}

static int planned(struct reach *r, uint64_t offset, void *buf, size_t len)
{
	const struct verbs_piece *p = &r->piece[r->next];

	if (r->broken || r->next == r->pieces || p->offset != offset ||
	    p->length != len)
		return -EIO;
	memcpy(buf, p->to, len);
	r->next++;
	return 0;
}

/*
 * Of lists, what is behind that which is wanted comes, too: it is wanted next.
 * Who reads entries looks at the list's count before and after: one takes the
 * other's place here, so that each was read when it seems to have been. What
 * follows on an empty list is the count of the next.
 */
static int read_ahead(struct reach *r, const struct table_at *at,
		      uint64_t offset, void *buf, size_t len)
{
	const struct table *t = at->t;
	uint64_t in = at->offset + offset;
	uint64_t left = (offset < t->heads ? t->heads : t->length) - offset;
	int rc;

	if (len >= AHEAD || len > left) {
		r->ahead_len = 0;
		return read_now(r, in, buf, len);
	}
	if (in < r->ahead_at || in + len > r->ahead_at + r->ahead_len) {
		r->ahead_at = in;
		r->ahead_len = left < AHEAD ? (size_t)left : AHEAD;
		rc = read_now(r, in, r->ahead, r->ahead_len);
		if (rc < 0) {
			r->ahead_len = 0;
			return rc;
		}
	}
	memcpy(buf, r->ahead + (in - r->ahead_at), len);
	return 0;
}

static int read_table(void *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct table_at *at = ctx;
	struct reach *r = at->reach;

	switch (r->mode) {
	case READ_PLAN:
		plan(r, at->offset + offset, len);
		memset(buf, 0, len);
		return 0;
	case READ_PLANNED:
		return planned(r, at->offset + offset, buf, len);
	default:
		break;
	}
	if (at->t->kind == TABLE_APPEND)
		return read_ahead(r, at, offset, buf, len);
	return read_now(r, at->offset + offset, buf, len);
}

static int make_views(struct reach *r)
{
	unsigned n = region_tables(r->image), sets = region_epochs(r->image);

	r->at = calloc((size_t)n * sets, sizeof(r->at[0]));
	for (unsigned i = 0; r->at && i < n * sets; i++) {
		const struct table *t = region_table(r->image, i % n);

		/* Epoch 1 is in the first set, and so on. */
		r->at[i] = (struct table_at){
			r, t, region_offset(r->image, t, i / n + 1)};
	}
	return r->at ? 0 : -ENOMEM;
}

int reach_open(struct reach **out, struct region **image, const char *address,
	       struct fault *f)
{
	struct reach *r = calloc(1, sizeof(*r));
	bool named;
	int rc;

	if (!r)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	rc = verbs_reader_open(&r->reader, address, &cli_stop, &r->why);
	if (!rc)
		rc = region_image(&r->image, "its region",
				  verbs_reader_size(r->reader), fetch, r,
				  &r->why);
	if (!rc && (rc = make_views(r)) < 0)
		fault_set(&r->why, rc, "%s", strerror(-rc));
	if (rc < 0) {
		named = !strncmp(r->why.text, address, strlen(address));
		fault_set(f, rc, "%.200s%s%.300s", named ? "" : address,
			  named ? "" : ": ", r->why.text);
		region_close(r->image);
		reach_close(r);
		return rc;
	}
	*image = r->image;
	*out = r;
	return 0;
}

void reach_close(struct reach *r)
{
	if (!r)
		return;
	verbs_reader_close(r->reader);
	free(r->at);
	free(r->piece);
	free(r->bytes);
	free(r);
}

const char *reach_broken(const struct reach *r)
{
	return r->broken ? r->why.text : NULL;
}

void reach_renew(struct reach *r)
{
	int rc = region_renew(r->image, fetch, r);

	r->ahead_len = 0; /* not to grow old */
	if (rc < 0 && !r->broken) {
		r->broken = true;
		fault_set(&r->why, rc, "%s", strerror(-rc));
	}
}

void reach_view(struct view *out, struct reach *r, const struct table *t,
		uint64_t epoch)
{
	unsigned n = region_tables(r->image);
	unsigned table = (unsigned)(t - region_table(r->image, 0));
	unsigned set = (unsigned)((epoch - 1) % region_epochs(r->image));

	*out = (struct view){
		.t = t,
		.values = region_values(r->image, t),
		.read = read_table,
		.ctx = &r->at[set * n + table],
	};
}

void reach_plan(struct reach *r)
{
	r->mode = READ_PLAN;
	r->pieces = r->used = 0;
}

void reach_fetch(struct reach *r)
{
	size_t at = 0;

	r->bytes = grow(r->bytes, &r->room, r->used, 1);
	for (size_t i = 0; i < r->pieces; i++) {
		r->piece[i].to = r->bytes + at;
		at += r->piece[i].length;
	}
	read_pieces(r, r->piece, r->pieces);
	r->mode = READ_PLANNED;
	r->next = 0;
}

void reach_done(struct reach *r)
{
	r->mode = READ_NOW;
}
