/* SPDX-License-Identifier: BSD-2-Clause */
#include "mirror.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
	GATHER = 256, /* states of ports, until a flush */
};

enum {
	STATE_DEVICE,
	STATE_PORT,
	STATE_TIME,
	STATE_LATENCY,
};

static const struct row_field state_fields[] = {
	[STATE_DEVICE] = {"device", ROW_U64, 0, ROW_TAG},
	[STATE_PORT] = {"port", ROW_U64, 0, ROW_TAG},
	[STATE_TIME] = {"label_time", ROW_U64, 0, ROW_VALUE, "us"},
	[STATE_LATENCY] = {"latency", ROW_U64, 0, ROW_VALUE, "ns"},
};

static const struct row_field s_fields[] = {
	[STATE_DEVICE] = {"device", ROW_U64, 0, ROW_TAG},
	[STATE_PORT] = {"port", ROW_U64, 0, ROW_TAG},
	{"s", ROW_U64, 0},
};

static const struct row_field counter_fields[] = {
	{"name", ROW_STR, 0, ROW_TAG},
	{"value", ROW_U64, 0},
};

static const struct row_field coverage_fields[] = {
	{"coverage", ROW_F64, 0},
};

static const struct schema states = {"state", state_fields, 4};
static const struct schema s_values = {"s", s_fields, 3};
static const struct schema counters = {"counter", counter_fields, 2};
static const struct schema coverages = {"coverage", coverage_fields, 1};

static const struct export_rule rules[] = {
	{"state", EXPORT_LIST, "{device}-{port}"},
	{"s", EXPORT_LIST, "{device}-{port}"},
	{"counter", EXPORT_VALUE, "{name}"},
	{"coverage", EXPORT_PUSH, "coverage"},
};

/* Of database 3, by their names. */
enum {
	ALL = LABEL_CARRIED,
	EXTRA,
	INT,
	RECEIVE,
	COUNTERS,
};

static const char *const names[COUNTERS] = {
	"0",	       "1",
	"2",	       "3",
	"4",	       "5",
	[ALL] = "all", [EXTRA] = "extra",
	[INT] = "int", [RECEIVE] = "receive",
};

struct mirror {
	struct rows *aging, *state, *s, *counter, *coverage;
	uint64_t interval_ns, count[COUNTERS], told[COUNTERS];
};

/* Rows for one of the databases; expire 0: they stay. */
static struct rows *open_rows(struct databases *d, const char *url,
			      unsigned number, uint64_t expire_ns,
			      const struct schema *schema)
{
	const struct export_options o = {
		.rules = rules,
		.n_rules = sizeof(rules) / sizeof(rules[0]),
	};
	const char *options = strchr(url, '?');
	int len = (int)strcspn(url, "?");
	struct rows *r;
	char *whole;

	while (len && url[len - 1] == '/')
		len--;
	if (d->n < DATABASES_MAX)
		d->quiet[d->n] = number > 0; /* all on one server */
	if (asprintf(&whole, "%.*s/%u?expire=%" PRIu64 "us%s%s", len, url,
		     number, expire_ns / 1000, options ? "&" : "",
		     options ? options + 1 : "") < 0)
		cli_fail("out of memory");
	r = rows_open(databases_add(d, "--redis", whole, &o), schema, GATHER);
	free(whole);
	if (!r)
		cli_fail("out of memory");
	return r;
}

struct mirror *mirror_open(struct databases *d, const char *url,
			   uint64_t interval_ns)
{
	struct mirror *m = calloc(1, sizeof(*m));

	if (!m)
		cli_fail("out of memory");
	if (strncmp(url, "redis:", 6) != 0)
		cli_refuse("--redis: '%s' is not redis://HOST[:PORT]", url);
	m->aging = open_rows(d, url, 0, interval_ns, &states);
	m->state = open_rows(d, url, 1, 0, &states);
	m->s = open_rows(d, url, 2, 0, &s_values);
	m->counter = open_rows(d, url, 3, 0, &counters);
	m->interval_ns = interval_ns;
	m->coverage = open_rows(d, url, 4, 0, &coverages);
	return m;
}

/* What a queue has no room for is counted by it. */
static void put_state(struct rows *rows, const struct label_record *r)
{
	row_u64(rows, STATE_DEVICE, r->device);
	row_u64(rows, STATE_PORT, r->out);
	row_u64(rows, STATE_TIME, r->time_us);
	row_u64(rows, STATE_LATENCY, r->latency_ns);
	row_end(rows);
}

void mirror_port(struct mirror *m, const struct label_record *r)
{
	if (r->before_ns && r->seen_ns - r->before_ns < m->interval_ns)
		m->count[EXTRA]++;
	put_state(m->aging, r);
	put_state(m->state, r);
}

void mirror_s(struct mirror *m, const struct label_record *r)
{
	row_u64(m->s, STATE_DEVICE, r->device);
	row_u64(m->s, STATE_PORT, r->out);
	row_u64(m->s, STATE_PORT + 1, r->s);
	row_end(m->s);
}

static void count(struct mirror *m, const struct label_interval_sum *s)
{
	for (unsigned i = 0; i < LABEL_CARRIED; i++)
		m->count[i] += s->carried[i];
	m->count[ALL] += s->labels;
	m->count[INT] += s->packets - s->carried[0];
	m->count[RECEIVE] += s->packets;
	for (unsigned i = 0; i < COUNTERS; i++) {
		if (m->count[i] == m->told[i])
			continue;
		m->told[i] = m->count[i];
		row_str(m->counter, 0, names[i]);
		row_u64(m->counter, 1, m->count[i]);
		row_end(m->counter);
	}
}

void mirror_interval(struct mirror *m, const struct label_interval_sum *s)
{
	count(m, s);
	row_f64(m->coverage, 0, s->ports ? (double)s->covered / s->ports : 0);
	row_end(m->coverage);
}

void mirror_flush(struct mirror *m)
{
	rows_flush(m->aging);
	rows_flush(m->state);
	rows_flush(m->s);
	rows_flush(m->counter);
	rows_flush(m->coverage);
}

void mirror_close(struct mirror *m)
{
	if (!m)
		return;
	rows_close(m->aging);
	rows_close(m->state);
	rows_close(m->s);
	rows_close(m->counter);
	rows_close(m->coverage);
	free(m);
}
