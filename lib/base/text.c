/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - numbers and addresses; words of a line; which word was meant; fields
 * set by name. */
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

/* Refuses what strtod() takes and is no decimal number: inf, nan, 0x. */
static const char *parse_decimal(double *out, const char *text)
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

/* The factor that a suffix stands for; 0: there is no such suffix. */
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

int text_size(uint64_t *out, const char *text)
{
	double v;
	const char *end = parse_decimal(&v, text);
	uint64_t unit = end ? unit_of(end) : 0;

	if (text_u64(out, text, UINT64_MAX))
		return 0; /* exactly: a double has 53 bits only */
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

bool text_f64(double *out, const char *text)
{
	double v;
	const char *end = parse_decimal(&v, text);

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
	const char *end = parse_decimal(&v, text);

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

/* --- a line's words ------------------------------------------------------- */

/* Takes one word from *in, and its quotes off. -1: a quote is not closed. */
static int take_word(char **in, char *out)
{
	char *p = *in, quote = '\0';

	for (; *p && (quote || !strchr(" \t\r\n", *p)); p++) {
		if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else if (*p == '\\' && quote != '\'' && p[1])
			*out++ = *++p;
		else
			*out++ = *p;
	}
	if (quote)
		return -1;
	*in = p + (*p != '\0');
	*out = '\0';
	return 0;
}

int words_split(char *line, char **argv, int max)
{
	int n = 0;

	for (;;) {
		line += strspn(line, " \t\r\n");
		if (!*line || *line == '#')
			break;
		if (n == max)
			return -1;
		argv[n++] = line;
		/* A word is never longer than its text. */
		if (take_word(&line, argv[n - 1]) < 0)
			return -1;
	}
	argv[n] = NULL;
	return n;
}

/* --- which word was meant ------------------------------------------------- */

enum {
	WORD_MAX = 32, /* longer ones are not guessed */
};

static unsigned lesser(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How many letters to insert, delete, change or swap with a neighbour until one
 * word is the other (Damerau 1964; no letter is changed twice). */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= n; i++)
		d[i][0] = (unsigned)i;
	for (size_t k = 0; k <= m; k++)
		d[0][k] = (unsigned)k;
	for (size_t i = 1; i <= n; i++)
		for (size_t k = 1; k <= m; k++) {
			d[i][k] = lesser(lesser(d[i - 1][k], d[i][k - 1]) + 1,
					 d[i - 1][k - 1] +
						 (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				d[i][k] = lesser(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

void guess_try(struct guess *g, const char *candidate)
{
	size_t n = strlen(g->word), m = strlen(candidate);
	/* One slip in a short word, two in a longer one; or its beginning. */
	unsigned most = n < 3 ? 0 : n < 6 ? 1 : 2, d = 1;

	if (n > WORD_MAX || m > WORD_MAX)
		return;
	if (n < 2 || strncmp(candidate, g->word, n) != 0) {
		d = distance(g->word, n, candidate, m);
		if (d > most)
			return;
	}
	if (g->best && d >= g->distance)
		return;
	g->best = candidate;
	g->distance = d;
}

const char *guess_hint(struct guess *g)
{
	g->hint[0] = '\0';
	if (g->best)
		snprintf(g->hint, sizeof(g->hint), "; did you mean %s?",
			 g->best);
	return g->hint;
}

const char *guess_words(struct guess *g, const char *const *words)
{
	for (; *words; words++)
		guess_try(g, *words);
	return guess_hint(g);
}

/* --- fields set by name and text ------------------------------------------ */

int field_find(const struct field *table, const char *name)
{
	for (int i = 0; table[i].name; i++)
		if (!strcmp(name, table[i].name))
			return i;
	return -ENOENT;
}

const char *field_hint(const struct field *table, const char *name,
		       struct guess *g)
{
	*g = (struct guess){.word = name};
	for (; table->name; table++)
		guess_try(g, table->name);
	return guess_hint(g);
}

/* The index of a text among the field's names. */
static int name_of(uint64_t *out, const struct field *field, const char *text,
		   struct error *err)
{
	char list[128] = "";
	size_t len = 0;

	for (unsigned i = 0; field->names[i]; i++) {
		if (!*field->names[i])
			continue;
		if (!strcmp(text, field->names[i])) {
			*out = i;
			return 0;
		}
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len,
						" %s", field->names[i]);
	}
	return error_set(err, -EINVAL, "'%s' is none of%s", text, list);
}

static int number_of(uint64_t *out, const struct field *field, const char *text,
		     struct error *err)
{
	int rc = -ERANGE;

	if (field->form == FIELD_SIZE)
		rc = text_size(out, text);
	else if (text_number(out, text, UINT64_MAX))
		rc = 0;
	if (rc == -EINVAL)
		return error_set(err, rc, "'%s' is not a number", text);
	if (rc < 0 || *out < field->min || *out > field->max)
		return error_set(err, -EINVAL, "%s is not %llu to %llu", text,
				 (unsigned long long)field->min,
				 (unsigned long long)field->max);
	return 0;
}

static int set_checked(const struct field *field, void *object,
		       const char *text, struct error *err)
{
	uint64_t v = 0;
	int rc;

	switch (field->form) {
	case FIELD_OTHER:
		return field->set(field, object, text, err);
	case FIELD_MAC:
		return text_mac((uint8_t *)object + field->at, text) ? 0
								     : -EINVAL;
	case FIELD_NAME:
		rc = name_of(&v, field, text, err);
		break;
	default:
		rc = number_of(&v, field, text, err);
		break;
	}
	if (rc == 0)
		memcpy((char *)object + field->at,
		       field_low_bytes(&v, field->width), field->width);
	return rc;
}

int field_set(const struct field *field, void *object, const char *value,
	      struct error *err)
{
	struct error why = {""};
	int rc = set_checked(field, object, value, &why);

	if (rc == -EINVAL && field->want)
		return error_set(err, rc, "%s: '%.200s' is not %s", field->name,
				 value, field->want);
	return rc < 0 ? error_set(err, rc, "%s: %.400s", field->name, why.text)
		      : 0;
}
