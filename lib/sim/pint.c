/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/pint.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	PENDING_MAX = 4096, /* digests of more than one unknown hop */
	XOR_ONE_IN = 10,
};

struct digest {
	uint64_t packet, hops; /* its number; hops in it, a bit each */
	uint32_t value;
};

struct trace {
	const struct pint_options *o;
	uint32_t path[PINT_HOPS_MAX]; /* switches, to be found */
	/* Of hop h, n_left[h] switches are possible: from left[h * switches] */
	uint32_t *left;
	unsigned n_left[PINT_HOPS_MAX];
	uint64_t known; /* hops, a bit each */
	struct digest *pending;
	unsigned n_pending;
	uint64_t salt; /* of all hashes of this trace */
};

/* A number from 0 to 1 that all agree on; hop 0: for the packet as a whole. */
static double shared_chance(const struct trace *t, uint64_t packet,
			    unsigned hop)
{
	return (double)(rng_mix(t->salt + packet * (PINT_HOPS_MAX + 1) + hop) >>
			11) *
	       0x1p-53;
}

static uint32_t switch_hash(const struct trace *t, uint32_t id, uint64_t packet)
{
	uint64_t h = rng_mix(t->salt ^ rng_mix(packet << 20 | id));

	return (uint32_t)(h >> (64 - t->o->bits));
}

/* The digest of a packet at the receiver. */
static struct digest mark_digest(const struct trace *t, uint64_t packet)
{
	struct digest d = {.packet = packet};
	bool reservoir = shared_chance(t, packet, 0) < 0.5;

	for (unsigned i = 0; i < t->o->hops; i++) {
		double chance = shared_chance(t, packet, i + 1);

		if (reservoir && chance < 1.0 / (i + 1)) {
			d.hops = UINT64_C(1) << i;
			d.value = switch_hash(t, t->path[i], packet);
		} else if (!reservoir && chance < 1.0 / XOR_ONE_IN) {
			d.hops |= UINT64_C(1) << i;
			d.value ^= switch_hash(t, t->path[i], packet);
		}
	}
	return d;
}

/* Rules out the switches at a hop whose digest is not value. True if the hop
 * has become known. */
static bool rule_out(struct trace *t, unsigned hop, uint64_t packet,
		     uint32_t value)
{
	uint32_t *left = t->left + (size_t)hop * t->o->switches;
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_left[hop]; i++)
		if (switch_hash(t, left[i], packet) == value)
			left[n++] = left[i];
	t->n_left[hop] = n;
	if (n != 1)
		return false;
	t->known |= UINT64_C(1) << hop;
	return true;
}

/* Takes the known hops out of a digest. True if a hop has become known; *done:
 * the digest is of no further use. */
static bool use_digest(struct trace *t, const struct digest *d, bool *done)
{
	uint64_t unknown = d->hops & ~t->known, known = d->hops & t->known;
	uint32_t value = d->value;

	*done = !unknown || !(unknown & (unknown - 1));
	if (!*done || !unknown)
		return false;
	for (; known; known &= known - 1) {
		unsigned hop = (unsigned)__builtin_ctzll(known);

		value ^= switch_hash(t, t->left[(size_t)hop * t->o->switches],
				     d->packet);
	}
	return rule_out(t, (unsigned)__builtin_ctzll(unknown), d->packet,
			value);
}

/* A hop has become known: pending digests may make others known. */
static void retry_digests(struct trace *t)
{
	bool more = true, done;

	while (more) {
		unsigned n = 0;

		more = false;
		for (unsigned i = 0; i < t->n_pending; i++) {
			struct digest d = t->pending[i];

			more |= use_digest(t, &d, &done);
			if (!done)
				t->pending[n++] = d;
		}
		t->n_pending = n;
	}
}

static void receive_digest(struct trace *t, uint64_t packet)
{
	struct digest d = mark_digest(t, packet);
	bool done;

	if (use_digest(t, &d, &done))
		retry_digests(t);
	if (!done && t->n_pending < PENDING_MAX)
		t->pending[t->n_pending++] = d;
}

/* A random path of different switches. At first each hop may be any switch. */
static void begin_trace(struct trace *t, struct rng *rng)
{
	unsigned n = t->o->switches;

	for (unsigned hop = 0; hop < t->o->hops; hop++) {
		uint32_t *left = t->left + (size_t)hop * n;

		for (unsigned i = 0; i < n; i++)
			left[i] = i;
		t->n_left[hop] = n;
		t->path[hop] = (uint32_t)rng_below(rng, n);
		for (unsigned i = 0; i < hop; i++)
			if (t->path[i] == t->path[hop]) {
				t->path[hop] = (t->path[hop] + 1) % n;
				i = UINT32_MAX; /* from the beginning */
			}
	}
	t->salt = rng_u64(rng);
}

int pint_trace(const struct pint_options *o, struct rng *rng, unsigned *wrong)
{
	uint64_t all = o->hops < 64 ? (UINT64_C(1) << o->hops) - 1 : UINT64_MAX;
	struct trace t = {.o = o};
	int packets = 0;

	t.left = calloc((size_t)o->hops * o->switches, sizeof(*t.left));
	t.pending = calloc(PENDING_MAX, sizeof(*t.pending));
	if (t.left && t.pending) {
		begin_trace(&t, rng);
		for (; t.known != all && packets < PINT_PACKETS_MAX; packets++)
			receive_digest(&t, (uint64_t)packets);
		packets = t.known == all ? packets : 0;
		*wrong = 0;
		for (unsigned hop = 0; hop < o->hops; hop++)
			*wrong += t.n_left[hop] == 1 &&
				  t.left[(size_t)hop * o->switches] !=
					  t.path[hop];
	} else {
		packets = -ENOMEM;
	}
	free(t.left);
	free(t.pending);
	return packets;
}
