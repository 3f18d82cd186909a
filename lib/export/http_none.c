/* SPDX-License-Identifier: BSD-2-Clause */
/* http_none.c - in place of http.c in a build without libcurl. */
#include <errno.h>

#include "export/http.h"
#include "export/driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int http_open(struct http **out, const struct url *u, uint16_t port,
	      uint64_t timeout_ns, const struct export_stop *stop,
	      struct error *err)
{
	return error_set(err, -ENOTSUP,
			 "built without libcurl; install "
			 "libcurl4-openssl-dev, and make again");
}

char *http_escape(const char *text)
{
	return NULL;
}

int http_post(struct http *h, const char *path, const void *body, size_t len,
	      struct http_reply *r, struct error *err)
{
	return -ENOTSUP;
}

void http_close(struct http *h)
{
}
