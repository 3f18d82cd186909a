/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/driver.h"

static const struct export_scheme *const schemes[] = {
	&export_influx, &export_clickhouse, &export_redis,
	&export_kafka,	&export_prometheus, &export_file,
};

enum {
	SCHEMES = sizeof(schemes) / sizeof(schemes[0]),
	ROWS_MAX = 1000000,
};

/* For the queue 0 is its default. */
static int set_linger(const struct field *field, void *object,
		      const char *value, struct error *err)
{
	struct queue_options *o = object;
	int rc = export_set_duration(field, object, value, err);

	if (rc == 0 && !o->linger_ns)
		o->linger_ns = QUEUE_NO_TIME;
	return rc;
}

/* clang-format off */
static const struct field fields[] = {
	{"rows", FIELD_NUMBER, 8, offsetof(struct queue_options, rows), 1,
	 ROWS_MAX},
	{"linger", FIELD_OTHER, 0, offsetof(struct queue_options, linger_ns),
	 .set = set_linger},
	EXPORT_WAIT("retry", struct queue_options, retry_ns),
	{NULL},
};
/* clang-format on */

/* What drivers look at for as long as they live. */
struct destination {
	struct url url;
	struct export_options options;
	struct export_stop stop;
};

/* Of what is before a URL's first colon, or NULL. */
static const struct export_scheme *scheme_of(const char *url)
{
	size_t n = strcspn(url, ":");

	for (unsigned i = 0; url[n] && i < SCHEMES; i++)
		if (strlen(schemes[i]->scheme) == n &&
		    !memcmp(url, schemes[i]->scheme, n))
			return schemes[i];
	return NULL;
}

/* The name of its part of the spool: of a URL, whatever its options and
 * password. */
static void name_spool(char name[64], const struct url *u)
{
	unsigned long sum = crc32(0, (const Bytef *)u->shown,
				  (uInt)strlen(u->shown));

	snprintf(name, 64, "%s-%08lx", u->scheme, sum);
}

static int open_destination(struct row_sink **out, struct destination *p,
			    const struct export_scheme *scheme,
			    struct error *err)
{
	struct queue_driver d = {
		.driver = &scheme->driver, .stop = &p->stop, .owned = p};
	char name[64];
	int rc = url_set(&p->url, fields, &p->options.queue, err);

	if (rc < 0)
		return rc;
	if (scheme->missing)
		return error_set(err, -ENOTSUP,
				 "built without %s, and make again",
				 scheme->missing);
	if (!(d.self = malloc(scheme->size)))
		return error_set(err, -ENOMEM, "out of memory");
	memcpy(d.self, scheme->defaults, scheme->size);
	rc = url_set(&p->url, scheme->fields, d.self, err);
	if (rc == 0)
		rc = scheme->open(d.self, &p->url, &p->options, &p->stop, err);
	if (rc == 0)
		rc = url_rest(&p->url, err);
	if (rc < 0) {
		scheme->driver.close(d.self);
		return rc;
	}
	name_spool(name, &p->url);
	d.spool_name = name;
	p->options.queue.name = p->url.shown;
	return queue_open(out, &p->options.queue, &d, err);
}

/* With all signals blocked: they are for others than a sink's threads. */
static int open_with_signals_blocked(struct row_sink **out,
				     struct destination *p,
				     const struct export_scheme *scheme,
				     struct error *err)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = open_destination(out, p, scheme, err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int export_open(struct row_sink **out, const char *url,
		const struct export_options *o, struct error *err)
{
	const struct export_scheme *scheme = scheme_of(url);
	struct destination *p;
	struct error why;
	int rc;

	if (!scheme && strchr(url, ':'))
		return error_set(err, -EINVAL,
				 "'%.*s' is none of influx clickhouse redis "
				 "kafka prometheus file",
				 (int)strcspn(url, ":"), url);
	if (!(p = calloc(1, sizeof(*p))))
		return error_set(err, -ENOMEM, "out of memory");
	if (o)
		p->options = *o;
	rc = url_read(&p->url, url, err);
	if (rc == 0) {
		rc = open_with_signals_blocked(out, p, scheme, &why);
		if (rc < 0)
			error_about(err, rc, p->url.shown, &why);
	}
	if (rc < 0)
		free(p);
	return rc;
}
