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

#include <stdatomic.h>

#include "base/fault.h"
#include "query/far.h"

/*
 * ADDRESS[:PORT], as verbs_road_open() takes it. stop ends waiting for the
 * collector when it becomes true; may be NULL. -ERANGE of a load: it is not in
 * the region; another -errno: the connection is broken, for good.
 */
int verbs_memory(struct memory **out, const char *address,
		 const atomic_int *stop, struct fault *f);

#endif
