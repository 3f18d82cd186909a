/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * area.h - a large block of zeroed memory, of which the kernel provides what is
 * touched; in pages of 2 MB if it has them.
 */
#ifndef BASE_AREA_H
#define BASE_AREA_H

#include <stddef.h>
#include <stdint.h>

struct area {
	uint8_t *base; /* aligned to 2 MB if it is as large */
	size_t size;   /* as asked for */
	void *map;     /* what mmap(2) returned: base, or some bytes before */
	size_t map_size;
};

/* 0 or -ENOMEM. size 0 is fine. */
int area_init(struct area *a, size_t size);
void area_fini(struct area *a);

#endif
