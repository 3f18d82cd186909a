/* SPDX-License-Identifier: BSD-2-Clause */
/* What all sources have in common: errors that a socket tells once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packet/kind.h"
#include "test.h"

/* A source that has nothing, is interrupted, fails once, and goes on. */
struct failing {
	struct src src;
	int calls;
};

static int failing_rx(struct src *s, struct pkt *pkts, int max,
		      struct error *err)
{
	static const int answer[] = {-EAGAIN, -EINTR, -ENODEV};
	struct failing *x = (struct failing *)s;

	(void)pkts;
	(void)max;
	if (x->calls == 3)
		return 0; /* the end of a source that did not fail */
	return error_set(err, answer[x->calls++], "gone");
}

static void failing_close(struct src *s)
{
	free(s);
}

static const struct src_ops ops = {.rx = failing_rx, .close = failing_close};

static struct src *failing_new(void)
{
	struct failing *x = calloc(1, sizeof(*x));

	x->src = (struct src){.ops = &ops, .fd = -1, .wait_ms = -1};
	return &x->src;
}

/* Who looks without waiting need not be who tells of it. */
static void error_stays(void)
{
	struct src *s = failing_new();
	struct error err = {""};
	struct pkt p;

	TEST(src_rx_now(s, &p, 1, &err) == -EAGAIN);
	TEST(src_rx_now(s, &p, 1, &err) == -EINTR);
	TEST(src_rx_now(s, &p, 1, &err) == -ENODEV);
	for (int i = 0; i < 2; i++) {
		err = (struct error){""};
		TEST(src_rx(s, &p, 1, &err) == -ENODEV);
		TEST(!strcmp(err.text, "gone"));
		TEST(src_rx_now(s, &p, 1, &err) == -ENODEV);
	}
	src_close(s);
}

/* Who waits has told of it. */
static void error_is_told(void)
{
	struct src *s = failing_new();
	struct error err = {""};
	struct pkt p;

	TEST(src_rx(s, &p, 1, &err) == -EAGAIN);
	TEST(src_rx(s, &p, 1, &err) == -EINTR);
	TEST(src_rx(s, &p, 1, &err) == -ENODEV);
	TEST(src_rx(s, &p, 1, &err) == 0);
	src_close(s);
}

int main(void)
{
	error_stays();
	error_is_told();
	return test_end();
}
