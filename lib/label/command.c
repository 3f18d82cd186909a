/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "label/hop.h"
#include "net/be.h"

enum {
	WORDS_MAX = 12,
};

void label_command_s(char buf[LABEL_COMMAND_MAX], uint16_t port, uint8_t s)
{
	snprintf(buf, LABEL_COMMAND_MAX, "register_write label_s %u %u", port,
		 s);
}

size_t label_command_flow(char buf[LABEL_COMMAND_MAX], const uint8_t *key,
			  size_t len, uint64_t period_us)
{
	bool v6 = len == KEY_FLOW6_LEN;
	size_t addr = v6 ? KEY_IP6_LEN : KEY_IP4_LEN;
	const uint8_t *rest = key + 2 * addr;
	char src[TEXT_IP_MAX], dst[TEXT_IP_MAX], words[LABEL_COMMAND_MAX / 2];

	snprintf(words, sizeof(words), "%s %s %u %u %u",
		 text_of_ip(src, v6 ? 6 : 4, key),
		 text_of_ip(dst, v6 ? 6 : 4, key + addr), rest[4],
		 be16_load(rest), be16_load(rest + 2));
	if (!period_us)
		return (size_t)snprintf(buf, LABEL_COMMAND_MAX,
					"table_delete_match label_flow%s %s",
					v6 ? "6" : "", words);
	return (size_t)snprintf(buf, LABEL_COMMAND_MAX,
				"table_add label_flow%s label_specific %s => "
				"%" PRIu64,
				v6 ? "6" : "", words, period_us);
}

/* SRC DST PROTOCOL SRC_PORT DST_PORT */
static int read_key(struct label_command *out, char *const *word)
{
	uint8_t addr[2][16], *rest;
	uint64_t proto, port[2];
	uint8_t version = text_ip(addr[0], word[0]);
	size_t len = version == 6 ? KEY_IP6_LEN : KEY_IP4_LEN;

	if (!version || text_ip(addr[1], word[1]) != version ||
	    !text_u64(&proto, word[2], UINT8_MAX) ||
	    !text_u64(&port[0], word[3], UINT16_MAX) ||
	    !text_u64(&port[1], word[4], UINT16_MAX))
		return -EINVAL;
	memcpy(out->key, addr[0], len);
	memcpy(out->key + len, addr[1], len);
	rest = out->key + 2 * len;
	be16_store(rest, (uint16_t)port[0]);
	be16_store(rest + 2, (uint16_t)port[1]);
	rest[4] = (uint8_t)proto;
	out->key_len = 2 * len + KEY_FLOW_REST;
	return 0;
}

int label_command_read(struct label_command *out, const char *line)
{
	char copy[LABEL_COMMAND_MAX], *word[WORDS_MAX], *rest = copy, *w;
	unsigned n = 0;
	uint64_t port, s;

	if (snprintf(copy, sizeof(copy), "%s", line) >= (int)sizeof(copy))
		return -EINVAL;
	while (n < WORDS_MAX && (w = strsep(&rest, " \t\r\n")))
		if (*w)
			word[n++] = w;
	if (n == 4 && !strcmp(word[0], "register_write") &&
	    !strcmp(word[1], "label_s") &&
	    text_u64(&port, word[2], UINT16_MAX) &&
	    text_u64(&s, word[3], LABEL_S_MAX)) {
		out->kind = LABEL_COMMAND_S;
		out->port = (uint16_t)port;
		out->s = (uint8_t)s;
		return 0;
	}
	if (n < 7 || (strcmp(word[1], "label_flow") != 0 &&
		      strcmp(word[1], "label_flow6") != 0))
		return -EINVAL;
	out->kind = LABEL_COMMAND_FLOW_DEL;
	if (n == 7 && !strcmp(word[0], "table_delete_match"))
		return read_key(out, word + 2);
	out->kind = LABEL_COMMAND_FLOW_ADD;
	if (n != 10 || strcmp(word[0], "table_add") != 0 ||
	    strcmp(word[2], "label_specific") != 0 ||
	    strcmp(word[8], "=>") != 0 ||
	    !text_u64(&out->period_us, word[9], UINT32_MAX) || !out->period_us)
		return -EINVAL;
	return read_key(out, word + 3);
}
