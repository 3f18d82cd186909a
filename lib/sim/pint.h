/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pint.h - path tracing by PINT (Ben Basat et al., SIGCOMM 2020, section 4.2):
 * how many packets of a flow must arrive until all switches of its path are
 * known, each packet having room for a digest of a few bits.
 *
 * A switch's digest is a hash of its id and the packet's number. What a switch
 * does depends on a hash of the packet's number, which all switches and the
 * receiver know: at hop i it overwrites the packet's digest with probability
 * 1/i (a reservoir: each hop remains with the same chance), or it adds its own
 * digest by exclusive or with a small probability. So the receiver knows which
 * hops are in a digest. It takes the digests of known hops out of an exclusive
 * or; for a single hop that remains, it rules out all switches whose digest is
 * another.
 *
 * Half of the packets are of each kind, and a switch joins an exclusive or with
 * probability 1/10, as in the authors' prototype (ProbabilisticINT/Mininet-PINT
 * 1348d13, p4src/pint.p4).
 */
#ifndef SIM_PINT_H
#define SIM_PINT_H

#include "base/rng.h"

enum {
	PINT_HOPS_MAX = 64,
	PINT_PACKETS_MAX = 100000, /* then pint_trace() gives up */
};

struct pint_options {
	unsigned hops;	   /* 1 to PINT_HOPS_MAX */
	unsigned switches; /* of the network, at least hops */
	unsigned bits;	   /* of a digest, 1 to 32 */
};

/* Returns how many packets it took until a random path was known; 0: given up;
 * -ENOMEM. *wrong: hops for which the receiver found another switch. */
int pint_trace(const struct pint_options *o, struct rng *rng, unsigned *wrong);

#endif
