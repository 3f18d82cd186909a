/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - closed forms. First of Key-Write and Postcarding: how likely an
 * answer is right, wrong or missing, by load and redundancy.
 *
 * load (alpha): keys written after the one asked for, per slot (chunk). b: bits
 * of the checksum. pass: chance that a foreign slot (chunk) passes for ours,
 * 2^-b for Key-Write, ((|V|+1) 2^-b)^B for Postcarding.
 * Sources: DART section 4; DTA equations 1-4, and 9-12 of its appendix (5-8 as
 * printed lack a parenthesis).
 * The forms are bounds for the policy `unique' of dta-query(1). Probabilities
 * are computed so that 1e-30 is not lost against 1.
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
	PLAN_FREE_MIN = 16, /* free slots, needed to estimate the load */
};

double plan_pass_keywrite(double checksum_bits);
double plan_pass_postcard(double checksum_bits, double values, unsigned hops);

/* copies 1..PLAN_COPIES_MAX, load >= 0, 0 <= pass <= 1. */
struct plan plan_at(unsigned copies, double load, double pass);

/* The share of slots (chunks, counters) that are written, at a load. */
double plan_used(unsigned copies, double load);

/*
 * Estimates the load from the number of used slots, by linear counting (Whang
 * et al., TODS 1990). The standard error, in keys times copies a slot, is
 * sqrt((e^x - x - 1) / slots) with x = copies * load: it grows as the last
 * slots fill up.
 */
struct plan_load {
	double load;  /* NAN: less than PLAN_FREE_MIN slots are free */
	double above; /* then a lower bound of it, wrong 1 time in 1000 */
};

struct plan_load plan_load_of(unsigned copies, uint64_t slots, uint64_t used);

/*
 * DART: each report of a key writes one of the key's N slots at random (DART
 * section 6). After r reports, d slots hold it with the chance of d different
 * ones among r draws out of N; each later key writes E(d) slots. Success is
 * that of DART section 4, without the 2^-32 that checksums let pass; lost is 1
 * - success; average is the mean over ages 0..load; used is as plan_used().
 */
double plan_random_lost(unsigned copies, unsigned reports, double load);
double plan_random_success(unsigned copies, unsigned reports, double load);
double plan_random_average(unsigned copies, unsigned reports, double load);
double plan_random_used(unsigned copies, unsigned reports, double load);

/* Parameters of either form. */
struct plan_config {
	unsigned copies;
	unsigned reports; /* of a key, as in DART; 0: each writes all copies */
	double pass;	  /* if reports is 0 */
	bool average; /* success is the mean over all keys, not the oldest's */
};

double plan_success(const struct plan_config *p, double load);

/* The largest load whose success, which falls as the load grows, is still
 * >= want; 0 if none, infinite for want <= 0. */
double plan_largest_load(const struct plan_config *p, double want);

/* Closed forms of INT-label, sections 4.2 and 4.3: how likely a port's labels
 * arrive in time, and how many labels a packet carries. All times are in one
 * unit, of the caller's choice. */

enum {
	MODEL_TREE_HOPS = 5, /* of the longest path of a fat tree */
	MODEL_HOPS_MAX = 64, /* of any path */
};

/* What the coverage depends on. */
struct model_label_times {
	double interval;  /* T: the least time between two labels of a port */
	double telemetry; /* Ti: telemetry interval of the controller */
	double gap;	  /* Tp: from the end of T to the next packet, mean */
};

/*
 * The share of windows of length Ti, at random times, in which a port has a
 * label: the coverage rate that a controller measures. Labels of a port are
 * spaced by G = T + an exponential time of mean Tp, a renewal process; the
 * share of windows without a label is E[max(G - Ti, 0)] / E[G].
 */
double model_label_coverage(const struct model_label_times *t);

/*
 * How likely a port labels a packet: r = Ts/T because of its interval, f[i]
 * because the packet has i labels, f[0] to f[MODEL_HOPS_MAX - 1].
 *
 * Base A: each hop labels with probability r; all f are 0. Base B: with f(i) +
 * r (1 - f(i)). f(0) > 0 is allowed, and counts at each hop; in the results
 * that the authors published it counts at the first hop only.
 */
struct model_label_chances {
	double r;
	double f[MODEL_HOPS_MAX];
};

/* Sets p[i] to the chance that a packet has i labels after a number of hops, at
 * most MODEL_HOPS_MAX, for i from 0 to hops. */
void model_label_path(const struct model_label_chances *l, unsigned hops,
		      double *p);

/* Sets p[h] to the share of pairs of hosts of a k-ary fat tree that are h hops
 * apart; only 1, 3 and 5 occur. k is even, at least 4. */
void model_tree_hops(unsigned k, double p[MODEL_TREE_HOPS + 1]);

/* model_label_path() of random pairs of hosts: the paper's Z_A or Z_B. */
void model_label_tree(const struct model_label_chances *l, unsigned k,
		      double p[MODEL_TREE_HOPS + 1]);

/* The mean of a distribution over 0 .. n - 1. */
double model_mean(const double *p, unsigned n);

/*
 * How a translator's rate grows with cores (threads/threads.h).
 *
 * A report takes work_ns of one core, which decodes and hashes it and sends
 * messages, and receive_ns of another (or the same), which owns the memory, and
 * receives and stores them. No core waits for another: n cores store n /
 * (work_ns + receive_ns) reports. Messages are sent in blocks. A batch has at
 * least one block for each owner and round, so with many cores it has more than
 * its messages fill, and each of these takes block_ns more.
 *
 * Two more bounds: one core at a time takes packets from the source, source_ns
 * each; and all cores share the bandwidth of memory.
 */

struct cores_load {
	double alone_ns;   /* a report with one core, which sends no messages */
	double work_ns;	   /* a report with several: to decode and send */
	double receive_ns; /* and to receive and store */
	double source_ns;  /* part of work_ns: one core at a time */
	double block_ns;   /* to send and receive a block without messages */
	double blocks;	   /* of a batch, that its messages fill */
	double rounds;	   /* of a batch */
	double batch;	   /* reports of a batch */
	double bytes;	   /* that a report moves to and from memory */
	double bandwidth;  /* of memory, bytes a second; 0: no bound */
};

/* What bounds a rate. */
enum cores_bound {
	CORES_WORK,   /* the cores have no time left */
	CORES_SOURCE, /* one core at a time takes packets */
	CORES_MEMORY, /* its bandwidth */
};

struct cores_rate {
	double per_s;	/* reports */
	double speedup; /* a multiple of one core's rate */
	enum cores_bound bound;
};

/* The rate of n >= 1 cores. */
struct cores_rate model_cores_rate(const struct cores_load *l, unsigned n);

/* How many collectors a fabric needs. One of n owns a key, by hash mod n
 * (cluster/cluster.h), and with mirrors the next one has it, too. */

struct fleet_load {
	double messages_s, slots, slot_bytes; /* of all keys, once each */
	double nic_messages_s, memory;	      /* that a collector has */
	bool mirror;
};

/* What bounds the number of collectors from below. */
enum fleet_bound {
	FLEET_NIC,    /* messages a second */
	FLEET_MEMORY, /* bytes */
	FLEET_HASH,   /* slots of a table: hashes have 32 bits */
	FLEET_BOUNDS,
};

struct fleet {
	double collectors;
	enum fleet_bound bound;
	double messages_s, slots; /* of each, with those that it mirrors */
	double lost;		  /* the share of keys that are lost with one */
	double moved; /* the share that one more gives another owner */
};

struct fleet model_fleet(const struct fleet_load *l);

#endif
