/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_of(): an object is named once, whoever names it. */
#include <stdbool.h>
#include <string.h>

#include "base/fault.h"
#include "test.h"

static bool gives(const char *object, const char *why, const char *want)
{
	struct fault f = {"nothing"}, w = {""};

	fault_set(&w, -1, "%s", why);
	return fault_of(&f, -5, object, &w) == -5 && !strcmp(f.text, want);
}

int main(void)
{
	char path[2048], long_why[2048];
	struct fault f, w;

	TEST(gives("t.ini", "no such file", "t.ini: no such file"));
	TEST(gives("t.ini", "t.ini: no such file", "t.ini: no such file"));
	TEST(gives("t.ini", "t.ini:7: no such field",
		   "t.ini:7: no such field"));
	TEST(gives("t.ini", "t.ini filter: bad", "t.ini filter: bad"));
	TEST(gives("t.ini", "t.ini", "t.ini"));
	/* another name that begins alike */
	TEST(gives("t", "t.ini: no such file", "t: t.ini: no such file"));
	TEST(gives("", "reason", ": reason"));
	/* nobody wants to know; and more than there is room for */
	TEST(fault_of(NULL, -7, "a", &(struct fault){"b"}) == -7);
	memset(path, 'p', sizeof(path) - 1);
	memset(long_why, 'w', sizeof(long_why) - 1);
	path[sizeof(path) - 1] = long_why[sizeof(long_why) - 1] = '\0';
	fault_set(&w, -1, "%s", long_why);
	TEST(fault_of(&f, -1, path, &w) == -1);
	TEST(strlen(f.text) == sizeof(f.text) - 1);
	return test_end();
}
