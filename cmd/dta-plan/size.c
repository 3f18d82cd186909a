/* SPDX-License-Identifier: BSD-2-Clause */
#include "size.h"

#include <math.h>

#include "model/plan.h"

/* What a double still turns into 64 bits. */
#define FLOWS_MAX (UINT64_C(1) << 63)

uint64_t size_slot(const struct opts *o)
{
	uint64_t sum = (o->bits + 7) / 8, bytes, stride = 4;

	bytes = o->postcard ? sum * o->hops : sum + o->value;
	if (o->packed)
		return (bytes + 3) & ~UINT64_C(3);
	while (stride < bytes)
		stride *= 2;
	return stride;
}

double size_pass(const struct opts *o)
{
	if (o->postcard)
		return plan_pass_postcard((double)o->bits, (double)o->values,
					  (unsigned)o->hops);
	return plan_pass_keywrite((double)o->bits);
}

struct size size_of(const struct opts *o, double load)
{
	struct size s = {.load = load, .flows = o->flows};

	if (o->memory) {
		s.slots = o->memory / size_slot(o);
		if (!s.slots)
			cli_usage(&program, "--memory: a slot takes %ju bytes",
				  (uintmax_t)size_slot(o));
	}
	if (load < 0) {
		s.load = (double)s.flows / (double)s.slots;
	} else if (s.flows && load > 0) {
		if ((double)s.flows / load > (double)SLOTS_MAX)
			cli_fail("more than 2^50 slots for a load of %g", load);
		s.slots = (uint64_t)ceil((double)s.flows / load);
	} else if (s.slots) {
		if ((double)s.slots * load >= (double)FLOWS_MAX)
			cli_fail("more than 2^63 keys for a load of %g", load);
		s.flows = (uint64_t)((double)s.slots * load);
	}
	return s;
}

double size_load_for(const struct opts *o, unsigned copies)
{
	if (o->dart)
		return plan_random_load_for(copies, (unsigned)o->reports,
					    o->want, o->average);
	return plan_load_for(copies, o->want, size_pass(o), o->average);
}

unsigned size_best_for(const struct opts *o)
{
	unsigned best = 1;
	double most = 0;

	for (unsigned n = 1; n <= o->max_copies; n++) {
		double load = size_load_for(o, n);

		if (load > most) {
			most = load;
			best = n;
		}
	}
	return best;
}

unsigned size_best_at(const struct opts *o, double load)
{
	unsigned r = (unsigned)o->reports, best = 1;
	double most = -1;

	if (!o->dart)
		return plan_best_copies(load, size_pass(o),
					(unsigned)o->max_copies, o->average);
	for (unsigned n = 1; n <= o->max_copies; n++) {
		double v = o->average ? plan_random_average(n, r, load)
				      : plan_random(n, r, load);

		if (v > most) {
			most = v;
			best = n;
		}
	}
	return best;
}
