/* SPDX-License-Identifier: BSD-2-Clause */
/* settings.c - what the shell's set changes: defaults of the options of those
 * names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

const struct setting settings[SETTINGS] = {
	{"policy", "plurality"}, {"copies", "default"}, {"table", "by key"},
	{"epoch", "all"},	 {"output", "text"},	{"as", "hex"},
	{"partial", "no"},
};

static const struct cli_option *option_of(unsigned i)
{
	char name[16];

	snprintf(name, sizeof(name), "--%s", settings[i].name);
	return cli_find(&cli, name);
}

void settings_begin(struct shell *sh)
{
	for (unsigned i = 0; i < SETTINGS; i++) {
		char name[16];
		const char *text;

		snprintf(name, sizeof(name), "--%s", settings[i].name);
		text = cli_text(&cli, name);
		if (text)
			snprintf(sh->set[i], sizeof(sh->set[i]), "%s",
				 *text ? text : "yes");
	}
}

const char *setting_text(const struct shell *sh, unsigned i)
{
	return *sh->set[i] ? sh->set[i] : settings[i].normal;
}

int setting_change(struct shell *sh, unsigned i, const char *text,
		   struct fault *why)
{
	const struct cli_option *o = option_of(i);
	char *at = sh->set[i], before[SETTING_MAX];
	int rc;

	if (!text) {
		cli_unset(o, &sh->o);
		*at = '\0';
		return 0;
	}
	if (strlen(text) >= SETTING_MAX)
		return fault_set(why, -EINVAL, "is too long");
	memcpy(before, at, SETTING_MAX);
	snprintf(at, SETTING_MAX, "%s", text);
	rc = cli_set(o, &sh->o, at, why);
	if (rc < 0)
		memcpy(at, before, SETTING_MAX);
	return rc;
}
