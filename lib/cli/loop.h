/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop.h - the main loop of a program that takes packets: batches from a source
 * until it ends, a limit is reached or a signal comes; beside them the page,
 * SIGUSR1 and SIGHUP, and waiting for more than the source.
 */
#ifndef CLI_LOOP_H
#define CLI_LOOP_H

#include "cli/live.h"

struct cli_loop {
	const struct cli_live *live; /* limits */
	struct src *s;
	bool quiet;		 /* no word if there can be no page */
	/* For the page: the region, the capture or interface, and where what
	 * comes of it goes; NULL: none. */
	const char *region, *input, *output;
	int most; /* packets at once, up to CLI_LOOP_MOST; 0: PKT_BATCH */
	/* What the program is made of; all get ctx. */
	void *ctx;
	/*
	 * A batch, or n = 0: nothing came for the time that the source waits,
	 * or a signal did. 0 or -errno, having f say why or not.
	 */
	int (*take)(void *ctx, const struct pkt *pkts, int n, struct fault *f);
	void (*report)(void *ctx); /* SIGUSR1: prints its ledgers */
	/* The same for the page, four times a second: it holds nobody up. NULL:
	 * report() is such. */
	void (*show)(void *ctx);
	/* Packets that interfaces did not take so far: snk_drops() of all
	 * sinks; NULL: there are none. */
	uint64_t (*unsent)(void *ctx);
	void (*hangup)(void *ctx); /* SIGHUP, after cli_take_hangup() */
	/*
	 * What else is waited for: descriptors to be read, and a time of
	 * clock_ns(). NULL: nothing, then the source waits by itself; else it
	 * does not (src_wait(s, 0)).
	 */
	unsigned (*fds)(void *ctx, int *fd, unsigned max);
	uint64_t (*due)(void *ctx);
	bool reading; /* set: it is the source that failed */
	/* Set: how many more packets may be received; take() may receive some
	 * itself, and count them. */
	struct cli_limit limit;
};

enum {
	CLI_LOOP_MOST = 4096,
	CLI_LOOK_AROUND_MS = 100, /* how long a live source may wait */
};

/* Until the end. Returns 0, or -errno of the source, or of take(). */
int cli_loop(struct cli_loop *l, struct fault *f);

/*
 * For a thread that takes batches beside the loop's, in turn with it: what is
 * there now, within the limit, or 0. An end, and what is wrong, the loop finds,
 * too.
 */
int cli_loop_more(struct cli_loop *l, struct pkt *room, int max);

/* What signals ask for, and the page, if it is time: for take() that
 * lasts long. */
void cli_loop_turn(struct cli_loop *l);

#endif
