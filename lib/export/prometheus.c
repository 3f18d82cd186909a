/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prometheus.c - answers Prometheus's GET /metrics, and GET /healthz for health
 * checks: 200 "ok", or 503 and what is wrong. By libmicrohttpd.
 *
 *	series=N	rows of more series than N are refused; 10000
 *	expire=TIME	a series without rows is forgotten; 5m, 0: never
 *	row_counts=0	leaves MEASUREMENT_rows_total out
 *
 * A field of numbers is a gauge MEASUREMENT_FIELD, with its unit at the end, in
 * base units: ns, us, ms and s become seconds; one whose name ends in _total is
 * a counter. MEASUREMENT_rows_total counts the rows. Tags are labels.
 */
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "export/driver.h"
#include "row/row.h"

enum {
	COUNT_ROWS = UINT16_MAX, /* in place of the index of a field */
	CONNECTIONS = 64,
	IDLE_SECONDS = 10,
};

/* One series of a measurement, with the latest value of each metric. */
struct labelled {
	struct labelled *next; /* in the measurement's list */
	uint64_t seen_ns;      /* when its last row came */
	const char *labels;    /* as exported: node="a",port="1" */
	double value[];	       /* by metric; NAN: none yet */
};

struct metric {
	unsigned field; /* its index in the schema; or COUNT_ROWS */
	double scale;
	bool counter;
	char name[192];
};

/* The metrics of a schema, and their series. It is kept until the exporter is
 * closed: a scrape may come long after the last row. */
struct measurement {
	struct measurement *next;
	const struct schema *schema;
	struct labelled *first; /* a list of its series */
	void *tree;		/* the same series by labels: see tsearch(3) */
	unsigned metrics;
	struct metric metric[];
};

struct prometheus {
	struct MHD_Daemon *daemon;
	const struct export_options *options;
	uint64_t series_max, expire_ns, row_counts;
	struct outbuf labels, cell;
	pthread_mutex_t lock; /* of what follows */
	uint64_t series;      /* how many there are */
	struct measurement *measurements;
};

/* clang-format off */
static const struct field fields[] = {
	{"series", FIELD_NUMBER, 8, offsetof(struct prometheus, series_max), 1,
	 10000000},
	{"expire", FIELD_OTHER, 0, offsetof(struct prometheus, expire_ns),
	 .set = export_set_duration},
	{"row_counts", FIELD_NUMBER, 8,
	 offsetof(struct prometheus, row_counts), 0, 1},
	{NULL},
};
/* clang-format on */

static const struct prometheus defaults = {.series_max = 10000,
					   .expire_ns = UINT64_C(300000000000),
					   .row_counts = 1,
					   .lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the latest values, by measurement and tags -------------------------- */

/* Units as promtool wants them: base units, in the plural. */
static const struct unit {
	const char *unit, *name;
	double scale;
} units[] = {
	{"ns", "seconds", 1e-9},
	{"us", "seconds", 1e-6},
	{"ms", "seconds", 1e-3},
	{"s", "seconds", 1},
	{"1/s", "per_second", 1},
	{"bit/s", "bits_per_second", 1},
	{"bytes/s", "bytes_per_second", 1},
};

static struct unit unit_of(const struct row_field *f)
{
	if (f->type == ROW_TIME)
		return (struct unit){"ns", "seconds", 1e-9};
	for (unsigned i = 0; f->unit && i < sizeof(units) / sizeof(units[0]);
	     i++)
		if (!strcmp(f->unit, units[i].unit))
			return units[i];
	return (struct unit){f->unit, f->unit, 1};
}

/* Takes "_end" off a name, if it is there. */
static bool strip_suffix(char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	if (n <= m + 1 || name[n - m - 1] != '_' || strcmp(name + n - m, end))
		return false;
	name[n - m - 1] = '\0';
	return true;
}

/* MEASUREMENT_FIELD_UNIT, and _total at the end of a counter. */
static void name_metric(struct metric *metric, const struct schema *s,
			const struct row_field *f)
{
	struct unit u = unit_of(f);
	char field[64];

	snprintf(field, sizeof(field), "%s", f->name);
	metric->counter = strip_suffix(field, "total");
	if (u.unit && strcmp(field, u.unit) != 0)
		strip_suffix(field, u.unit);
	if (u.name && strcmp(field, u.name) != 0)
		strip_suffix(field, u.name);
	metric->scale = u.scale;
	snprintf(metric->name, sizeof(metric->name), "%.64s_%s%s%.32s%s",
		 s->name, field, u.name ? "_" : "", u.name ? u.name : "",
		 metric->counter ? "_total" : "");
}

static int prometheus_open_schema(void *schema_state, void *self,
				  const struct schema *s, struct error *err)
{
	struct prometheus *p = self;
	struct measurement *m = calloc(
		1, sizeof(*m) + (s->n + 1) * sizeof(m->metric[0]));
	struct metric *metric;

	if (!m)
		return error_set(err, -ENOMEM, "out of memory");
	metric = m->metric;
	m->schema = s;
	for (unsigned i = 0; i < s->n; i++) {
		const struct row_field *f = &s->fields[i];

		if (f->role == ROW_VALUE && f->type != ROW_STR &&
		    f->type != ROW_BYTES && f->type != ROW_LIST) {
			metric->field = i;
			name_metric(metric++, s, f);
		}
	}
	if (p->row_counts) {
		*metric = (struct metric){COUNT_ROWS, 1, true, ""};
		snprintf(metric->name, sizeof(metric->name),
			 "%.128s_rows_total", s->name);
		metric++;
	}
	m->metrics = (unsigned)(metric - m->metric);
	pthread_mutex_lock(&p->lock);
	m->next = p->measurements;
	p->measurements = m;
	pthread_mutex_unlock(&p->lock);
	*(struct measurement **)schema_state = m;
	return 0;
}

/* The row's labels, name="value",..., in p->labels. NULL: no memory. */
static const char *labels_of(struct prometheus *p, const struct row_batch *b,
			     unsigned row)
{
	const struct row_cell *c = row_batch_cell(b, row, 0);
	struct outbuf *o = &p->labels;
	size_t n;

	outbuf_cut(o, 0);
	for (unsigned i = 0; i < b->schema->n; i++) {
		const struct row_field *f = &b->schema->fields[i];
		const char *text;

		if (f->role != ROW_TAG)
			continue;
		text = encode_text(&p->cell, b, &c[i], &n);
		if (outbuf_len(o))
			outbuf_char(o, ',');
		outbuf_word(o, f->name);
		outbuf_word(o, "=\"");
		outbuf_escaped(o, text ? text : "", n, "\"\\\n");
		outbuf_char(o, '"');
	}
	return outbuf_text(o, &n);
}

static int compare_labels(const void *a, const void *b)
{
	const struct labelled *one = a, *other = b;

	return strcmp(one->labels, other->labels);
}

static struct labelled *make_labelled(struct measurement *m, const char *labels)
{
	size_t values = m->metrics * sizeof(double), len = strlen(labels) + 1;
	struct labelled *l = calloc(1, sizeof(*l) + values + len);

	if (!l)
		return NULL;
	for (unsigned i = 0; i < m->metrics; i++)
		l->value[i] = m->metric[i].field == COUNT_ROWS ? 0 : NAN;
	l->labels = memcpy((char *)l->value + values, labels, len);
	if (!tsearch(l, &m->tree, compare_labels)) {
		free(l);
		return NULL;
	}
	l->next = m->first;
	m->first = l;
	return l;
}

/* Forgets the series that have had no row since a time of clock_ns(). */
static void forget_series(struct prometheus *p, uint64_t since_ns)
{
	for (struct measurement *m = p->measurements; m; m = m->next) {
		struct labelled **at = &m->first, *l;

		while ((l = *at)) {
			if (l->seen_ns >= since_ns) {
				at = &l->next;
				continue;
			}
			*at = l->next;
			tdelete(l, &m->tree, compare_labels);
			free(l);
			p->series--;
		}
	}
}

static double number_of(const struct row_cell *c)
{
	if (c->kind == ROW_F64)
		return c->f64;
	return c->kind == ROW_I64 || c->kind == ROW_TIME ? (double)c->i64
							 : (double)c->u64;
}

/* Makes the values of a row the latest of its series. lock is held. */
static int take_row(struct prometheus *p, struct measurement *m,
		    const struct row_batch *b, unsigned row, uint64_t now_ns)
{
	const struct labelled key = {.labels = labels_of(p, b, row)};
	struct labelled **at, *l;

	if (!key.labels)
		return -ENOMEM;
	if ((at = tfind(&key, &m->tree, compare_labels))) {
		l = *at;
	} else {
		if (p->series >= p->series_max)
			return -ENOSPC;
		if (!(l = make_labelled(m, key.labels)))
			return -ENOMEM;
		p->series++;
	}
	l->seen_ns = now_ns;
	for (unsigned i = 0; i < m->metrics; i++) {
		const struct metric *metric = &m->metric[i];
		const struct row_cell *c;

		if (metric->field == COUNT_ROWS) {
			l->value[i]++;
			continue;
		}
		c = row_batch_cell(b, row, metric->field);
		if (!encode_is_null(c))
			l->value[i] = number_of(c) * metric->scale;
	}
	return 0;
}

static int prometheus_take(void *self, void *schema_state,
			   const struct row_batch *b,
			   struct export_tally *tally, struct error *err)
{
	struct prometheus *p = self;
	uint64_t now = clock_ns();

	(void)err;
	pthread_mutex_lock(&p->lock);
	for (unsigned i = 0; i < b->rows; i++) {
		int rc = take_row(p, *(struct measurement **)schema_state, b, i,
				  now);

		tally->written += rc == 0;
		if (rc < 0 && !tally->refused++)
			error_set(&tally->why, rc, "%s",
				  rc == -ENOSPC ? "more series than series= "
						  "allows"
						: strerror(-rc));
	}
	pthread_mutex_unlock(&p->lock);
	return 0;
}

/* --- the endpoint: text format 0.0.4 -------------------------------------- */

static void put_metric(FILE *out, const struct measurement *m, unsigned i)
{
	const struct metric *metric = &m->metric[i];

	fprintf(out, "# HELP %s ", metric->name);
	if (metric->field == COUNT_ROWS)
		fputs("Rows that came\n", out);
	else
		fprintf(out, "The latest %s of %s\n",
			m->schema->fields[metric->field].name, m->schema->name);
	fprintf(out, "# TYPE %s %s\n", metric->name,
		metric->counter ? "counter" : "gauge");
	for (const struct labelled *l = m->first; l; l = l->next)
		if (isfinite(l->value[i]))
			fprintf(out,
				*l->labels ? "%s{%s} %.15g\n" : "%s%s %.15g\n",
				metric->name, l->labels, l->value[i]);
}

static void put_metrics(struct prometheus *p, FILE *out)
{
	uint64_t now = clock_ns();

	pthread_mutex_lock(&p->lock);
	if (p->expire_ns && now > p->expire_ns)
		forget_series(p, now - p->expire_ns);
	for (const struct measurement *m = p->measurements; m; m = m->next)
		for (unsigned i = 0; i < m->metrics; i++)
			put_metric(out, m, i);
	pthread_mutex_unlock(&p->lock);
}

static unsigned put_health(const struct export_options *o, FILE *out)
{
	struct error why = {"not well"};
	bool well = !o->healthy || o->healthy(o->ctx, &why);

	fprintf(out, "%s\n", well ? "ok" : why.text);
	return well ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *c,
				  const char *path, const char *method,
				  const char *version, const char *body,
				  size_t *body_len, void **request)
{
	struct prometheus *p = self;
	unsigned status = MHD_HTTP_OK;
	struct MHD_Response *r;
	enum MHD_Result rc;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)method;
	(void)version;
	(void)body;
	(void)request;
	*body_len = 0;
	if (!out)
		return MHD_NO;
	if (!strcmp(path, "/metrics")) {
		put_metrics(p, out);
	} else if (!strcmp(path, "/healthz")) {
		status = put_health(p->options, out);
	} else {
		status = MHD_HTTP_NOT_FOUND;
		fputs("/metrics or /healthz\n", out);
	}
	fclose(out);
	r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; version=0.0.4; charset=utf-8");
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static void prometheus_close(void *self)
{
	struct prometheus *p = self;
	struct measurement *m;

	if (p->daemon)
		MHD_stop_daemon(p->daemon);
	forget_series(p, UINT64_MAX);
	while ((m = p->measurements)) {
		p->measurements = m->next;
		free(m);
	}
	free(p->labels.text);
	free(p->cell.text);
	free(p);
}

/* Listens on the address in the URL; without one, on all of IPv4. */
static int prometheus_open(void *self, struct url *u,
			   const struct export_options *o,
			   struct export_stop *stop, struct error *err)
{
	const struct addrinfo hint = {
		.ai_family = *u->host ? AF_UNSPEC : AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	};
	struct prometheus *p = self;
	struct addrinfo *to;
	char port[8];

	(void)stop;
	p->options = o;
	snprintf(port, sizeof(port), "%u", u->port);
	url_strip_brackets(u);
	if (getaddrinfo(*u->host ? u->host : NULL, port, &hint, &to) != 0)
		return error_set(err, -EINVAL, "'%s' is not an address",
				 u->host);
	errno = 0;
	p->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO |
			(to->ai_family == AF_INET6 ? MHD_USE_DUAL_STACK : 0),
		u->port, NULL, NULL, on_request, p, MHD_OPTION_SOCK_ADDR,
		to->ai_addr, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
	freeaddrinfo(to);
	if (p->daemon)
		return 0;
	return error_set(err, -EIO, "%s",
			 errno ? strerror(errno)
			       : "libmicrohttpd did not start");
}

const struct export_scheme export_prometheus = {
	.scheme = "prometheus",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = prometheus_open,
	.driver = {.close = prometheus_close,
		   .state_size = sizeof(struct measurement *),
		   .open_schema = prometheus_open_schema,
		   .take = prometheus_take},
};
