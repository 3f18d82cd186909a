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

/* clang-format off */
static const struct field fields[] = {
	{"rows", FIELD_NUMBER, 8, offsetof(struct queue_options, rows), 1,
	 ROWS_MAX},
	{"linger", FIELD_OTHER, 0, offsetof(struct queue_options, linger_ns),
	 .set = export_set_duration},
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

static void set_defaults(struct queue_options *o)
{
	o->rows = 5000;
	o->linger_ns = UINT64_C(200000000);
	o->retry_ns = UINT64_C(10000000000);
	if (!o->bytes)
		o->bytes = UINT64_C(32) << 20;
	if (!o->spool_size)
		o->spool_size = UINT64_C(1) << 30;
	if (!o->end_ns)
		o->end_ns = UINT64_C(5000000000);
}

static int open_destination(struct row_sink **out, struct destination *p,
			    struct error *err)
{
	const struct export_scheme *scheme = NULL;
	struct url *u = &p->url;
	struct queue_driver d = {.stop = &p->stop, .owned = p};
	char name[64];
	int rc;

	for (unsigned i = 0; i < SCHEMES; i++)
		if (!strcmp(u->scheme, schemes[i]->scheme))
			scheme = schemes[i];
	if (!scheme)
		return error_set(err, -EINVAL,
				 "none of influx clickhouse redis kafka "
				 "prometheus file");
	rc = url_set_fields(u, fields, &p->options.queue, err);
	if (rc < 0)
		return rc;
	if (scheme->missing)
		return error_set(err, -ENOTSUP,
				 "built without %s, and make again",
				 scheme->missing);
	if (!(d.self = malloc(scheme->size)))
		return error_set(err, -ENOMEM, "out of memory");
	memcpy(d.self, scheme->defaults, scheme->size);
	rc = url_set_fields(u, scheme->fields, d.self, err);
	if (rc == 0)
		rc = scheme->open(d.self, u, &p->options, &p->stop, err);
	if (rc == 0)
		rc = url_check_all_used(u, err);
	if (rc < 0) {
		scheme->driver.close(d.self);
		return rc;
	}
	/* The spool's: the same whatever the URL's options and password. */
	snprintf(name, sizeof(name), "%s-%08lx", u->scheme,
		 crc32(0, (const Bytef *)u->shown, (uInt)strlen(u->shown)));
	d.driver = &scheme->driver;
	d.spool_name = name;
	p->options.queue.name = u->shown;
	return queue_open(out, &p->options.queue, &d, err);
}

int export_open(struct row_sink **out, const char *url,
		const struct export_options *o, struct error *err)
{
	struct destination *p = calloc(1, sizeof(*p));
	sigset_t all, before;
	struct error why;
	int rc;

	if (!p)
		return error_set(err, -ENOMEM, "out of memory");
	if (o)
		p->options = *o;
	set_defaults(&p->options.queue);
	rc = url_parse(&p->url, url, err);
	if (rc == 0) {
		/* Signals are for others than a sink's threads. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		rc = open_destination(out, p, &why);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		if (rc < 0)
			error_about(err, rc, p->url.shown, &why);
	}
	if (rc < 0)
		free(p);
	return rc;
}
