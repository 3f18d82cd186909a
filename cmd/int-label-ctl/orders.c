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

#define MS	   UINT64_C(1000000)
#define COMMAND_NS (10000 * MS) /* in which a command has to end */
#define END_NS	   (2000 * MS)

struct orders {
	struct orders_options o;
	struct label_orders *all;
	int fd; /* of --send */
};

static int print(const struct label_orders_switch *sw,
		 enum label_command_form form)
{
	char line[LABEL_COMMAND_MAX];

	for (unsigned i = 0; i < sw->said.n; i++) {
		label_order_line(line, form, &sw->said.at[i]);
		printf("%s\n", line);
	}
	return fflush(stdout) ? -errno : 0; /* whoever reads acts on it */
}

static int say(void *ctx, struct label_orders_switch *sw, unsigned *sent)
{
	struct orders *o = ctx;

	if (o->o.exec)
		return orders_exec(sw, o->o.form, o->o.exec, environ);
	if (o->o.send)
		return orders_send(sw, o->o.form, o->fd, o->o.send, sent);
	return print(sw, o->o.form);
}

static int look(void *ctx, struct label_orders_switch *sw, char *why,
		size_t size)
{
	(void)ctx;
	return orders_reap(sw, why, size);
}

static void end(void *ctx, struct label_orders_switch *sw)
{
	(void)ctx;
	orders_kill(sw);
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

int orders_socket(void)
{
	int fd = orders_socket_open();

	if (fd < 0)
		cli_fail("--send: %s", strerror(-fd));
	return fd;
}

void orders_socket_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

struct orders *orders_open(const struct orders_options *options)
{
	struct orders *o = calloc(1, sizeof(*o));
	struct label_orders_options lo = {
		.form = options->form,
		.at_once = !options->exec && !options->send,
		.patience_ns = COMMAND_NS,
		.ctx = o,
		.say = say,
		.look = look,
		.kill = end,
		.trouble = trouble,
	};

	if (!o || label_orders_open(&o->all, &lo) < 0)
		cli_fail("out of memory");
	o->o = *options;
	o->fd = options->send ? orders_socket() : -1;
	/* Ignored, as whoever started us may have it, no command's status could
	 * be waited for. */
	if (options->exec)
		signal(SIGCHLD, SIG_DFL);
	return o;
}

const struct label_orders_ledger *orders_counters(const struct orders *o)
{
	return label_orders_counters(o->all);
}

void orders_take(struct orders *o, const struct label_decision *d)
{
	if (label_orders_take(o->all, d, clock_ns()) < 0)
		cli_fail("out of memory");
}

void orders_turn(struct orders *o)
{
	if (label_orders_busy(o->all) &&
	    label_orders_turn(o->all, clock_ns()) < 0)
		cli_fail("out of memory");
}

int orders_end(struct orders *o)
{
	const struct timespec pause = {.tv_nsec = (long)MS};
	uint64_t until_ns = clock_ns() + END_NS, unsent;
	int stop = cli_stop;

	while (label_orders_busy(o->all) && clock_ns() < until_ns &&
	       cli_stop == stop) {
		orders_turn(o);
		if (label_orders_busy(o->all))
			nanosleep(&pause, NULL);
	}
	label_orders_end(o->all);
	unsent = orders_counters(o)->unsent;
	if (!unsent)
		return 0;
	cli_warn("%" PRIu64 " decisions were not taken by their switches",
		 unsent);
	return -1;
}

void orders_close(struct orders *o)
{
	if (!o)
		return;
	label_orders_close(o->all);
	orders_socket_close(o->fd);
	free(o);
}
