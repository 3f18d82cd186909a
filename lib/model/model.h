/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - closed forms for Key-Write and Postcarding: what redundancy buys.
 *
 * load (alpha): keys written after the one asked for, per slot (chunk). b: bits
 * of the checksum. pass: chance that a foreign slot (chunk) passes for ours,
 * 2^-b for Key-Write, ((|V|+1) 2^-b)^B for Postcarding.
 * Sources: DART section 4; DTA equations 1-4, and 9-12 of its appendix (5-8 as
 * printed lack a parenthesis).
 * The forms are bounds for the policy `unique`; probabilities are computed so
 * that 1e-30 is not lost against 1.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
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

/* Either of them. */
struct plan_of {
	unsigned copies;
	unsigned reports; /* of a key, one random copy each; 0: all at once */
	double pass;	  /* all at once */
	bool average;	  /* over all keys, not of the oldest */
};

double plan_success(const struct plan_of *p, double load);

/*
 * The largest load whose success, which falls as the load grows, is still
 * >= want; 0 if none, infinite for want <= 0.
 */
double plan_largest_load(const struct plan_of *p, double want);
double plan_load_for(unsigned copies, double want, double pass, int average);

/*
 * closed forms for INT-label: how likely a port is heard of in time,
 * how many labels a packet carries.
 *
 * Source: INT-label, sections 4.2 and 4.3. Times are in any one unit.
 */

enum {
	THEORY_HOPS = 5,      /* of the longest path of a fat tree */
	THEORY_HOPS_MAX = 64, /* of any path */
};

/* What the coverage depends on. */
struct theory_times {
	double interval;  /* T: a port labels no sooner again */
	double telemetry; /* Ti: within which the controller wants to hear */
	double gap;	  /* Tp: from the end of T to the next packet, mean */
};

/*
 * The share of the windows of length Ti, laid at random, in which a port is
 * heard of: what a controller measures, window by window. Labels of a port are
 * T and an exponential time of mean Tp apart, a renewal process; a window that
 * lies in a gap G is missed with (G - Ti)+ / E[G].
 */
double theory_window(const struct theory_times *t);

/*
 * What a packet's next label depends on. r = Ts/T: how likely a port labels by
 * its interval. f[i]: how likely it labels a packet with i labels for the sake
 * of them, f[0] to f[THEORY_HOPS_MAX - 1].
 *
 * Base A: each hop labels with r; all f are 0. Base B: with f(i) + r (1 -
 * f(i)), the first one, too. Then f(0) > 0 is right as well; the authors' sheet
 * leaves out what it does from the second hop on.
 */
struct theory_labels {
	double r;
	double f[THEORY_HOPS_MAX];
};

/* p[i]: the chance that a packet has i labels behind so many hops, at most
 * THEORY_HOPS_MAX; p has hops + 1 places. */
void theory_base(const struct theory_labels *l, unsigned hops, double *p);

/* p[h]: the share of the pairs of hosts of a k-ary fat tree that are h hops
 * apart, h up to THEORY_HOPS; only 1, 3 and 5 occur. k is even, at least 4. */
void theory_hops(unsigned k, double p[THEORY_HOPS + 1]);

/* The labels of a packet between any two hosts of it: Z_A or Z_B. */
void theory_tree(const struct theory_labels *l, unsigned k,
		 double p[THEORY_HOPS + 1]);

/* The mean of a distribution over 0 .. n - 1. */
double theory_mean(const double *p, unsigned n);

/*
 * how a translator goes on to more cores (threads/threads.h).
 *
 * A report takes one of n cores work_ns, to be decoded and hashed and to be
 * sent to the owner of what it changes, and one, mostly another, receive_ns, to
 * be taken and stored. No core waits for another's turn: n cores store n /
 * (work_ns + receive_ns), but for the blocks in which messages go. A batch has
 * at least one for each owner in a round, so with many cores there are more
 * than its messages fill, of block_ns each.
 *
 * Two more bounds: packets are taken from a source by one core at a time,
 * source_ns each; and memory moves so many bytes a second for all.
 */

struct cores_load {
	double alone_ns;   /* of one core for a report, without messages */
	double work_ns;	   /* of several: decode and send */
	double receive_ns; /* take and store */
	double source_ns;  /* of work_ns: one core at a time */
	double block_ns;   /* of a block, beside its messages */
	double blocks;	   /* of a batch, as many as messages fill */
	double rounds;	   /* of a batch */
	double batch;	   /* reports of a batch */
	double bytes;	   /* that a report moves in memory */
	double bandwidth;  /* bytes a second that memory moves; 0: any */
};

/* What keeps a rate from being higher. */
enum cores_bound {
	CORES_WORK,   /* the cores have no time left */
	CORES_SOURCE, /* one core at a time takes packets */
	CORES_MEMORY, /* its bandwidth */
};

struct cores_rate {
	double per_s;	/* reports */
	double speedup; /* times one core's rate */
	enum cores_bound bound;
};

/* Of n >= 1 cores. */
struct cores_rate model_cores_rate(const struct cores_load *l, unsigned n);

#endif
