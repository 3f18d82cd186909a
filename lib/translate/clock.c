/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c - the flush times of lists, by the packets' time. */
#include "packet/clock.h"
#include "translate/private.h"

static void flush_all(struct translator *t)
{
	t->stamp_ns = t->last_ns;
	for (unsigned i = 0; i < t->lanes; i++)
		if (t->lane[i].append)
			append_flush(t, &t->lane[i]);
	ops_run(t);
	t->waiting = false;
}

void clock_to(struct translator *t, uint64_t now_ns)
{
	bool set = clock_was_set(t->last_ns, now_ns);

	if (set && t->waiting) /* nobody knows for how long they have */
		flush_all(t);
	if (set || t->idle_ns)
		t->due_ns = 0; /* to be reckoned anew */
	clock_step(&t->last_ns, now_ns);
	t->idle_ns = 0;
}

void clock_flush(struct translator *t)
{
	uint64_t now = t->last_ns + t->idle_ns;
	bool waiting = t->waiting;

	if (now < t->due_ns)
		return;
	/* A list that begins to wait from now on is not due before. */
	t->due_ns = now + t->flush_ns;
	t->waiting = false;
	for (unsigned i = 0; i < t->lanes && waiting; i++)
		if (t->lane[i].append)
			append_flush_due(t, &t->lane[i], now);
	ops_run(t);
}

/* Whether a packet comes when a list is due, or with a clock that was set. */
static bool comes_later(const struct translator *t, const struct pkt *p)
{
	return p->ts_ns >= t->due_ns || clock_was_set(t->last_ns, p->ts_ns);
}

size_t clock_until_due(const struct translator *t, const struct pkt *pkts,
		       size_t n)
{
	size_t k = 1;

	if (!comes_later(t, &pkts[n - 1]))
		return n;
	while (k < n && !comes_later(t, &pkts[k]))
		k++;
	return k;
}
