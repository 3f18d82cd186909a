/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * far.h - a region on another machine as struct memory (region/memory.h), over
 * any link that reads byte ranges of its file (dta-region(5)).
 */
#ifndef REGION_FAR_H
#define REGION_FAR_H

#include <stdatomic.h>

#include "base/error.h"
#include "region/memory.h"

struct memory_piece {
	uint64_t offset; /* in the file */
	size_t length;
	void *to;
};

struct memory_link {
	/* Reads all n pieces; or -errno and why: then the link is broken for
	 * good. */
	int (*read)(void *ctx, const struct memory_piece *p, size_t n,
		    struct error *err);
	void (*close)(void *ctx);
	void *ctx;
	uint64_t size; /* of the file */
};

/*
 * The memory of a region behind a link. It owns the link from now on; if this
 * fails, the link is closed. The header and V sets are copied, and checked as
 * those of a file are. Long reads end when stop becomes true; path is copied.
 */
int memory_open_link(struct memory **out, const char *path,
		     const struct memory_link *link, const atomic_int *stop,
		     struct error *err);

#endif
