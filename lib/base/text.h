/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - numbers and addresses in text: one parser and one printer each.
 *
 * A parser takes the whole text, and nothing else: no blank, no sign in front,
 * nothing behind. It writes *out only if it takes it. None looks at the locale.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes, the NUL included. */
enum {
	TEXT_MAC_MAX = 18,
	TEXT_IP_MAX = 46, /* of IPv6 with an IPv4 tail */
};

/* Decimal digits at the beginning of a text. Returns what follows them; NULL
 * if there are none, or the number is above max. */
const char *text_digits(uint64_t *out, const char *text, uint64_t max);

bool text_u64(uint64_t *out, const char *text, uint64_t max); /* "7" */
/* "7" or "0x1f". */
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

/* 250us, 100ms, 5s, 1.5m, 2h, 1d; without a unit seconds. In ns, below 2^63. */
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
 * Returns what follows them; NULL: there are fewer. out may be the text. */
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

/* Writes two digits a byte, and no NUL. Returns where the next goes. */
static inline char *text_put_hex(char *out, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*out++ = digits[data[i] >> 4];
		*out++ = digits[data[i] & 15];
	}
	return out;
}

/* HOST[:PORT]; an IPv6 address with a port stands in brackets. The host is
 * copied, without them; *port points behind the colon in text, or is NULL.
 * False: text has not this form, or the host is too long. */
bool text_host(char *host, size_t room, const char **port, const char *text);

/* Texts of addresses, in buf, which is returned. */
const char *text_of_mac(char buf[TEXT_MAC_MAX], const uint8_t mac[6]);
const char *text_of_ip(char buf[TEXT_IP_MAX], uint8_t version,
		       const uint8_t *ip);

/* Splits a line into words in place, as a shell does it, up to a # or the end.
 * Returns their number; -1: above max, or a quote is not closed. A NULL follows
 * them in argv. */
int words_split(char *line, char **argv, int max);

/* Which of several words was meant by a mistyped one. Set word; best is NULL
 * until a candidate is near enough. */
struct guess {
	const char *word, *best;
	unsigned distance; /* from word to best, in letters to change */
	char hint[64];
};

void guess_try(struct guess *g, const char *candidate);

/* "; did you mean BEST?" to end a message with, or "". Returns g->hint. */
const char *guess_hint(struct guess *g);

/* The same, after guess_try() of each of the words, up to a NULL. */
const char *guess_words(struct guess *g, const char *const *words);

/* Fields of a struct that are set by name and text: a table says of each what
 * its text may be and where it goes. */

enum field_form {
	FIELD_SIZE,   /* a number: "7", "10K" */
	FIELD_NUMBER, /* "7", "0x1f" */
	FIELD_NAME,   /* one of names, which stand for 0, 1, 2... */
	FIELD_MAC,    /* six bytes */
	FIELD_OTHER,  /* what set() takes */
};

struct field {
	const char *name; /* NULL: the table ends */
	uint8_t form;	  /* enum field_form */
	uint8_t width;	  /* bytes of the integer in the struct: 1, 2, 4, 8 */
	uint16_t at;	  /* offset in the struct */
	uint64_t min, max;
	const char *const *names; /* up to a NULL; "": a number without one */
	/* "a MAC address": a value refused with -EINVAL "is not" that. NULL:
	 * the message gives the reason of the form, or of set(). */
	const char *want;
	/* Returns 0 or -errno. */
	int (*set)(const struct field *field, void *object, const char *value,
		   struct error *err);
	uint32_t use; /* the caller's own */
};

/* Where v has its low bytes, as many as an integer of that width. */
static inline void *field_low_bytes(uint64_t *v, size_t width)
{
	return (char *)v + (BYTE_ORDER == BIG_ENDIAN ? sizeof(*v) - width : 0);
}

/* The index of a name in a table, or -ENOENT. */
int field_find(const struct field *table, const char *name);

/* "; did you mean NAME?", in g, for a name that is not in a table; or "". */
const char *field_hint(const struct field *table, const char *name,
		       struct guess *g);

/* Sets a field of an object. Returns 0; for a value that it cannot have
 * -EINVAL, or what set() returned: "NAME: reason" is in err, the object as it
 * was. */
int field_set(const struct field *field, void *object, const char *value,
	      struct error *err);

/* Sets bit `index`, below 64, of seen. Returns whether it was 0 before. */
static inline bool field_once(uint64_t *seen, int index)
{
	uint64_t bit = UINT64_C(1) << index;
	bool first = !(*seen & bit);

	*seen |= bit;
	return first;
}

#endif
