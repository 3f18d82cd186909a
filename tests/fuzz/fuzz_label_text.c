/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first byte picks: a line of commands, which says the same when it is
 * written again; or a function of the policy.
 */
#include <stdlib.h>
#include <string.h>

#include "label/command.h"
#include "label/hop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_command(const char *text)
{
	char again[LABEL_COMMAND_MAX];
	struct label_command a, b;

	if (label_command_read(&a, text))
		return;
	if (a.kind == LABEL_COMMAND_S)
		label_command_s(again, a.port, a.s);
	else
		label_command_flow(
			again, a.key, a.key_len,
			a.kind == LABEL_COMMAND_FLOW_ADD ? a.period_us : 0);
	if (label_command_read(&b, again) || a.kind != b.kind)
		abort();
	if (a.kind == LABEL_COMMAND_S ? a.port != b.port || a.s != b.s
				      : memcmp(a.key, b.key, a.key_len) != 0)
		abort();
}

static void read_policy(const char *text)
{
	struct label_policy p = {.max_hop = 5, .interval_us = 50};
	struct error why;

	if (label_policy_f(&p, text, &why))
		return;
	for (unsigned i = 0; i < 20; i++) {
		double f = label_probability(&p, 0, i, 20);

		if (!(f >= 0 && f <= 1))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	if (!(text = malloc(size)))
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] % 4)
		read_command(text);
	else
		read_policy(text);
	free(text);
	return 0;
}
