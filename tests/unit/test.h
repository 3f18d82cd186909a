/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test.h - the unit tests' own few lines: TEST() checks, a failed check names
 * file and line and the run goes on; test_end() gives the exit status
 * (0 passed, 1 failed; a test may exit with TEST_SKIP and say why).
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <stdio.h>

enum {
	TEST_SKIP = 77,
};

static int test_checks, test_failures;

#define TEST(cond) test_check((cond), #cond, __FILE__, __LINE__)

static inline int test_check(int ok, const char *what, const char *file,
			     int line)
{
	test_checks++;
	if (!ok && ++test_failures <= 20)
		fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	return ok;
}

static inline int test_end(void)
{
	if (!test_checks)
		fprintf(stderr, "no check ran\n");
	return test_failures || !test_checks;
}

#endif
