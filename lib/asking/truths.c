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
	/* Bytes that a worker takes at once; as one of several, so many that
	 * what one of them costs more than another does not count. */
	ALONE = 1 << 15,
	SHARE = 1 << 17,
	ROW_MIN = 17, /* of a row: "1,append,0,,,,00" */
	ROWS = 8192,
	/* Shards for each worker: the next batch follows closely. */
	SHARDS = 2,
	ADMIT = 0, /* steps */
	ORDER = 1,
};

_Static_assert(SHARE / ROW_MIN < ROWS, "a share's rows");

struct share {
	struct lines lines;
	int error; /* of the file, behind them */
	/* Of the first line that is no row, or cannot be admitted, which is the
	 * last of lines; or no memory: told in turn of ordering, the only one
	 * behind the header in which a worker exits. */
	int rc;
	struct fault why;
	size_t n;
	uint32_t number[ROWS]; /* of their lines */
	struct truth_row row[ROWS];
	/* Those of shard i: from[i] to from[i + 1]. */
	uint16_t from[TRUTH_SHARDS_MAX + 1], of_shard[ROWS];
};

struct truths {
	struct relay relay;
	struct truth *t;
	struct lines lines; /* in turn of taking */
	bool over;	    /* the same: their end */
	uint64_t told;	    /* in turn of ordering: lines */
	struct share *share[ASKERS_MAX];
	size_t most; /* bytes of a share */
	unsigned shards;
	struct turn shard[TRUTH_SHARDS_MAX]; /* between ADMIT and ORDER */
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

/* False: it is empty, and more may come. */
static bool take_share(struct truths *c, struct share *s, bool wait)
{
	int rc = 1;

	s->lines.at = s->lines.stop;
	s->lines.number = 0;
	s->error = 0;
	while (!c->over && rc > 0 &&
	       (!begin(c) || !lines_share(&c->lines, &s->lines, c->most))) {
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

	return take_share(c, c->share[worker], false);
}

/* The rows of each shard, in their order. */
static void sort(struct share *s, unsigned shards)
{
	uint16_t at[TRUTH_SHARDS_MAX] = {0}, from = 0;

	for (size_t i = 0; i < s->n; i++)
		at[s->row[i].shard]++;
	for (unsigned i = 0; i < shards; i++) {
		s->from[i] = from;
		from = (uint16_t)(from + at[i]);
		at[i] = s->from[i];
	}
	s->from[shards] = from;
	for (size_t i = 0; i < s->n; i++)
		s->of_shard[at[s->row[i].shard]++] = (uint16_t)i;
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
	sort(s, c->shards);
}

/* In turn. */
static void admit(struct truths *c, struct share *s)
{
	for (size_t i = 0; i < s->n; i++) {
		int rc = truth_admit(c->t, &s->row[i], &s->why);

		if (rc < 0) {
			s->rc = rc;
			s->lines.number = s->number[i];
			return;
		}
	}
}

/* In turn of the shard. Rows of a share that fails need not be admitted. */
static void fill(struct truths *c, struct share *s, unsigned shard)
{
	const uint16_t *from = s->of_shard + s->from[shard], *i;
	const uint16_t *end = s->of_shard + s->from[shard + 1];

	if (s->rc)
		return;
	for (i = from; i < end; i++)
		truth_near(c->t, &s->row[*i]);
	for (i = from; i < end && !s->rc; i++)
		s->rc = truth_take(c->t, &s->row[*i]);
}

/* In turn. */
static void order(struct truths *c, const struct share *s)
{
	if (s->rc)
		fail_line(c, s->lines.number, s->rc, &s->why);
	for (size_t i = 0; i < s->n; i++)
		if (truth_order(c->t, &s->row[i]) < 0)
			cli_fail("out of memory");
	if (s->error && !cli_stop)
		fail_file(c, s->lines.number, s->error);
	c->told += s->lines.number;
}

static void carry(void *ctx, unsigned worker, uint64_t batch, bool any)
{
	struct truths *c = ctx;
	struct share *s = c->share[worker];

	(void)any; /* the share is empty, then */
	look(c, s);
	relay_wait(&c->relay, ADMIT, batch);
	admit(c, s);
	relay_pass(&c->relay, ADMIT);
	for (unsigned i = 0; i < c->shards; i++) {
		turn_wait(&c->shard[i], (uint32_t)batch);
		fill(c, s, i);
		turn_pass(&c->shard[i]);
	}
	relay_wait(&c->relay, ORDER, batch);
	order(c, s);
	relay_pass(&c->relay, ORDER);
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
					.steps = 2,
					.take = take,
					.carry = carry,
					.ctx = c};
	struct fault f = {0};
	int rc;

	if (!c)
		cli_fail("out of memory");
	memset(c, 0, sizeof(*c));
	c->t = t;
	c->most = workers == 1 ? ALONE : SHARE;
	c->shards = workers == 1 ? 1 : SHARDS * workers;
	if (c->shards > TRUTH_SHARDS_MAX)
		c->shards = TRUTH_SHARDS_MAX;
	truth_split(t, c->shards);
	for (unsigned i = 0; i < c->shards; i++)
		turn_init(&c->shard[i]);
	rc = lines_open(&c->lines, path);
	if (rc < 0)
		cli_fail("%s: %s", path, strerror(-rc));
	open_shares(c, workers);
	if (relay_open(&c->relay, &o, &f) < 0)
		cli_fail("%s", f.text);
	while (!c->over)
		relay_go(&c->relay, take_share(c, c->share[0], true));
	relay_close(&c->relay);
	if (!c->told && !cli_stop)
		cli_fail("%s: empty: not even a header", c->lines.path);
	close_shares(c, workers);
	free(c);
}
