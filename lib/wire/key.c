/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/key.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "wire/be.h"

enum {
	IP4 = 4,
	IP6 = 16,
	FLOW_REST = 5, /* two ports and the protocol */
	HOP_ID = 4,
	FLOW4_LEN = 2 * IP4 + FLOW_REST,
	FLOW6_LEN = 2 * IP6 + FLOW_REST,
};

static const struct {
	const char *name;
	uint8_t len;
} types[] = {
	[KEY_HEX] = {"hex", 0},
	[KEY_FLOW4] = {"flow4", FLOW4_LEN},
	[KEY_FLOW6] = {"flow6", FLOW6_LEN},
	[KEY_HOP4] = {"hop4", HOP_ID + FLOW4_LEN},
	[KEY_HOP6] = {"hop6", HOP_ID + FLOW6_LEN},
	[KEY_SRC4] = {"src4", IP4},
	[KEY_SRC6] = {"src6", IP6},
	[KEY_U32] = {"u32", 4},
};

/* IANA's protocol numbers; those that switches report. */
static const struct protocol {
	const char *name;
	uint8_t number;
} protocols[] = {
	{"tcp", 6},    {"udp", 17}, {"icmp", 1}, {"icmp6", 58},
	{"sctp", 132}, {"gre", 47}, {"esp", 50},
};

enum {
	PROTOCOLS = sizeof(protocols) / sizeof(protocols[0]),
};

const char *key_type_name(enum key_type t)
{
	return (unsigned)t < KEY_TYPES ? types[t].name : NULL;
}

int key_type_of(const char *name)
{
	for (int i = 0; i < KEY_TYPES; i++)
		if (!strcmp(name, types[i].name))
			return i;
	return -1;
}

size_t key_type_len(enum key_type t)
{
	return (unsigned)t < KEY_TYPES ? types[t].len : 0;
}

/*
 * Parsing. Each take_x() reads one thing at *s and steps over it, or returns
 * false. A number has no sign, no blank and no leading zero.
 */
static bool take_char(const char **s, char c)
{
	if (**s != c)
		return false;
	++*s;
	return true;
}

static bool take_number(const char **s, uint32_t max, uint32_t *out)
{
	const char *p = *s;
	unsigned digit = (unsigned)*p - '0';
	uint64_t v = digit;

	if (digit > 9)
		return false;
	while ((digit = (unsigned)*++p - '0') <= 9)
		if (!v || (v = v * 10 + digit) > max)
			return false;
	if (v > max)
		return false;
	*out = (uint32_t)v;
	*s = p;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Exactly len bytes. */
static bool take_hex(const char **s, uint8_t *out, size_t len)
{
	const char *p = *s;

	for (size_t i = 0; i < len; i++) {
		int high = hex_digit(p[0]);
		int low = high < 0 ? -1 : hex_digit(p[1]);

		if (low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
		p += 2;
	}
	*s = p;
	return true;
}

/* Decimal, or 0x and one to eight hexadecimal digits. */
static bool take_u32(const char **s, uint8_t *out)
{
	const char *p = *s;
	uint32_t v = 0;
	int digit, n = 0;

	if (p[0] == '0' && p[1] == 'x') {
		for (p += 2; (digit = hex_digit(*p)) >= 0; p++) {
			v = v << 4 | (uint32_t)digit;
			if (++n > 8)
				return false;
		}
		if (!n)
			return false;
		*s = p;
	} else if (!take_number(s, UINT32_MAX, &v)) {
		return false;
	}
	be32_store(out, v);
	return true;
}

static bool take_ip4(const char **s, uint8_t *out)
{
	uint32_t v;

	for (int i = 0; i < IP4; i++) {
		if (i && !take_char(s, '.'))
			return false;
		if (!take_number(s, UINT8_MAX, &v))
			return false;
		out[i] = (uint8_t)v;
	}
	return true;
}

static bool take_ip6(const char **s, uint8_t *out)
{
	char text[INET6_ADDRSTRLEN];
	size_t n = strspn(*s, "0123456789abcdefABCDEF:.");

	if (n >= sizeof(text))
		return false;
	memcpy(text, *s, n);
	text[n] = '\0';
	*s += n;
	return inet_pton(AF_INET6, text, out) == 1;
}

static bool take_address(const char **s, uint8_t *out, size_t len)
{
	if (len == IP4)
		return take_ip4(s, out);
	return take_char(s, '[') && take_ip6(s, out) && take_char(s, ']');
}

static bool take_port(const char **s, uint8_t *out)
{
	uint32_t v;

	if (!take_char(s, ':') || !take_number(s, UINT16_MAX, &v))
		return false;
	be16_store(out, (uint16_t)v);
	return true;
}

static bool take_protocol(const char **s, uint8_t *out)
{
	uint32_t v;

	for (int i = 0; i < PROTOCOLS; i++) {
		if (!strcmp(*s, protocols[i].name)) {
			*s += strlen(*s);
			*out = protocols[i].number;
			return true;
		}
	}
	if (!take_number(s, UINT8_MAX, &v))
		return false;
	*out = (uint8_t)v;
	return true;
}

static bool take_flow(const char **s, uint8_t *out, size_t address)
{
	uint8_t *ports = out + 2 * address;

	return take_address(s, out, address) && take_port(s, ports) &&
	       take_char(s, '>') && take_address(s, out + address, address) &&
	       take_port(s, ports + 2) && take_char(s, '/') &&
	       take_protocol(s, ports + 4);
}

static bool take_hop(const char **s, uint8_t *out, size_t address)
{
	return take_u32(s, out) && take_char(s, '@') &&
	       take_flow(s, out + HOP_ID, address);
}

static bool take_src6(const char **s, uint8_t *out)
{
	return **s == '[' ? take_address(s, out, IP6) : take_ip6(s, out);
}

static bool take_key(const char **s, enum key_type t, uint8_t *out, size_t len)
{
	switch (t) {
	case KEY_FLOW4:
		return take_flow(s, out, IP4);
	case KEY_FLOW6:
		return take_flow(s, out, IP6);
	case KEY_HOP4:
		return take_hop(s, out, IP4);
	case KEY_HOP6:
		return take_hop(s, out, IP6);
	case KEY_SRC4:
		return take_ip4(s, out);
	case KEY_SRC6:
		return take_src6(s, out);
	case KEY_U32:
		return take_u32(s, out);
	default:
		return take_hex(s, out, len);
	}
}

/* 0x and exactly the key's bytes: good for any type but u32. */
static bool is_hex(const char *text, enum key_type t, size_t len)
{
	return t != KEY_U32 && text[0] == '0' && text[1] == 'x' &&
	       strspn(text + 2, "0123456789abcdefABCDEF") == 2 * len &&
	       !text[2 + 2 * len];
}

int key_parse(uint8_t *out, enum key_type t, size_t len, const char *text)
{
	uint8_t key[KEY_MAX];

	if ((unsigned)t >= KEY_TYPES || !len || len > KEY_MAX ||
	    (types[t].len && types[t].len != len))
		return -EINVAL;
	if (is_hex(text, t, len)) {
		t = KEY_HEX;
		text += 2;
	}
	if (!take_key(&text, t, key, len) || *text)
		return -EINVAL;
	memcpy(out, key, len);
	return 0;
}

/*
 * Formatting. Each put_x() writes at p and returns where it ended.
 *
 * Numbers are written without branches: every digit is stored, and the place
 * moves on only once the number has begun, so that a leading zero is
 * overwritten by the next digit.
 */
static char *put_octet(char *p, unsigned v)
{
	*p = (char)('0' + v / 100);
	p += v >= 100;
	*p = (char)('0' + v / 10 % 10);
	p += v >= 10;
	*p = (char)('0' + v % 10);
	return p + 1;
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

static char *put_port(char *p, unsigned v)
{
	*p++ = ':';
	*p = (char)('0' + v / 10000);
	p += v >= 10000;
	*p = (char)('0' + v / 1000 % 10);
	p += v >= 1000;
	*p = (char)('0' + v / 100 % 10);
	p += v >= 100;
	*p = (char)('0' + v / 10 % 10);
	p += v >= 10;
	*p = (char)('0' + v % 10);
	return p + 1;
}

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static char *put_hex(char *p, const uint8_t *key, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*p++ = digits[key[i] >> 4];
		*p++ = digits[key[i] & 15];
	}
	return p;
}

static char *put_ip4(char *p, const uint8_t *a)
{
	for (int i = 0; i < IP4; i++) {
		p = put_octet(p, a[i]);
		*p++ = '.';
	}
	return p - 1;
}

static char *put_ip6(char *p, const uint8_t *a)
{
	inet_ntop(AF_INET6, a, p, INET6_ADDRSTRLEN);
	return p + strlen(p);
}

static char *put_address(char *p, const uint8_t *a, size_t len)
{
	if (len == IP4)
		return put_ip4(p, a);
	*p++ = '[';
	p = put_ip6(p, a);
	*p++ = ']';
	return p;
}

static char *put_protocol(char *p, uint8_t number)
{
	*p++ = '/';
	for (int i = 0; i < PROTOCOLS; i++)
		if (protocols[i].number == number)
			return put_text(p, protocols[i].name);
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

static char *put_hop(char *p, const uint8_t *key, size_t address)
{
	p = put_number(p, be32_load(key));
	*p++ = '@';
	return put_flow(p, key + HOP_ID, address);
}

static char *put_key(char *p, enum key_type t, const uint8_t *key, size_t len)
{
	switch (t) {
	case KEY_FLOW4:
		return put_flow(p, key, IP4);
	case KEY_FLOW6:
		return put_flow(p, key, IP6);
	case KEY_HOP4:
		return put_hop(p, key, IP4);
	case KEY_HOP6:
		return put_hop(p, key, IP6);
	case KEY_SRC4:
		return put_ip4(p, key);
	case KEY_SRC6:
		return put_ip6(p, key);
	case KEY_U32:
		return put_number(p, be32_load(key));
	default:
		return put_hex(p, key, len);
	}
}

size_t key_format(char *buf, enum key_type t, const uint8_t *key, size_t len)
{
	char *p = buf;

	if (len > KEY_MAX)
		len = KEY_MAX;
	if ((unsigned)t >= KEY_TYPES || (types[t].len && types[t].len != len)) {
		p = put_text(p, "0x"); /* not a key of that type */
		t = KEY_HEX;
	}
	p = put_key(p, t, key, len);
	*p = '\0';
	return (size_t)(p - buf);
}

size_t key_of_packet(uint8_t *out, const struct net_packet *p)
{
	size_t address = p->version == 4 ? IP4 : IP6;
	uint8_t *ports = out + 2 * address;

	memcpy(out, p->src, address);
	memcpy(out + address, p->dst, address);
	be16_store(ports, p->src_port);
	be16_store(ports + 2, p->dst_port);
	ports[4] = p->protocol;
	return 2 * address + FLOW_REST;
}
