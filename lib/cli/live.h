/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h - what programs on live interfaces share beyond cli.h: their options,
 * and a pace.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "base/ledger.h"
#include "cli/cli.h"
#include "live/live.h"

struct cli_live {
	const char *name; /* of -i, NULL if not given */
	struct live_options options;
	enum row_format format; /* of what cli_live_drops() says */
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
	  CLI_FLAG, CLI_AT(opts, live.options.promiscuous), .needs = "-i" }
/* does: receive, or send; of: what is an interface. */
#define CLI_XDP_OPTIONS(opts, live, af_xdp, does, of)                          \
	{ 0, af_xdp, NULL, does " by AF_XDP or fail", CLI_FLAG,                \
	  CLI_AT(opts, live.options.kind), .min = LIVE_XDP, .needs = of },     \
	{ 0, "no-xdp", NULL, does " by AF_PACKET", CLI_FLAG,                   \
	  CLI_AT(opts, live.options.kind), .min = LIVE_PACKET, .needs = of }
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
 * Nor does a reader who stalls keep it from ending (snk_until()).
 */
int cli_snk_open(struct snk **out, const char *path, struct fault *f);

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

struct cli_limit cli_limit_start(const struct cli_live *l);
/* How many of max packets are still to be received; 0: enough. */
int cli_limit_room(const struct cli_limit *m, int max);
void cli_limit_took(struct cli_limit *m, int n); /* n <= 0: nothing */

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

#endif
