/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_private.h - private to this room: what both sides ask of the kernel. */
#ifndef VERBS_VERBS_PRIVATE_H
#define VERBS_VERBS_PRIVATE_H

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

/*
 * Memory is registered again, for a new epoch or connection, when the privilege
 * to lock it may be gone: the limit goes up while that can be done.
 */
static inline void verbs_raise_memlock(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	if (!setrlimit(RLIMIT_MEMLOCK, &limit) ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

/* Reads of this descriptor return at once. Returns 0 or -errno. */
static inline int verbs_do_not_block(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

#endif
