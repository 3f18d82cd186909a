/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists: rings that are being written while they are read. */
#include <endian.h>
#include <errno.h>

#include "store/query.h"
#include "store/view.h"

int list_count(uint64_t *out, const struct view *v, uint32_t list)
{
	uint64_t be;
	int rc = view_load(v, table_head(v->t, list), &be, sizeof(be));

	if (rc < 0)
		return rc;
	*out = be64toh(be);
	return 0;
}

/* The oldest entry that is surely intact when count entries were written. */
static uint64_t oldest(const struct view *v, uint64_t count)
{
	uint64_t kept = v->t->units - (v->mem ? v->t->batch : 0);

	return count > kept ? count - kept : 0;
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

int64_t list_read(const struct view *v, uint32_t list, uint64_t from, void *buf,
		  uint64_t max, uint64_t *next, uint64_t *lost)
{
	const struct table *t = v->t;
	uint64_t count, start, n, at, low, gone = 0;
	int rc;

	if ((rc = list_count(&count, v, list)) < 0)
		return rc;
	*lost = 0;
	start = oldest(v, count);
	if (from > start)
		start = from < count ? from : count;
	else
		*lost = start - from;
	n = count - start < max ? count - start : max;
	at = start % t->units;
	if (n <= t->units - at) {
		rc = copy_run(v, list, at, buf, n);
	} else {
		uint64_t head = t->units - at;

		rc = copy_run(v, list, at, buf, head);
		if (!rc)
			rc = copy_run(v, list, 0,
				      (uint8_t *)buf + head * t->value_len,
				      n - head);
	}
	if (rc < 0)
		return rc;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* What was overwritten under the copy is not to be believed. */
	if ((rc = list_count(&count, v, list)) < 0)
		return rc;
	low = oldest(v, count);
	if (low > start) {
		gone = low - start < n ? low - start : n;
		memmove(buf, (uint8_t *)buf + gone * t->value_len,
			(n - gone) * t->value_len);
		*lost += gone;
	}
	*next = start + n;
	unswap(t, buf, n - gone);
	return (int64_t)(n - gone);
}
