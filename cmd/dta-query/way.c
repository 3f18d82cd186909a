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

struct way {
	const char *region;  /* NULL: any */
	char elsewhere[512]; /* HOST:REGION, as tickets on other machines say */
	struct counter *counter;
	size_t n;
};

static bool is(const struct counter *c, enum column i, const char *text)
{
	return !strcmp(c->column[i], text);
}

static bool same_program(const struct counter *a, const struct counter *b)
{
	return a->host == b->host && is(a, PID, b->column[PID]);
}

/* A counter with this text that is not 0, of a's program (NULL: of any). */
static const struct counter *find(const struct way *w, const struct counter *a,
				  enum column i, const char *text)
{
	for (const struct counter *c = w->counter; c < w->counter + w->n; c++)
		if (c->value && is(c, i, text) && (!a || same_program(a, c)))
			return c;
	return NULL;
}

/* Whether its program writes the region, or names none, as reporters do. */
static bool is_on_way(const struct way *w, const struct counter *c)
{
	const char *name = c->column[REGION], *slash = strrchr(name, '/');

	if (!*name)
		return is(c, PROGRAM, "dta-gen") ||
		       is(c, PROGRAM, "dta-translate");
	return !w->region || !strcmp(name, w->elsewhere) ||
	       !strcmp(slash ? slash + 1 : name, w->region);
}

static void read_host(struct way *w, const char *host)
{
	struct counter c = {.host = host};
	char command[512], *line;
	bool head = true;
	FILE *f;
	int status;

	snprintf(command, sizeof(command),
		 "%s%s dta-top --once -t counters --sort pid --every 300ms "
		 "-o csv%s",
		 *host ? "ssh -no BatchMode=yes -o ConnectTimeout=10 " : "",
		 host, *host ? "" : " 2>/dev/null");
	if (!(f = popen(command, "r")))
		cli_fail("out of memory");
	while (line = NULL, getline(&line, &(size_t){0}, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (csv_split(line, c.column, COLUMNS) == COLUMNS && !head &&
		    is_on_way(w, &c)) {
			c.value = strtoull(c.column[VALUE], NULL, 10);
			w->counter = realloc(w->counter,
					     (w->n + 1) * sizeof(c));
			if (!w->counter)
				cli_fail("out of memory");
			w->counter[w->n++] = c;
		}
		head = false;
	}
	status = pclose(f) >> 8;
	if (status && status != CLI_NOTHING)
		cli_warn("%s: its counters cannot be read: exit status %d",
			 *host ? host : "dta-top", status);
}

/* One end of a link: the interface of the only such program, or `other'. */
static const char *end_of(const struct way *w, const char *program,
			  enum column interface, const char *other)
{
	const struct counter *c = find(w, NULL, PROGRAM, program);

	for (size_t i = 0; c && i < w->n; i++)
		if (is(&w->counter[i], PROGRAM, program) &&
		    !same_program(c, &w->counter[i]))
			return other;
	return c && *c->column[interface] ? c->column[interface] : other;
}

/* Prints where something was lost, unless it comes again: then what is lost for
 * good is counted as lost_reports, or by the requester. */
static void tell_loss(const struct way *w, const struct counter *c,
		      const char *name)
{
	const struct counter *dropped = find(w, c, COUNTER, "kernel_drops");
	bool arrival = is(c, STAGE, "arrival"), request = is(c, STAGE, "dart");
	const char *from = name, *to = NULL;
	uint64_t n = c->value;

	request |= is(c, STAGE, "requester");
	if (is(c, STAGE, "resend") ||
	    (is(c, STAGE, "translate") &&
	     (is(c, COUNTER, "out_of_order") || is(c, COUNTER, "resyncing"))) ||
	    (is(c, STAGE, "responder") && find(w, NULL, STAGE, "requester")))
		return;
	if (arrival && dropped) /* which is missing, too */
		n -= dropped->value < n ? dropped->value : n;
	if (arrival)
		from = end_of(w, "dta-gen", OUTPUT, "the reporters");
	if (arrival)
		to = *c->column[INPUT] ? c->column[INPUT] : name;
	if (request)
		to = end_of(w, "dta-collect", INPUT, "the collector");
	if (n)
		cli_warn("%" PRIu64 " %s were lost %s %s%s%s: %s", n,
			 c->column[UNIT], to ? "between" : "in", from,
			 to ? " and " : "", to ? to : "", c->column[COUNTER]);
}

/* Prints what came into a program and was done, how it ended, what waits. */
static void tell_program(const struct way *w, const struct counter *c,
			 const char *name)
{
	const struct counter *waits = find(w, c, COUNTER, "waiting"), *a = c;
	const struct counter *acked = find(w, c, COUNTER, "acked");
	char text[1024] = "";
	size_t len = 0;

	for (; a < w->counter + w->n && same_program(a, c); a++)
		if (a->value && (is(a, ROLE, "in") || is(a, ROLE, "done")) &&
		    len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						", %s %" PRIu64,
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
		cli_warn("%" PRIu64 " requests of %s wait: %s", waits->value,
			 name,
			 find(w, c, COUNTER, "naks_access")
				 ? "the collector has refused some: is the "
				   "ticket out of date?"
				 : "the collector does not answer");
}

void tell_way(const struct opts *o, const struct query_sources *p)
{
	static struct way w; /* it keeps its rows until the program's end */
	const char *slash = o->from.region ? strrchr(o->from.region, '/')
					   : NULL;
	char host[256] = "", name[512];

	if (o->quiet || (!o->from.region && !p->clustered && !o->hosts))
		return;
	w.region = slash ? slash + 1 : o->from.region;
	gethostname(host, sizeof(host) - 1);
	snprintf(w.elsewhere, sizeof(w.elsewhere), "%s:%s", host,
		 w.region ? w.region : "");
	read_host(&w, "");
	for (unsigned i = 0; i < o->hosts; i++)
		read_host(&w, o->host[i]);
	for (unsigned i = 0; i < w.n; i++) {
		const struct counter *c = &w.counter[i];

		snprintf(name, sizeof(name), "%s %s%s%s", c->column[PROGRAM],
			 c->column[PID], *c->host ? " on " : "", c->host);
		if (!i || !same_program(c, c - 1))
			tell_program(&w, c, name);
		if (c->value && is(c, ROLE, "loss"))
			tell_loss(&w, c, name);
	}
}
