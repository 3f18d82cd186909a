/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * label.h - closed forms for INT-label: how likely a port is heard of in time,
 * how many labels a packet carries.
 *
 * Source: INT-label, sections 4.2 and 4.3. Times are in any one unit.
 */
#ifndef MODEL_LABEL_H
#define MODEL_LABEL_H

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
 * Base A: each hop labels with r. Base B: with f(i) + r (1 - f(i)), the first
 * one, too. Then f(0) > 0 is right as well; the authors' sheet leaves out what
 * it does from the second hop on.
 */
struct theory_labels {
	double r;
	double f[THEORY_HOPS_MAX];
};

/* p[i]: the chance that a packet has i labels behind so many hops, at most
 * THEORY_HOPS_MAX; p has hops + 1 places. */
void theory_base_a(const struct theory_labels *l, unsigned hops, double *p);
void theory_base_b(const struct theory_labels *l, unsigned hops, double *p);

/* p[h]: the share of the pairs of hosts of a k-ary fat tree that are h hops
 * apart, h up to THEORY_HOPS; only 1, 3 and 5 occur. k is even, at least 4. */
void theory_hops(unsigned k, double p[THEORY_HOPS + 1]);

/* The labels of a packet between any two hosts of it: Z_A and Z_B. */
void theory_tree_a(const struct theory_labels *l, unsigned k,
		   double p[THEORY_HOPS + 1]);
void theory_tree_b(const struct theory_labels *l, unsigned k,
		   double p[THEORY_HOPS + 1]);

/* The mean of a distribution over 0 .. n - 1. */
double theory_mean(const double *p, unsigned n);

#endif
