/* SPDX-License-Identifier: BSD-2-Clause */
/* Reporters that send again, by hand: what goes out for what comes back. */
#include "resend_rig.h"

struct sent {
	uint8_t opcode, reason;
	uint16_t sequence;
	bool first;
};

static struct sent sent[4096];
static unsigned nsent;
static uint16_t asked; /* of the last question */

static int note(void *ctx, unsigned reporter, const uint8_t *payload,
		size_t len, uint64_t ts_ns)
{
	struct dta_report r;

	(void)ctx;
	TEST(reporter == 1);
	TEST(dta_decode(&r, DTA_FORMAT_1, payload, len) == 0);
	if (r.opcode == DTA_NACK)
		asked = r.table;
	if (nsent < 4096)
		sent[nsent++] = (struct sent){r.opcode, r.hop, r.sequence,
					      ts_ns != 0};
	return 0;
}

static struct resend *hand_open(unsigned window, bool wait)
{
	struct resend_options o = {.reporters = 2,
				   .window = window,
				   .payload_max = 64,
				   .address = ADDRESS,
				   .wait = wait,
				   .send = note};
	struct resend *w = NULL;

	TEST(resend_open(&w, &o, NULL) == 0);
	nsent = 0;
	return w;
}

static void told(struct resend *w, uint8_t reason, uint16_t last,
		 uint16_t table, uint64_t now)
{
	struct net_udp4 h = {.dst = {10, 1, 0, 1}, .dst_port = DTA_NACK_PORT};
	struct dta_report r = {.opcode = DTA_NACK,
			       .hop = reason,
			       .table = table,
			       .sequence = last};
	uint8_t frame[64];
	struct pkt p = {.data = frame, .len = 50};

	TEST(dta_encode(frame + 42, 8, DTA_FORMAT_1, &r) == 8);
	TEST(net_udp4_encode(frame, 42, &h, 8) == 42);
	resend_rx(w, &p, 1, now);
}

static void nack(struct resend *w, uint8_t reason, uint16_t last, uint64_t now)
{
	told(w, reason, last, 0, now);
}

/* To the last question. */
static void answer(struct resend *w, uint16_t last, uint64_t now)
{
	told(w, DTA_NACK_STATE, last, asked, now);
}

/* What was sent since the last time: kinds, and sequence numbers from one on.
 */
static bool went(struct resend *w, uint64_t now, unsigned n, uint8_t opcode,
		 uint16_t from, bool first)
{
	bool right;

	nsent = 0;
	resend_pump(w, UINT32_MAX, now);
	right = nsent == n;
	for (unsigned i = 0; right && i < n; i++)
		right = sent[i].opcode == opcode &&
			sent[i].sequence == (uint16_t)(from + i) &&
			sent[i].first == first;
	return right;
}

static void by_hand(void)
{
	struct resend *w = hand_open(8, false);
	struct resend_ledger c;

	/* nothing before the translator has said where it stands */
	add(w, 1, 0);
	add(w, 1, 1);
	TEST(went(w, 0, 1, DTA_NACK, 0xffff, false));
	TEST(sent[0].reason == DTA_NACK_STATE);
	nack(w, DTA_NACK_GAP, 4999, 1); /* of another time */
	TEST(went(w, 1, 0, 0, 0, false));
	nack(w, DTA_NACK_STATE, 65533, 1); /* it knows us from before */
	TEST(went(w, 1, 2, DTA_APPEND, 65534, true));
	for (uint32_t i = 2; i < 6; i++)
		add(w, 1, i);
	TEST(went(w, 2, 4, DTA_APPEND, 0, true));
	/* back to where it says, once; and a question */
	nack(w, DTA_NACK_GAP, 0, 3);
	TEST(!went(w, 3, 3, DTA_APPEND, 1, false) && nsent == 4);
	TEST(sent[0].sequence == 1 && sent[1].sequence == 2 &&
	     sent[2].sequence == 3 && sent[3].opcode == DTA_NACK);
	nack(w, DTA_NACK_GAP, 0, 4);
	TEST(went(w, 4, 0, 0, 0, false));
	/* the past, and what was never sent */
	nack(w, DTA_NACK_GAP, 65534, 5);
	nack(w, DTA_NACK_GAP, 4, 5);
	TEST(went(w, 5, 0, 0, 0, false));
	/* again, but a good while later */
	nack(w, DTA_NACK_GAP, 0, 1000 * MS);
	resend_pump(w, 1, 1000 * MS);
	TEST(sent[0].opcode == DTA_APPEND && sent[0].sequence == 1);
	TEST(!went(w, 1000 * MS, 2, DTA_APPEND, 2, false) && nsent == 3);
	nack(w, DTA_NACK_STATE, 3, 1001 * MS);
	c = resend_counters(w);
	TEST(c.confirmed == 6 && c.lost == 0 && c.unconfirmed == 0);
	TEST(c.stale == 2 && c.nacks_gap == 6 && c.answers == 2);
	TEST(resend_settled(w));
	resend_close(w);
}

/* What is not kept any more is given up, and said so until it is heard. */
static void beyond(void)
{
	struct resend *w = hand_open(4, false);
	struct resend_ledger c;

	add(w, 1, 0);
	resend_pump(w, 1, 0);
	nack(w, DTA_NACK_STATE, 0xffff, 1);
	for (uint32_t i = 1; i < 10; i++)
		add(w, 1, i), resend_pump(w, 100, 1);
	nsent = 0;
	nack(w, DTA_NACK_GAP, 2,
	     2); /* 3 is missing, 6 the first that is kept */
	TEST(resend_pump(w, 100, 2) >= 5 && sent[0].opcode == DTA_NACK);
	TEST(sent[0].reason == DTA_NACK_GONE && sent[0].sequence == 5);
	for (unsigned i = 1; i < 5; i++)
		TEST(sent[i].opcode == DTA_APPEND && sent[i].sequence == 5 + i);
	nack(w, DTA_NACK_GAP, 2, 1000 * MS); /* the notice was lost */
	nsent = 0;
	resend_pump(w, 100, 1000 * MS);
	TEST(nsent && sent[0].reason == DTA_NACK_GONE && sent[0].sequence == 5);
	nack(w, DTA_NACK_STATE, 9, 1001 * MS);
	c = resend_counters(w);
	TEST(c.reports == 10 && c.confirmed == 7 && c.lost == 3);
	TEST(c.notices == 2 && c.resent == 4);
	resend_close(w);
}

/* A window that waits fills, and empties by an answer. */
static void waits(void)
{
	struct resend *w = hand_open(4, true);

	for (uint32_t i = 0; i < 4; i++) {
		TEST(resend_room(w, 1));
		add(w, 1, i);
	}
	TEST(!resend_room(w, 1));
	resend_pump(w, 100, 0);
	nack(w, DTA_NACK_STATE, 0xffff, 1);
	resend_pump(w, 100, 1);
	TEST(!resend_room(w, 1));
	nack(w, DTA_NACK_STATE, 1, 2);
	TEST(resend_room(w, 1));
	resend_close(w);
}

/* Nobody there: reports go out after ten seconds; the end is not waited for. */
static void silence(void)
{
	struct resend *w = hand_open(4, true);
	struct resend_ledger c;
	uint64_t now = 1;

	for (uint32_t i = 0; i < 4; i++)
		add(w, 1, i);
	for (; now < 11000ull * MS; now += MS) {
		resend_tick(w, now);
		resend_pump(w, 100, now);
	}
	TEST(resend_room(w, 1));
	add(w, 1, 4);
	resend_pump(w, 100, now);
	resend_finish(w);
	TEST(resend_settled(w));
	c = resend_counters(w);
	TEST(c.reports == 5 && c.unconfirmed == 5 && c.unanswered == 1);
	TEST(c.probes < 128); /* and not a flood of them */
	/* somebody comes late */
	nack(w, DTA_NACK_STATE, 4, now);
	c = resend_counters(w);
	TEST(c.confirmed == 5 && c.unanswered == 0);
	resend_close(w);
}

/* So many reports, numbered from 0 on the wire, have gone. */
static struct resend *gone(unsigned n)
{
	struct resend *w = hand_open(1024, true);

	add(w, 1, 0);
	resend_pump(w, 100, 0);
	TEST(asked == 0); /* as one does who begins */
	answer(w, 0xffff, 1);
	for (unsigned i = 1; i < n; i++)
		add(w, 1, i);
	TEST(went(w, 1, n, DTA_APPEND, 0, true));
	return w;
}

/* Some reports that went before, and a question. */
static bool went_again(struct resend *w, uint64_t now, uint16_t from,
		       unsigned n)
{
	bool right;

	nsent = 0;
	resend_pump(w, UINT32_MAX, now);
	right = nsent == n + 1 && sent[n].opcode == DTA_NACK && asked != 0;
	for (unsigned i = 0; right && i < n; i++)
		right = sent[i].opcode == DTA_APPEND && !sent[i].first &&
			sent[i].sequence == (uint16_t)(from + i);
	return right;
}

/* All from where it says, as many as may be under way, then as many more as
 * got through; new reports wait until what went before has come. */
static void from_there_on(void)
{
	struct resend *w = gone(200);

	nack(w, DTA_NACK_GAP, 9, 2);
	TEST(went_again(w, 2, 10, 64));
	add(w, 1, 200);
	TEST(went(w, 3, 0, 0, 0, false));
	answer(w, 73, 4);
	TEST(went_again(w, 4, 74, 126) == false && nsent == 128);
	TEST(sent[0].sequence == 74 && !sent[125].first && sent[126].first);
	TEST(sent[126].sequence == 200 && sent[127].opcode == DTA_NACK);
	/* Lost again: with less under way. */
	answer(w, 99, 5);
	TEST(went_again(w, 5, 100, 64));
	answer(w, 163, 6);
	resend_pump(w, UINT32_MAX, 6);
	answer(w, 200, 7);
	TEST(resend_settled(w) && resend_counters(w).confirmed == 201);
	resend_close(w);
}

/* A reporter whose first report comes when no NACKs do: unanswered, until one
 * comes after all. */
static void begins_alone(void)
{
	struct resend *w = hand_open(4, false);

	resend_alone(w);
	add(w, 1, 0);
	TEST(resend_counters(w).unanswered == 1);
	TEST(!went(w, 0, 1, DTA_APPEND, 0, true) && nsent == 2);
	nack(w, DTA_NACK_STATE, 0, 1);
	TEST(resend_counters(w).unanswered == 0);
	resend_close(w);
}

int main(void)
{
	begins_alone();
	by_hand();
	from_there_on();
	beyond();
	waits();
	silence();
	return test_end();
}
