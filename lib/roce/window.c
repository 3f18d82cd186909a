/* SPDX-License-Identifier: BSD-2-Clause */
/* window.c - requests that may have to be sent again. */
#include "roce/window.h"

#include <errno.h>
#include <stdlib.h>

int window_open(struct window *w, uint64_t size, size_t payload)
{
	size_t align = _Alignof(struct request);

	*w = (struct window){.mask = size - 1, .longest = payload};
	w->stride = (sizeof(struct request) + payload + align - 1) &
		    ~(align - 1);
	w->mem = calloc(size, w->stride);
	return w->mem ? 0 : -ENOMEM;
}

void window_close(struct window *w)
{
	free(w->mem);
	w->mem = NULL;
}

uint64_t window_thin(struct window *w, uint64_t until,
		     bool (*keep)(const struct request *r))
{
	uint64_t to = w->snd.una;

	for (uint64_t i = w->snd.una; i < w->snd.end; i++) {
		const struct request *r = window_at(w, i);
		struct request *k = window_at(w, to);

		if (i < until && !keep(r))
			continue;
		to++;
		if (k == r)
			continue;
		memcpy(k, r, w->stride);
		if (op_payload(&k->op))
			k->op.data = k->payload;
	}
	until = w->snd.end - to;
	w->snd.end = to;
	w->snd.nxt = w->snd.max = w->snd.una;
	return until;
}
