/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h - closed forms for Key-Write and Postcarding: what redundancy buys.
 *
 * load (alpha): keys written after the one asked for, per slot (chunk). b: bits
 * of the checksum. pass: chance that a foreign slot (chunk) passes for ours,
 * 2^-b for Key-Write, ((|V|+1) 2^-b)^B for Postcarding.
 * Sources: DART section 4; DTA equations 1-4, and 9-12 of its appendix (5-8 as
 * printed lack a parenthesis).
 * The forms are bounds for the policy `unique`; probabilities are computed so
 * that 1e-30 is not lost against 1.
 */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include <stdint.h>

struct plan {
	double success;	  /* 1 - empty - wrong, for a key of age load */
	double empty;	  /* no answer: DTA (1) + (2) + (3), an upper bound */
	double wrong;	  /* a wrong answer: DTA (4) or (12), an upper bound */
	double wrong_low; /* lower bound: DART */
	double average_success; /* mean over ages 0..load: over all keys */
};

enum {
	PLAN_COPIES_MAX = 16,
	PLAN_FREE_MIN = 16, /* slots without which no load is estimated */
};

double plan_pass_keywrite(double checksum_bits);
double plan_pass_postcard(double checksum_bits, double values, unsigned hops);

/* copies 1..PLAN_COPIES_MAX, load >= 0, 0 <= pass <= 1. */
struct plan plan_at(unsigned copies, double load, double pass);

/* Share of the slots (chunks, counters) that so many keys have written. */
double plan_used(unsigned copies, double load);

/*
 * The other way round, as far as it goes: as the last slots fill up, ever more
 * keys make ever less of a difference. The estimate is that of linear counting
 * (Whang et al., TODS 1990); its standard error, in keys times copies a slot,
 * is sqrt((e^x - x - 1) / slots) with x = copies * load.
 */
struct plan_load {
	double load;  /* NAN: less than PLAN_FREE_MIN slots are free */
	double above; /* then: it is above this, but for 1 time in 1000 */
};

struct plan_load plan_load_of(unsigned copies, uint64_t slots, uint64_t used);

/*
 * DART: each of the reports of a key, one right after the other, is written to
 * one random copy of its N slots (DART section 6). Of r reports, d copies with
 * the chance of d different ones among r draws out of N; later keys take E(d)
 * slots each. Success as by DART section 4, without what checksums let pass
 * (2^-32); lost is 1 - success. average: over ages 0..load.
 */
double plan_random_lost(unsigned copies, unsigned reports, double load);
double plan_random(unsigned copies, unsigned reports, double load);
double plan_random_average(unsigned copies, unsigned reports, double load);
double plan_random_used(unsigned copies, unsigned reports, double load);

/*
 * The number of copies 1..max with the highest success (average: the highest
 * average) at a load; the smallest of equals.
 */
unsigned plan_best_copies(double load, double pass, unsigned max, int average);

/*
 * The largest load whose success (average_success) is still >= want; 0 if none,
 * infinite for want <= 0.
 */
double plan_load_for(unsigned copies, double want, double pass, int average);
double plan_random_load_for(unsigned copies, unsigned reports, double want,
			    int average);

#endif
