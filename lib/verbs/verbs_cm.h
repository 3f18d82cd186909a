/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * verbs_cm.h - private to this room: shared by host and collector, above all
 * the message that each sends in the private data of a librdmacm connection.
 * Big-endian:
 *
 *	"DTA2", kind (4), R_Key (4), error (4), address (8), length (8)
 *
 *   kind 0, to write:	  the host asks for nothing else. The collector accepts
 *			  with the place of its ticket, a text, which the host
 *			  READs; it writes by what the ticket says, through the
 *			  same connection.
 *   kind 1, to read:	  accepted with the place of the region's file, as
 *			  dta-region(5) has it.
 *
 * The collector rejects with a negative errno: -EAGAIN, not ready yet; -EACCES,
 * not readable; -EPROTO, unknown kind; -EUSERS, too many connections.
 *
 * librdmacm pads private data with zeros: more may arrive than was sent.
 */
/* clang-format on */
#ifndef VERBS_VERBS_CM_H
#define VERBS_VERBS_CM_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/cur.h"
#include "base/put.h"

enum {
	VERBS_CM_MAGIC = 0x44544132, /* "DTA2" */
	VERBS_CM_WRITE = 0,
	VERBS_CM_READ = 1,
	VERBS_CM_LEN = 32,
};

struct verbs_cm {
	uint32_t kind, rkey;
	int32_t error;
	uint64_t address, length;
};

static inline void verbs_cm_encode(uint8_t out[VERBS_CM_LEN],
				   const struct verbs_cm *m)
{
	struct put w = put_to(out, VERBS_CM_LEN);

	put_be32(&w, VERBS_CM_MAGIC);
	put_be32(&w, m->kind);
	put_be32(&w, m->rkey);
	put_be32(&w, (uint32_t)m->error);
	put_be64(&w, m->address);
	put_be64(&w, m->length);
}

/* Returns 0 or -EPROTO. */
static inline int verbs_cm_decode(struct verbs_cm *m, const void *data,
				  size_t len)
{
	struct cur c = cur_of(data, len);
	uint32_t magic = cur_be32(&c);

	m->kind = cur_be32(&c);
	m->rkey = cur_be32(&c);
	m->error = (int32_t)cur_be32(&c);
	m->address = cur_be64(&c);
	m->length = cur_be64(&c);
	return cur_ok(&c) && magic == VERBS_CM_MAGIC &&
			       m->kind <= VERBS_CM_READ && m->error <= 0 &&
			       m->error > -4096
		       ? 0
		       : -EPROTO;
}

/* Memory is registered again for a new epoch or connection, when the privilege
 * to lock it may have been dropped: raises the limit before. */
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
