/* SPDX-License-Identifier: BSD-2-Clause */
#include "bmv2/entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t bmv2_entry_ask(char buf[LABEL_COMMAND_MAX], const uint8_t *key,
		      size_t len)
{
	char line[LABEL_COMMAND_MAX];

	label_command_flow(line, key, len, 0);
	/* Its words are the table and the key. */
	return (size_t)snprintf(buf, LABEL_COMMAND_MAX,
				"table_dump_entry_from_key%s",
				strchr(line, ' '));
}

int bmv2_entry_handle(uint32_t *handle, const char *answer)
{
	const char *at = strstr(answer, "Dumping entry 0x");

	if (!at)
		return strstr(answer, "BAD_MATCH_KEY") ? -ENOENT : -EPROTO;
	return sscanf(at, "Dumping entry %" SCNx32, handle) == 1 ? 0 : -EPROTO;
}

size_t bmv2_entry_change(char buf[LABEL_COMMAND_MAX], size_t key_len,
			 uint32_t handle, uint64_t period_us)
{
	const char *six = key_len == KEY_FLOW6_LEN ? "6" : "";

	if (!period_us)
		return (size_t)snprintf(buf, LABEL_COMMAND_MAX,
					"table_delete label_flow%s %" PRIu32,
					six, handle);
	return (size_t)snprintf(buf, LABEL_COMMAND_MAX,
				"table_modify label_flow%s label_specific "
				"%" PRIu32 " => %" PRIu64,
				six, handle, period_us);
}

const char *bmv2_refused(const char *answer, size_t *len)
{
	static const char *const words[] = {"Invalid", "Unknown syntax",
					    "Error"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(answer, words[i]);

		if (at) {
			*len = strcspn(at, "\n");
			return at;
		}
	}
	return NULL;
}
