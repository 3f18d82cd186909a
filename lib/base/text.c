/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)TEXT_IP_MAX == (int)INET6_ADDRSTRLEN, "inet_ntop()'s");

const char *text_digits(uint64_t *out, const char *text, uint64_t max)
{
	const char *p = text;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return NULL;
	if (p == text || v > max)
		return NULL;
	*out = v;
	return p;
}

bool text_u64(uint64_t *out, const char *text, uint64_t max)
{
	uint64_t v;
	const char *end = text_digits(&v, text, max);

	if (!end || *end)
		return false;
	*out = v;
	return true;
}

bool text_number(uint64_t *out, const char *text, uint64_t max)
{
	uint64_t v = 0;
	int digit;

	if (text[0] != '0' || text[1] != 'x' || !text[2])
		return text_u64(out, text, max);
	for (text += 2; *text; text++) {
		digit = text_hex_digit(*text);
		if (digit < 0 || v >> 60)
			return false;
		v = v << 4 | (uint64_t)digit;
	}
	if (v > max)
		return false;
	*out = v;
	return true;
}

/* What is no decimal number strtod() might take for one: inf, nan, 0x. */
static const char *decimal(double *out, const char *text)
{
	static locale_t plain;
	char *end;

	if (!*text || !strchr("0123456789.", *text) ||
	    (text[0] == '0' && (text[1] | 0x20) == 'x'))
		return NULL;
	if (!plain && !(plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
		return NULL;
	*out = strtod_l(text, &end, plain);
	return end > text && isfinite(*out) ? end : NULL;
}

/* What stands behind a number: 1, or a power of 1000 or 1024; 0: nothing that
 * is known. */
static uint64_t unit_of(const char *suffix)
{
	static const char letters[] = "KMGT";
	const char *letter = *suffix == 'k' ? letters
					    : strchr(letters, *suffix);
	uint64_t unit = 1, base = 1000;

	if (!*suffix)
		return 1;
	if (!letter)
		return 0;
	suffix++;
	if (*suffix == 'i') {
		base = 1024;
		suffix++;
	}
	if (*suffix && strcmp(suffix, "B") != 0)
		return 0;
	for (; letter >= letters; letter--)
		unit *= base;
	return unit;
}

/* "1.5G", "1e6" */
static int not_digits(uint64_t *out, const char *text)
{
	double v;
	const char *end = decimal(&v, text);
	uint64_t unit = end ? unit_of(end) : 0;

	if (!unit)
		return -EINVAL;
	v *= (double)unit;
	if (v >= 0x1p64)
		return -ERANGE;
	if (v != floor(v))
		return -EINVAL;
	*out = (uint64_t)v;
	return 0;
}

int text_size(uint64_t *out, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t unit = unit_of(text + digits), v;

	if (!digits || !unit)
		return not_digits(out, text);
	if (!text_digits(&v, text, UINT64_MAX / unit))
		return -ERANGE;
	*out = v * unit;
	return 0;
}

bool text_f64(double *out, const char *text)
{
	double v;
	const char *end = decimal(&v, text);

	if (!end || *end)
		return false;
	*out = v;
	return true;
}

bool text_duration_ns(uint64_t *out, const char *text)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = {
		{"", 1000000000},
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", 60 * UINT64_C(1000000000)},
		{"h", 3600 * UINT64_C(1000000000)},
		{"d", 86400 * UINT64_C(1000000000)},
	};
	double v;
	const char *end = decimal(&v, text);

	for (size_t i = 0; end && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		v *= (double)units[i].ns;
		if (v >= 0x1p63)
			return false;
		*out = (uint64_t)(v + 0.5);
		return true;
	}
	return false;
}

const char *text_hex(uint8_t *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++, text += 2) {
		int high = text_hex_digit(text[0]);
		int low = high < 0 ? -1 : text_hex_digit(text[1]);

		if (low < 0)
			return NULL;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return text;
}

bool text_mac(uint8_t out[6], const char *text)
{
	uint8_t mac[6];

	for (unsigned i = 0; i < 6; i++) {
		text = text_hex(&mac[i], text, 1);
		if (!text || *text != (i < 5 ? ':' : '\0'))
			return false;
		text++;
	}
	memcpy(out, mac, 6);
	return true;
}

uint8_t text_ip(uint8_t out[16], const char *text)
{
	bool six = strchr(text, ':');

	if (inet_pton(six ? AF_INET6 : AF_INET, text, out) != 1)
		return 0;
	return six ? 6 : 4;
}

const char *text_of_mac(char buf[TEXT_MAC_MAX], const uint8_t mac[6])
{
	snprintf(buf, TEXT_MAC_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	return buf;
}

const char *text_of_ip(char buf[TEXT_IP_MAX], uint8_t version,
		       const uint8_t *ip)
{
	return inet_ntop(version == 6 ? AF_INET6 : AF_INET, ip, buf,
			 TEXT_IP_MAX);
}

bool text_host(char *host, size_t room, const char **port, const char *text)
{
	const char *end = text + strlen(text), *colon;
	size_t len;

	if (*text == '[') {
		end = strchr(++text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		colon = end[1] ? end + 1 : NULL;
	} else {
		colon = strchr(text, ':');
		if (colon && strchr(colon + 1, ':'))
			colon = NULL; /* a bare IPv6 address */
		if (colon)
			end = colon;
	}
	len = (size_t)(end - text);
	if (!len || len >= room || (colon && !colon[1]))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	*port = colon ? colon + 1 : NULL;
	return true;
}
