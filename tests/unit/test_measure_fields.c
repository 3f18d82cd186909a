/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields that were made ready read as int_get() does: of INT and of IOAM, whose
 * fields may be there short and wide, whatever is all ones. */
#include <string.h>

#include "base/rng.h"
#include "int/ioam.h"
#include "telemetry/rows.h"
#include "test.h"

enum {
	ROUNDS = 20000,
};

static struct rng rng = {11};

/* A hop in which some bytes in a row are all ones. */
static void random_hop(uint8_t *hop, size_t len)
{
	size_t at = 0, n;

	while (at < len) {
		n = 1 + rng_below(&rng, 8);
		if (n > len - at)
			n = len - at;
		memset(hop + at, 0xff, n);
		for (size_t i = 0; rng_below(&rng, 2) && i < n; i++)
			hop[at + i] = (uint8_t)rng_u64(&rng);
		at += n;
	}
}

static void check_number(const struct int_layout *plan, const uint8_t *hop,
			 const struct hop_field *f, enum int_field field)
{
	uint64_t want = 0, v;
	bool told = int_get(plan, hop, field, &want), mine = false;

	v = field_number(f, hop, &mine);
	TEST(mine == told && (!told || v == want));
}

static void check_hop(const struct hop_fields *f, const struct int_layout *plan,
		      const uint8_t *hop)
{
	static const uint8_t id[FIELD_IDS] = {INT_EGRESS, INT_QUEUE,
					      INT_BUFFER};
	uint64_t v = 0;

	if (int_get(plan, hop, INT_NODE, &v))
		TEST(field_node(&f->node, hop) == v);
	else
		TEST(field_node(&f->node, hop) == NODE_UNKNOWN);
	for (unsigned i = 0; i < FIELD_IDS; i++)
		if (int_get(plan, hop, id[i], &v))
			TEST(field_id(&f->id[i], hop) == (uint32_t)v);
		else
			TEST(field_id(&f->id[i], hop) == ID_UNKNOWN);
	check_number(plan, hop, &f->metric[METRIC_HOP_LATENCY], INT_LATENCY);
	check_number(plan, hop, &f->metric[METRIC_QUEUE_OCCUPANCY],
		     INT_OCCUPANCY);
	check_number(plan, hop, &f->metric[METRIC_LINK_UTILIZATION],
		     INT_UTILIZATION);
	check_number(plan, hop, &f->ingress_time, INT_INGRESS_TIME);
	check_number(plan, hop, &f->egress_time, INT_EGRESS_TIME);
	check_number(plan, hop, &f->seconds, INT_TIME_SECONDS);
	check_number(plan, hop, &f->fraction, INT_TIME_FRACTION);
}

static void check(const struct int_word *words, unsigned bits)
{
	struct int_layout plan;
	struct hop_fields f;
	uint8_t hop[256];

	for (unsigned i = 0; i < ROUNDS; i++) {
		int_layout_make(&plan, words, bits,
				(uint32_t)rng_u64(&rng) & ((1u << bits) - 1));
		hop_fields_set(&f, &plan);
		random_hop(hop, plan.len);
		check_hop(&f, &plan, hop);
	}
}

int main(void)
{
	struct int_word words[IOAM_BITS];
	const struct int_profile *p;
	const uint32_t units[] = {1, 1000, INT_SCALE_NTP};

	for (unsigned i = 0; (p = int_profile_at(i)); i++) {
		check(p->instruction, 16);
		check(p->report1, 6);
		check(p->report2, 16);
	}
	for (unsigned i = 0; i < 3; i++) {
		ioam_words(words, units[i]);
		check(words, IOAM_BITS);
	}
	return test_end();
}
