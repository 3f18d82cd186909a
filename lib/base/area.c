/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/area.h"

#include <errno.h>
#include <sys/mman.h>

enum {
	HUGE_PAGE = 2 << 20,
};

int area_init(struct area *a, size_t size)
{
	size_t pad = size >= HUGE_PAGE ? HUGE_PAGE : 0;

	*a = (struct area){.size = size, .map_size = size + pad};
	if (!size)
		return 0;
	if (size > SIZE_MAX / 2)
		return -ENOMEM;
	/* No swap space is reserved: much of an area is never touched. */
	a->map = mmap(NULL, a->map_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->map == MAP_FAILED) {
		a->map = NULL;
		return -ENOMEM;
	}
	a->base = a->map;
	if (pad) {
		a->base += -(uintptr_t)a->map & (HUGE_PAGE - 1);
		madvise(a->base, size, MADV_HUGEPAGE);
	}
	return 0;
}

void area_fini(struct area *a)
{
	if (a->map)
		munmap(a->map, a->map_size);
	*a = (struct area){0};
}
