/* SPDX-License-Identifier: BSD-2-Clause */
/* control_time.c - telemetry intervals, and a clock that was set. */
#include "label/control_private.h"

enum {
	JUMP_MAX = 10000, /* intervals without anything, that are told of */
};

static void begin_interval(struct label_control *c, uint64_t now_ns)
{
	uint64_t begin_ns = now_ns - now_ns % c->o.interval_ns;

	c->number++;
	c->before = *label_db_counters(c->db);
	c->sum = (struct label_interval_sum){
		.begin_ns = begin_ns, .end_ns = begin_ns + c->o.interval_ns};
	c->next_end_ns = c->sum.end_ns;
	c->watched_ns = now_ns;
}

static void sum_s(struct label_control *c)
{
	for (uint8_t s = 1; s <= LABEL_S_MAX; s++) {
		c->sum.raised += c->with_s[s];
		if (c->with_s[s])
			c->sum.s_most = s;
	}
}

static void end_interval(struct label_control *c, uint64_t now_ns)
{
	const struct label_db_ledger *now = label_db_counters(c->db);
	const struct label_db_ledger *was = &c->before;
	int64_t missing = (int64_t)(now->missing - was->missing);
	uint32_t known = label_db_ports(c->db);

	c->ctr.intervals++;
	c->sum.observed_ns = now_ns - c->watched_ns;
	c->sum.ports = c->o.expected > known ? c->o.expected : known;
	c->sum.labels = now->items - was->items;
	c->sum.late = now->late - was->late;
	c->sum.odd = now->future - was->future + now->back - was->back;
	c->sum.missing = missing > 0 ? (uint64_t)missing : 0;
	c->sum.silent = c->silent;
	sum_s(c);
	if (c->o.calls.interval)
		c->o.calls.interval(c->o.calls.ctx, &c->sum);
}

void control_begin(struct label_control *c, uint64_t now_ns)
{
	c->begun = true;
	c->now_ns = c->begun_ns = now_ns;
	control_resume(c);
	begin_interval(c, now_ns);
}

void label_control_begin(struct label_control *c, uint64_t now_ns)
{
	if (!c->begun)
		control_begin(c, now_ns);
}

uint64_t label_control_due(const struct label_control *c)
{
	uint64_t due = control_due(c);

	if (!c->begun)
		return UINT64_MAX;
	return due < c->next_end_ns ? due + 1 : c->next_end_ns;
}

/* What is due of ports before a time. */
static void look(struct label_control *c, uint64_t before_ns)
{
	while (control_due(c) < before_ns)
		control_look(c);
}

/* So long was nothing to be told that it is not, interval by interval. */
static void jump(struct label_control *c, uint64_t now_ns)
{
	uint64_t begin_ns = now_ns - now_ns % c->o.interval_ns;
	uint64_t skipped = (begin_ns - c->next_end_ns) / c->o.interval_ns;

	look(c, c->next_end_ns);
	end_interval(c, c->next_end_ns);
	look(c, begin_ns);
	begin_interval(c, begin_ns);
	c->sum.skipped = skipped;
	c->ctr.skipped += skipped;
}

void label_control_tick(struct label_control *c, uint64_t now_ns)
{
	if (!c->begun || now_ns <= c->now_ns)
		return;
	c->now_ns = now_ns;
	if (now_ns > c->next_end_ns &&
	    (now_ns - c->next_end_ns) / c->o.interval_ns > JUMP_MAX)
		jump(c, now_ns);
	for (; c->next_end_ns <= now_ns; begin_interval(c, c->next_end_ns)) {
		look(c, c->next_end_ns);
		end_interval(c, c->next_end_ns);
	}
	look(c, now_ns);
}

void control_end(struct label_control *c)
{
	if (c->begun && c->sum.packets)
		end_interval(c, c->now_ns);
	c->sum.packets = 0;
}

static uint64_t intervals_between(const struct label_control *c,
				  uint64_t end_ns, uint64_t begin_ns)
{
	return begin_ns > end_ns ? (begin_ns - end_ns) / c->o.interval_ns : 0;
}

void label_control_anew(struct label_control *c, uint64_t now_ns)
{
	uint64_t end_ns = c->next_end_ns, skipped;

	if (!c->begun || now_ns == c->now_ns)
		return;
	c->ctr.set++;
	end_interval(c, c->now_ns);
	c->now_ns = c->begun_ns = now_ns;
	c->back = 0;
	control_wait_anew(c);
	begin_interval(c, now_ns);
	skipped = intervals_between(c, end_ns, c->sum.begin_ns);
	c->sum.skipped = skipped;
	c->ctr.skipped += skipped;
}
