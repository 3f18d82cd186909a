/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports behind a gap that are held, whatever comes on the wire. */
#include "hold_rig.h"

/* Whatever the order on the wire, and however often: once each, in order,
 * across the end of numbers, without any being sent again. */
static void shuffled(unsigned batch)
{
	enum { NUMBERS = 40000, FAR_OFF = 300 };
	static uint16_t at[LISTS][NUMBERS];
	struct rng rng = {.state = batch};
	uint64_t twice = 0;

	for (unsigned l = 0; l < LISTS; l++)
		for (unsigned i = 0; i < NUMBERS; i++)
			at[l][i] = (uint16_t)(40000 + i);
	for (unsigned l = 0; l < LISTS; l++)
		for (unsigned i = 1; i + FAR_OFF < NUMBERS; i++) {
			unsigned k = i + (unsigned)rng_below(&rng, FAR_OFF);
			uint16_t was = at[l][i];

			at[l][i] = at[l][k];
			at[l][k] = was;
		}
	rig_with(16384);
	for (unsigned i = 0; i < NUMBERS; i++)
		for (unsigned l = 0; l < LISTS; l++) {
			report((uint8_t)l, at[l][i]);
			if (rng_below(&rng, 10) == 0)
				report((uint8_t)l, at[l][i]), twice++;
			if (rig.f.n >= batch)
				go();
		}
	go();
	for (unsigned l = 0; l < LISTS; l++)
		TEST(holds_row(l, 40000, NUMBERS));
	TEST(rig.c->stored == LISTS * NUMBERS && rig.c->repeated == twice);
	TEST(rig.c->held == 0 && rig.c->out_of_order == 0);
	TEST(rig.c->gaps > 0 && rig.c->lost_reports == 0);
	rig_close();
}

/* So far behind the newest, at most, reports and notices are. */
static uint32_t recent(struct rng *rng, uint32_t newest)
{
	uint32_t back = (uint32_t)rng_below(rng, 40);

	return newest > back ? newest - back : 0;
}

/* Something that can happen on the wire, to a reporter that has sent those
 * before *next. */
static void happen(struct rng *rng, uint8_t src, uint32_t *next)
{
	unsigned what = (unsigned)rng_below(rng, 1000);

	if (what < 650)
		report(src, (*next)++);
	else if (what < 720)
		++*next; /* lost */
	else if (what < 940)
		report(src, recent(rng, *next - 1));
	else if (what < 960)
		ask(src, DTA_NACK_STATE, 1,
		    (uint16_t)(recent(rng, *next) - 50));
	else if (what < 970)
		ask(src, DTA_NACK_GONE, 1, (uint16_t)(recent(rng, *next) - 20));
	else if (what < 975)
		ask(src, DTA_NACK_STATE, 0, 0xffff);
	else if (what < 976)
		*next += 17000; /* was away */
	else if (what < 980 && rig.f.n)
		rig.f.pkt[rig.f.n - 1].len -= 3; /* cut */
	else if (what >= 990)
		go();
}

/* Anything on the wire: none is stored twice or out of order, and each is
 * stored or counted in the end. */
static void anything(unsigned hold, uint64_t seed)
{
	struct rng rng = {.state = rng_mix(seed)};
	uint32_t next[LISTS] = {1, 1, 1, 1};
	uint64_t all = 0;

	rig_with(hold);
	for (uint8_t l = 0; l < LISTS; l++)
		report(l, 0);
	go();
	for (unsigned i = 0; i < 200000; i++)
		happen(&rng, (uint8_t)(i % LISTS), &next[i % LISTS]);
	for (uint8_t l = 0; l < LISTS; l++) {
		ask(l, DTA_NACK_GONE, 1, (uint16_t)(next[l] - 1));
		all += next[l];
	}
	TEST(rig.c->held == 0);
	TEST(rig.c->stored + rig.c->lost_reports == all);
	TEST(next[0] > 65536);
	TEST(translate_flush(rig.tr) == 0);
	for (unsigned l = 0; l < LISTS; l++) {
		const uint8_t *mem = rig.road->mem[0] + 4 * l * (size_t)ENTRIES;
		uint64_t n = be64_load(rig.road->mem[0] + rig.t[0].heads +
				       8 * l);
		uint64_t i = 1;

		while (i < n &&
		       be32_load(mem + 4 * i) > be32_load(mem + 4 * (i - 1)))
			i++;
		TEST(n <= ENTRIES && i == n);
	}
	rig_close();
}

int main(void)
{
	shuffled(1);
	shuffled(60);
	shuffled(PKT_BATCH);
	anything(16384, 1);
	anything(30, 2);
	anything(3, 3);
	anything(0, 4);
	return test_end();
}
