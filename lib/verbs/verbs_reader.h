/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_reader.h - a collector's region, read over the network with RDMA READ:
 * the collector's processor has no part in it. The collector allows it with
 * dta-collect --cm PORT --readable.
 *
 * What is read is the region's file (dta-region(5)), while NICs write it: the
 * same rules hold as for a process that maps it. One call's pieces may be read
 * in any order; what a later call reads is read later.
 */
#ifndef VERBS_VERBS_READER_H
#define VERBS_VERBS_READER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct verbs_reader;

struct verbs_piece {
	uint64_t offset; /* in the file */
	size_t length;
	void *to;
};

/*
 * ADDRESS[:PORT], as verbs_road_open() takes it. stop ends waiting for the
 * collector when it becomes true; may be NULL.
 */
int verbs_reader_open(struct verbs_reader **out, const char *address,
		      const volatile sig_atomic_t *stop, struct fault *f);
void verbs_reader_close(struct verbs_reader *r); /* NULL is fine */

/* Bytes of the file. */
uint64_t verbs_reader_size(const struct verbs_reader *r);

/*
 * Reads n pieces, many at a time; all are there when it returns 0. -ERANGE: one
 * is not in the file; another -errno: the connection is broken, for good.
 */
int verbs_reader_read(struct verbs_reader *r, const struct verbs_piece *p,
		      size_t n, struct fault *f);

#endif
