/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.h - requests to one HTTP server, one after the other over a connection
 * that is kept, by libcurl (private to this room).
 */
#ifndef EXPORT_HTTP_H
#define EXPORT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "export/driver.h"
#include "export/url.h"

enum {
	HTTP_REPLY_MAX = 16384, /* bytes kept of a reply's body */
};

struct http;

struct http_reply {
	long status;
	size_t len;
	char text[HTTP_REPLY_MAX + 1]; /* ends with NUL */
};

/* Prepares requests to the URL's host, at this port if the URL has none. What
 * the pointers point at must outlive it. 0 or -errno with err set. */
int http_open(struct http **out, const struct url *u, uint16_t port,
	      uint64_t timeout_ns, const struct export_stop *stop,
	      struct error *err);

/* Whether a text stands for itself in a query (RFC 3986, section 2.3). */
bool http_is_plain(const char *text);

/* POSTs a body to a path, which may have a query. 0: there is a reply, of any
 * status; or -errno with err set: there is none. */
int http_post(struct http *h, const char *path, const void *body, size_t len,
	      struct http_reply *r, struct error *err);

void http_close(struct http *h); /* NULL is fine */

#endif
