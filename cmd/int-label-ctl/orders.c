/* SPDX-License-Identifier: BSD-2-Clause */
#include "orders.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"

#define MS     UINT64_C(1000000)
#define END_NS (2000 * MS)

/* What reads it acts on it. */
static int print(void *ctx, const char *line)
{
	(void)ctx;
	printf("%s\n", line);
	return fflush(stdout) ? -errno : 0;
}

static void trouble(void *ctx, uint32_t device, const char *why)
{
	(void)ctx;
	if (why)
		cli_warn("device %" PRIu32 ": commands were not taken, and "
			 "will be tried again: %s",
			 device, why);
	else
		cli_warn("device %" PRIu32 " takes commands again", device);
}

struct label_orders *orders_open(const char *exec, const char *send)
{
	struct label_orders *o;
	struct label_orders_options lo = {
		.exec = exec,
		.environment = environ,
		.send = send,
		.print = print,
		.trouble = trouble,
	};
	int rc = label_orders_open(&o, &lo);

	if (rc < 0)
		cli_fail("orders to switches: %s", strerror(-rc));
	/* Ignored, as what started us may have it, no command's status could
	 * be waited for. */
	if (exec)
		signal(SIGCHLD, SIG_DFL);
	return o;
}

void orders_take(struct label_orders *o, const struct label_decision *d)
{
	if (label_orders_take(o, d, clock_ns()) < 0)
		cli_fail("out of memory");
}

void orders_turn(struct label_orders *o)
{
	if (label_orders_busy(o) && label_orders_turn(o, clock_ns()) < 0)
		cli_fail("out of memory");
}

int orders_end(struct label_orders *o)
{
	const struct timespec pause = {.tv_nsec = (long)MS};
	uint64_t until_ns = clock_ns() + END_NS, unsent;
	int stop = cli_stop;

	while (label_orders_busy(o) && clock_ns() < until_ns &&
	       cli_stop == stop) {
		orders_turn(o);
		if (label_orders_busy(o))
			nanosleep(&pause, NULL);
	}
	label_orders_end(o);
	unsent = label_orders_counters(o)->unsent;
	if (!unsent)
		return 0;
	cli_warn("%" PRIu64 " decisions were not taken by their switches",
		 unsent);
	return -1;
}
