/* SPDX-License-Identifier: BSD-2-Clause */
#include "orders/orders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/due.h"

#define MS	      UINT64_C(1000000)
#define WAIT_FIRST_NS (100 * MS) /* after a failure; twice that each time */
#define WAIT_MOST_NS  (10000 * MS)
#define WAIT_FULL_NS  MS /* a socket takes only so many, until they are read */
#define FULL_LONG_NS  (1000 * MS) /* then it is told */

enum {
	FIRST = 64, /* switches there is room for at first */
};

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct label_orders_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(decisions, LEDGER_IN),
	FIELD(told, LEDGER_DONE),
	FIELD(nothing, LEDGER_HARMLESS),
	FIELD(superseded, LEDGER_HARMLESS),
	FIELD(unsent, LEDGER_LOSS),
	FIELD(tries, LEDGER_NOTE),
	FIELD(failed, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct label_orders_ledger);
/* clang-format on */

const struct ledger label_orders_ledger = {"orders", "decisions", fields,
					   sizeof(fields) / sizeof(fields[0])};

struct label_orders {
	struct label_orders_options o;
	struct label_orders_ledger ctr;
	struct label_orders_switch *at;
	uint32_t *slot; /* 2 * room of them: number of a switch + 1, or 0 */
	uint32_t n, room;
	struct dues due; /* switches that something waits for */
	uint32_t run[LABEL_ORDERS_AT_ONCE], running;
	int err;
};

int label_orders_open(struct label_orders **out,
		      const struct label_orders_options *options)
{
	struct label_orders *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->o = *options;
	*out = o;
	return 0;
}

const struct label_orders_ledger *
label_orders_counters(const struct label_orders *o)
{
	return &o->ctr;
}

void label_orders_close(struct label_orders *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->n; i++) {
		free(o->at[i].waiting.at);
		free(o->at[i].said.at);
	}
	dues_fini(&o->due);
	free(o->at);
	free(o->slot);
	free(o);
}

/* --- which switch --------------------------------------------------------- */

static uint32_t *slot_of(const struct label_orders *o, uint32_t device)
{
	uint32_t mask = 2 * o->room - 1, i = (uint32_t)rng_mix(device) & mask;

	while (o->slot[i] && o->at[o->slot[i] - 1].device != device)
		i = (i + 1) & mask;
	return &o->slot[i];
}

static int grow(struct label_orders *o)
{
	uint32_t room = o->room ? 2 * o->room : FIRST;
	uint32_t *slot = calloc(2 * (size_t)room, sizeof(*slot));
	struct label_orders_switch *at = realloc(o->at, room * sizeof(*at));

	if (at)
		o->at = at;
	if (!slot || !at) {
		free(slot);
		return -ENOMEM;
	}
	free(o->slot);
	o->slot = slot;
	o->room = room;
	for (uint32_t i = 0; i < o->n; i++)
		*slot_of(o, at[i].device) = i + 1;
	return 0;
}

/* Its number; UINT32_MAX: no memory. */
static uint32_t switch_of(struct label_orders *o, uint32_t device)
{
	uint32_t *slot;

	if (o->n == o->room && grow(o) < 0)
		return UINT32_MAX;
	slot = slot_of(o, device);
	if (!*slot) {
		o->at[o->n] = (struct label_orders_switch){.device = device};
		*slot = ++o->n;
	}
	return *slot - 1;
}

/* --- what waits for it ---------------------------------------------------- */

size_t label_order_line(char buf[LABEL_COMMAND_MAX],
			enum label_command_form form,
			const struct label_order *order)
{
	return label_command_s(buf, form, order->port,
			       order->unsure ? !order->s : order->before,
			       order->s);
}

static bool says_nothing(const struct label_orders *o,
			 const struct label_order *order)
{
	char line[LABEL_COMMAND_MAX];

	return !label_order_line(line, o->o.form, order);
}

/* The newest S of a port counts: what waits of it is not said. Where the switch
 * has that S, nothing is. */
static void supersede(struct label_orders *o, struct label_orders_list *l,
		      unsigned i, const struct label_order *order)
{
	l->at[i].s = order->s;
	l->at[i].unsure |= order->unsure;
	o->ctr.superseded++;
	if (!says_nothing(o, &l->at[i]))
		return;
	o->ctr.nothing++;
	l->n--;
	memmove(&l->at[i], &l->at[i + 1], (l->n - i) * sizeof(*l->at));
}

static void add(struct label_orders *o, struct label_orders_list *l,
		const struct label_order *order)
{
	struct label_order *at;

	for (unsigned i = 0; i < l->n; i++)
		if (l->at[i].port == order->port) {
			supersede(o, l, i, order);
			return;
		}
	if (says_nothing(o, order)) {
		o->ctr.nothing++;
		return;
	}
	if (l->n == l->room) {
		unsigned room = l->room ? 2 * l->room : 8;

		if (!(at = realloc(l->at, room * sizeof(*at)))) {
			o->ctr.unsent++;
			o->err = -ENOMEM;
			return;
		}
		l->at = at;
		l->room = room;
	}
	l->at[l->n++] = *order;
}

/* It has its turn when it may have it: not while it is under way. */
static void set_due(struct label_orders *o, uint32_t i, uint64_t now_ns)
{
	const struct label_orders_switch *sw = &o->at[i];
	uint64_t ns = sw->next_ns > now_ns ? sw->next_ns : now_ns;

	if (sw->run || !sw->waiting.n)
		ns = DUE_NEVER;
	else if (dues_of(&o->due, i) < ns)
		return;
	if (dues_set(&o->due, i, ns) < 0)
		o->err = -ENOMEM;
}

/* --- said, and whether it was heard --------------------------------------- */

static void tell_trouble(struct label_orders *o, struct label_orders_switch *sw,
			 const char *why)
{
	if (sw->troubled != !why)
		return;
	sw->troubled = why;
	o->o.trouble(o->o.ctx, sw->device, why);
}

static void heard(struct label_orders *o, struct label_orders_switch *sw)
{
	o->ctr.told += sw->said.n;
	sw->said.n = 0;
	sw->wait_ns = sw->full_ns = 0;
	tell_trouble(o, sw, NULL);
}

/* What was said waits again, but for what is newer. */
static void wait_again(struct label_orders *o, struct label_orders_switch *sw,
		       uint64_t next_ns, bool unsure)
{
	struct label_orders_list newer = sw->waiting;

	sw->next_ns = next_ns;
	sw->waiting = sw->said;
	sw->said = newer;
	for (unsigned i = 0; i < sw->waiting.n; i++)
		sw->waiting.at[i].unsure |= unsure;
	for (unsigned i = 0; i < newer.n; i++)
		add(o, &sw->waiting, &newer.at[i]);
	sw->said.n = 0;
}

static void not_heard(struct label_orders *o, struct label_orders_switch *sw,
		      const char *why, uint64_t now_ns)
{
	o->ctr.failed++;
	tell_trouble(o, sw, why);
	sw->wait_ns = sw->wait_ns ? 2 * sw->wait_ns : WAIT_FIRST_NS;
	if (sw->wait_ns > WAIT_MOST_NS)
		sw->wait_ns = WAIT_MOST_NS;
	wait_again(o, sw, now_ns + sw->wait_ns, true);
}

/* A full socket is no failure; it is read, if later. */
static void no_room(struct label_orders *o, struct label_orders_switch *sw,
		    uint64_t now_ns)
{
	if (!sw->full_ns)
		sw->full_ns = now_ns;
	if (now_ns - sw->full_ns >= FULL_LONG_NS)
		tell_trouble(o, sw, "it does not read them");
	wait_again(o, sw, now_ns + WAIT_FULL_NS, false);
}

/* The first ones got there: they are not said again. */
static void heard_some(struct label_orders *o, struct label_orders_switch *sw,
		       unsigned sent)
{
	o->ctr.told += sent;
	sw->said.n -= sent;
	if (sent)
		sw->full_ns = 0;
	memmove(sw->said.at, sw->said.at + sent,
		sw->said.n * sizeof(*sw->said.at));
}

static void say(struct label_orders *o, uint32_t i, uint64_t now_ns)
{
	struct label_orders_switch *sw = &o->at[i];
	struct label_orders_list empty = sw->said;
	unsigned sent = 0;
	int rc;

	sw->said = sw->waiting;
	sw->waiting = empty;
	o->ctr.tries++;
	rc = o->o.say(o->o.ctx, sw, &sent);
	if (sent && (rc < 0 || rc == LABEL_ORDERS_FULL))
		heard_some(o, sw, sent);
	if (rc == LABEL_ORDERS_FULL) {
		no_room(o, sw, now_ns);
	} else if (rc < 0) {
		not_heard(o, sw, strerror(-rc), now_ns);
	} else if (rc == 0) {
		heard(o, sw);
	} else {
		sw->until_ns = now_ns + o->o.patience_ns;
		o->run[o->running++] = i;
	}
	dues_set(&o->due, i, DUE_NEVER);
	set_due(o, i, now_ns);
}

static bool has_ended(struct label_orders *o, struct label_orders_switch *sw,
		      uint64_t now_ns)
{
	char why[128];
	int rc = o->o.look(o->o.ctx, sw, why, sizeof(why));

	if (!rc && now_ns >= sw->until_ns) {
		o->o.kill(o->o.ctx, sw);
		snprintf(why, sizeof(why), "it did not end");
		rc = -1;
	}
	if (rc > 0)
		heard(o, sw);
	else if (rc < 0)
		not_heard(o, sw, why, now_ns);
	return rc;
}

int label_orders_turn(struct label_orders *o, uint64_t now_ns)
{
	for (uint32_t i = 0; i < o->running;) {
		uint32_t who = o->run[i];

		if (!has_ended(o, &o->at[who], now_ns)) {
			i++;
			continue;
		}
		o->run[i] = o->run[--o->running];
		set_due(o, who, now_ns);
	}
	while (o->running < LABEL_ORDERS_AT_ONCE &&
	       dues_first(&o->due).ns <= now_ns)
		say(o, dues_first(&o->due).who, now_ns);
	return o->err;
}

int label_orders_take(struct label_orders *o, const struct label_decision *d,
		      uint64_t now_ns)
{
	uint32_t i = switch_of(o, d->port->device);
	struct label_order order = {d->port->out, d->from, d->port->s,
				    d->reason == LABEL_RESUMED};

	o->ctr.decisions++;
	if (i == UINT32_MAX) {
		o->ctr.unsent++;
		return o->err = -ENOMEM;
	}
	add(o, &o->at[i].waiting, &order);
	set_due(o, i, now_ns);
	if (o->o.at_once && dues_of(&o->due, i) <= now_ns)
		say(o, i, now_ns);
	return o->err;
}

bool label_orders_busy(const struct label_orders *o)
{
	return o->running || o->due.n;
}

void label_orders_end(struct label_orders *o)
{
	for (uint32_t i = 0; i < o->running; i++) {
		struct label_orders_switch *sw = &o->at[o->run[i]];

		o->o.kill(o->o.ctx, sw);
		o->ctr.failed++;
		tell_trouble(o, sw, "it did not end");
		wait_again(o, sw, 0, true);
	}
	o->running = 0;
	for (uint32_t i = 0; i < o->n; i++)
		o->ctr.unsent += o->at[i].waiting.n;
}
