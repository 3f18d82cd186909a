/* SPDX-License-Identifier: BSD-2-Clause */
/* control_rig.h - a controller in virtual time: what it calls back with is
 * kept, and frames with labels for it. */
#ifndef CONTROL_RIG_H
#define CONTROL_RIG_H

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "label/control.h"
#include "label/hop.h"
#include "test.h"
#include "net/proto.h"

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

static unsigned n_forgotten;
static uint32_t last_forgotten;

static void silence(void *ctx, const struct label_record *r,
		    enum label_reason event, uint64_t now_ns, uint64_t since_ns)
{
	(void)ctx;
	if (event == LABEL_FORGOTTEN) {
		n_forgotten++;
		last_forgotten = r->device;
		return;
	}
	if (n_silences == 64)
		return;
	silences[n_silences].now_ns = now_ns;
	silences[n_silences].since_ns = since_ns;
	silences[n_silences++].silent = event == LABEL_SILENT;
}

static void path(void *ctx, const struct label_path *p)
{
	(void)ctx;
	n_paths++;
	last_path = *p;
}

static inline struct label_control *
open_control(struct label_control_options *o)
{
	struct label_control *c = NULL;

	n_sums = n_decisions = n_silences = n_paths = n_forgotten = 0;
	o->calls = (struct label_control_calls){.interval = interval,
						.decision = decision,
						.silence = silence,
						.path = path};
	TEST(label_control_open(&c, o) == 0);
	return c;
}

static inline void done(struct label_control *c)
{
	TEST(ledger_balanced(&label_control_ledger, label_control_counters(c)));
	TEST(ledger_balanced(&label_db_ledger,
			     label_db_counters(label_control_db(c))));
	label_control_close(c);
}

/* An Ethernet frame with an IPv4 header, TCP's ports and some labels. */
static inline size_t frame(uint8_t *out, size_t cap, const uint32_t *device,
			   unsigned n, uint64_t now_ns, uint32_t number,
			   bool specific)
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
static inline void feed_at(struct label_control *c, const uint32_t *device,
			   unsigned n, uint64_t label_ns, uint64_t now_ns,
			   uint32_t number, bool specific)
{
	uint8_t buf[1024];
	size_t len = frame(buf, sizeof(buf), device, n, label_ns, number,
			   specific);

	TEST(label_control_frame(c, buf, len, now_ns) == 0);
}

static inline void feed(struct label_control *c, const uint32_t *device,
			unsigned n, uint64_t now_ns, uint32_t number,
			bool specific)
{
	feed_at(c, device, n, now_ns, now_ns, number, specific);
}

#endif
