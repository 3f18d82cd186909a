/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH_MAX_LEN = 4096,
};

struct http {
	CURL *easy;
	struct curl_slist *headers;
	const struct export_stop *stop;
	char base[EXPORT_URL_MAX + 32];
	char error[CURL_ERROR_SIZE];
};

static size_t append_reply(char *data, size_t one, size_t n, void *reply)
{
	struct http_reply *r = reply;
	size_t len = one * n, room = HTTP_REPLY_MAX - r->len;

	memcpy(r->text + r->len, data, len < room ? len : room);
	r->len += len < room ? len : room;
	r->text[r->len] = '\0';
	return len;
}

/* libcurl calls this once a second at least; true ends the request. */
static int is_stopped(void *http, curl_off_t down_all, curl_off_t down,
		      curl_off_t up_all, curl_off_t up)
{
	const struct http *h = http;

	(void)down_all;
	(void)down;
	(void)up_all;
	(void)up;
	return h->stop->now;
}

static void set_options(struct http *h, const struct url *u,
			uint64_t timeout_ns)
{
	CURL *c = h->easy;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	/* no proxy, whatever http_proxy in the environment says */
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(timeout_ns / 1000000));
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->error);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, append_reply);
	curl_easy_setopt(c, CURLOPT_POST, 1L);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, is_stopped);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, h);
	curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);
	if (u->user) {
		curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(c, CURLOPT_USERNAME, u->user);
		curl_easy_setopt(c, CURLOPT_PASSWORD,
				 u->password ? u->password : "");
	}
}

int http_open(struct http **out, const struct url *u, uint16_t port,
	      uint64_t timeout_ns, const struct export_stop *stop,
	      struct error *err)
{
	struct http *h;

	if (!*u->host || strchr(u->host, ','))
		return error_set(err, -EINVAL, "'%s' is not a host", u->host);
	if (!(h = calloc(1, sizeof(*h))))
		return error_set(err, -ENOMEM, "out of memory");
	h->stop = stop;
	h->easy = curl_easy_init();
	/* no "Expect: 100-continue", nor a wait for its answer */
	h->headers = curl_slist_append(NULL, "Expect:");
	snprintf(h->base, sizeof(h->base), "%s://%s:%u/",
		 u->http_scheme ? u->http_scheme : "http", u->host,
		 (unsigned)(u->port ? u->port : port));
	if (!h->easy || !h->headers) {
		http_close(h);
		return error_set(err, -ENOMEM, "out of memory");
	}
	set_options(h, u, timeout_ns);
	curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
	*out = h;
	return 0;
}

bool http_is_plain(const char *text)
{
	while (isalnum((unsigned char)*text) ||
	       (*text && strchr("-._~", *text)))
		text++;
	return !*text;
}

int http_post(struct http *h, const char *path, const void *body, size_t len,
	      struct http_reply *r, struct error *err)
{
	char url[sizeof(h->base) + PATH_MAX_LEN];
	CURLcode rc;

	*r = (struct http_reply){0};
	h->error[0] = '\0';
	snprintf(url, sizeof(url), "%s%s", h->base, path);
	curl_easy_setopt(h->easy, CURLOPT_URL, url);
	curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	rc = curl_easy_perform(h->easy);
	if (rc != CURLE_OK)
		return error_set(err, -EAGAIN, "%s",
				 h->error[0] ? h->error
					     : curl_easy_strerror(rc));
	curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &r->status);
	return 0;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	curl_easy_cleanup(h->easy);
	curl_slist_free_all(h->headers);
	free(h);
}
