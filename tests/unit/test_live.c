/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said about interfaces that are not there, and about filters. */
#include <errno.h>
#include <string.h>

#include "packet/live.h"
#include "test.h"

static void refused(const char *name, const char *filter, int rc,
		    const char *why)
{
	struct live_options o = {.filter = filter};
	struct error err = {0};
	struct src *s;

	if (!TEST(src_open_live(&s, name, &o, &err) == rc) ||
	    !TEST(!!strstr(err.text, why)))
		fprintf(stderr, "%s: %s\n", name, err.text);
}

int main(void)
{
	struct error err = {0};
	struct snk *k;

	refused("", NULL, -ENODEV, "no such interface");
	refused("no-such-if0", NULL, -ENODEV, "no-such-if0: no such interface");
	refused("a-name-that-is-too-long", NULL, -ENODEV, "no such interface");
	refused("lo", "udp and and", -EINVAL, "filter 'udp and and'");
	refused("lo", "tcp portt 5", -EINVAL, "filter 'tcp portt 5'");
	TEST(snk_open_live(&k, "no-such-if0", LIVE_AUTO, &err) == -ENODEV);
	return test_end();
}
