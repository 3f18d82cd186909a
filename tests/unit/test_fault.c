/* SPDX-License-Identifier: BSD-2-Clause */
/* error_about(): an object is named once, whoever names it. */
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "test.h"

static bool gives(const char *object, const char *why, const char *want)
{
	struct error err = {"nothing"}, w = {""};

	error_set(&w, -1, "%s", why);
	return error_about(&err, -5, object, &w) == -5 &&
	       !strcmp(err.text, want);
}

int main(void)
{
	char path[2048], long_why[2048];
	struct error err, w;

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
	TEST(error_about(NULL, -7, "a", &(struct error){"b"}) == -7);
	memset(path, 'p', sizeof(path) - 1);
	memset(long_why, 'w', sizeof(long_why) - 1);
	path[sizeof(path) - 1] = long_why[sizeof(long_why) - 1] = '\0';
	error_set(&w, -1, "%s", long_why);
	TEST(error_about(&err, -1, path, &w) == -1);
	TEST(strlen(err.text) == sizeof(err.text) - 1);
	return test_end();
}
