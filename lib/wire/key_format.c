/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <string.h>

#include "base/text.h"
#include "wire/be.h"
#include "wire/key.h"
#include "wire/key_private.h"

/*
 * Formatting. Each put_x() writes at p and returns where it ended. It may write
 * up to seven bytes further, which the next one overwrites: a number's digits
 * are put together in a word, first digit lowest, its leading zeros are shifted
 * out, and the word is stored whole. No branch depends on the number.
 */
static void put_word(char *p, uint64_t word)
{
	word = htole64(word);
	memcpy(p, &word, sizeof(word));
}

/* With a dot behind it, not counted. */
static char *put_octet(char *p, unsigned v)
{
	unsigned n = 1 + (v > 9) + (v > 99);
	uint32_t word = v / 100 | v / 10 % 10 << 8 | v % 10 << 16;

	put_word(p, (word | 0x2e303030) >> 8 * (3 - n));
	return p + n;
}

static char *put_port(char *p, unsigned v)
{
	unsigned n = 1 + (v > 9) + (v > 99) + (v > 999) + (v > 9999);
	unsigned high = v / 1000, low = v % 1000;
	uint64_t word = high / 10 | high % 10 << 8 | low / 100 << 16 |
			low / 10 % 10 << 24 | (uint64_t)(low % 10) << 32;

	*p++ = ':';
	put_word(p, (word | 0x3030303030) >> 8 * (5 - n));
	return p + n;
}

static char *put_number(char *p, uint32_t v)
{
	for (uint32_t unit = 1000000000; unit > 1; unit /= 10) {
		*p = (char)('0' + v / unit % 10);
		p += v >= unit;
	}
	*p = (char)('0' + v % 10);
	return p + 1;
}

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static char *put_ip4(char *p, const uint8_t *a)
{
	for (int i = 0; i < KEY_IP4_LEN; i++)
		p = put_octet(p, a[i]) + 1;
	return p - 1;
}

static char *put_ip6(char *p, const uint8_t *a)
{
	text_of_ip(p, 6, a);
	return p + strlen(p);
}

static char *put_address(char *p, const uint8_t *a, size_t len)
{
	if (len == KEY_IP4_LEN)
		return put_ip4(p, a);
	*p++ = '[';
	p = put_ip6(p, a);
	*p++ = ']';
	return p;
}

static char *put_protocol(char *p, uint8_t number)
{
	*p++ = '/';
	for (int i = 0; i < KEY_PROTOCOLS; i++) {
		if (key_protocols[i].number == number) {
			memcpy(p, key_protocols[i].name,
			       sizeof(key_protocols[i].name));
			return p + key_protocols[i].len;
		}
	}
	return put_octet(p, number);
}

static char *put_flow(char *p, const uint8_t *key, size_t address)
{
	const uint8_t *ports = key + 2 * address;

	p = put_port(put_address(p, key, address), be16_load(ports));
	*p++ = '>';
	p = put_port(put_address(p, key + address, address),
		     be16_load(ports + 2));
	return put_protocol(p, ports[4]);
}

const char *key_protocol_text(char buf[KEY_PROTOCOL_MAX], uint8_t protocol)
{
	char text[32]; /* it is written in words, the / before it */
	size_t n = (size_t)(put_protocol(text, protocol) - text) - 1;

	memcpy(buf, text + 1, n);
	buf[n] = '\0';
	return buf;
}

static char *put_hop(char *p, const uint8_t *key, size_t address)
{
	p = put_number(p, be32_load(key));
	*p++ = '@';
	return put_flow(p, key + KEY_HOP_ID, address);
}

static char *put_key(char *p, enum key_type t, const uint8_t *key, size_t len)
{
	switch (t) {
	case KEY_FLOW4:
		return put_flow(p, key, KEY_IP4_LEN);
	case KEY_FLOW6:
		return put_flow(p, key, KEY_IP6_LEN);
	case KEY_HOP4:
		return put_hop(p, key, KEY_IP4_LEN);
	case KEY_HOP6:
		return put_hop(p, key, KEY_IP6_LEN);
	case KEY_SRC4:
		return put_ip4(p, key);
	case KEY_SRC6:
		return put_ip6(p, key);
	case KEY_U32:
		return put_number(p, be32_load(key));
	default:
		return text_put_hex(p, key, len);
	}
}

size_t key_format(char *buf, enum key_type t, const uint8_t *key, size_t len)
{
	char *p = buf;

	if (len > KEY_MAX)
		len = KEY_MAX;
	if ((unsigned)t >= KEY_TYPES ||
	    (key_type_len(t) && key_type_len(t) != len)) {
		p = put_text(p, "0x"); /* not a key of that type */
		t = KEY_HEX;
	}
	p = put_key(p, t, key, len);
	*p = '\0';
	return (size_t)(p - buf);
}
