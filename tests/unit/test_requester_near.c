/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PSNs that are near each other and mean another thing: late answers, late
 * probes, and a queue pair that takes the place of one that was young.
 */
#include "requester_run.h"
#include "net/be.h"

enum {
	BEFORE = 60, /* more than a new connection would have done */
	FLIGHT = 8,
	HEARD = 6, /* of the flight */
};

static const struct odds none;

static uint32_t psn_at(const struct pkt *p)
{
	return be32_load(p->data + ROCE_AT_ACK_REQ) & ROCE_PSN_MASK;
}

/* A write or an addition each. */
static void send_ops(unsigned table, unsigned n)
{
	struct transport *transport = roce_out_transport(o);

	transport->begin(transport);
	for (unsigned i = 0; i < n; i++) {
		unsigned at = i % COUNTERS;
		uint64_t data = rng_u64(&rng);
		struct op op = {
			.verb = table == RIG_INC ? OP_FETCH_ADD : OP_WRITE,
			.table = (uint16_t)table,
			.offset = 8 * at,
			.length = 8,
			.data = (const uint8_t *)&data,
		};

		if (table == RIG_INC)
			sums[at] += op.add = 1 + i;
		else
			last[at] = data;
		TEST(transport->exec(transport, &op, 1, 1000) == 0);
	}
}

static struct pkt keep(const struct pkt *p, uint8_t *room)
{
	struct pkt kept = *p;

	memcpy(room, p->data, p->len);
	kept.data = room;
	return kept;
}

/* An answer like one that came, about another PSN. */
static void hear(const struct pkt *like, uint32_t psn)
{
	uint8_t frame[CRC_HEADROOM + ROCE_FRAME_MAX];
	struct pkt p = keep(like, frame + CRC_HEADROOM);

	be32_store(frame + CRC_HEADROOM + ROCE_AT_ACK_REQ, psn & ROCE_PSN_MASK);
	rig_seal(frame + CRC_HEADROOM, p.len);
	arrive(false, &p);
}

/* Long enough for whatever is due. */
static void pass_time(void)
{
	now += UINT64_C(1000000000);
	TEST(roce_out_tick(o, now) == 0);
}

/* Takes out what was sent; none of it has a PSN of n from first on. */
static void none_sent_of(uint32_t first, uint32_t n)
{
	size_t sent = line_take(&there);

	for (size_t i = 0; i < sent; i++)
		TEST(((psn_at(&there.pkts[i]) - first) & ROCE_PSN_MASK) >= n);
}

/*
 * Requests are under way, and late answers come about two that were confirmed,
 * one and then the next, as if they told what is expected: no probe goes where
 * a request is, which would be taken for a duplicate of it.
 */
static void test_late_answers(unsigned table)
{
	uint8_t room[ROCE_FRAME_MAX];
	struct requester_ledger before, l;
	struct pkt like;
	uint32_t first;

	rng.state = 9 + table;
	begin(64, &none);
	send_ops(table, BEFORE);
	settle();
	send_ops(table, FLIGHT);
	TEST(line_take(&there) == FLIGHT);
	first = psn_at(&there.pkts[0]);
	for (unsigned i = 0; i < HEARD; i++)
		arrive(true, &there.pkts[i]);
	(void)line_take(&back);
	arrive(true, &there.pkts[HEARD - 1]); /* again: it is answered */
	if (!TEST(line_take(&back) == 1))
		return;
	like = keep(&back.pkts[0], room);
	hear(&like, first + HEARD - 1);
	before = roce_out_ledger(o, false);
	TEST(before.acked == BEFORE + HEARD);
	pass_time(); /* it asks */
	(void)line_take(&there);
	hear(&like, first + HEARD - 4);
	pass_time();
	/* An addition's answer tells nothing: it is not even asked about. */
	none_sent_of(first + HEARD - 3, table == RIG_INC);
	hear(&like, first + HEARD - 3);
	pass_time();
	none_sent_of(first + HEARD, FLIGHT - HEARD);
	l = roce_out_ledger(o, false);
	TEST(l.acked == before.acked);
	turns = 0;
	settle();
	l = roce_out_ledger(o, false);
	TEST(l.acked == BEFORE + FLIGHT && l.acked == l.requests);
	check_memory(true);
	end();
}

/* While it goes on, nothing of what is under way is lost. */
static void check_open(void)
{
	struct requester_ledger l = roce_out_ledger(o, false);

	TEST(l.unanswered && !l.waiting);
	TEST(l.unanswered + l.unsent + l.acked == l.requests);
	TEST(ledger_balanced(&requester_ledger, &l));
	l = roce_out_ledger(o, true);
	TEST(!l.unanswered && !l.unsent && l.waiting == l.requests - l.acked);
	TEST(ledger_balanced(&requester_ledger, &l));
}

/*
 * A queue pair dies when it has carried out some of the first requests, whose
 * answers are lost, and is made anew: nobody takes it for the old one, which
 * would have additions made twice.
 */
static void test_made_anew(void)
{
	for (unsigned run = 0; run < 50; run++) {
		struct requester_ledger l;
		struct error err = {""};
		size_t n;

		rng.state = 100 + run;
		begin(64, &none);
		send_ops(RIG_INC, FLIGHT);
		while (!roce_out_ledger(o, false).unanswered)
			turn(); /* until they are under way */
		check_open();
		n = line_take(&there);
		for (size_t i = 0; i < n && i < run % FLIGHT + 1; i++)
			arrive(true, &there.pkts[i]);
		TEST(responder_counters(g.p)->atomics > 0);
		(void)line_take(&back); /* lost */
		responder_renumber(g.p, &tickets[1]);
		TEST(responder_reopen(g.p, &tickets[1], &err) == 0);
		settle();
		l = roce_out_ledger(o, false);
		TEST(l.unanswered == FLIGHT && l.acked + FLIGHT == l.requests);
		check_memory(false);
		end();
	}
}

/* Its PSNs are far from those that were sent, wherever they are. */
static void test_renumber(void)
{
	const uint32_t far = 2 * ROCE_OUT_WINDOW_MAX;

	for (unsigned run = 0; run < 100; run++) {
		rng.state = 200 + run;
		begin(2, &none);
		responder_renumber(g.p, &tickets[1]);
		for (unsigned i = 0; i < g.t.n; i++) {
			uint32_t d = (tickets[1].at[i].psn -
				      tickets[0].at[i].psn) &
				     ROCE_PSN_MASK;

			TEST(d > far && d < ROCE_PSN_MASK - far);
			TEST(tickets[1].at[i].psn <= ROCE_PSN_MASK);
		}
		end();
	}
}

/*
 * A ticket is ahead of what its collector expects; the probe of its PSN is kept
 * on the way until requests have come as far: it must not take a place there.
 */
static void test_late_probe(void)
{
	enum { AHEAD = 5 };
	uint8_t room[CRC_HEADROOM + ROCE_FRAME_MAX];
	struct error err = {""};
	struct pkt probe;

	rng.state = 10;
	begin(64, &none);
	tickets[1].at[RIG_KW].psn = (tickets[0].at[RIG_KW].psn - AHEAD) &
				    ROCE_PSN_MASK;
	TEST(responder_reopen(g.p, &tickets[1], &err) == 0);
	send_ops(RIG_KW, 2 * AHEAD);
	TEST(line_take(&there) == 1);
	probe = keep(&there.pkts[0], room + CRC_HEADROOM);
	TEST(psn_at(&probe) == tickets[0].at[RIG_KW].psn);
	while (!roce_out_ledger(o, false).packets ||
	       !roce_out_progress(o, RIG_KW).acked) {
		size_t n;

		pass_time();
		n = line_take(&there);
		for (size_t i = 0; i < n; i++) {
			if (psn_at(&there.pkts[i]) == psn_at(&probe))
				arrive(true, &probe);
			arrive(true, &there.pkts[i]);
		}
		carry(&back, false);
	}
	settle();
	TEST(roce_out_ledger(o, false).acked == 2 * AHEAD);
	check_memory(true);
	end();
}

int main(void)
{
	rig_open(&g, NULL);
	responder_close(g.p);
	g.p = NULL;
	test_late_answers(RIG_INC);
	test_late_answers(RIG_KW);
	test_made_anew();
	test_renumber();
	test_late_probe();
	g.p = NULL;
	rig_restart(&g, NULL);
	rig_close(&g);
	return test_end();
}
