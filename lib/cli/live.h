/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h - what programs on live interfaces share beyond cli.h: their options
 * and limits, a pace for sending, the page that dta-top reads, their main loop.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "cli/cli.h"
#include "packet/live.h"

struct cli_live {
	const char *name; /* of -i, NULL if not given */
	struct live_options options;
	enum row_format format;	     /* of what cli_live_drops() prints */
	uint64_t count, duration_ns; /* limits; 0: none */
	/* Another interface that is open for reading beside -i. */
	struct {
		const char *name;
		const struct src *s; /* NULL: there is none */
	} beside;
};

/* Entries of a program's table of options, for opts with a struct cli_live
 * live. The entry of -i itself is in the program's table. */
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
/* does: "receive" or "send"; of: the option that names the interface. */
#define CLI_XDP_OPTIONS(opts, live, af_xdp, does, of)                          \
	{ 0, af_xdp, NULL, does " by AF_XDP or fail", CLI_FLAG,                \
	  CLI_AT(opts, live.options.kind), .min = LIVE_XDP, .needs = of,       \
	  .rare = true },                                                      \
	{ 0, "no-xdp", NULL, does " by AF_PACKET", CLI_FLAG,                   \
	  CLI_AT(opts, live.options.kind), .min = LIVE_PACKET, .needs = of,    \
	  .rare = true }
#define CLI_SOCKET_GROUP { "--xdp --no-xdp" }
/* clang-format on */

/* Makes the operands a filter expression, as with tcpdump. */
void cli_live_set_filter(struct cli_live *l, int argc, char **argv);

/* Opens -i for reading; exits if it cannot. Prints the kind of socket on
 * stderr, unless quiet. port: UDP ports to receive, ends with 0; or NULL. */
struct src *cli_live_open(struct cli_live *l, const uint16_t *port, bool quiet);

/* The path to open for a path: /dev/null if it is a FIFO and cli_stop is set,
 * as open() would wait for the FIFO's other end. Call it again after EINTR. */
const char *cli_path_to_open(const char *path);

/* snk_open(), which goes on waiting for the reader of a FIFO after a signal.
 * Once cli_stop is set it waits no longer, as with cli_path_to_open(); nor does
 * a write wait for a stalled reader then (snk_until()). */
int cli_snk_open(struct snk **out, const char *path, struct error *err);

/* Prints packets lost on the way in and out, after the program's ledgers: in
 * text as warnings, if there are any; else as a ledger. s may be NULL; unsent:
 * snk_drops() of the sinks. */
void cli_live_drops(const struct cli_live *l, const struct src *s,
		    uint64_t unsent);

/* Prints the same as a ledger in every format, even if all is 0. */
void cli_live_ledger(const struct cli_live *l, const struct src *s,
		     uint64_t unsent);

/* When a program has received enough: --count and --duration. */
struct cli_limit {
	uint64_t left;	   /* packets; UINT64_MAX: no limit */
	uint64_t until_ns; /* of CLOCK_MONOTONIC; UINT64_MAX: no limit */
};

/* A pace: rate packets a second, exact over time, until count are sent or
 * duration_ns is over. Each is 0 if there is no such limit. */
struct cli_pace {
	double rate;
	uint64_t count, duration_ns;
	uint64_t sent, start_ns; /* private; 0 before the first call */
};

enum {
	CLI_PACE_OVER = -1,
};

/* How many of max packets may be sent now; they count as sent. 0: none yet, and
 * *wait_ns is how long until then; with NULL, has waited for so long, or until
 * a signal. CLI_PACE_OVER: a limit is reached. Reads the clock once. */
int cli_pace(struct cli_pace *p, int max, uint64_t *wait_ns);

/* Changes the rate of a pace without other limits: the next packet is due one
 * interval of the new rate after the last one. */
void cli_pace_change(struct cli_pace *p, double rate);

/* --- the page ------------------------------------------------------------- */

/*
 * A running program writes its ledgers to a page in shared memory, for dta-top
 * and others (base/ledger_page.h), four times a second; the first time after a
 * quarter of a second, so that a short run has no page.
 *
 *	if (cli_page_begin()) {
 *		cli_ledger(...); once for each: into the page, not on stderr
 *		cli_page_end();
 *	}
 */
/* What the page says of the program; the strings must outlive it. */
struct cli_page_about {
	const char *region, *input, *output;
	bool quiet; /* no message if the page cannot be made */
};

/* The program has a page from now on, until the program's end. */
void cli_page_start(const struct cli_page_about *a);

/* Whether to write the page now. Call it once a batch and when idle. */
bool cli_page_begin(void);
void cli_page_end(void);

/* The directory of pages: $DTA_LEDGERS, or the default. */
const char *cli_page_dir(void);

/* --- the loop ------------------------------------------------------------- */

/* The main loop of a program that receives packets: takes batches from a source
 * until it ends, a limit is reached or a signal comes. It also writes the page,
 * handles SIGUSR1 and SIGHUP, and can wait for other descriptors and times. */
struct cli_loop {
	const struct cli_live *live; /* limits */
	struct src *s;
	/* As in cli_page_about. */
	bool quiet;
	const char *region, *input, *output;
	int most; /* packets in a batch, up to CLI_LOOP_MOST; 0: PKT_BATCH */
	/* The program's functions, all of which get ctx. */
	void *ctx;
	/* Takes a batch. n = 0: nothing came while the source waited, or a
	 * signal came. 0 or -errno; err may be set or not. */
	int (*take)(void *ctx, const struct pkt *pkts, int n,
		    struct error *err);
	void (*report)(void *ctx); /* SIGUSR1: prints its ledgers */
	/* The same for the page: must not block. NULL: report() does not. */
	void (*show)(void *ctx);
	/* snk_drops() of all sinks; NULL: there are none. */
	uint64_t (*unsent)(void *ctx);
	void (*hangup)(void *ctx); /* SIGHUP, after cli_catch_hangup() */
	/* What else the loop waits for: descriptors that can be read, and a
	 * time of clock_ns(); due NULL: no time. fds NULL: nothing; the source
	 * waits by itself. Else the program has called src_wait(s, 0). */
	unsigned (*fds)(void *ctx, int *fd, unsigned max);
	uint64_t (*due)(void *ctx);
	bool source_failed; /* set by cli_loop() */
	/* Set by cli_loop(): how many more packets may be received.
	 * cli_loop_more() counts there, too. */
	struct cli_limit limit;
};

enum {
	CLI_LOOP_MOST = 4096,
	CLI_LOOK_AROUND_MS = 100, /* how long a live source may wait */
};

/* Runs until the end. Returns 0, or -errno of the source or of take(). */
int cli_loop(struct cli_loop *l, struct error *err);

/* Receives packets that are there now, within the limit: for a thread that
 * takes batches in turn with the loop's thread. Returns their number, or 0;
 * the end of the source and its errors are left to the loop. */
int cli_loop_more(struct cli_loop *l, struct pkt *room, int max);

/* Handles signals and the page: for a take() that lasts long. */
void cli_loop_housekeeping(struct cli_loop *l);

#endif
