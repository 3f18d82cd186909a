/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prometheus.c - what Prometheus asks for: GET /metrics, and /healthz for who
 * watches the program: 200 "ok", or 503 and why not. By libmicrohttpd.
 *
 *	series=N	at most, rows of others are refused; 10000
 *	expire=TIME	of a series without rows; 5m, 0: never
 *	row_counts=0	leaves MEASUREMENT_rows_total out
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/private.h"
#include "export/series.h"

enum {
	BACKLOG = 16,
	CONNECTIONS = 64,
	IDLE_SECONDS = 10,
};

struct prometheus {
	struct MHD_Daemon *daemon;
	struct series *series;
	uint64_t max, expire_ns, row_counts;
	const struct export_options *options;
	uint16_t port;
};

/* clang-format off */
static const struct field fields[] = {
	{"series", FIELD_NUMBER, 8, offsetof(struct prometheus, max), 1,
	 10000000},
	{"expire", FIELD_OTHER, 0, offsetof(struct prometheus, expire_ns),
	 .set = export_set_duration},
	{"row_counts", FIELD_NUMBER, 8,
	 offsetof(struct prometheus, row_counts), 0, 1},
	{NULL},
};
/* clang-format on */

/* The text, which is the response's from now on; NULL: 500. */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned status,
			      char *text, size_t len)
{
	struct MHD_Response *r;
	enum MHD_Result rc;

	if (!text)
		return MHD_NO;
	r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; version=0.0.4; charset=utf-8");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result answer_words(struct MHD_Connection *c, unsigned status,
				    const char *words)
{
	char *text;
	int n = asprintf(&text, "%s\n", words);

	return n < 0 ? MHD_NO : answer(c, status, text, (size_t)n);
}

static enum MHD_Result metrics(struct prometheus *x, struct MHD_Connection *c)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	enum MHD_Result rc = MHD_NO;
	char *text;
	size_t len;

	if (o) {
		series_render(x->series, o, clock_ns(), x->row_counts);
		text = outbuf_take(o, &len);
		rc = answer(c, MHD_HTTP_OK, text, len);
		free(o->text);
	}
	free(o);
	return rc;
}

static enum MHD_Result health(struct prometheus *x, struct MHD_Connection *c)
{
	const struct export_options *o = x->options;
	struct fault why = {"not well"};

	if (o->healthy && !o->healthy(o->ctx, &why))
		return answer_words(c, MHD_HTTP_SERVICE_UNAVAILABLE, why.text);
	return answer_words(c, MHD_HTTP_OK, "ok");
}

static enum MHD_Result asked(void *self, struct MHD_Connection *c,
			     const char *path, const char *method,
			     const char *version, const char *body,
			     size_t *body_len, void **request)
{
	(void)version;
	(void)body;
	(void)request;
	*body_len = 0;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_words(c, MHD_HTTP_METHOD_NOT_ALLOWED,
				    "GET or HEAD");
	if (!strcmp(path, "/metrics"))
		return metrics(self, c);
	if (!strcmp(path, "/healthz"))
		return health(self, c);
	return answer_words(c, MHD_HTTP_NOT_FOUND, "/metrics or /healthz");
}

/* A socket that listens, so that errors have a reason. No address: all. */
static int listen_on(struct prometheus *x, const struct url *u, struct fault *f)
{
	struct sockaddr_in a4 = {.sin_family = AF_INET,
				 .sin_port = htons(u->port)};
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6,
				  .sin6_port = htons(u->port)};
	struct sockaddr *to = (struct sockaddr *)&a4;
	socklen_t len = sizeof(a4);
	uint8_t ip[16] = {0}, v = 4;
	char host[TEXT_IP_MAX] = "";
	int fd, rc = 0, on = 1;

	if (u->host[0] == '[') /* and ] at the end */
		snprintf(host, sizeof(host), "%.*s",
			 (int)strcspn(u->host + 1, "]"), u->host + 1);
	else
		snprintf(host, sizeof(host), "%s", u->host);
	if (*host && !(v = text_ip(ip, host)))
		return fault_set(f, -EINVAL, "'%s' is not an address", u->host);
	memcpy(&a4.sin_addr, ip, 4);
	memcpy(&a6.sin6_addr, ip, 16);
	if (v == 6) {
		to = (struct sockaddr *)&a6;
		len = sizeof(a6);
	}
	fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fault_set(f, -errno, "%s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, to, len) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, to, &len) < 0)
		rc = -errno;
	if (rc < 0) {
		close(fd);
		return fault_set(f, rc, "%s", strerror(-rc));
	}
	x->port = ntohs(v == 6 ? a6.sin6_port : a4.sin_port);
	return fd;
}

static void prometheus_close(void *self)
{
	struct prometheus *x = self;

	if (!x)
		return;
	if (x->daemon)
		MHD_stop_daemon(x->daemon);
	series_close(x->series);
	free(x);
}

static int start(struct prometheus *x, const struct url *u, struct fault *f)
{
	int fd;

	if (!(x->series = series_open(x->max, x->expire_ns)))
		return fault_set(f, -ENOMEM, "out of memory");
	if ((fd = listen_on(x, u, f)) < 0)
		return fd;
	x->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL,
		asked, x, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
	if (x->daemon)
		return 0;
	close(fd);
	return fault_set(f, -EIO, "libmicrohttpd did not start");
}

static int prometheus_open(void **out, struct url *u,
			   const struct export_options *o, struct stop *stop,
			   struct fault *f)
{
	struct prometheus *x = calloc(1, sizeof(*x));
	int rc;

	(void)stop;
	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	*x = (struct prometheus){.max = 10000,
				 .row_counts = 1,
				 .expire_ns = UINT64_C(300000000000),
				 .options = o};
	rc = url_set(u, fields, x, f);
	if (rc == 0)
		rc = start(x, u, f);
	if (rc < 0) {
		prometheus_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

static int prometheus_shape(void **out, void *self, const struct schema *s,
			    struct fault *f)
{
	struct prometheus *x = self;

	*out = series_form(x->series, s);
	return *out ? 0 : fault_set(f, -ENOMEM, "out of memory");
}

/* Forms live as long as the series: they are asked for later, too. */
static void prometheus_unshape(void *shape)
{
	(void)shape;
}

static int prometheus_take(void *self, void *shape, const struct row_batch *b,
			   struct tally *t, struct fault *f)
{
	struct prometheus *x = self;
	uint64_t now = clock_ns();

	(void)f;
	for (unsigned i = 0; i < b->rows; i++) {
		int rc = series_take(x->series, shape, b, i, now);

		t->written += rc == 0;
		if (rc < 0 && !t->refused++)
			fault_set(&t->why, rc, "%s",
				  rc == -ENOSPC ? "more series than series= "
						  "allows"
						: strerror(-rc));
	}
	return 0;
}

static uint16_t prometheus_port(void *self)
{
	struct prometheus *x = self;

	return x->port;
}

const struct export_scheme export_prometheus = {
	.scheme = "prometheus",
	.open = prometheus_open,
	.driver =
		{
			.close = prometheus_close,
			.shape = prometheus_shape,
			.unshape = prometheus_unshape,
			.take = prometheus_take,
			.port = prometheus_port,
		},
};
