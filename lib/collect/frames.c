/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packet/kind.h"

enum {
	ROOM = 1 << 16, /* bytes that there is room for more at a time */
};

struct head {
	uint32_t len, wire_len;
	uint64_t ts_ns;
};

/* Frames, each behind its head. */
struct frames {
	struct snk snk;
	uint8_t *base;
	size_t size, used;
};

/* Where the next frame goes. */
static void set_room(struct frames *s)
{
	size_t at = s->used + sizeof(struct head);

	s->snk.room = at < s->size ? s->size - at : 0;
	s->snk.at = s->base + (s->snk.room ? at : 0);
}

static int grow(struct snk *snk, size_t len)
{
	struct frames *s = (struct frames *)snk;
	size_t size = s->used + sizeof(struct head) + len + ROOM;
	uint8_t *base = realloc(s->base, size += size / 2);

	if (!base)
		return -ENOMEM;
	s->base = base;
	s->size = size;
	set_room(s);
	return 0;
}

static void done(struct snk *snk, size_t len, uint32_t wire_len, uint64_t ts_ns)
{
	struct frames *s = (struct frames *)snk;
	const struct head h = {(uint32_t)len, wire_len, ts_ns};

	memcpy(s->base + s->used, &h, sizeof(h));
	s->used += sizeof(h) + len;
	set_room(s);
}

static int flush(struct snk *snk)
{
	(void)snk;
	return 0;
}

static int close_frames(struct snk *snk, int rc)
{
	struct frames *s = (struct frames *)snk;

	free(s->base);
	free(s);
	return rc;
}

struct snk *frames_open(void)
{
	static const struct snk_ops ops = {.room = grow,
					   .done = done,
					   .flush = flush,
					   .close = close_frames};
	struct frames *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->snk.ops = &ops;
	s->snk.kind = "memory";
	return &s->snk;
}

int frames_pass(struct snk *snk, struct snk *to)
{
	struct frames *s = (struct frames *)snk;
	struct head h;
	int rc = 0;

	for (size_t at = 0; at < s->used && !rc; at += sizeof(h) + h.len) {
		uint8_t *room;

		memcpy(&h, s->base + at, sizeof(h));
		if (!(room = snk_room(to, h.len))) {
			rc = -errno;
			break;
		}
		memcpy(room, s->base + at + sizeof(h), h.len);
		snk_done_cut(to, h.len, h.wire_len, h.ts_ns);
	}
	s->used = 0;
	if (s->base)
		set_room(s);
	return rc;
}
