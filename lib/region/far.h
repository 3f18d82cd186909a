/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * far.h - a region on another machine as memory to be asked (region/memory.h),
 * by whatever reads ranges of its file (dta-region(5)) over there.
 */
#ifndef REGION_FAR_H
#define REGION_FAR_H

#include <stdatomic.h>

#include "base/fault.h"
#include "region/memory.h"

struct memory_piece {
	uint64_t offset; /* in the file */
	size_t length;
	void *to;
};

struct memory_link {
	/* All of n pieces, or -errno and why: for good. */
	int (*read)(void *ctx, const struct memory_piece *p, size_t n,
		    struct fault *f);
	void (*close)(void *ctx);
	void *ctx;
	uint64_t size; /* of the file */
};

/*
 * The memory of a region behind a link, which is taken over, also when this
 * fails. Its head and V sets are copied, and judged as those of a file are.
 * stop ends long reads when it becomes true; path is copied.
 */
int memory_of_link(struct memory **out, const char *path,
		   const struct memory_link *link, const atomic_int *stop,
		   struct fault *f);

#endif
