/* SPDX-License-Identifier: BSD-2-Clause */
#include "redis/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

int redis_link_name(struct redis_link *l, const char *host, size_t len,
		    uint16_t port)
{
	if (!len || len >= REDIS_HOST)
		return -EINVAL;
	memcpy(l->host, host, len);
	l->host[len] = '\0';
	l->port = port;
	return 0;
}

int redis_link_wait(const struct redis_link *l, short events, int timeout_ms,
		    const struct stop *stop, struct fault *f)
{
	struct pollfd p[2] = {{.fd = l->c->fd, .events = events},
			      {.fd = stop->fd, .events = POLLIN}};
	int rc = poll(p, 2, timeout_ms);

	if (rc == 0)
		return fault_set(f, -EAGAIN, "no answer for %d ms", timeout_ms);
	if (rc < 0 || stop->now)
		return fault_set(f, -EAGAIN, "it is the end");
	return p[0].revents;
}

void redis_link_close(struct redis_link *l)
{
	if (l->c)
		redisFree(l->c);
	l->c = NULL;
}

int redis_link_open(struct redis_link *l, int timeout_ms,
		    const struct stop *stop, struct fault *f)
{
	int err = 0, rc;
	socklen_t len = sizeof(err);

	l->c = redisConnectNonBlock(l->host, l->port);
	if (!l->c)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = l->c->err ? fault_set(f, -EAGAIN, "%s:%u: %.128s", l->host,
				   (unsigned)l->port, l->c->errstr)
		       : redis_link_wait(l, POLLOUT, timeout_ms, stop, f);
	if (rc >= 0 &&
	    getsockopt(l->c->fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0 && err)
		rc = fault_set(f, -EAGAIN, "%s:%u: %s", l->host,
			       (unsigned)l->port, strerror(err));
	if (rc < 0)
		redis_link_close(l);
	return rc < 0 ? rc : 0;
}
