/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports behind a gap that are held: what is carried out when it closes, in
 * which order, and what the reporter is told. */
#include "hold_rig.h"

/* The missing one comes, alone or among others: all in order, and each gap is
 * told once. */
static void closes(void)
{
	rig_with(16);
	COME(10, 12, 13);
	TEST(told(DTA_NACK_GAP, 10) && told_no_more());
	TEST(rig.c->held == 2 && rig.c->stored == 1 && HOLDS(1, 10));
	COME(11);
	TEST(told_no_more());
	TEST(rig.c->held == 0 && HOLDS(1, 10, 11, 12, 13));
	/* in one batch, and what is next behind them */
	COME(14, 16, 17, 15, 18, 19);
	TEST(told(DTA_NACK_GAP, 14) && told_no_more());
	TEST(holds_row(1, 10, 10));
	/* several gaps: the next is told where the one before closes */
	COME(21, 22, 24, 27);
	TEST(told(DTA_NACK_GAP, 19) && told_no_more());
	COME(20);
	TEST(told(DTA_NACK_GAP, 22) && told_no_more());
	COME(25, 23);
	TEST(told(DTA_NACK_GAP, 25) && told_no_more());
	COME(26, 28);
	TEST(told_no_more() && holds_row(1, 10, 19));
	TEST(rig.c->gaps == 5 && rig.c->out_of_order == 0);
	TEST(rig.c->received == 19 && rig.c->stored == 19);
	rig_close();
}

/* Nothing is held: all as it was. */
static void without(void)
{
	rig_with(0);
	COME(10, 12, 13, 11);
	TEST(told(DTA_NACK_GAP, 10) && told_no_more());
	TEST(rig.c->held == 0 && rig.c->out_of_order == 2 && HOLDS(1, 10, 11));
	COME(12, 13);
	TEST(rig.c->stored == 4);
	rig_close();
}

static void again(void)
{
	rig_with(16);
	COME(1, 3, 3, 4, 3, 1);
	TEST(rig.c->held == 2 && rig.c->repeated == 3);
	COME(2, 2, 3, 4);
	TEST(rig.c->repeated == 6 && HOLDS(1, 1, 2, 3, 4));
	rig_close();
}

/* A reporter that has begun anew without a word: of two reports with a number,
 * the later is its own. */
static void later_one(void)
{
	const uint8_t *entry;

	rig_with(2);
	COME(0, 2, 3);
	report(1, 0x10002); /* the value tells it from the other */
	report(1, 0x10003);
	report(1, 1);
	go();
	TEST(rig.c->repeated == 2 && rig.c->stored == 4 && rig.c->held == 0);
	TEST(translate_flush(rig.tr) == 0);
	entry = rig.road->mem[0] + 4 * (size_t)ENTRIES;
	TEST(be32_load(entry + 4 * 1) == 1);
	TEST(be32_load(entry + 4 * 2) == 0x10002);
	TEST(be32_load(entry + 4 * 3) == 0x10003);
	rig_close();
}

/* No room: dropped, as without; what is held at the end is counted. */
static void full(void)
{
	rig_with(2);
	COME(1, 3, 4, 5, 6);
	TEST(rig.c->held == 2 && rig.c->out_of_order == 2);
	COME(2);
	TEST(HOLDS(1, 1, 2, 3, 4) && rig.c->held == 0);
	COME(6, 5, 8, 9);
	TEST(HOLDS(1, 1, 2, 3, 4, 5, 6) && rig.c->held == 2);
	/* another reporter finds none */
	report(2, 1);
	report(2, 3);
	go();
	TEST(rig.c->held == 2 && rig.c->out_of_order == 3);
	TEST(rig.c->received == 12 && rig.c->stored == 7);
	rig_close();
}

/* A reporter that fell silent behind a gap gives its places to others, one that
 * lives does not; if it comes again, it is told. */
static void fell_silent(void)
{
	rig_with(4);
	COME(0, 2, 3, 4, 5);
	TEST(told(DTA_NACK_GAP, 0) && rig.c->held == 4);
	for (uint16_t i = 0; i < 100; i++) {
		report(2, 2 * i);
		if (i == 50)
			TEST(rig.c->held == 4);
	}
	go();
	TEST(rig.c->held == 4 && rig.c->stored == 2);
	TEST(rig.c->out_of_order == 4 + 99 - 4);
	while (!told_no_more())
		;
	COME(2);
	TEST(told(DTA_NACK_GAP, 0) && told_no_more());
	COME(1, 2);
	TEST(HOLDS(1, 0, 1, 2));
	/* both live: who has them keeps them */
	rig_close();
	rig_with(4);
	COME(0, 2, 3, 4, 5);
	TEST(told(DTA_NACK_GAP, 0));
	report(2, 0);
	for (uint16_t i = 1; i < 200; i++) {
		report(2, (uint16_t)(i + 1));
		report(1, (uint16_t)(i + 5));
	}
	go();
	COME(1);
	TEST(HOLDS(1, 0, 1, 2, 3, 4, 5));
	rig_close();
}

/* The reporter has not got them any more: what came is carried out all the
 * same, and the answer tells where that ends. */
static void noticed(void)
{
	rig_with(16);
	COME(1, 3, 5, 6, 8, 9, 11);
	TEST(told(DTA_NACK_GAP, 1) && told_no_more());
	ask(1, DTA_NACK_GONE, 7, 7);
	TEST(told(DTA_NACK_STATE, 9) && told_no_more());
	TEST(HOLDS(1, 1, 3, 5, 6, 8, 9) && rig.c->lost_reports == 3);
	TEST(rig.c->held == 1 && rig.c->questions == 1);
	COME(4, 7); /* late */
	TEST(rig.c->repeated == 2);
	/* beyond all that is held, and then some more */
	ask(1, DTA_NACK_GONE, 8, 20);
	TEST(told(DTA_NACK_STATE, 20) && told_no_more());
	TEST(rig.c->held == 0 && rig.c->lost_reports == 13);
	TEST(HOLDS(1, 1, 3, 5, 6, 8, 9, 11));
	COME(21, 22);
	TEST(told_no_more() && rig.c->stored == 9);
	rig_close();
}

/* A reporter that neither sends again nor says so. */
static void far_ahead(unsigned hold)
{
	enum { FIRST = 60000, FAR = 16384 };
	unsigned kept = hold < FAR - 1 ? hold : FAR - 1;

	rig_with(hold);
	report(1, FIRST);
	for (unsigned i = 2; i <= FAR; i++)
		report(1, (uint16_t)(FIRST + i));
	go();
	TEST(rig.c->stored == 1 && rig.c->held == kept);
	/* the first that is too far, and one that follows it */
	report(1, (uint16_t)(FIRST + FAR + 1));
	report(1, (uint16_t)(FIRST + FAR + 2));
	go();
	TEST(rig.c->held == 0 && rig.c->lost_reports == FAR - kept);
	TEST(rig.c->stored == 3 + kept);
	TEST(rig.c->gaps == 1);
	rig_close();
}

/* A reporter that begins anew numbers other reports with what is held. */
static void begun_anew(void)
{
	rig_with(16);
	COME(1, 3, 4);
	report(2, 1);
	report(2, 3);
	go();
	/* one that lives asks, too */
	ask(1, DTA_NACK_STATE, 5, 0);
	ask(1, DTA_NACK_STATE, 5, 1);
	TEST(rig.c->held == 3);
	ask(1, DTA_NACK_STATE, 0, 0);
	TEST(rig.c->held == 1 && rig.c->out_of_order == 2);
	TEST(told(DTA_NACK_GAP, 1));
	COME(2);
	TEST(HOLDS(1, 1, 2));
	COME(4, 3); /* a gap as any other */
	TEST(HOLDS(1, 1, 2, 3, 4) && rig.c->gaps == 3);
	COME(6);
	ask(1, DTA_NACK_STATE, 9, 30000); /* nobody told it that */
	TEST(rig.c->held == 1 && rig.c->out_of_order == 3);
	rig_close();
}

/* One more than there is room for takes another's place: not what is held. */
static void forgotten(void)
{
	uint8_t *p;

	rig_with(200000);
	report(1, 1);
	report(1, 3);
	go();
	for (unsigned i = 0; i < 300000; i++) {
		report(2, (uint16_t)(i / 150000 * 2));
		p = (uint8_t *)rig.f.pkt[rig.f.n - 1].data;
		be32_store(p + 26, OTHER + i % 150000);
		be16_store(p + 24, 0);
		be16_store(p + 24, net_checksum(p + 14, 20));
		if (rig.f.n == PKT_BATCH - 1)
			go();
	}
	go();
	TEST(rig.c->held > 0 && rig.c->held <= 65536);
	TEST(rig.c->out_of_order > 0);
	TEST(ledger_balanced(&translate_ledger, rig.c));
	/* The first of them is not known any more. */
	COME(2);
	TEST(rig.c->gaps && HOLDS(1, 1, 2));
	rig_close();
}

static bool busy;

static bool is_busy(struct road *r, unsigned table)
{
	(void)r;
	return table == 0 && busy;
}

/* Refused when their turn comes: that one comes again, the others wait. */
static void refused(void)
{
	const struct translate_options o = {.op_rate = 1, .op_burst = 4};

	rig_with(16);
	rig.road->road.busy = is_busy;
	COME(1, 3, 4);
	TEST(told(DTA_NACK_GAP, 1));
	busy = true;
	COME(2);
	TEST(told(DTA_NACK_RESYNC, 1) && told_no_more());
	TEST(rig.c->held == 2 && rig.c->resyncing == 1);
	busy = false;
	COME(2);
	TEST(told_no_more() && HOLDS(1, 1, 2, 3, 4));
	rig_close();

	/* The limit: a list's entries are charged when they are written, two
	 * operations each. */
	rig_open(16, &o);
	COME(1, 3, 4, 5);
	TEST(told(DTA_NACK_GAP, 1));
	COME(2);
	TEST(told(DTA_NACK_RATE, 2) || told(DTA_NACK_RATE, 3));
	TEST(told_no_more());
	TEST(rig.c->rate_limited == 1 && rig.c->held > 0);
	TEST(ledger_balanced(&translate_ledger, rig.c));
	rig_close();
}

/* What does not fit its table is known when its turn comes; what is for other
 * tables goes its own way, and may close a gap. */
static void others(void)
{
	rig_with(16);
	COME(1);
	report_to(STRICT, 1, 3, 3);
	go();
	TEST(rig.c->held == 1 && rig.c->bad_data == 0);
	COME(4, 2);
	TEST(rig.c->bad_data == 1 && HOLDS(1, 1, 2, 4));
	TEST(told(DTA_NACK_GAP, 1) && told_no_more());
	COME(6);
	report_to(COUNT, 1, 5, 4);
	go();
	TEST(rig.c->held == 0 && HOLDS(1, 1, 2, 4, 6));
	COME(9);
	TEST(told(DTA_NACK_GAP, 4) && told(DTA_NACK_GAP, 6));
	report_to(COUNT, 1, 7, 4); /* and the next is told */
	go();
	TEST(told(DTA_NACK_GAP, 7) && told_no_more());
	TEST(rig.c->held == 1);
	rig_close();
}

/* DTA/0's reports are not held; their numbers have 8 bits. */
static void dta0(void)
{
	const struct translate_options o = {.format = DTA_FORMAT_0B};
	static const uint16_t seq[] = {1, 3, 2, 3};

	rig_open(16, &o);
	for (unsigned i = 0; i < 4; i++) {
		uint8_t frame[FRAME_ROOM], list[4] = {0, 0, 0, 1};
		struct dta_report r = {.opcode = DTA_APPEND,
				       .tracked = true,
				       .sequence = seq[i],
				       .key_len = 4,
				       .key = list,
				       .data_len = 4,
				       .data = list};

		frames_add(&rig.f, frame,
			   frame_of(frame, DTA_FORMAT_0B, &r, 1, 0), NOW);
	}
	go();
	TEST(rig.c->held == 0 && rig.c->out_of_order == 1);
	TEST(rig.c->stored == 3);
	rig_close();
}

/* To other collectors: what is held goes along. */
static void succeeded(void)
{
	struct translate_options o = {.hold = 16};

	rig_with(16);
	COME(1, 3);
	TEST(translate_flush(rig.tr) == 0);
	TEST(translate_succeed(&rig.tr, rig.t, 2, &rig.road->road, &o, NULL) ==
	     0);
	rig.c = translate_counters(rig.tr);
	TEST(rig.c->held == 1);
	COME(2);
	TEST(rig.c->held == 0 && rig.c->stored == 3);
	rig_close();
}

int main(void)
{
	closes();
	without();
	again();
	later_one();
	full();
	fell_silent();
	noticed();
	far_ahead(16384);
	far_ahead(100);
	begun_anew();
	forgotten();
	refused();
	others();
	dta0();
	succeeded();
	return test_end();
}
