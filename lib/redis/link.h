/* SPDX-License-Identifier: BSD-2-Clause */
/* link.h - a connection to a node of Redis (private to this room). */
#ifndef REDIS_LINK_H
#define REDIS_LINK_H

#include <hiredis/hiredis.h>

#include "queue/driver.h"

enum {
	REDIS_HOST = 256,
};

struct redis_link {
	char host[REDIS_HOST];
	uint16_t port;
	redisContext *c; /* NULL: not connected */
};

/* 0, or -EINVAL: that is no host. */
int redis_link_name(struct redis_link *l, const char *host, size_t len,
		    uint16_t port);

/* Until something of its socket, or the end. -errno; else what there is. */
int redis_link_wait(const struct redis_link *l, short events, int timeout_ms,
		    const struct stop *stop, struct fault *f);

/* 0 or -errno with f set. */
int redis_link_open(struct redis_link *l, int timeout_ms,
		    const struct stop *stop, struct fault *f);
void redis_link_close(struct redis_link *l); /* not connected is fine */

#endif
