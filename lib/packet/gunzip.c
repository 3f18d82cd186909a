/* SPDX-License-Identifier: BSD-2-Clause */
#include "packet/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	WINDOW_GZIP = MAX_WBITS + 16, /* zlib.h: a gzip header and trailer */
};

struct gunzip {
	z_stream z;
	bool inside; /* a member has begun and has not ended */
	uint8_t in[GUNZIP_ROOM];
};

int gunzip_open(struct gunzip **out, const uint8_t *first, size_t len)
{
	struct gunzip *g = calloc(1, sizeof(*g));

	if (!g || inflateInit2(&g->z, WINDOW_GZIP) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	memcpy(g->in, first, len);
	g->inside = true;
	gunzip_fed(g, len);
	*out = g;
	return 0;
}

/* Between members: past zeros to the next one, if there is one. */
static bool next_member(struct gunzip *g)
{
	while (g->z.avail_in && !*g->z.next_in) {
		g->z.next_in++;
		g->z.avail_in--;
	}
	if (!g->z.avail_in)
		return false;
	inflateReset(&g->z);
	return g->inside = true;
}

ssize_t gunzip_take(struct gunzip *g, uint8_t *to, size_t room, struct fault *f)
{
	int rc = Z_OK;

	g->z.next_out = to;
	g->z.avail_out = (uInt)room;
	while (rc == Z_OK && g->z.avail_out && (g->inside || next_member(g))) {
		rc = inflate(&g->z, Z_NO_FLUSH);
		if (rc == Z_STREAM_END) {
			g->inside = false;
			rc = Z_OK;
		}
	}
	if (g->z.avail_out < room)
		return (ssize_t)(room - g->z.avail_out);
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return 0;
	if (rc == Z_MEM_ERROR)
		return fault_set(f, -ENOMEM, "out of memory");
	return fault_set(f, -EBADMSG, "damaged gzip data: %s",
			 g->z.msg ? g->z.msg : "no such stream");
}

uint8_t *gunzip_room(struct gunzip *g)
{
	return g->in;
}

void gunzip_fed(struct gunzip *g, size_t len)
{
	g->z.next_in = g->in;
	g->z.avail_in = (uInt)len;
}

size_t gunzip_left(const struct gunzip *g)
{
	return g->z.avail_in;
}

bool gunzip_may_end(const struct gunzip *g)
{
	return !g->inside;
}

void gunzip_close(struct gunzip *g)
{
	if (g)
		inflateEnd(&g->z);
	free(g);
}
