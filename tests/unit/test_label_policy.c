/* SPDX-License-Identifier: BSD-2-Clause */
/* Which packets a port labels: Base A, Base B with each f, rest, S, specific
 * flows; registers. */
#include <math.h>

#include "label/hop.h"
#include "test.h"

static struct label_policy policy(enum label_kind kind)
{
	return (struct label_policy){
		.kind = kind, .max_hop = 5, .interval_us = 50000};
}

/* Whether a packet with so many labels is labelled, so long after the last. */
static bool decide(const struct label_policy *p, uint8_t s, unsigned items,
		   uint64_t elapsed)
{
	struct label_port port = {.last_us = 1000000, .labelled = true, .s = s};
	struct rng rng = {1};

	return label_decide(p, &port, items, false, 1000000 + elapsed, &rng);
}

static void test_base_a(void)
{
	struct label_policy p = policy(LABEL_BASE_A);
	struct label_port port = {0};
	struct rng rng = {1};

	TEST(label_decide(&p, &port, 0, false, 0, &rng)); /* the first one */
	TEST(!port.labelled && !port.number);
	TEST(label_wrote(&port, 7) == 1 && port.last_us == 7);
	TEST(!label_decide(&p, &port, 4, false, 50007, &rng));
	TEST(label_decide(&p, &port, 0, false, 50008, &rng));
	TEST(label_decide(&p, &port, 0, true, 8, &rng));  /* specific */
	TEST(label_decide(&p, &port, 0, false, 6, &rng)); /* set back */
	/* 48 bits: 10 us from the end to the beginning */
	port.last_us = (UINT64_C(1) << 48) - 4;
	TEST(!label_decide(&p, &port, 0, false, 6, &rng));
	TEST(rng.state == 1); /* nothing was left to chance */
}

static void test_s(void)
{
	struct label_policy p = policy(LABEL_BASE_A);

	for (unsigned s = 0; s <= LABEL_S_MAX; s++) {
		uint64_t t = 50000 >> s ? 50000 >> s : 1;

		TEST(label_interval(&p, (uint8_t)s) == t);
		TEST(!decide(&p, (uint8_t)s, 0, t));
		TEST(decide(&p, (uint8_t)s, 0, t + 1));
	}
}

static void test_f(void)
{
	struct label_policy p = policy(LABEL_BASE_B);
	struct error why;

	TEST(label_probability(&p, 0, 0, 0) == 0);
	TEST(label_probability(&p, 0, 1, 0) == 1);
	TEST(!label_policy_f(&p, "f2", &why));
	TEST(label_probability(&p, 0, 0, 9) == 0);
	TEST(label_probability(&p, 0, 1, 9) == 0.25);
	TEST(label_probability(&p, 0, 4, 9) == 1);
	TEST(label_probability(&p, 0, 9, 9) == 1);
	TEST(!label_policy_f(&p, "f3", &why));
	TEST(label_probability(&p, 0, 2, 25000) == 0.25);
	TEST(label_probability(&p, 1, 2, 25000) == 0.5);
	TEST(label_probability(&p, 0, 2, 60000) == 0.5);
	TEST(!label_policy_f(&p, "0,0.2,1", &why));
	TEST(p.f == LABEL_F_TABLE && p.table_len == 3);
	TEST(label_probability(&p, 0, 1, 0) == 0.2);
	TEST(label_probability(&p, 0, 7, 0) == 1);
	TEST(label_policy_f(&p, "", &why) && label_policy_f(&p, "f4", &why) &&
	     label_policy_f(&p, "0,1.1", &why) &&
	     label_policy_f(&p, "0,", &why) &&
	     label_policy_f(&p, "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", &why));
	TEST(p.table_len == 3); /* as it was */
	p.max_hop = 1;
	p.f = LABEL_F2;
	TEST(label_probability(&p, 0, 0, 0) == 0);
	TEST(label_probability(&p, 0, 1, 0) == 1);
}

static void test_base_b(void)
{
	struct label_policy p = policy(LABEL_BASE_B);
	struct label_port port = {.last_us = 0, .labelled = true};
	struct rng rng = {42};
	unsigned hits = 0;

	TEST(!decide(&p, 0, 0, 50000) && decide(&p, 0, 0, 50001));
	TEST(decide(&p, 0, 1, 0));
	p.rest_us = 40000;
	TEST(!decide(&p, 0, 1, 40000) && decide(&p, 0, 1, 40001));
	TEST(!decide(&p, 2, 1, 10000) && decide(&p, 2, 1, 10001));
	p.rest_us = p.interval_us; /* Base A again */
	TEST(!decide(&p, 0, 1, 50000) && decide(&p, 0, 1, 50001));
	p.rest_us = 0;
	p.f = LABEL_F2;
	for (unsigned i = 0; i < 100000; i++)
		hits += label_decide(&p, &port, 1, false, 100, &rng);
	/* 25000, standard deviation 137 */
	TEST(fabs(hits - 25000.) < 3 * 137);
}

static void test_number(void)
{
	struct label_port port = {.number = UINT32_MAX};

	TEST(label_wrote(&port, 1) == 1);
}

int main(void)
{
	test_base_a();
	test_s();
	test_f();
	test_base_b();
	test_number();
	return test_end();
}
