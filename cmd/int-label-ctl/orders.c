/* SPDX-License-Identifier: BSD-2-Clause */
/* orders.c - which switch is to be told what, and when again: orders.h. How it
 * is told is in orders_tell.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/rng.h"
#include "cli/cli.h"
#include "orders_private.h"

#define MS	      UINT64_C(1000000)
#define WAIT_FIRST_NS (100 * MS) /* after a failure; twice that each time */
#define WAIT_MOST_NS  (10000 * MS)
#define WAIT_FULL_NS  MS /* a socket takes only so many, until they are read */
#define END_NS	      (2000 * MS)

enum {
	FIRST = 64,	   /* switches there is room for at first */
	COMMANDS_MAX = 16, /* that run at once */
};

/* clang-format off */
#define FIELD(counter, role) LEDGER_FIELD(struct orders_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(decisions, LEDGER_IN),
	FIELD(told, LEDGER_DONE),
	FIELD(nothing, LEDGER_DROP),
	FIELD(superseded, LEDGER_DROP),
	FIELD(unsent, LEDGER_DROP),
	FIELD(tries, LEDGER_NOTE),
	FIELD(failed, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct orders_ledger);
/* clang-format on */

const struct ledger orders_ledger = {"orders", "decisions", fields,
				     sizeof(fields) / sizeof(fields[0])};

struct orders {
	struct orders_options o;
	struct orders_ledger ctr;
	struct orders_switch *at; /* a hash table of room, a power of two */
	uint32_t n, room;
	uint32_t busy;	   /* switches that are to be told something */
	uint32_t commands; /* that run */
	uint32_t first;	   /* whose turn it is, a place of at */
	int fd;		   /* of --send */
};

struct orders *orders_open(const struct orders_options *options)
{
	struct orders *o = calloc(1, sizeof(*o));

	if (!o || !(o->at = calloc(FIRST, sizeof(*o->at))))
		cli_fail("out of memory");
	o->o = *options;
	o->room = FIRST;
	o->fd = options->send ? orders_socket() : -1;
	return o;
}

const struct orders_ledger *orders_counters(const struct orders *o)
{
	return &o->ctr;
}

void orders_close(struct orders *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->room; i++) {
		free(o->at[i].waiting.at);
		free(o->at[i].said.at);
	}
	orders_socket_close(o->fd);
	free(o->at);
	free(o);
}

static struct orders_switch *slot_of(struct orders_switch *at, uint32_t room,
				     uint32_t device)
{
	uint32_t i = (uint32_t)rng_mix(device) & (room - 1);

	while (at[i].used && at[i].device != device)
		i = (i + 1) & (room - 1);
	return &at[i];
}

static void grow(struct orders *o)
{
	struct orders_switch *at = calloc(2 * (size_t)o->room, sizeof(*at));

	if (!at)
		cli_fail("out of memory");
	for (uint32_t i = 0; i < o->room; i++)
		if (o->at[i].used)
			*slot_of(at, 2 * o->room, o->at[i].device) = o->at[i];
	free(o->at);
	o->at = at;
	o->room *= 2;
}

static struct orders_switch *switch_of(struct orders *o, uint32_t device)
{
	struct orders_switch *sw = slot_of(o->at, o->room, device);

	if (sw->used)
		return sw;
	if (2 * ++o->n > o->room) {
		grow(o);
		sw = slot_of(o->at, o->room, device);
	}
	*sw = (struct orders_switch){.used = true, .device = device};
	return sw;
}

static bool is_busy(const struct orders_switch *sw)
{
	return sw->waiting.n || sw->pid;
}

/* One more to be told; of one port only the newest S counts. */
static void add(struct orders *o, struct orders_list *l,
		const struct order *order)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->at[i].port == order->port) {
			l->at[i].s = order->s;
			o->ctr.superseded++;
			return;
		}
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 8;
		l->at = realloc(l->at, l->room * sizeof(*l->at));
		if (!l->at)
			cli_fail("out of memory");
	}
	l->at[l->n++] = *order;
}

void orders_take(struct orders *o, const struct label_decision *d)
{
	struct orders_switch *sw = switch_of(o, d->port->device);
	struct order order = {d->port->out, d->from, d->port->s};
	char line[LABEL_COMMAND_MAX];

	o->ctr.decisions++;
	if (!label_command_s(line, o->o.form, order.port, order.before,
			     order.s)) {
		o->ctr.nothing++;
		return;
	}
	o->busy += !is_busy(sw);
	add(o, &sw->waiting, &order);
}

/* --- said, and whether it was heard --------------------------------------- */

static void heard(struct orders *o, struct orders_switch *sw)
{
	o->ctr.told += sw->said.n;
	sw->said.n = 0;
	if (sw->wait_ns)
		cli_warn("device %" PRIu32 " takes commands again", sw->device);
	sw->wait_ns = 0;
}

/* What was said waits again, but for what is newer. */
static void wait_again(struct orders *o, struct orders_switch *sw,
		       uint64_t wait_ns)
{
	struct orders_list newer = sw->waiting;

	sw->next_ns = clock_ns() + wait_ns;
	sw->waiting = sw->said;
	sw->said = newer;
	for (unsigned i = 0; i < newer.n; i++)
		add(o, &sw->waiting, &newer.at[i]);
	sw->said.n = 0;
}

static void not_heard(struct orders *o, struct orders_switch *sw,
		      const char *why)
{
	o->ctr.failed++;
	if (!sw->wait_ns)
		cli_warn("device %" PRIu32 ": a command was not taken, and "
			 "will be tried again: %s",
			 sw->device, why);
	sw->wait_ns = sw->wait_ns ? 2 * sw->wait_ns : WAIT_FIRST_NS;
	if (sw->wait_ns > WAIT_MOST_NS)
		sw->wait_ns = WAIT_MOST_NS;
	wait_again(o, sw, sw->wait_ns);
}

/* Datagrams, as many as there is room for: those that got there are not said
 * again. A full socket is no failure; it is read, if later. */
static int send_said(struct orders *o, struct orders_switch *sw)
{
	unsigned sent;
	int rc = orders_send(sw, o->o.form, o->fd, o->o.send, &sent);

	if (rc < 0) {
		o->ctr.told += sent;
		sw->said.n -= sent;
		memmove(sw->said.at, sw->said.at + sent,
			sw->said.n * sizeof(*sw->said.at));
	}
	return rc;
}

static void say(struct orders *o, struct orders_switch *sw)
{
	struct orders_list empty = sw->said;
	char why[128] = "";
	int rc;

	sw->said = sw->waiting;
	sw->waiting = empty;
	o->ctr.tries++;
	if (o->o.exec)
		rc = orders_exec(sw, o->o.form, o->o.exec);
	else if (o->o.send)
		rc = send_said(o, sw);
	else
		rc = orders_print(sw, o->o.form);
	if (rc == -EAGAIN && o->o.send) {
		wait_again(o, sw, WAIT_FULL_NS);
	} else if (rc < 0) {
		snprintf(why, sizeof(why), "%s", strerror(-rc));
		not_heard(o, sw, why);
	} else if (!sw->pid) {
		heard(o, sw);
	} else {
		o->commands++;
	}
}

/* A command that has ended, perhaps. */
static void look_for(struct orders *o, struct orders_switch *sw)
{
	char why[128];
	int rc = orders_reap(sw, why, sizeof(why));

	o->commands -= !sw->pid;
	if (rc > 0)
		heard(o, sw);
	else if (rc < 0)
		not_heard(o, sw, why);
}

static void turn(struct orders *o, struct orders_switch *sw, uint64_t now_ns)
{
	if (!is_busy(sw))
		return;
	if (sw->pid)
		look_for(o, sw);
	if (!sw->pid && sw->waiting.n && now_ns >= sw->next_ns &&
	    o->commands < COMMANDS_MAX)
		say(o, sw);
	o->busy -= !is_busy(sw);
}

void orders_turn(struct orders *o)
{
	uint32_t first = o->first;
	uint64_t now_ns;
	bool room;

	if (!o->busy)
		return;
	now_ns = clock_ns();
	for (uint32_t i = 0; i < o->room && o->busy; i++) {
		room = o->commands < COMMANDS_MAX;
		turn(o, &o->at[(first + i) & (o->room - 1)], now_ns);
		/* Those behind the last one that got in are the next. */
		if (room && o->commands == COMMANDS_MAX)
			o->first = first + i + 1;
	}
}

int orders_end(struct orders *o)
{
	const struct timespec pause = {.tv_nsec = (long)MS};
	uint64_t until_ns = clock_ns() + END_NS;
	int stop = cli_stop;

	while (o->busy && clock_ns() < until_ns && cli_stop == stop) {
		orders_turn(o);
		if (o->busy)
			nanosleep(&pause, NULL);
	}
	for (uint32_t i = 0; i < o->room; i++)
		o->ctr.unsent += o->at[i].waiting.n + o->at[i].said.n;
	if (!o->ctr.unsent)
		return 0;
	cli_warn("%" PRIu64 " decisions were not taken by their switches",
		 o->ctr.unsent);
	return -1;
}
