/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * rows_to [-s SPOOL] [-b SPOOL_BYTES] [-q QUEUE_BYTES] [-e END_SECONDS] URL:
 * rows that can be told in advance, to a database. Commands on standard input:
 *
 *	put N [SCHEMA [NS]]	N more rows: hop, flow, label; NS apart, 1000
 *	status			the ledger so far; "up", "down: REASON"
 *	until COUNTER N		waits until a counter of the ledger is so high
 *
 * At the end, or by SIGTERM, the ledger, and what was refused; exit 1 if not
 * all was sent.
 */
/* clang-format on */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/export.h"
#include "row/row.h"

enum {
	GATHER = 100,
	LIST = 3,
	PATIENCE_MS = 60000,
};

static const struct row_field hop_fields[] = {
	{"time", ROW_TIME, 0, ROW_WHEN},
	{"node", ROW_STR, 0, ROW_TAG},
	{"port", ROW_U64, 0, ROW_TAG},
	{"flow", ROW_STR, 0},
	{"latency", ROW_U64, 0, ROW_VALUE, "ns"},
	{"depth", ROW_I64, 0},
	{"utilization", ROW_F64, 0},
	{"lost", ROW_BOOL, 0},
	{"path", ROW_LIST, 0},
	{"key", ROW_BYTES, 0},
};

static const struct schema schemas[] = {
	{"hop", hop_fields, 10},
	{"flow", hop_fields, 10},
	{"label", hop_fields, 5}, /* without what is behind the latency */
};

static const struct export_rule rules[] = {
	{"flow", EXPORT_STATE, "flow:{flow}"},
	{"label", EXPORT_STATE, "{node}-{port}"},
};

static void die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("rows_to: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	exit(1);
}

struct state {
	struct row_sink *sink;
	uint64_t n;   /* rows so far */
	int64_t time; /* of the next */
};

/* A row that its number tells. Every fourth node has a difficult name. */
static void make_row(struct rows *r, uint64_t i, int64_t time, bool whole)
{
	static const char *const nodes[] = {"leaf1", "leaf2", "spine1",
					    "a b,c=d\\e\"f"};
	uint64_t list[LIST] = {6, 5, i % 4};
	char flow[64];

	snprintf(flow, sizeof(flow), "10.0.0.%u:%u->10.0.1.1:443",
		 (unsigned)(i / 1000 % 250), (unsigned)(i % 1000));
	row_time(r, 0, time);
	row_str(r, 1, nodes[i % 4]);
	row_u64(r, 2, i / 4 % 2);
	row_str(r, 3, flow);
	row_u64(r, 4, i);
	if (whole) {
		row_batch_set(&r->b, 5, ROW_I64)->i64 = -(int64_t)i;
		row_f64(r, 6, (double)i / 4);
		row_bool(r, 7, i & 1);
		row_list(r, 8, list, LIST);
		row_bytes(r, 9, "\x00\xff", 2);
	}
	row_end(r);
}

static void put(struct state *s, uint64_t n, const char *name, int64_t apart)
{
	const struct schema *of = NULL;
	struct rows *r;

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(name, schemas[i].name))
			of = &schemas[i];
	if (!of || !(r = rows_open(s->sink, of, GATHER)))
		die("no schema %s", name);
	for (; n; n--, s->time += apart)
		make_row(r, s->n++, s->time, of->n > 5);
	rows_close(r);
}

static void status(struct state *s)
{
	struct queue_status st;

	queue_status(s->sink, &st);
	for (unsigned i = 0; i < queue_ledger.n; i++)
		printf("{\"stage\":\"export\",\"counter\":\"%s\","
		       "\"role\":\"%s\",\"value\":%llu}\n",
		       queue_ledger.fields[i].name,
		       ledger_role_name(queue_ledger.fields[i].role),
		       (unsigned long long)ledger_get(&queue_ledger, &st.ledger,
						      i));
	printf(st.failing ? "down: %s\n" : "up%.0s\n", st.why.text);
	if (*st.refusal.text)
		printf("refused: %s\n", st.refusal.text);
}

static void until(struct state *s, const char *name, uint64_t want)
{
	struct queue_status st;

	for (unsigned i = 0; i < PATIENCE_MS; i++, usleep(1000)) {
		queue_status(s->sink, &st);
		for (unsigned c = 0; c < queue_ledger.n; c++)
			if (!strcmp(name, queue_ledger.fields[c].name) &&
			    ledger_get(&queue_ledger, &st.ledger, c) >= want)
				return;
	}
	status(s);
	die("waited in vain until %s is %llu", name, (unsigned long long)want);
}

static void command(struct state *s, const char *line)
{
	char word[16] = "", name[32] = "hop";
	unsigned long long n = 0;
	long long apart = 1000;

	if (sscanf(line, "put %llu %31s %lld", &n, name, &apart) >= 1)
		put(s, n, name, apart);
	else if (sscanf(line, "until %31s %llu", name, &n) == 2)
		until(s, name, n);
	else if (sscanf(line, "%15s", word) == 1 && !strcmp(word, "status"))
		status(s);
	else
		die("what is '%s'?", line);
	fflush(stdout);
}

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static void read_options(int argc, char **argv, struct export_options *o)
{
	int ch;

	while ((ch = getopt(argc, argv, "s:b:q:e:")) != -1)
		switch (ch) {
		case 's':
			o->queue.spool = optarg;
			break;
		case 'b':
			o->queue.spool_size = strtoull(optarg, NULL, 10);
			break;
		case 'q':
			o->queue.bytes = strtoull(optarg, NULL, 10);
			break;
		case 'e':
			o->queue.end_ns = strtoull(optarg, NULL, 10) *
					  1000000000;
			break;
		default:
			die("usage: rows_to [-s SPOOL] [-q QUEUE] URL");
		}
}

int main(int argc, char **argv)
{
	struct export_options o = {.rules = rules, .n_rules = 2};
	struct state s = {.time = INT64_C(1600000000000000000)};
	struct sigaction act = {.sa_handler = stop};
	struct error err;
	char line[128];
	int rc;

	read_options(argc, argv, &o);
	if (optind + 1 != argc)
		die("one URL");
	sigaction(SIGTERM, &act, NULL); /* it ends fgets() */
	if (export_open(&s.sink, argv[optind], &o, &err) < 0)
		die("%s", err.text);
	while (!stopped && fgets(line, sizeof(line), stdin))
		command(&s, line);
	rc = queue_end(s.sink);
	status(&s);
	s.sink->close(s.sink);
	return rc < 0;
}
