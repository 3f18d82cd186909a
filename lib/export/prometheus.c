/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prometheus.c - what Prometheus asks for: GET /metrics, and /healthz for
 * what watches the program: 200 "ok", or 503 and why not. By libmicrohttpd.
 *
 *	series=N	at most, rows of others are refused; 10000
 *	expire=TIME	of a series without rows; 5m, 0: never
 *	row_counts=0	leaves MEASUREMENT_rows_total out
 *
 * A field of numbers is a gauge MEASUREMENT_FIELD, with its unit at the end, in
 * base units: ns, us, ms and s become seconds; one whose name ends in _total is
 * a counter. MEASUREMENT_rows_total counts the rows themselves. Tags are
 * labels. Series are bounded: the rows of any more are refused. A series that
 * no row has come of for a while is forgotten.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/driver.h"
#include "row/row.h"

/* --- the latest values, by measurement and tags (text format 0.0.4) ------ */

enum {
	SWEEP_NS = 1000000000,
	COUNT_ROWS = UINT16_MAX, /* in place of a metric's field */
};

/* One set of labels of a measurement. */
struct labelled {
	struct labelled *next; /* of the measurement */
	uint64_t seen_ns;
	const char *labels; /* node="a",port="1" */
	double value[];	    /* by metric; NAN: none yet */
};

struct metric {
	unsigned field; /* or COUNT_ROWS */
	double scale;
	bool counter;
	char *name;
};

struct series_form {
	struct series_form *next;
	const struct schema *schema;
	unsigned metrics;
	struct metric *metric;
	struct labelled *first;
	void *by_labels; /* the same, of tsearch(3) */
};

struct series {
	pthread_mutex_t lock;
	uint64_t max, expire_ns, n, swept_ns;
	bool row_counts;
	struct series_form *forms, **last;
	struct outbuf labels, cell;
};

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
	{"%", "ratio", 1e-2},
	{"percent", "ratio", 1e-2},
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

/* MEASUREMENT_FIELD_UNIT, or with _total behind. */
static bool name_metric(struct metric *m, const struct schema *s,
			const struct row_field *f)
{
	struct unit u = unit_of(f);
	char *field = strdup(f->name);
	int n = -1;

	if (field) {
		m->counter = strip_suffix(field, "total");
		if (u.unit && strcmp(field, u.unit) != 0)
			strip_suffix(field, u.unit);
		if (u.name && strcmp(field, u.name) != 0)
			strip_suffix(field, u.name);
		m->scale = u.scale;
		n = asprintf(&m->name, "%s_%s%s%s%s", s->name, field,
			     u.name ? "_" : "", u.name ? u.name : "",
			     m->counter ? "_total" : "");
	}
	free(field);
	if (n < 0)
		m->name = NULL;
	return n >= 0;
}

static bool is_metric(const struct row_field *f)
{
	return f->role == ROW_VALUE && f->type != ROW_STR &&
	       f->type != ROW_BYTES && f->type != ROW_LIST;
}

static void free_form(struct series_form *m)
{
	for (unsigned i = 0; m && i < m->metrics; i++)
		free(m->metric[i].name);
	if (m)
		free(m->metric);
	free(m);
}

static struct series_form *series_form(struct series *x, const struct schema *s)
{
	struct series_form *m = calloc(1, sizeof(*m));
	bool ok = m && (m->metric = calloc(s->n + 1, sizeof(*m->metric)));
	struct metric *rows;

	for (unsigned i = 0; ok && i < s->n; i++)
		if (is_metric(&s->fields[i])) {
			m->metric[m->metrics].field = i;
			ok = name_metric(&m->metric[m->metrics++], s,
					 &s->fields[i]);
		}
	if (ok && x->row_counts) {
		rows = &m->metric[m->metrics++];
		*rows = (struct metric){COUNT_ROWS, 1, true, NULL};
		ok = asprintf(&rows->name, "%s_rows_total", s->name) >= 0;
	}
	if (!ok) {
		free_form(m);
		return NULL;
	}
	m->schema = s;
	pthread_mutex_lock(&x->lock);
	*x->last = m;
	x->last = &m->next;
	pthread_mutex_unlock(&x->lock);
	return m;
}

static struct series *series_open(uint64_t max, uint64_t expire_ns,
				  bool row_counts)
{
	struct series *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	pthread_mutex_init(&x->lock, NULL);
	x->max = max;
	x->expire_ns = expire_ns;
	x->row_counts = row_counts;
	x->last = &x->forms;
	return x;
}

/* The row's name="value",... in x->labels. NULL: no memory. */
static const char *labels_of(struct series *x, const struct series_form *m,
			     const struct row_batch *b, unsigned row)
{
	const struct schema *s = m->schema;
	struct outbuf *o = &x->labels, *cell = &x->cell;
	size_t n;

	outbuf_cut(o, 0);
	for (unsigned i = 0; i < s->n; i++) {
		const struct row_cell *c = row_batch_cell(b, row, i);
		const char *text;

		if (s->fields[i].role != ROW_TAG)
			continue;
		outbuf_cut(cell, 0);
		if (!encode_is_null(c))
			encode_cell(cell, b, c);
		text = outbuf_text(cell, &n);
		if (outbuf_len(o))
			outbuf_char(o, ',');
		outbuf_word(o, s->fields[i].name);
		outbuf_word(o, "=\"");
		outbuf_escaped(o, text ? text : "", n, "\"\\\n");
		outbuf_char(o, '"');
	}
	outbuf_char(o, '\0');
	return outbuf_text(o, &n);
}

static int by_labels(const void *a, const void *b)
{
	const struct labelled *one = a, *other = b;

	return strcmp(one->labels, other->labels);
}

static struct labelled *make_labelled(struct series_form *m, const char *labels)
{
	size_t values = m->metrics * sizeof(double), len = strlen(labels) + 1;
	struct labelled *l = calloc(1, sizeof(*l) + values + len);

	if (!l)
		return NULL;
	for (unsigned i = 0; i < m->metrics; i++)
		l->value[i] = m->metric[i].field == COUNT_ROWS ? 0 : NAN;
	l->labels = memcpy((char *)l->value + values, labels, len);
	if (!tsearch(l, &m->by_labels, by_labels)) {
		free(l);
		return NULL;
	}
	l->next = m->first;
	m->first = l;
	return l;
}

/* Forgets what no row has come of for long. */
static void forget_old_series(struct series *x, uint64_t now_ns)
{
	x->swept_ns = now_ns;
	for (struct series_form *m = x->forms; x->expire_ns && m; m = m->next) {
		struct labelled **at = &m->first, *l;

		while ((l = *at)) {
			if (now_ns < l->seen_ns ||
			    now_ns - l->seen_ns < x->expire_ns) {
				at = &l->next;
				continue;
			}
			*at = l->next;
			tdelete(l, &m->by_labels, by_labels);
			free(l);
			x->n--;
		}
	}
}

static int find_labelled(struct labelled **out, struct series *x,
			 struct series_form *m, const char *labels,
			 uint64_t now_ns)
{
	const struct labelled key = {.labels = labels};
	struct labelled **at = tfind(&key, &m->by_labels, by_labels);

	if (at) {
		*out = *at;
		return 0;
	}
	if (x->n >= x->max && now_ns - x->swept_ns >= SWEEP_NS)
		forget_old_series(x, now_ns);
	if (x->n >= x->max)
		return -ENOSPC;
	if (!(*out = make_labelled(m, labels)))
		return -ENOMEM;
	x->n++;
	return 0;
}

static double number_of(const struct row_cell *c)
{
	switch (c->kind) {
	case ROW_U64:
	case ROW_BOOL:
		return (double)c->u64;
	case ROW_I64:
	case ROW_TIME:
		return (double)c->i64;
	default:
		return c->f64;
	}
}

static void set_values(const struct series_form *m, struct labelled *l,
		       const struct row_batch *b, unsigned row)
{
	for (unsigned i = 0; i < m->metrics; i++) {
		const struct metric *t = &m->metric[i];
		const struct row_cell *c;

		if (t->field == COUNT_ROWS) {
			l->value[i]++;
			continue;
		}
		c = row_batch_cell(b, row, t->field);
		if (!encode_is_null(c))
			l->value[i] = number_of(c) * t->scale;
	}
}

static int series_take(struct series *x, struct series_form *m,
		       const struct row_batch *b, unsigned row, uint64_t now_ns)
{
	const char *labels;
	struct labelled *l;
	int rc = -ENOMEM;

	pthread_mutex_lock(&x->lock);
	if ((labels = labels_of(x, m, b, row)))
		rc = find_labelled(&l, x, m, labels, now_ns);
	if (rc == 0) {
		set_values(m, l, b, row);
		l->seen_ns = now_ns;
	}
	pthread_mutex_unlock(&x->lock);
	return rc;
}

static void put_words(struct outbuf *o, const char *const *words)
{
	for (; *words; words++)
		outbuf_word(o, *words);
}

static void render_metric(const struct series_form *m, unsigned i,
			  struct outbuf *o)
{
	const struct metric *t = &m->metric[i];
	bool rows = t->field == COUNT_ROWS;

	put_words(o, (const char *const[]){
			     "# HELP ", t->name,
			     rows ? " Rows that came" : " The latest ",
			     rows ? "" : m->schema->fields[t->field].name,
			     rows ? "" : " of ", rows ? "" : m->schema->name,
			     "\n# TYPE ", t->name,
			     t->counter ? " counter\n" : " gauge\n", NULL});
	for (const struct labelled *l = m->first; l; l = l->next) {
		bool labels = *l->labels;
		char value[32];

		if (!isfinite(l->value[i]))
			continue;
		snprintf(value, sizeof(value), " %.15g\n", l->value[i]);
		put_words(o, (const char *const[]){t->name, labels ? "{" : "",
						   l->labels, labels ? "}" : "",
						   value, NULL});
	}
}

static void series_render(struct series *x, struct outbuf *o, uint64_t now_ns)
{
	pthread_mutex_lock(&x->lock);
	forget_old_series(x, now_ns);
	for (const struct series_form *m = x->forms; m; m = m->next) {
		for (unsigned i = 0; i < m->metrics; i++)
			render_metric(m, i, o);
	}
	pthread_mutex_unlock(&x->lock);
}

static void series_close(struct series *x)
{
	struct series_form *m, *next;
	struct labelled *l;

	if (!x)
		return;
	for (m = x->forms; m; m = next) {
		next = m->next;
		while ((l = m->first)) {
			m->first = l->next;
			tdelete(l, &m->by_labels, by_labels);
			free(l);
		}
		free_form(m);
	}
	free(x->labels.text);
	free(x->cell.text);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

/* --- the endpoint -------------------------------------------------------- */

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
static enum MHD_Result send_response(struct MHD_Connection *c, unsigned status,
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

	return n < 0 ? MHD_NO : send_response(c, status, text, (size_t)n);
}

static enum MHD_Result answer_metrics(struct prometheus *x,
				      struct MHD_Connection *c)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	enum MHD_Result rc = MHD_NO;
	char *text;
	size_t len;

	if (o) {
		series_render(x->series, o, clock_ns());
		text = outbuf_take(o, &len);
		rc = send_response(c, MHD_HTTP_OK, text, len);
		free(o->text);
	}
	free(o);
	return rc;
}

static enum MHD_Result answer_health(struct prometheus *x,
				     struct MHD_Connection *c)
{
	const struct export_options *o = x->options;
	struct error why = {"not well"};

	if (o->healthy && !o->healthy(o->ctx, &why))
		return answer_words(c, MHD_HTTP_SERVICE_UNAVAILABLE, why.text);
	return answer_words(c, MHD_HTTP_OK, "ok");
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *c,
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
		return answer_metrics(self, c);
	if (!strcmp(path, "/healthz"))
		return answer_health(self, c);
	return answer_words(c, MHD_HTTP_NOT_FOUND, "/metrics or /healthz");
}

/* A socket that listens, so that errors have a reason. No address: all. */
static int listen_on(struct prometheus *x, const struct url *u,
		     struct error *err)
{
	const struct addrinfo hint = {
		.ai_family = *u->host ? AF_UNSPEC : AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	};
	bool six = u->host[0] == '['; /* and ] at the end */
	struct sockaddr_in6 at; /* large enough, and its port in one place */
	socklen_t len = sizeof(at);
	char host[TEXT_IP_MAX], port[8];
	struct addrinfo *to;
	int fd, rc = 0, on = 1;

	snprintf(host, sizeof(host), "%.*s", (int)strcspn(u->host + six, "]"),
		 u->host + six);
	snprintf(port, sizeof(port), "%u", u->port);
	if (getaddrinfo(*host ? host : NULL, port, &hint, &to) != 0)
		return error_set(err, -EINVAL, "'%s' is not an address",
				 u->host);
	fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, to->ai_addr, to->ai_addrlen) < 0 ||
	    listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		rc = -errno;
	freeaddrinfo(to);
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		return error_set(err, rc, "%s", strerror(-rc));
	}
	x->port = ntohs(at.sin6_port);
	return fd;
}

static void prometheus_close(void *self)
{
	struct prometheus *x = self;

	if (x->daemon)
		MHD_stop_daemon(x->daemon);
	series_close(x->series);
	free(x);
}

static int start_server(struct prometheus *x, const struct url *u,
			struct error *err)
{
	int fd;

	if (!(x->series = series_open(x->max, x->expire_ns, x->row_counts)))
		return error_set(err, -ENOMEM, "out of memory");
	if ((fd = listen_on(x, u, err)) < 0)
		return fd;
	x->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL,
		on_request, x, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
	if (x->daemon)
		return 0;
	close(fd);
	return error_set(err, -EIO, "libmicrohttpd did not start");
}

static const struct prometheus defaults = {
	.max = 10000,
	.expire_ns = UINT64_C(300000000000),
	.row_counts = 1,
};

static int prometheus_open(void *self, struct url *u,
			   const struct export_options *o,
			   struct export_stop *stop, struct error *err)
{
	struct prometheus *x = self;

	(void)stop;
	x->options = o;
	return start_server(x, u, err);
}

/* Forms live as long as the series: they are asked for later, too. */
static int prometheus_shape(void *shape, void *self, const struct schema *s,
			    struct error *err)
{
	struct prometheus *x = self;
	struct series_form **m = shape;

	*m = series_form(x->series, s);
	return *m ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int prometheus_take(void *self, void *shape, const struct row_batch *b,
			   struct export_tally *t, struct error *err)
{
	struct prometheus *x = self;
	struct series_form **m = shape;
	uint64_t now = clock_ns();

	(void)err;
	for (unsigned i = 0; i < b->rows; i++) {
		int rc = series_take(x->series, *m, b, i, now);

		t->written += rc == 0;
		if (rc < 0 && !t->refused++)
			error_set(&t->why, rc, "%s",
				  rc == -ENOSPC ? "more series than series= "
						  "allows"
						: strerror(-rc));
	}
	return 0;
}

const struct export_scheme export_prometheus = {
	.scheme = "prometheus",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.fields = fields,
	.open = prometheus_open,
	.driver =
		{
			.close = prometheus_close,
			.shape_size = sizeof(struct series_form *),
			.shape = prometheus_shape,
			.take = prometheus_take,
		},
};
