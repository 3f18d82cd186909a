/* SPDX-License-Identifier: BSD-2-Clause */
/* requester_heed.c - what an answer tells of requests: what is confirmed, what
 * is sent again and when, and how many may be under way. */
#include "roce/requester_private.h"

enum {
	BURST_MIN = 8, /* with fewer, the loss of all is no rarity */
	TIMEOUT_MIN = 1 * 1000000, /* ns */
	TRIES_MAX = 5,		   /* what the back-off doubles at most */
	BURST_FIRST = 128,
	/* What is sent behind a loss is sent in vain. So of as many requests as
	 * get through between two losses one SHARE-th is under way. */
	SHARE = 16,
};

void requester_expect(const struct roce_out *o, struct requester *q)
{
	unsigned doublings = q->tries < TRIES_MAX ? q->tries : TRIES_MAX;
	uint64_t wait = q->timeout << doublings;

	if (wait > TIMEOUT_MAX)
		wait = TIMEOUT_MAX;
	q->deadline = o->now_ns +
		      (q->phase == PHASE_DEAD && q->stale ? stale_ns : wait);
}

void requester_restart(struct requester *q, uint32_t psn)
{
	q->phase = PHASE_ASKING;
	q->probe = psn;
	q->asked = q->doubted = q->guessed = q->stale = false;
	q->tries = q->probed = 0;
	q->deadline = q->resume = q->timed_at = 0;
	q->w.snd.nxt = q->w.snd.max = q->w.snd.una;
}

/* RFC 6298's idea with less of it: four round trips are too long. */
static void measure(const struct roce_out *o, struct requester *q)
{
	uint64_t trip = o->now_ns - q->timed_at, all;

	if (!q->timed_at)
		return;
	all = q->timeout - q->timeout / 8 + trip / 2;
	q->timeout = all < TIMEOUT_MIN	 ? TIMEOUT_MIN
		     : all > TIMEOUT_MAX ? TIMEOUT_MAX
					 : all;
	q->timed_at = 0;
}

static void set_burst(struct requester *q)
{
	uint64_t most = q->w.mask + 1;
	uint64_t run = q->clear > q->apart ? q->clear : q->apart;
	uint64_t burst = run / SHARE < BURST_MIN ? BURST_MIN : run / SHARE;

	q->burst = (uint32_t)(burst < most ? burst : most);
}

/* Nothing is known of losses. */
void requester_begin_burst(struct requester *q)
{
	q->clear = 0;
	q->apart = BURST_FIRST * SHARE;
	set_burst(q);
}

/* Where nothing got through since the last loss, it may be an outage, which
 * tells nothing of how far losses are apart. */
static void note_loss(struct requester *q)
{
	uint64_t most = (q->w.mask + 1) * SHARE;
	uint64_t clear = q->clear < most ? q->clear : most;

	if (!clear)
		return;
	q->apart = (q->apart * 3 + clear) / 4;
	q->clear = 0;
	set_burst(q);
}

/* All requests before one that is n past the oldest are carried out. */
static void confirm(struct roce_out *o, struct requester *q, uint32_t n)
{
	struct window *w = &q->w;

	if (!n)
		return;
	q->stale = false; /* its R_Key is good, or good again */
	o->ctr.acked += n;
	snd_confirm(&w->snd, w->snd.una + n);
	if (w->snd.una > q->timed)
		measure(o, q);
	q->deadline = 0;
	if (snd_under_way(&w->snd))
		requester_expect(o, q);
	q->clear += n;
	set_burst(q);
}

/* Sends everything again that is not confirmed. */
static void go_back(const struct roce_out *o, struct requester *q)
{
	struct window *w = &q->w;

	if (!snd_under_way(&w->snd))
		return;
	note_loss(q);
	snd_back(&w->snd);
	q->timed_at = 0;
	requester_expect(o, q);
}

/* How long an RNR NAK asks to wait, ns (InfiniBand table 45). */
static uint64_t rnr_ns(uint8_t syndrome)
{
	static const uint32_t us10[32] = {
		65536, 1,    2,	   3,	  4,	 6,	8,     12,
		16,    24,   32,   48,	  64,	 96,	128,   192,
		256,   384,  512,  768,	  1024,	 1536,	2048,  3072,
		4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return us10[syndrome & 31] * UINT64_C(10000);
}

/* An answer about a request of ours: all before the n-th are carried out. */
void requester_heed(struct roce_out *o, struct requester *q, uint32_t n,
		    enum meaning m, uint8_t syndrome)
{
	struct window *w = &q->w;
	bool asked = q->asked;

	if (m == MEANS_ACK && !n && !asked)
		o->ctr.late++;
	else if (asked && !n)
		measure(o, q);
	q->tries = 0;
	confirm(o, q, n);
	switch (m) {
	case MEANS_GAP:
		/* A second NAK of one gap is a duplicate: it says so once. */
		if (asked || q->gone_back != w->snd.una)
			go_back(o, q);
		q->gone_back = w->snd.una;
		break;
	case MEANS_LATER:
		snd_back(&w->snd);
		q->timed_at = 0;
		q->resume = o->now_ns + rnr_ns(syndrome);
		q->deadline = 0;
		break;
	case MEANS_REFUSED:
		requester_restart(q, psn_of(q, w->snd.una));
		q->phase = PHASE_DEAD;
		/* The same R_Key would kill a queue pair that is made anew. */
		q->stale = syndrome == ROCE_NAK_ACCESS;
		requester_expect(o, q);
		break;
	default:
		/* It may not be the probe's answer, if it tells something. */
		if (asked && !n && w->snd.una < q->asked_about)
			go_back(o, q);
		q->asked = asked && n && w->snd.una < q->asked_about;
		return;
	}
	q->asked = false;
}
