/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pint.h - path tracing by PINT (Ben Basat et al., SIGCOMM 2020, section 4.2):
 * how many packets of a flow must arrive until all switches of its path are
 * known, each packet having room for a digest of a few bits.
 *
 * Of a packet with room for b bits, by a hash of its number, which all switches
 * and the receiver know: either the switch at hop i overwrites the digest with
 * probability 1/i (a reservoir: each hop remains with the same chance), or each
 * switch adds its own by exclusive or with a small probability. A switch's
 * digest is a hash of its id and of the packet's number. The receiver knows
 * which hops are in a digest; switches whose hash does not agree are out, and
 * what is known of an exclusive or is taken out of it.
 *
 * Half of the packets are of either kind, and a hop joins an exclusive or with
 * one in ten, as in the authors' prototype (ProbabilisticINT/Mininet-PINT
 * 1348d13, p4src/pint.p4).
 */
#ifndef SIM_PINT_H
#define SIM_PINT_H

#include <stdint.h>

#include "base/rng.h"

enum {
	PINT_HOPS_MAX = 64,
	PINT_PACKETS_MAX = 100000, /* then it is given up */
};

struct pint_options {
	unsigned hops;	   /* 1 to PINT_HOPS_MAX */
	unsigned switches; /* that each of them may be, from hops up */
	unsigned bits;	   /* of a digest, 1 to 32 */
};

/* Packets until a random path was known; 0: given up. -ENOMEM. *wrong: hops of
 * which the receiver took another switch for theirs. */
int pint_trace(const struct pint_options *o, struct rng *rng, unsigned *wrong);

#endif
