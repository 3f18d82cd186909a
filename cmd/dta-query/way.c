/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * way.c - dta-query why: what the programs from the reporters to the region
 * count, and a line for each place where something was lost. dta-top reads the
 * counters: here, and by ssh on other machines.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"

/* The columns of dta-top -t counters. */
/* clang-format off */
enum column { PROGRAM, PID, STAGE, COUNTER, RATE, VALUE, ROLE, UNIT, REGION,
	      INPUT, OUTPUT, DEAD, ENDED_BY, COLUMNS };
/* clang-format on */
struct counter {
	const char *host; /* "": this one */
	char *column[COLUMNS];
	uint64_t value;
};

static struct counter *counters; /* kept until the program's end */
static size_t n;
static const char *region;  /* NULL: any */
static char elsewhere[512]; /* HOST:REGION, as tickets on other machines say */

static bool is(const struct counter *c, enum column i, const char *text)
{
	return !strcmp(c->column[i], text);
}

static bool same_program(const struct counter *a, const struct counter *b)
{
	return a->host == b->host && is(a, PID, b->column[PID]);
}

/* A counter with this text that is not 0, of a's program (NULL: of any). */
static const struct counter *find(const struct counter *a, enum column i,
				  const char *text)
{
	for (const struct counter *c = counters; c < counters + n; c++)
		if (c->value && is(c, i, text) && (!a || same_program(a, c)))
			return c;
	return NULL;
}

/* Whether its program writes the region, or names none, as reporters do. */
static bool is_on_way(const struct counter *c)
{
	const char *name = c->column[REGION];

	if (!*name)
		return is(c, PROGRAM, "dta-gen") ||
		       is(c, PROGRAM, "dta-translate");
	return !region || !strcmp(name, elsewhere) ||
	       !strcmp(basename(name), region);
}

/* Reads dta-top's rows; the first one is their head. */
static void read_host(const char *host)
{
	struct counter c = {.host = host};
	char command[512], *line = NULL;
	size_t size = 0;
	FILE *f;
	int status;

	snprintf(command, sizeof(command),
		 "exec %s%s dta-top --once -t counters --sort pid "
		 "--every 300ms -o csv%s",
		 *host ? "ssh -no BatchMode=yes -o ConnectTimeout=10 "
			 "-o ServerAliveInterval=5 "
		       : "",
		 host, *host ? "" : " 2>/dev/null");
	f = cli_allocated(popen(command, "r"));
	for (bool head = true; getline(&line, &size, f) > 0; head = false) {
		line[strcspn(line, "\n")] = '\0';
		if (csv_split(line, c.column, COLUMNS) < COLUMNS || head ||
		    !is_on_way(&c))
			continue;
		c.value = strtoull(c.column[VALUE], NULL, 10);
		counters = cli_allocated(
			realloc(counters, (n + 1) * sizeof(c)));
		counters[n++] = c;
		line = NULL; /* c's */
	}
	free(line);
	status = pclose(f);
	status = WIFEXITED(status) ? WEXITSTATUS(status)
				   : 128 + WTERMSIG(status);
	if (status && status != CLI_NOTHING && !cli_stop)
		cli_warn("%s: its counters cannot be read: exit status %d",
			 *host ? host : "dta-top", status);
}

/* One end of a link: the interface of the only such program, or `other'. */
static const char *end_of(const char *program, enum column interface,
			  const char *other)
{
	const struct counter *c = find(NULL, PROGRAM, program);

	for (size_t i = 0; c && i < n; i++)
		if (is(&counters[i], PROGRAM, program) &&
		    !same_program(c, &counters[i]))
			return other;
	return c && *c->column[interface] ? c->column[interface] : other;
}

/* Prints where something was lost, unless it comes again: then what is lost for
 * good is counted as lost_reports, or by the requester. */
static void tell_loss(const struct counter *c, const char *name)
{
	const struct counter *dropped = find(c, COUNTER, "kernel_drops");
	const char *from = name, *to = NULL;
	uint64_t lost = c->value;

	if (is(c, COUNTER, "resyncing") ||
	    (is(c, STAGE, "send") && find(NULL, COUNTER, "lost_reports")) ||
	    (is(c, STAGE, "translate") && is(c, COUNTER, "out_of_order")) ||
	    (is(c, STAGE, "responder") && find(NULL, COUNTER, "acked")))
		return;
	if (is(c, STAGE, "arrival")) {
		from = end_of("dta-gen", OUTPUT, "the reporters");
		to = *c->column[INPUT] ? c->column[INPUT] : name;
		if (dropped) /* is missing, too */
			lost -= dropped->value < lost ? dropped->value : lost;
	} else if (is(c, STAGE, "requester") || is(c, STAGE, "dart")) {
		to = end_of("dta-collect", INPUT, "the collector");
	}
	if (lost)
		cli_warn("%" PRIu64 " %s were lost %s %s%s%s: %s", lost,
			 c->column[UNIT], to ? "between" : "in", from,
			 to ? " and " : "", to ? to : "", c->column[COUNTER]);
}

/* Prints what came into a program and was done, how it ended, what waits. */
static void tell_program(const struct counter *c, const char *name)
{
	const struct counter *waits = find(c, COUNTER, "waiting"), *a = c;
	const struct counter *acked = find(c, COUNTER, "acked");
	bool refused = find(c, COUNTER, "naks_access");
	char text[1024] = "";
	int len = 0;

	for (; a < counters + n && same_program(a, c) && len < 900; a++)
		if (a->value && (is(a, ROLE, "in") || is(a, ROLE, "done")))
			len += snprintf(text + len, 100, ", %.31s %" PRIu64,
					a->column[COUNTER], a->value);
	cli_warn("%s%s%s%s%s: %s", name, *c->column[INPUT] ? ", from " : "",
		 c->column[INPUT], *c->column[OUTPUT] ? ", to " : "",
		 c->column[OUTPUT], text + 2);
	if (*c->column[DEAD])
		cli_warn("%s ended %s s ago%s%s, %" PRIu64 " requests waited",
			 name, c->column[DEAD],
			 is(c, ENDED_BY, "killed") ? ", " : " by ",
			 c->column[ENDED_BY], waits ? waits->value : 0);
	else if (waits && (!acked || is(acked, RATE, "0")))
		cli_warn("%" PRIu64 " requests of %s wait: the collector %s",
			 waits->value, name,
			 refused ? "refuses them: is the ticket out of date?"
				 : "does not answer");
}

void tell_way(const struct opts *o)
{
	char name[512];

	region = o->from.region;
	if (o->quiet || (!region && !o->from.cluster && !o->hosts))
		return;
	region = region ? basename(region) : NULL;
	gethostname(name, sizeof(name) / 2);
	snprintf(elsewhere, sizeof(elsewhere), "%.255s:%.255s", name,
		 region ? region : "");
	read_host("");
	for (unsigned i = 0; i < o->hosts && !cli_stop; i++)
		read_host(o->host[i]);
	for (const struct counter *c = counters; c < counters + n; c++) {
		snprintf(name, sizeof(name), "%s %s%s%s", c->column[PROGRAM],
			 c->column[PID], *c->host ? " on " : "", c->host);
		if (c == counters || !same_program(c, c - 1))
			tell_program(c, name);
		if (c->value && is(c, ROLE, "loss"))
			tell_loss(c, name);
	}
}
