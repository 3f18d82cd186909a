/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - sets of names as values of options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/option.h"

/* Which name a word is; -EINVAL, and why says all of them. */
static int find(const char *word, const char *(*name)(unsigned),
		struct fault *why)
{
	char all[256] = "";
	size_t len = 0;
	unsigned i;

	for (i = 0; name(i); i++) {
		if (!strcmp(word, name(i)))
			return (int)i;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s, ",
					name(i));
	}
	return fault_set(why, -EINVAL, "names '%s': it is none of %sall, none",
			 word, all);
}

int cli_names(unsigned *set, const char *text, const char *(*of)(unsigned),
	      unsigned all, struct fault *why)
{
	char buf[256], *rest = buf, *name;
	unsigned found = 0;

	if (!text || !strcmp(text, "all") || !strcmp(text, "none")) {
		*set = text && text[0] == 'n' ? 0 : all;
		return 0;
	}
	if (strlen(text) >= sizeof(buf))
		return fault_set(why, -EINVAL, "is too long");
	memcpy(buf, text, strlen(text) + 1);
	while ((name = strsep(&rest, ","))) {
		int i = find(name, of, why);

		if (i < 0)
			return i;
		found |= 1U << i;
	}
	*set = found;
	return 0;
}

void cli_one_kind(unsigned kinds)
{
	if (kinds & (kinds - 1))
		cli_refuse("-o csv: a header is that of one kind of row: name "
			   "one with --rows, or have a file of each with -x "
			   "'file:%%m.csv?format=csv'");
}
