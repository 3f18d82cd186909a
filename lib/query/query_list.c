/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists: rings that are being written while they are read. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "query/query.h"
#include "query/view.h"
#include "team/fence.h"

static bool is_far(const struct view *v)
{
	return !v->mem && v->memory->far;
}

enum {
	NEAR = 64 << 10, /* bytes of a ring at once: no more than caches hold */
	FAR = 16 << 20,
};

uint64_t list_at_once(const struct view *v, uint64_t n)
{
	uint64_t most = is_far(v) ? FAR / v->t->stride : NEAR / v->t->value_len;

	return n < most ? n : most;
}

int list_count(uint64_t *out, const struct view *v, uint32_t list)
{
	uint64_t be;
	int rc = view_load(v, table_head(v->t, list), &be, sizeof(be));

	if (rc < 0)
		return rc;
	*out = be64toh(be);
	return 0;
}

/* n entries from ring position at on, which do not pass the ring's end. */
static int copy_run(const struct view *v, uint32_t list, uint64_t at,
		    uint8_t *buf, uint64_t n)
{
	const struct table *t = v->t;
	uint64_t offset = table_entry(t, list, at);

	if (t->stride == t->value_len)
		return view_load(v, offset, buf, n * t->stride);
	for (uint64_t i = 0; i < n; i++) {
		int rc = view_load(v, offset + i * t->stride,
				   buf + i * t->value_len, t->value_len);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The published system stores each word of an entry byte-swapped. */
static void unswap(const struct table *t, uint8_t *buf, uint64_t n)
{
	if (t->hash != HASH_DTA0 || t->value_len % 4)
		return;
	for (uint64_t i = 0; i < n * t->value_len; i += 4) {
		uint32_t w;

		memcpy(&w, buf + i, sizeof(w));
		w = __builtin_bswap32(w);
		memcpy(buf + i, &w, sizeof(w));
	}
}

static struct memory_read run_read(const struct view *v, uint32_t list,
				   uint64_t at, uint64_t n, uint8_t *to)
{
	return (struct memory_read){
		.t = v->t,
		.epoch = v->epoch,
		.offset = table_entry(v->t, list, at),
		.length = (size_t)(n * v->t->stride),
		.to = to,
	};
}

/* All of n entries in one round trip, as they lie there; what pads them is
 * taken out here. */
static int fetch_entries(const struct view *v, uint32_t list, uint64_t first,
			 uint8_t *buf, uint64_t n)
{
	const struct table *t = v->t;
	bool packed = t->stride == t->value_len;
	uint64_t at = first % t->units, head = t->units - at;
	uint8_t *raw = packed ? buf : malloc((size_t)(n * t->stride));
	struct memory_read r[2];
	int rc;

	if (!raw)
		return -ENOMEM;
	head = head < n ? head : n;
	r[0] = run_read(v, list, at, head, raw);
	r[1] = run_read(v, list, 0, n - head, raw + head * t->stride);
	rc = memory_read(v->memory, r, head < n ? 2 : 1);
	if (packed)
		return rc;
	for (uint64_t i = 0; i < n && !rc; i++)
		memcpy(buf + i * t->value_len, raw + i * t->stride,
		       t->value_len);
	free(raw);
	return rc;
}

/* n entries from number first on, wherever the ring's end is. */
static int copy_entries(const struct view *v, uint32_t list, uint64_t first,
			uint8_t *buf, uint64_t n)
{
	const struct table *t = v->t;
	uint64_t at = first % t->units, head = t->units - at;
	int rc;

	if (!n)
		return 0;
	if (is_far(v))
		return fetch_entries(v, list, first, buf, n);
	if (n <= head)
		return copy_run(v, list, at, buf, n);
	rc = copy_run(v, list, at, buf, head);
	return rc < 0 ? rc
		      : copy_run(v, list, 0, buf + head * t->value_len,
				 n - head);
}

/*
 * As many of n entries as can be read: fewer where a block of a snapshot is
 * damaged; -errno if the first one cannot.
 */
static int64_t copy_readable(const struct view *v, uint32_t list,
			     uint64_t first, uint8_t *buf, uint64_t n)
{
	size_t len = v->t->value_len;
	uint64_t i = 0;
	int rc = copy_entries(v, list, first, buf, n);

	if (!rc)
		return (int64_t)n;
	if (is_far(v)) /* it has no blocks: all of it is gone */
		return rc;
	while (i < n &&
	       !(rc = copy_entries(v, list, first + i, buf + i * len, 1)))
		i++;
	return i ? (int64_t)i : rc;
}

int64_t list_read(const struct view *v, uint32_t list, uint64_t from, void *buf,
		  uint64_t max, uint64_t *next, uint64_t *lost)
{
	const struct table *t = v->t;
	uint64_t count, start, gone = 0;
	int64_t n;

	*next = from;
	*lost = 0;
	if (list >= t->lists)
		return -EINVAL;
	if ((n = list_count(&count, v, list)) < 0)
		return n;
	start = list_oldest(t, count);
	if (from > start)
		start = from < count ? from : count;
	else
		*lost = start - from;
	n = copy_readable(v, list, start, buf,
			  count - start < max ? count - start : max);
	*next = n < 0 ? start + 1 : start + (uint64_t)n;
	if (n < 0)
		return n;
	fence_loads();
	/* What was overwritten under the copy is not to be believed. */
	if (list_count(&count, v, list) == 0 && list_oldest(t, count) > start)
		gone = list_oldest(t, count) - start;
	gone = gone < (uint64_t)n ? gone : (uint64_t)n;
	n -= (int64_t)gone;
	*lost += gone;
	if (gone)
		memmove(buf, (uint8_t *)buf + gone * t->value_len,
			(uint64_t)n * t->value_len);
	unswap(t, buf, (uint64_t)n);
	return n;
}
