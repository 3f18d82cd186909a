/* SPDX-License-Identifier: BSD-2-Clause */
/* notify.c - rows and commands for immediates. */
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/page.h"
#include "cli/table.h"

enum {
	WAIT_MS = 500,
	RETRY_MS = 1,
	/* For a number whose writer was killed before it wrote what it is. */
	PATIENCE_MS = 100,
	VARIABLES = 5,
};

struct counters {
	uint64_t received, told, missed;
	/* notes */
	uint64_t runs, coalesced, failed;
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct counters, received, LEDGER_IN),
	LEDGER_FIELD(struct counters, told, LEDGER_DONE),
	LEDGER_FIELD(struct counters, missed, LEDGER_LOSS),
	LEDGER_FIELD(struct counters, runs, LEDGER_NOTE),
	LEDGER_FIELD(struct counters, coalesced, LEDGER_NOTE),
	LEDGER_FIELD(struct counters, failed, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct counters);

static const struct ledger ledger = {
	.stage = "notify",
	.unit = "notifications",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

enum field {
	IMM_TIME,
	IMM_TABLE,
	IMM_ID,
	IMM_SEQUENCE,
	IMM_COUNT,
	IMM_FIELDS,
};

static const struct row_field row_fields[IMM_FIELDS] = {
	[IMM_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[IMM_TABLE] = {"table", ROW_STR, 12, ROW_TAG},
	[IMM_ID] = {"id", ROW_U64, 5},
	[IMM_SEQUENCE] = {"sequence", ROW_U64, 8},
	[IMM_COUNT] = {"count", ROW_U64, 8},
};

static const struct schema immediates = {"immediate", row_fields, IMM_FIELDS};

struct notify {
	const struct opts *o;
	struct region *r;
	struct rows *rows; /* or NULL: not wanted */
	uint64_t seen;	   /* told, or missed, up to this one */
	uint64_t stuck_ms; /* since when the next one is not there; 0: it is */
	pid_t child;	   /* of the command, or 0 */
	uint64_t pending;  /* notifications since it was started */
	uint32_t last;	   /* their last immediate */
	struct counters ctr;
};

static void child_ended(int signal)
{
	(void)signal; /* it interrupts a wait: that is all */
}

struct notify *notify_open(const struct opts *o, struct region *r)
{
	struct sigaction action = {.sa_handler = child_ended};
	struct notify *n;

	if (!o->notify && !o->notify_exec)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		cli_fail("out of memory");
	n->o = o;
	n->r = r;
	n->seen = region_notified(r);
	if (o->notify)
		n->rows = cli_rows(o->format, &immediates);
	if (o->notify && !n->rows)
		cli_fail("out of memory");
	if (o->notify_exec)
		sigaction(SIGCHLD, &action, NULL);
	return n;
}

/* The immediate is the table's id and the report's sequence (dta.md 4). */
static const char *table_of(const struct notify *n, uint32_t immediate)
{
	const struct table *t = region_by_id(n->r, (uint16_t)(immediate >> 16));

	return t ? t->name : NULL;
}

static void print(struct notify *n, uint64_t number, uint32_t immediate)
{
	if (!n->rows)
		return;
	row_time(n->rows, IMM_TIME, (int64_t)clock_wall_ns());
	row_str(n->rows, IMM_TABLE, table_of(n, immediate));
	row_u64(n->rows, IMM_ID, immediate >> 16);
	row_u64(n->rows, IMM_SEQUENCE, immediate & 0xffff);
	row_u64(n->rows, IMM_COUNT, number);
	row_end(n->rows); /* what stdout says is asked at exit */
}

/* The environment of this program, and what the command is told. */
static char **environment(const struct notify *n, char text[][64])
{
	const char *table = table_of(n, n->last);
	size_t m = 0;
	char **all;

	while (environ[m])
		m++;
	all = calloc(m + VARIABLES + 1, sizeof(*all));
	if (!all)
		return NULL;
	snprintf(text[0], 64, "DTA_TABLE=%s", table ? table : "");
	snprintf(text[1], 64, "DTA_TABLE_ID=%u", n->last >> 16);
	snprintf(text[2], 64, "DTA_SEQUENCE=%u", n->last & 0xffff);
	snprintf(text[3], 64, "DTA_COUNT=%llu", (unsigned long long)n->seen);
	snprintf(text[4], 64, "DTA_NEW=%llu", (unsigned long long)n->pending);
	/* Before the others: the first of a name is the one that counts. */
	for (unsigned i = 0; i < VARIABLES; i++)
		all[i] = text[i];
	for (size_t i = 0; i < m; i++)
		all[VARIABLES + i] = environ[i];
	return all;
}

/* A capture on our standard streams is none of the command's business. */
static int keep_apart(const struct opts *o, posix_spawn_file_actions_t *files)
{
	int rc = posix_spawn_file_actions_init(files);

	if (rc)
		return rc;
	rc = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null",
					      O_RDONLY, 0);
	if (!rc && o->write && is_dash(o->write))
		rc = posix_spawn_file_actions_adddup2(files, STDERR_FILENO,
						      STDOUT_FILENO);
	if (rc)
		posix_spawn_file_actions_destroy(files);
	return rc;
}

static int spawn(struct notify *n, char **argv, char **env)
{
	posix_spawn_file_actions_t files;
	int rc = keep_apart(n->o, &files);

	if (rc)
		return rc;
	rc = posix_spawn(&n->child, "/bin/sh", &files, NULL, argv, env);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* posix_spawn(3): pages that a device writes into are never copied by it. */
static void start(struct notify *n)
{
	char sh[] = "sh", flag[] = "-c";
	char *argv[] = {sh, flag, (char *)n->o->notify_exec, NULL};
	char text[VARIABLES][64];
	char **all = environment(n, text);
	int rc = all ? spawn(n, argv, all) : ENOMEM;

	free(all);
	if (rc) {
		cli_warn("--notify-exec: %s", strerror(rc));
		n->child = 0;
		n->ctr.failed++;
		return;
	}
	n->ctr.runs++;
	n->ctr.coalesced += n->pending - 1;
	n->pending = 0;
}

/* Whether the command has ended; waits for it, if flags are 0. */
static void look_at_child(struct notify *n, int flags)
{
	int status;

	if (!n->child || waitpid(n->child, &status, flags) != n->child)
		return;
	n->child = 0;
	n->ctr.failed += status != 0;
}

static void tell_one(struct notify *n, uint32_t immediate)
{
	n->seen++;
	n->ctr.received++;
	n->ctr.told++;
	n->last = immediate;
	n->pending++;
	n->stuck_ms = 0;
	print(n, n->seen, immediate);
}

static void miss(struct notify *n, uint64_t many)
{
	n->seen += many;
	n->ctr.received += many;
	n->ctr.missed += many;
	n->stuck_ms = 0;
}

/* The next one has a number and no content yet. True: go on without it. */
static bool is_lost(struct notify *n)
{
	uint64_t now = clock_ms();

	if (!n->stuck_ms)
		n->stuck_ms = now;
	return now - n->stuck_ms >= PATIENCE_MS;
}

void notify_tell(struct notify *n)
{
	uint64_t upto, was;
	uint32_t immediate;
	int rc;

	if (!n)
		return;
	was = n->seen;
	upto = region_notified(n->r);
	if (upto > n->seen + REGION_IMMEDIATES)
		miss(n, upto - n->seen - REGION_IMMEDIATES);
	while (n->seen < upto) {
		rc = region_immediate(n->r, n->seen + 1, &immediate);
		if (!rc)
			tell_one(n, immediate);
		else if (rc == -ENODATA || is_lost(n))
			miss(n, 1);
		else
			break;
	}
	if (n->rows && n->seen != was)
		rows_flush(n->rows);
	look_at_child(n, WNOHANG);
	if (n->o->notify_exec && n->pending && !n->child)
		start(n);
}

void notify_run(struct notify *n)
{
	cli_page_start(&(struct cli_page_about){.region = n->o->region,
						.quiet = n->o->quiet});
	while (!cli_stop) {
		if (cli_page_begin()) {
			notify_report(n);
			cli_page_end();
		}
		if (cli_report) {
			cli_report = 0;
			notify_report(n);
		}
		region_wait(n->r, n->seen, n->stuck_ms ? RETRY_MS : WAIT_MS);
		notify_tell(n);
	}
}

void notify_report(const struct notify *n)
{
	if (n)
		cli_ledger(&ledger, &n->ctr, n->o->format);
}

void notify_close(struct notify *n)
{
	if (!n)
		return;
	notify_tell(n);
	/* The end of a capture is worth a last run; a signal is not. */
	while (!cli_stop && (n->child || n->stuck_ms)) {
		if (n->stuck_ms)
			usleep(RETRY_MS * 1000);
		else
			look_at_child(n, 0);
		notify_tell(n);
	}
	if (!n->o->quiet)
		notify_report(n);
	rows_close(n->rows);
	free(n);
}
