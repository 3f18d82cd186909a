/* SPDX-License-Identifier: BSD-2-Clause */
/* The controller in virtual time: coverage, silence, Pro by algorithm 3, paths
 * of specific flows. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "label/control.h"
#include "label/policy.h"
#include "test.h"
#include "wire/proto.h"

#define MS UINT64_C(1000000) /* ns */
/* Where time begins: a multiple of all intervals here. */
#define T0 (1000 * MS)

static struct label_interval_sum sums[64];
static unsigned n_sums;
static struct label_decision decisions[64];
static uint8_t decided[64]; /* S after each */
static unsigned n_decisions;
static struct {
	uint64_t now_ns, since_ns;
	bool silent;
} silences[64];
static unsigned n_silences, n_paths;
static struct label_path last_path;

static void interval(void *ctx, const struct label_interval_sum *s)
{
	(void)ctx;
	if (n_sums < 64)
		sums[n_sums++] = *s;
}

static void decision(void *ctx, const struct label_decision *d)
{
	(void)ctx;
	if (n_decisions == 64)
		return;
	decided[n_decisions] = d->port->s;
	decisions[n_decisions++] = *d;
}

static void silent(void *ctx, const struct label_record *r, bool is,
		   uint64_t now_ns, uint64_t since_ns)
{
	(void)ctx;
	(void)r;
	if (n_silences == 64)
		return;
	silences[n_silences].now_ns = now_ns;
	silences[n_silences].since_ns = since_ns;
	silences[n_silences++].silent = is;
}

static void path(void *ctx, const struct label_path *p)
{
	(void)ctx;
	n_paths++;
	last_path = *p;
}

static struct label_control *open_control(struct label_control_options *o)
{
	struct label_control *c = NULL;

	n_sums = n_decisions = n_silences = n_paths = 0;
	o->calls = (struct label_control_calls){.interval = interval,
						.decision = decision,
						.silent = silent,
						.path = path};
	TEST(label_control_open(&c, o) == 0);
	return c;
}

static void done(struct label_control *c)
{
	TEST(ledger_balanced(&label_control_ledger, label_control_counters(c)));
	TEST(ledger_balanced(&label_db_ledger,
			     label_db_counters(label_control_db(c))));
	label_control_close(c);
}

/* An Ethernet frame with an IPv4 header, TCP's ports and some labels. */
static size_t frame(uint8_t *out, size_t cap, const uint32_t *device,
		    unsigned n, uint64_t now_ns, uint32_t number, bool specific)
{
	uint8_t from[1024];
	size_t len = unhex(out, cap,
			   "020000000002 020000000001 0800 4500001c 00010000 "
			   "400666d9 0a000001 0a000002 01bb157d 00000000");
	struct label_view v;

	for (unsigned i = 0; i < n; i++) {
		struct label_item item = {.device = device[i],
					  .in = 1,
					  .out = 2,
					  .time_us = now_ns / 1000 + i,
					  .latency_ns = 10 * (i + 1),
					  .number = number};

		memcpy(from, out, len);
		label_find(&v, &label_format_default, from, len);
		len = (size_t)label_push(out, cap, &label_format_default, &v,
					 from, len, &item, specific, 0);
	}
	return len;
}

/* Its labels are of another time than it says. */
static void feed_at(struct label_control *c, const uint32_t *device, unsigned n,
		    uint64_t label_ns, uint64_t now_ns, uint32_t number,
		    bool specific)
{
	uint8_t buf[1024];
	size_t len = frame(buf, sizeof(buf), device, n, label_ns, number,
			   specific);

	TEST(label_control_frame(c, buf, len, now_ns) == 0);
}

static void feed(struct label_control *c, const uint32_t *device, unsigned n,
		 uint64_t now_ns, uint32_t number, bool specific)
{
	feed_at(c, device, n, now_ns, now_ns, number, specific);
}

/* Ports 1 and 2 are known; in the second interval only one is covered. */
static void test_coverage(void)
{
	static const uint32_t both[] = {1, 2}, one[] = {1};
	struct label_control_options o;
	struct label_control *c;
	uint8_t garbage[20] = {0};

	label_control_defaults(&o);
	c = open_control(&o);
	label_control_tick(c, T0); /* nothing has come yet */
	TEST(label_control_due(c) == UINT64_MAX);
	label_control_frame(c, garbage, sizeof(garbage), T0);
	label_control_frame(c, garbage, 5, T0);
	feed(c, both, 2, T0 + 10 * MS, 1, false);
	feed(c, both, 2, T0 + 60 * MS, 2, false);
	feed(c, one, 1, T0 + 110 * MS, 4, false);
	label_control_tick(c, T0 + 300 * MS);
	label_control_end(c);
	TEST(n_sums == 3);
	TEST(sums[0].begin_ns == T0 && sums[0].end_ns == T0 + 100 * MS);
	TEST(sums[0].ports == 2 && sums[0].covered == 2);
	TEST(sums[0].packets == 2 && sums[0].labels == 4 && !sums[0].missing);
	TEST(sums[1].ports == 2 && sums[1].covered == 1);
	TEST(sums[1].labels == 1 && sums[1].missing == 1);
	TEST(sums[2].covered == 0 && sums[2].packets == 0);
	TEST(label_control_counters(c)->malformed == 1);
	TEST(label_control_counters(c)->plain == 1);
	done(c);
	o.expected = 25; /* as the prototype's, wire-facts 4.4 */
	c = open_control(&o);
	feed(c, both, 2, T0, 1, false);
	label_control_end(c);
	TEST(n_sums == 1 && sums[0].ports == 25 && sums[0].covered == 2);
	done(c);
}

/* k * T is 100 ms: S goes up each 100 ms of silence, to its bound, and down
 * each 100 ms after. */
static void test_pro(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;
	uint64_t now = T0;
	uint32_t number = 1;

	label_control_defaults(&o);
	o.s_max = 3;
	c = open_control(&o);
	feed(c, one, 1, now, number++, false);
	label_control_tick(c, now + 1000 * MS);
	TEST(n_decisions == 3 && decided[0] == 1 && decided[2] == 3);
	for (unsigned i = 0; i < 3; i++) { /* when it is due, and no later */
		uint64_t at = T0 + 100 * MS * (i + 1);

		TEST(decisions[i].now_ns == at);
		TEST(decisions[i].from == i);
	}
	TEST(n_silences == 1 && silences[0].silent);
	TEST(silences[0].since_ns == T0);
	TEST(sums[n_sums - 1].raised == 1 && sums[n_sums - 1].s_most == 3 &&
	     sums[n_sums - 1].silent == 1);
	number = 5; /* 2 to 4 were lost */
	for (now += 1010 * MS; now < T0 + 2000 * MS; now += 50 * MS)
		feed(c, one, 1, now, number++, false);
	TEST(n_silences == 2 && !silences[1].silent);
	TEST(silences[1].since_ns == T0);
	TEST(n_decisions == 6 && decided[3] == 2 && decided[5] == 0);
	TEST(decisions[3].lost == 3 && decisions[4].lost == 0);
	TEST(sums[n_sums - 1].raised == 0);
	TEST(label_control_counters(c)->raised == 3 &&
	     label_control_counters(c)->lowered == 3);
	done(c);
	o.pro = false;
	c = open_control(&o);
	feed(c, one, 1, T0, 1, false);
	label_control_tick(c, T0 + 1000 * MS);
	TEST(n_decisions == 0 && n_silences == 1);
	done(c);
}

/* S of an earlier run is told again, no higher than it may be now, and where it
 * is 0 as well: the switch may have had another one since it was saved. */
static void test_resume(void)
{
	static const uint8_t was[] = {0, 2, 6};
	static const uint32_t other[] = {9};
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	o.s_max = 4;
	for (int pro = 1; pro >= 0; pro--) {
		o.pro = pro;
		c = open_control(&o);
		for (uint32_t i = 0; i < 3; i++) {
			struct label_record r = {.device = i, .s = was[i]};

			label_db_restore(label_control_db(c), &r);
		}
		feed(c, other, 1, T0, 1, false);
		TEST(n_decisions == (pro ? 3 : 0));
		TEST(label_control_counters(c)->resumed == n_decisions);
		TEST(!label_control_counters(c)->raised &&
		     !label_control_counters(c)->lowered);
		if (!pro)
			TEST(label_db_at(label_control_db(c), 1)->s == 2);
		done(c);
	}
	TEST(decided[0] == 0 && decided[1] == 2 && decided[2] == 4);
	for (unsigned i = 0; i < 3; i++)
		TEST(decisions[i].reason == LABEL_RESUMED &&
		     !decisions[i].from);
}

/* Algorithm 3 asks for more than k * T: a label that comes just then is in
 * time; and of S that is above 0 when a port is heard again, at once. */
static void test_exact(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	for (unsigned i = 0; i < 10; i++)
		feed(c, one, 1, T0 + i * 100 * MS, i + 1, false);
	TEST(n_decisions == 0 && n_silences == 0);
	label_control_tick(c, T0 + 1000 * MS);
	TEST(n_decisions == 0 && label_control_due(c) == T0 + 1000 * MS + 1);
	label_control_tick(c, T0 + 1000 * MS + 1);
	TEST(n_decisions == 1 && decisions[0].now_ns == T0 + 1000 * MS);
	TEST(n_silences == 1 && silences[0].now_ns == T0 + 1000 * MS);
	feed(c, one, 1, T0 + 1730 * MS, 20, false);
	TEST(n_decisions == 7 && decided[5] == 6 && decided[6] == 5);
	TEST(decisions[5].now_ns == T0 + 1500 * MS);
	TEST(decisions[6].now_ns == T0 + 1730 * MS);
	feed(c, one, 1, T0 + 1780 * MS, 21, false);
	label_control_tick(c, T0 + 1931 * MS);
	TEST(n_decisions == 9 && decided[7] == 4 && decided[8] == 5);
	TEST(decisions[7].now_ns == T0 + 1830 * MS);
	TEST(silences[2].silent && silences[2].now_ns == T0 + 1880 * MS);
	TEST(decisions[8].now_ns == T0 + 1930 * MS);
	done(c);
}

/* So long a time without anything is not told interval by interval, and that is
 * told; Pro's steps and silence are. */
static void test_gap(void)
{
	static const uint32_t one[] = {1};
	const uint64_t hour = 3600000 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, one, 1, T0 + 30 * MS, 1, false);
	feed(c, one, 1, T0 + 60 * MS, 2, false);
	label_control_tick(c, T0 + hour + 150 * MS);
	TEST(n_sums == 1 && sums[0].observed_ns == 70 * MS);
	TEST(!sums[0].skipped && label_control_counters(c)->skipped == 36000);
	TEST(n_decisions == 6 && decisions[5].now_ns == T0 + 660 * MS);
	feed(c, one, 1, T0 + hour + 160 * MS, 3, false);
	label_control_end(c);
	TEST(n_sums == 2 && sums[1].observed_ns == 60 * MS);
	TEST(sums[1].end_ns == T0 + hour + 200 * MS);
	TEST(sums[1].skipped == 36000 && sums[1].covered == 1);
	done(c);
}

/* Frames' times that are far ahead, one or two in a row, are not believed:
 * those of their labels are not. */
static void test_leap(void)
{
	static const uint32_t both[] = {1, 2};
	const uint64_t year = 31536000000 * MS;
	struct label_control_options o;
	struct label_control *c;
	uint64_t now = T0;
	uint32_t number = 1;

	label_control_defaults(&o);
	c = open_control(&o);
	for (unsigned wrong = 0; wrong < 3; wrong++) {
		feed(c, both, 2, now, number++, false);
		for (unsigned i = 0; i < wrong; i++)
			feed_at(c, both, 2, now + (i + 1) * MS,
				now + year + i * MS, number++, false);
		TEST(label_control_now(c) == now);
		now += 90 * MS;
	}
	feed(c, both, 2, now, number++, false);
	TEST(label_control_now(c) == now);
	TEST(label_control_counters(c)->leaps == 3);
	for (unsigned i = 0; i < 2; i++) /* and at the end */
		feed_at(c, both, 2, now + (i + 1) * MS, now + year, number++,
			false);
	label_control_end(c);
	TEST(label_control_now(c) == now);
	TEST(label_control_counters(c)->leaps == 5);
	TEST(label_control_counters(c)->labelled == number - 1);
	TEST(label_db_counters(label_control_db(c))->updated ==
	     2 * (number - 2));
	TEST(n_sums == 3 && n_decisions == 0 && n_silences == 0);
	done(c);
}

/* So long was nothing heard: three frames that are not before each other say
 * so, however far they are apart, or one, if its labels do. */
static void test_long_gap(void)
{
	static const uint32_t both[] = {1, 2};
	const uint64_t minute = 60000 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	for (unsigned step = 1; step <= 30; step += 29) { /* seconds */
		c = open_control(&o);
		feed(c, both, 2, T0, 1, false);
		for (unsigned i = 0; i < 3; i++) {
			TEST(label_control_now(c) == T0);
			feed_at(c, both, 2, T0 + i + 1,
				T0 + minute + i * step * 1000 * MS, i + 2,
				false);
		}
		TEST(label_control_now(c) ==
		     T0 + minute + (step == 1 ? 2000 * MS : 0));
		TEST(n_silences >= 4 && !silences[3].silent);
		TEST(silences[3].now_ns == T0 + minute);
		TEST(label_control_counters(c)->leaps == 0);
		label_control_end(c);
		done(c);
	}
	c = open_control(&o);
	feed(c, both, 2, T0, 1, false);
	feed(c, both, 2, T0 + minute, 2, false);
	TEST(label_control_now(c) == T0 + minute);
	/* A wrong one behind does not undo it. */
	feed_at(c, both, 2, T0 + 2 * minute, T0 + 9 * minute, 3, false);
	feed(c, both, 2, T0 + 2 * minute, 4, false);
	TEST(label_control_now(c) == T0 + 2 * minute);
	TEST(label_control_counters(c)->leaps == 1);
	done(c);
}

/* Time may begin with 0: a frame that waited is taken. */
static void test_zero(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	feed_at(c, one, 1, MS, 0, 1, false);
	feed_at(c, one, 1, 2 * MS, 60000 * MS, 2, false);
	feed_at(c, one, 1, 3 * MS, 0, 3, false);
	TEST(label_control_counters(c)->frames == 3);
	TEST(label_db_find(label_control_db(c), 1, 2)->labels == 3);
	label_control_end(c);
	done(c);
}

/* The clock is set while a frame waits: its time moves with the others'. */
static void test_held_shift(void)
{
	static const uint32_t one[] = {1};
	const uint64_t hour = 3600000 * MS, minute = 60000 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, one, 1, T0 + hour, 1, false);
	feed_at(c, one, 1, T0 + hour + MS, T0 + hour + minute, 2, false);
	label_control_shift(c, -(int64_t)hour);
	TEST(label_control_now(c) == T0);
	for (unsigned i = 1; i <= 2; i++)
		feed_at(c, one, 1, T0 + hour + (i + 1) * MS,
			T0 + minute + i * MS, i + 2, false);
	TEST(label_control_now(c) == T0 + minute + 2 * MS);
	TEST(label_control_counters(c)->leaps == 0);
	TEST(label_control_counters(c)->set == 1);
	label_control_end(c);
	done(c);
}

/* A clock that was set back by an hour: time goes on from there. */
static void test_set_back(void)
{
	static const uint32_t one[] = {1}, other[] = {2};
	const uint64_t hour = 3600000 * MS, back = T0 + 50 * MS;
	struct label_control_options o;
	struct label_control *c;
	unsigned n;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, one, 1, T0 + hour, 1, false);
	feed(c, other, 1, T0 + hour, 1, false);
	feed(c, one, 1, T0 + 10 * MS, 2, false); /* one alone is an error */
	TEST(label_control_now(c) == T0 + hour);
	feed(c, one, 1, T0 + hour + 40 * MS, 3, false);
	for (unsigned i = 0; i < 3; i++)
		feed(c, one, 1, back + i * MS, i + 4, false);
	TEST(label_control_now(c) == back + 2 * MS);
	TEST(label_control_counters(c)->set == 1);
	TEST(label_control_counters(c)->leaps == 4);
	TEST(n_sums == 1 && sums[0].observed_ns == 40 * MS);
	/* Device 2 was heard of 40 ms ago, as it had been. */
	label_control_tick(c, back + 70 * MS);
	TEST(n_silences == 1);
	TEST(silences[0].since_ns == back + 2 * MS - 40 * MS);
	TEST(silences[0].now_ns == back + 62 * MS);
	n = n_sums;
	feed(c, one, 1, back + 1000 * MS, 9, false);
	TEST(n_sums == n + 9);
	/* It is told: the same, either way. */
	label_control_shift(c, (int64_t)hour);
	TEST(label_control_now(c) == back + hour + 1000 * MS);
	TEST(label_control_counters(c)->set == 2);
	feed(c, one, 1, back + hour + 1010 * MS, 10, false);
	TEST(label_control_counters(c)->leaps == 4);
	done(c);
}

/* Nobody listened for an hour: nobody is silent for that, nor forgotten; what
 * was waited for is waited for from then on. */
static void test_woke(void)
{
	static const uint32_t one[] = {1}, other[] = {2};
	const uint64_t woken = T0 + 3600000 * MS + 30 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	label_control_woke(c, T0);
	feed(c, other, 1, T0 + 10 * MS, 1, false);
	for (unsigned i = 0; i < 13; i++)
		feed(c, one, 1, T0 + i * 10 * MS + 10 * MS, i + 1, false);
	TEST(n_sums == 1 && n_silences == 1 && n_decisions == 1);
	label_control_woke(c, woken);
	TEST(label_control_now(c) == woken);
	TEST(n_sums == 2 && sums[1].observed_ns == 30 * MS);
	TEST(label_control_counters(c)->woke == 1);
	TEST(label_control_counters(c)->set == 0);
	label_control_tick(c, woken + 100 * MS);
	TEST(n_silences == 1 && n_decisions == 1);
	TEST(n_sums == 3 && sums[2].observed_ns == 70 * MS);
	TEST(sums[2].skipped == 35998 && sums[2].ports == 2);
	/* Its clock and ours went on as far. */
	feed(c, one, 1, woken + 100 * MS, 14, false);
	TEST(label_db_find(label_control_db(c), 1, 2)->labels == 14);
	label_control_tick(c, woken + 100 * MS + 1);
	TEST(n_decisions == 2 && decided[1] == 2);
	TEST(decisions[1].now_ns == woken + 100 * MS);
	TEST(n_silences == 1);
	label_control_tick(c, woken + 200 * MS + 1);
	TEST(n_silences == 2 && silences[1].now_ns == woken + 200 * MS);
	TEST(label_control_counters(c)->forgotten == 0);
	done(c);
}

static unsigned n_forgotten;
static uint32_t last_forgotten;

static void forgotten(void *ctx, const struct label_record *r, uint64_t now_ns)
{
	(void)ctx;
	(void)now_ns;
	n_forgotten++;
	last_forgotten = r->device;
}

/* Ports that were heard of once go sooner than those that were real; and where
 * S was raised it is taken back. */
static void test_forget(void)
{
	static const uint32_t real[] = {7}, here[] = {1};
	const uint64_t minute = 60000 * MS;
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	label_control_close(c);
	o.forget_once_ns = 10 * minute;
	o.forget_ns = 30 * minute;
	o.calls.forgotten = forgotten;
	TEST(label_control_open(&c, &o) == 0);
	n_forgotten = 0;
	for (uint32_t i = 100; i < 300; i++)
		feed(c, &i, 1, T0, 1, false);
	feed(c, real, 1, T0, 1, false);
	feed(c, real, 1, T0 + 50 * MS, 2, false);
	for (unsigned i = 0; i <= 10 * 60; i++) {
		TEST(n_forgotten == 0);
		feed(c, here, 1, T0 + i * 1000 * MS, i + 1, false);
	}
	label_control_tick(c, T0 + 10 * minute + 1);
	TEST(n_forgotten == 200);
	TEST(label_db_ports(label_control_db(c)) == 2);
	TEST(label_db_counters(label_control_db(c))->forgotten == 200);
	TEST(label_control_counters(c)->forgotten == 200);
	for (uint32_t i = 0; i < 300; i++)
		TEST((label_db_find(label_control_db(c), i, 2) != NULL) ==
		     (i == 1 || i == 7));
	/* That it is silent, and since when, is known for longer. */
	TEST(label_db_find(label_control_db(c), 7, 2)->silent);
	TEST(label_db_find(label_control_db(c), 7, 2)->s == 6);
	TEST(label_db_find(label_control_db(c), 7, 2)->seen_ns == T0 + 50 * MS);
	feed(c, here, 1, T0 + 10 * minute + 2 * MS, 1000, false);
	n_decisions = 0;
	label_control_tick(c, T0 + 30 * minute + 51 * MS);
	TEST(n_forgotten == 201 && last_forgotten == 7);
	TEST(decisions[n_decisions - 1].reason == LABEL_FORGOTTEN);
	TEST(decided[n_decisions - 1] == 0);
	done(c);
}

/* Frames that are damaged make no ports. */
static void test_damaged(void)
{
	static const uint32_t one[] = {1};
	struct label_control_options o;
	struct label_control *c;
	uint8_t buf[1024];
	size_t len = frame(buf, sizeof(buf), one, 1, T0, 1, false);

	label_control_defaults(&o);
	c = open_control(&o);
	buf[NET_ETH_LEN + NET_IP4_AT_SRC] ^= 1;
	TEST(label_control_frame(c, buf, len, T0) == 0);
	TEST(label_control_counters(c)->checksum == 1);
	TEST(label_db_ports(label_control_db(c)) == 0);
	done(c);
}

/* Ports of an earlier run are told of before the first frame. */
static void test_begin(void)
{
	struct label_record r = {.device = 3, .seen_ns = T0 - 500 * MS};
	struct label_control_options o;
	struct label_control *c;

	label_control_defaults(&o);
	c = open_control(&o);
	TEST(label_db_restore(label_control_db(c), &r) == 0);
	label_control_tick(c, T0);
	label_control_begin(c, T0);
	label_control_tick(c, T0 + 250 * MS);
	TEST(n_sums == 2 && sums[0].ports == 1 && sums[1].silent == 1);
	TEST(n_silences == 1 && silences[0].since_ns == T0 - 500 * MS);
	TEST(n_decisions == 3 && decided[0] == 0 && decided[2] == 2);
	done(c);
}

static void test_paths(void)
{
	static const uint32_t way[] = {11, 12, 13};
	struct label_control_options o;
	struct label_control *c;
	const struct label_paths *p;
	unsigned found = 0;

	label_control_defaults(&o);
	c = open_control(&o);
	feed(c, way, 3, T0, 1, false);
	TEST(n_paths == 0);
	feed(c, way, 3, T0 + 10 * MS, 2, true);
	feed(c, way, 2, T0 + 20 * MS, 3, true);
	TEST(n_paths == 2 && last_path.n == 2 && last_path.packets == 2);
	TEST(last_path.hop[0].device == 11 && last_path.hop[1].device == 12);
	TEST(last_path.latency_ns == 30 && !last_path.cut);
	TEST(last_path.key_len == KEY_FLOW4_LEN);
	TEST(!memcmp(last_path.key,
		     "\x0a\0\0\x01\x0a\0\0\x02\x01\xbb\x15\x7d\x06",
		     KEY_FLOW4_LEN));
	p = label_control_paths(c);
	for (uint32_t i = 0; i < label_paths_size(p); i++)
		found += label_paths_at(p, i) != NULL;
	TEST(found == 1);
	/* its labels count for the network, too */
	TEST(label_db_find(label_control_db(c), 12, 2)->labels == 3);
	done(c);
}

int main(void)
{
	test_coverage();
	test_pro();
	test_resume();
	test_exact();
	test_gap();
	test_leap();
	test_held_shift();
	test_long_gap();
	test_zero();
	test_set_back();
	test_woke();
	test_forget();
	test_damaged();
	test_begin();
	test_paths();
	return test_end();
}
