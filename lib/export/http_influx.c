/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_influx.c - InfluxDB 1.x, by its HTTP API: POST /write of line protocol.
 *
 *	create=yes	makes the database if it is missing
 *	rp=NAME		the retention policy; the database's default
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/driver.h"
#include "export/http.h"
#include "row/line.h"

enum {
	PORT = 8086,
	PATH = 2 * EXPORT_URL_MAX,
	NOT_FOUND = 404, /* the database */
	DISTINCT_SERIES = 1024,
	DISTINCT_RUNS = 16,
};

/*
 * InfluxDB keeps one point of a series at a time: a second one overwrites the
 * first. Flow keys are fields here, not tags, so rows of the same tags and time
 * are common: each is moved to the next nanosecond that no other has. Only the
 * last DISTINCT_RUNS runs of times of a series are remembered. Series with the
 * same hash share them: then a point may be moved without need.
 */

/* Runs of times that points have, `from' to `end' - 1. Zero at first. */
struct distinct {
	struct distinct_series {
		struct distinct_run {
			int64_t from, end;
		} run[DISTINCT_RUNS];
		uint8_t next; /* the run that is forgotten next */
	} series[DISTINCT_SERIES];
};

/* Takes the time, or the next one that no point of the series has. */
static int64_t distinct_time(struct distinct *d, uint64_t series,
			     int64_t time_ns)
{
	struct distinct_series *s = &d->series[series % DISTINCT_SERIES];
	struct distinct_run *longer = NULL;

	for (unsigned i = 0; i < DISTINCT_RUNS;) {
		struct distinct_run *run = &s->run[i++];

		if (time_ns >= run->from && time_ns < run->end) {
			time_ns = run->end;
			longer = run;
			i = 0;
		}
	}
	if (!longer) {
		longer = &s->run[s->next++ % DISTINCT_RUNS];
		longer->from = time_ns;
	}
	longer->end = time_ns + 1;
	return time_ns;
}

struct influx {
	struct http *http;
	uint8_t create;
	uint64_t timeout_ns;
	const char *rp;
	char write[PATH], make[PATH]; /* paths of requests */
	/* Used by encode(). */
	struct outbuf series, tag;
	struct distinct *times;
	/* Used by send(). */
	struct http_reply reply;
};

static const char *const yes[] = {"no", "yes", NULL};

/* clang-format off */
static const struct field fields[] = {
	{"create", FIELD_NAME, 1, offsetof(struct influx, create),
	 .names = yes},
	{"rp", FIELD_OTHER, 0, offsetof(struct influx, rp),
	 .set = export_set_text},
	EXPORT_WAIT("timeout", struct influx, timeout_ns),
	{NULL},
};
/* clang-format on */

static void influx_close(void *self)
{
	struct influx *x = self;

	http_close(x->http);
	free(x->series.text);
	free(x->tag.text);
	free(x->times);
	free(x);
}

static const struct influx defaults = {.timeout_ns = EXPORT_TIMEOUT_NS};

static int influx_open(void *self, struct url *u,
		       const struct export_options *o, struct export_stop *stop,
		       struct error *err)
{
	struct influx *x = self;

	(void)o;
	if (!(x->times = calloc(1, sizeof(*x->times))))
		return error_set(err, -ENOMEM, "out of memory");
	if (!*u->path)
		return error_set(err, -EINVAL, "no database: influx://HOST/DB");
	if (!http_is_plain(u->path) || (x->rp && !http_is_plain(x->rp)))
		return error_set(err, -EINVAL,
				 "a database and rp= are of letters, digits, "
				 "- . _ ~");
	snprintf(x->write, PATH, "write?db=%s&precision=ns%s%s", u->path,
		 x->rp ? "&rp=" : "", x->rp ? x->rp : "");
	snprintf(x->make, PATH, "query?q=CREATE%%20DATABASE%%20%%22%s%%22",
		 u->path);
	return http_open(&x->http, u, PORT, x->timeout_ns, stop, err);
}

/* FNV-1a. */
static uint64_t hash_series(const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 32;
}

static void influx_encode(void *self, void *schema_state, struct outbuf *to,
			  const struct row_batch *b, unsigned row,
			  uint32_t rows)
{
	struct influx *x = self;
	const char *series;
	int64_t time;
	size_t len;

	(void)schema_state;
	(void)rows;
	outbuf_cut(&x->series, 0);
	line_series(&x->tag, &x->series, b, row);
	series = outbuf_text(&x->series, &len);
	if (!series) {
		to->err = x->series.err;
		x->series.err = 0;
		return;
	}
	time = line_time(b, row, (int64_t)clock_wall_ns());
	time = distinct_time(x->times, hash_series(series, len), time);
	outbuf_bytes(to, series, len);
	line_rest(to, b, row, time);
}

/* REASON of a reply {"error":"REASON"}, in place, with JSON's escapes. */
static const char *error_reason(char *text)
{
	char *at = strstr(text, "\"error\":\""), *end;

	if (!at)
		return text;
	at += strlen("\"error\":\"");
	end = strrchr(at, '"');
	if (end)
		*end = '\0';
	return at;
}

/*
 * The lines of a write that were not stored. "partial write: REASON dropped=N"
 * has their number; but it is 0 for lines that could not be parsed, each of
 * which has a message of its own (InfluxDB's httpd/handler.go, serveWrite).
 * Where both happen at once, the reply tells only of the first kind.
 */
static uint64_t count_dropped(const char *why)
{
	static const char unreadable[] = "unable to parse '";
	const char *at = strstr(why, "dropped=");
	uint64_t n = 0;

	while (at) {
		text_digits(&n, at + strlen("dropped="), UINT32_MAX);
		at = strstr(at + 1, "dropped=");
	}
	if (n == 0)
		for (at = why; (at = strstr(at, unreadable)); at++)
			n++;
	return n;
}

static void count_refused(struct export_block *b, struct export_tally *t,
			  const char *why)
{
	uint64_t n = count_dropped(why);

	if (strstr(why, "partial write") && n <= b->rows) {
		t->written += b->rows - n;
		b->rows = (uint32_t)n;
	}
	export_block_refuse(b, t, why);
}

static int influx_send(void *self, struct export_block *b,
		       struct export_tally *t, struct error *err)
{
	struct influx *x = self;
	int rc = http_post(x->http, x->write, b->bytes, b->len, &x->reply, err);

	if (rc == 0 && x->reply.status == NOT_FOUND && x->create) {
		rc = http_post(x->http, x->make, "", 0, &x->reply, err);
		if (rc == 0 && x->reply.status != 200)
			return error_set(err, -EAGAIN,
					 "CREATE DATABASE: HTTP %ld: %.400s",
					 x->reply.status,
					 error_reason(x->reply.text));
		if (rc == 0)
			rc = http_post(x->http, x->write, b->bytes, b->len,
				       &x->reply, err);
	}
	if (rc < 0)
		return rc;
	if (x->reply.status / 100 == 2)
		export_block_end(b, &t->written);
	else if (x->reply.status == 400 || x->reply.status == 413)
		count_refused(b, t, error_reason(x->reply.text));
	else
		rc = error_set(err, -EAGAIN, "HTTP %ld: %.400s",
			       x->reply.status, error_reason(x->reply.text));
	return rc;
}

const struct export_scheme export_influx = {
	.scheme = "influx",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = influx_open,
	/* The queue allocates a state, which is not used. */
	.driver = {.close = influx_close,
		   .state_size = 1,
		   .encode = influx_encode,
		   .send = influx_send},
};
