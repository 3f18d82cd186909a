/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - numbers and addresses in text: one parser and one printer each.
 *
 * A parser takes the whole text, and nothing else: no blank, no sign in front,
 * nothing behind. It writes *out only if it takes it. None looks at the locale.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	TEXT_MAC_MAX = 18,
	TEXT_IP_MAX = 46, /* of IPv6 with an IPv4 tail */
};

/*
 * Decimal digits at the beginning of a text. Returns what follows them; NULL
 * if there are none, or the number is above max.
 */
const char *text_digits(uint64_t *out, const char *text, uint64_t max);

/* "7"; and the same or "0x1f". */
bool text_u64(uint64_t *out, const char *text, uint64_t max);
bool text_number(uint64_t *out, const char *text, uint64_t max);

/*
 * How many of something, bytes too: "7", "10K", "1.5G", "1e6". K (or k), M, G
 * and T are powers of 1000; Ki, Mi, Gi and Ti are powers of 1024. A B may
 * follow either. The number must be whole. Returns 0, -EINVAL, or -ERANGE: a
 * number, but above 2^64 - 1.
 */
int text_size(uint64_t *out, const char *text);

/* "0.5", "1e3": finite, decimal, with a point. */
bool text_f64(double *out, const char *text);

/* 250us, 100ms, 5s, 1.5m, 2h, 1d; a bare number is seconds. In ns, below 2^63.
 */
bool text_duration_ns(uint64_t *out, const char *text);

/* One hexadecimal digit: 0 to 15, or -1. */
static inline int text_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Exactly len bytes as pairs of hexadecimal digits at the beginning of a text.
 * Returns what follows them; NULL: not so many. out may be the text. */
const char *text_hex(uint8_t *out, const char *text, size_t len);

/* "02:00:00:00:00:01" */
bool text_mac(uint8_t out[6], const char *text);

/* An IP address in network order, in the first 4 bytes or all 16. Returns its
 * version, 4 or 6; 0: it is none. */
uint8_t text_ip(uint8_t out[16], const char *text);

/* What makes a word the plural: "1 page", "2 pages". */
static inline const char *text_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Two digits a byte, without an end. Returns what follows them. */
static inline char *text_put_hex(char *out, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*out++ = digits[data[i] >> 4];
		*out++ = digits[data[i] & 15];
	}
	return out;
}

/*
 * HOST[:PORT]; an IPv6 address with a port stands in brackets. The host is
 * copied, without them; *port is what is behind the colon, in text, or NULL.
 * False: it is neither, or the host too long.
 */
bool text_host(char *host, size_t room, const char **port, const char *text);

/* Texts of addresses, in buf, which is returned. */
const char *text_of_mac(char buf[TEXT_MAC_MAX], const uint8_t mac[6]);
const char *text_of_ip(char buf[TEXT_IP_MAX], uint8_t version,
		       const uint8_t *ip);

/* Splits a line into words, as a shell does it: quotes, backslashes. In place.
 * Returns their number, or -1: a quote is not closed. */
int words_split(char *line, char **argv, int max);

/* Which of the words that there are was meant by a mistyped one. Set word; best
 * is NULL until a candidate is near enough. */
struct guess {
	const char *word, *best;
	unsigned far;
	char hint[64];
};

void guess_try(struct guess *g, const char *candidate);

/* "; did you mean BEST?" to end a message with, or "". In g. */
const char *guess_hint(struct guess *g);

/* The same, after the words up to a NULL. */
const char *guess_words(struct guess *g, const char *const *words);

/* Fields of a struct that are set by name and text: a table says of each what
 * its text may be and where it goes. */

enum field_form {
	FIELD_SIZE,   /* a number: "7", "10K" */
	FIELD_NUMBER, /* "7", "0x1f" */
	FIELD_NAME,   /* one of names, which stand for 0, 1, 2... */
	FIELD_MAC,    /* six bytes */
	FIELD_OTHER,  /* set() knows */
};

struct field {
	const char *name; /* NULL: the table ends */
	uint8_t form;	  /* enum field_form */
	uint8_t width;	  /* bytes of a number or name's: 1, 2, 4, 8 */
	uint16_t at;	  /* offset in the struct */
	uint64_t min, max;
	const char *const *names; /* up to a NULL; "" is none of them */
	/* What a value is not that is refused with -EINVAL; NULL: the reason is
	 * the form's, or set()'s. */
	const char *want;
	/* Returns 0 or -errno. */
	int (*set)(const struct field *field, void *object, const char *value,
		   struct error *err);
	uint32_t use; /* the caller's own */
};

/* The place of a name in a table, or -ENOENT. */
int field_find(const struct field *table, const char *name);

/* "; did you mean NAME?" for one that is not there, or "". In g. */
const char *field_hint(const struct field *table, const char *name,
		       struct guess *g);

/*
 * Sets a field of an object. A value that it may not have: "NAME: reason" in
 * err, and -EINVAL, or what set() returned; the object is as it was.
 */
int field_set(const struct field *field, void *object, const char *value,
	      struct error *err);

/* Notes the place of a field among those seen, up to 64. Whether it is the
 * first time. */
static inline bool field_once(uint64_t *seen, int place)
{
	uint64_t bit = UINT64_C(1) << place;
	bool first = !(*seen & bit);

	*seen |= bit;
	return first;
}

#endif
