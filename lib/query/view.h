/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h - private to this room: loads from a table's memory that somebody may
 * be writing, or that has to be fetched first.
 */
#ifndef QUERY_VIEW_H
#define QUERY_VIEW_H

#include <string.h>

#include "query/query.h"

/* Copies len bytes at offset, once: one load where one can do. 0 or -errno. */
static inline int view_load(const struct view *v, uint64_t offset, void *buf,
			    size_t len)
{
	if (!v->mem)
		return memory_load(v, offset, buf, len);
	if (len == 8 && !(((uintptr_t)v->mem + offset) & 7)) {
		uint64_t w = __atomic_load_n(
			(const uint64_t *)(v->mem + offset), __ATOMIC_ACQUIRE);

		memcpy(buf, &w, sizeof(w));
	} else {
		memcpy(buf, v->mem + offset, len);
	}
	return 0;
}

#endif
