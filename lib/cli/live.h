/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h - what programs on live interfaces share beyond cli.h: their options
 * and limits, a pace, the page that tells others of them, their main loop.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "base/ledger.h"
#include "cli/cli.h"
#include "packet/live.h"

struct cli_live {
	const char *name; /* of -i, NULL if not given */
	struct live_options options;
	enum row_format format;	     /* of what cli_live_drops() says */
	uint64_t count, duration_ns; /* 0: no such limit */
	/* Another interface that is read beside -i, when it is open: its
	 * kernel's drops are told of, too. */
	struct {
		const char *name;
		const struct src *s; /* NULL: there is none */
	} beside;
};

/*
 * Rows of a program's table, for opts with a struct cli_live live; -i itself is
 * the program's. needs: what the option is for, or NULL.
 */
/* clang-format off */
#define CLI_LIMIT_OPTIONS(opts)                                                \
	{ 'c', "count", "N", "stop after so many packets", CLI_SIZE,           \
	  CLI_AT(opts, live.count), .min = 1, .max = UINT64_MAX - 1,           \
	  .needs = "-r|-i" },                                                  \
	{ 0, "duration", "TIME", "with -i: stop after that long", CLI_TIME,    \
	  CLI_AT(opts, live.duration_ns), .min = 1, .needs = "-i",             \
	  .why = "a capture ends by itself" }
#define CLI_SOCKET_OPTIONS(opts)                                               \
	CLI_XDP_OPTIONS(opts, live, "xdp", "receive", "-i"),                   \
	CLI_PROMISCUOUS_OPTION(opts)
#define CLI_PROMISCUOUS_OPTION(opts)                                           \
	{ 0, "promiscuous", NULL, "take frames for other MAC addresses, too",  \
	  CLI_FLAG, CLI_AT(opts, live.options.promiscuous), .needs = "-i", \
	  .rare = true }
/* does: receive, or send; of: what is an interface. */
#define CLI_XDP_OPTIONS(opts, live, af_xdp, does, of)                          \
	{ 0, af_xdp, NULL, does " by AF_XDP or fail", CLI_FLAG,                \
	  CLI_AT(opts, live.options.kind), .min = LIVE_XDP, .needs = of,       \
	  .rare = true },                                                      \
	{ 0, "no-xdp", NULL, does " by AF_PACKET", CLI_FLAG,                   \
	  CLI_AT(opts, live.options.kind), .min = LIVE_PACKET, .needs = of,     \
	  .rare = true }
#define CLI_SOCKET_GROUP { "--xdp --no-xdp" }
/* clang-format on */

/* The words behind the options are a filter expression, as with tcpdump. */
void cli_live_filter(struct cli_live *l, int argc, char **argv);

/* Opens -i for reading; exits if it cannot. Says on stderr what it is: which
 * kind of socket, unless quiet. port: those wanted, 0 ends. */
struct src *cli_live_open(struct cli_live *l, const uint16_t *port, bool quiet);

/*
 * What is opened as path: a FIFO's other end is not waited for once cli_stop is
 * set, the null device takes its place. To be asked again after EINTR.
 */
const char *cli_place(const char *path);

/*
 * snk_open(), which signals do not disturb while a FIFO waits for its reader:
 * once cli_stop is set, there is no waiting, and what is written goes nowhere.
 * Nor does a stalled reader keep it from ending (snk_until()).
 */
int cli_snk_open(struct snk **out, const char *path, struct error *err);

/*
 * Says what was lost on the way in and out, behind a ledger: as text if there
 * is something to say, else in rows like the ledger's. s may be NULL; unsent:
 * snk_drops() of the sinks.
 */
void cli_live_drops(const struct cli_live *l, const struct src *s,
		    uint64_t unsent);

/* The same as a ledger, whether anything was lost or not. */
void cli_interface(const struct cli_live *l, const struct src *s,
		   uint64_t unsent);

/* When a program has received enough: --count and --duration. */
struct cli_limit {
	uint64_t left;	   /* packets; UINT64_MAX: no limit */
	uint64_t until_ns; /* of CLOCK_MONOTONIC; UINT64_MAX: no limit */
};

/*
 * A pace: rate packets a second, exact over time, until count are sent or
 * duration_ns is over; each 0 if there is no such limit. Reads the clock once a
 * call.
 */
struct cli_pace {
	double rate;
	uint64_t count, duration_ns;
	uint64_t sent, start_ns; /* its own: 0 before the first call */
};

enum {
	CLI_PACE_OVER = -1,
};

/*
 * How many of max packets may go now; they count as sent. If none may yet,
 * *wait_ns is how long that takes (NULL: waits here, unless a signal comes).
 * CLI_PACE_OVER: no more.
 */
int cli_pace(struct cli_pace *p, int max, uint64_t *wait_ns);

/* Another rate from now on, of a pace without other limits: what is due next
 * is so long behind the last one. */
void cli_pace_change(struct cli_pace *p, double rate);

/* --- the page ------------------------------------------------------------- */

/*
 * What a running program shows others of itself: its ledgers, in its page
 * (base/ledger_page.h), a few times a second. There is none of a run that is
 * over before the first time.
 *
 *	if (cli_page_begin()) {
 *		cli_ledger(...); once for each: into the page, not on stderr
 *		cli_page_end();
 *	}
 */
/* What the program works on, as in base/ledger_page.h; the strings outlive it.
 */
struct cli_page_about {
	const char *region, *input, *output;
	bool quiet; /* no word if there can be none */
};

/* From now on there may be one, until the program's end. */
void cli_page_start(const struct cli_page_about *a);

/* For a loop, once a batch and when idle: whether it is time to write it. */
bool cli_page_begin(void);
void cli_page_end(void);

/* The directory of pages: $DTA_LEDGERS, or where they are by themselves. */
const char *cli_page_dir(void);

/* --- the loop ------------------------------------------------------------- */

/*
 * The main loop of a program that takes packets: batches from a source until it
 * ends, a limit is reached or a signal comes; beside them the page, SIGUSR1 and
 * SIGHUP, and waiting for more than the source.
 */
struct cli_loop {
	const struct cli_live *live; /* limits */
	struct src *s;
	bool quiet; /* no word if there can be no page */
	/* For the page: the region, the capture or interface, and where what
	 * comes of it goes; NULL: none. */
	const char *region, *input, *output;
	int most; /* packets at once, up to CLI_LOOP_MOST; 0: PKT_BATCH */
	/* What the program is made of; all get ctx. */
	void *ctx;
	/*
	 * A batch, or n = 0: nothing came for the time that the source waits,
	 * or a signal did. 0 or -errno, having err say why or not.
	 */
	int (*take)(void *ctx, const struct pkt *pkts, int n,
		    struct error *err);
	void (*report)(void *ctx); /* SIGUSR1: prints its ledgers */
	/* The same for the page, four times a second: it must not block. NULL:
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
int cli_loop(struct cli_loop *l, struct error *err);

/*
 * For a thread that takes batches beside the loop's, in turn with it: what is
 * there now, within the limit, or 0. An end, and what is wrong, the loop finds,
 * too.
 */
int cli_loop_more(struct cli_loop *l, struct pkt *room, int max);

/* What signals ask for, and the page, if it is time: for take() that lasts
 * long. */
void cli_loop_turn(struct cli_loop *l);

#endif
