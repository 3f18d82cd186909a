/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first two bytes pick type and length; the rest is a text, and bytes. What
 * is parsed must come back from its text, and so must any bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "net/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const uint8_t *key, enum key_type t, size_t len)
{
	uint8_t again[KEY_MAX];
	char text[KEY_TEXT_MAX];
	size_t n = key_format(text, t, key, len);

	if (n >= sizeof(text) || n != strlen(text) ||
	    key_parse(again, t, len, text) || memcmp(again, key, len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t key[KEY_MAX];
	enum key_type t;
	size_t len;
	char *text;

	if (size < 2)
		return 0;
	t = (enum key_type)(data[0] % KEY_TYPES);
	len = key_type_len(t) ? key_type_len(t) : 1u + data[1] % KEY_MAX;
	data += 2;
	size -= 2;
	text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	if (!key_parse(key, t, len, text))
		round_trip(key, t, len);
	free(text);
	if (size >= len)
		round_trip(data, t, len);
	return 0;
}
