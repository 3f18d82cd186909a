/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_stamp.c - whether a ticket's file is still the one that was read. */
#include <string.h>
#include <sys/stat.h>

#include "op/ticket.h"

struct ticket_stamp ticket_stamp(const char *path)
{
	struct ticket_stamp s = {0};
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return s;
	s.device = st.st_dev;
	s.inode = st.st_ino;
	s.size = (uint64_t)st.st_size;
	s.written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
		       (uint64_t)st.st_mtim.tv_nsec;
	return s;
}

bool ticket_stamp_is(const struct ticket_stamp *a, const struct ticket_stamp *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && a->written_ns == b->written_ns;
}
