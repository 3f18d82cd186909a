/* SPDX-License-Identifier: BSD-2-Clause */
#include "asking/truths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking/askers.h"
#include "cli/cli.h"
#include "reading/lines.h"
#include "team/relay.h"

enum {
	SHARE = 1 << 15, /* bytes that a worker takes at once */
	ROW_MIN = 17,	 /* of a row: "1,append,0,,,,00" */
	ROWS = 2048,
};

_Static_assert(SHARE / ROW_MIN < ROWS, "a share's rows");

struct share {
	struct lines lines;
	int error; /* of the file, behind them */
	int rc;	   /* of the first line that is no row, behind the rows */
	struct fault why;
	size_t n;
	uint32_t number[ROWS]; /* of their lines */
	struct truth_row row[ROWS];
};

struct truths {
	struct relay relay;
	struct truth *t;
	struct lines lines; /* in turn of taking */
	bool over;	    /* the same: their end */
	uint64_t told;	    /* in turn of telling: lines */
	struct share *share[ASKERS_MAX];
};

static void fail_line(const struct truths *c, uint64_t number, int rc,
		      const struct fault *why)
{
	if (rc == -ENOMEM)
		cli_fail("out of memory");
	cli_fail("%s:%llu: %s", c->lines.path,
		 (unsigned long long)(c->told + number), why->text);
}

static void fail_file(const struct truths *c, uint64_t number, int error)
{
	if (error == -E2BIG)
		cli_fail("%s:%llu: a line longer than %d bytes", c->lines.path,
			 (unsigned long long)(c->told + number + 1),
			 LINE_MAX_LEN);
	cli_fail("%s: %s", c->lines.path, strerror(-error));
}

/* In turn of taking: the header. False: it is not at hand. */
static bool begin(struct truths *c)
{
	struct fault why = {""};
	size_t len;
	char *line;
	int rc;

	if (c->t->begun)
		return true;
	line = lines_next(&c->lines, &len);
	rc = line ? truth_line(c->t, line, &why) : 0;
	if (rc < 0)
		fail_line(c, c->lines.number, rc, &why);
	return line;
}

static bool take_share(struct truths *c, struct share *s, bool wait)
{
	int rc = 1;

	s->lines.at = s->lines.stop;
	s->error = 0;
	while (!c->over && rc > 0 &&
	       (!begin(c) || !lines_share(&c->lines, &s->lines, SHARE))) {
		if (!wait && lines_wait(&c->lines))
			return false;
		while ((rc = lines_more(&c->lines)) == -EINTR && !cli_stop)
			;
		s->error = rc < 0 ? rc : 0;
		c->over = rc <= 0;
	}
	c->over = c->over || cli_stop;
	/* The first has the header's line, too. */
	s->lines.number = c->lines.number;
	c->lines.number = 0;
	return true;
}

static bool take(void *ctx, unsigned worker)
{
	struct truths *c = ctx;

	return !c->over && take_share(c, c->share[worker], false);
}

static void look(const struct truths *c, struct share *s)
{
	char *line;
	size_t len;

	s->n = 0;
	s->rc = 0;
	while (!s->rc && (line = lines_next(&s->lines, &len))) {
		if (!len)
			continue;
		s->number[s->n] = (uint32_t)s->lines.number;
		s->rc = truth_look(&s->row[s->n], c->t, line, &s->why);
		s->n += !s->rc;
	}
	if (s->lines.too_long)
		s->error = -E2BIG;
}

/* In turn. */
static void tell(struct truths *c, struct share *s)
{
	int rc;

	for (size_t i = 0; i < s->n; i++)
		truth_near(c->t, &s->row[i]);
	for (size_t i = 0; i < s->n; i++)
		if ((rc = truth_take(c->t, &s->row[i], &s->why)) < 0)
			fail_line(c, s->number[i], rc, &s->why);
	if (s->rc)
		fail_line(c, s->lines.number, s->rc, &s->why);
	if (s->error && !cli_stop)
		fail_file(c, s->lines.number, s->error);
	c->told += s->lines.number;
}

static void carry(void *ctx, unsigned worker, uint64_t batch, bool any)
{
	struct truths *c = ctx;

	if (!any) {
		relay_skip(&c->relay, batch);
		return;
	}
	look(c, c->share[worker]);
	relay_wait(&c->relay, 0, batch);
	tell(c, c->share[worker]);
	relay_pass(&c->relay, 0);
}

static void open_shares(struct truths *c, unsigned workers)
{
	for (unsigned i = 0; i < workers; i++) {
		c->share[i] = calloc(1, sizeof(*c->share[i]));
		if (!c->share[i] || lines_room(&c->share[i]->lines) < 0)
			cli_fail("out of memory");
	}
}

static void close_shares(struct truths *c, unsigned workers)
{
	for (unsigned i = 0; i < workers; i++) {
		lines_close(&c->share[i]->lines);
		free(c->share[i]);
	}
	lines_close(&c->lines);
}

void truths_read(struct truth *t, const char *path, unsigned workers)
{
	struct truths *c = aligned_alloc(TEAM_LINE, sizeof(*c));
	const struct relay_options o = {.workers = workers,
					.steps = 1,
					.take = take,
					.carry = carry,
					.ctx = c};
	int rc;

	if (!c)
		cli_fail("out of memory");
	memset(c, 0, sizeof(*c));
	c->t = t;
	rc = lines_open(&c->lines, path);
	if (rc < 0)
		cli_fail("%s: %s", path, strerror(-rc));
	open_shares(c, workers);
	if ((rc = relay_open(&c->relay, &o)) < 0)
		cli_fail("threads: %s", strerror(-rc));
	while (!c->over)
		relay_go(&c->relay, take_share(c, c->share[0], true));
	relay_close(&c->relay);
	if (!c->told && !cli_stop)
		cli_fail("%s: empty: not even a header", c->lines.path);
	close_shares(c, workers);
	free(c);
}
