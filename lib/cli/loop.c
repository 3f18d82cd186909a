/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/loop.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "cli/page.h"

enum {
	FDS_MAX = 8,
	MS = 1000000, /* ns */
};

static void show_page(struct cli_loop *l)
{
	uint64_t unsent;

	if (!cli_page_begin())
		return;
	unsent = l->unsent ? l->unsent(l->ctx) : 0;
	(l->show ? l->show : l->report)(l->ctx);
	if (l->live->name || unsent)
		cli_interface(l->live, l->s, unsent);
	cli_page_end();
}

void cli_loop_turn(struct cli_loop *l)
{
	if (cli_report) {
		cli_report = 0;
		l->report(l->ctx);
	}
	if (cli_hangup) {
		cli_hangup = 0;
		l->hangup(l->ctx);
	}
	show_page(l);
}

int cli_loop_more(struct cli_loop *l, struct pkt *room, int max)
{
	struct fault f;
	int n;

	max = cli_limit_room(&l->limit, max);
	if (cli_stop || !max)
		return 0;
	n = src_rx_now(l->s, room, max, &f);
	cli_limit_took(&l->limit, n);
	return n > 0 ? n : 0;
}

/* A pipe that falls silent must not stop the clock; a file does not. */
static void begin(const struct cli_loop *l)
{
	const struct cli_page_about about = {l->region, l->input, l->output,
					     l->quiet};

	if (!l->fds && !src_size(l->s))
		src_wait(l->s, CLI_LOOK_AROUND_MS);
	cli_page_start(&about);
}

/* Until packets or others are there, or it is time for something. */
static void wait_for_more(const struct cli_loop *l)
{
	struct pollfd p[1 + FDS_MAX] = {{src_fd(l->s), POLLIN, 0}};
	uint64_t due = l->due(l->ctx), now = clock_ns();
	int fd[FDS_MAX], ms = CLI_LOOK_AROUND_MS;
	unsigned n = l->fds(l->ctx, fd, FDS_MAX);

	for (unsigned i = 0; i < n; i++)
		p[1 + i] = (struct pollfd){fd[i], POLLIN, 0};
	if (due <= now)
		ms = 0;
	else if ((due - now) / MS < CLI_LOOK_AROUND_MS)
		ms = (int)((due - now + MS - 1) / MS);
	poll(p, 1 + n, ms);
}

int cli_loop(struct cli_loop *l, struct fault *f)
{
	static struct pkt pkts[CLI_LOOP_MOST];
	int most = l->most ? l->most : PKT_BATCH, n, max, rc;

	begin(l);
	l->limit = cli_limit_start(l->live);
	while (!cli_stop && (max = cli_limit_room(&l->limit, most))) {
		cli_loop_turn(l);
		n = src_rx(l->s, pkts, max, f);
		cli_limit_took(&l->limit, n);
		l->reading = n < 0 && n != -EINTR && n != -EAGAIN;
		if (l->reading || !n)
			return n;
		rc = l->take(l->ctx, pkts, n < 0 ? 0 : n, f);
		if (rc < 0)
			return rc;
		if (n == -EAGAIN && l->fds)
			wait_for_more(l);
	}
	return 0;
}
