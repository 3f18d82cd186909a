/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words.h - commands as Redis reads them (RESP): a command of so many words,
 * "*N\r\n", and its words, "$LENGTH\r\nBYTES\r\n".
 */
#ifndef REDIS_WORDS_H
#define REDIS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "row/outbuf.h"

static inline void redis_command(struct outbuf *o, uint32_t words)
{
	outbuf_char(o, '*');
	outbuf_u64(o, words);
	outbuf_bytes(o, "\r\n", 2);
}

static inline void redis_word(struct outbuf *o, const char *text, size_t len)
{
	outbuf_char(o, '$');
	outbuf_u64(o, len);
	outbuf_bytes(o, "\r\n", 2);
	outbuf_bytes(o, text, len);
	outbuf_bytes(o, "\r\n", 2);
}

/* The number of a line "*N\r\n" or "$N\r\n", and what follows it; NULL: what is
 * at p is none, or N is above 2^32. */
static inline const char *redis_count(uint64_t *n, char kind, const char *p,
				      const char *end)
{
	if (p == end || *p++ != kind)
		return NULL;
	for (*n = 0; p < end && *p >= '0' && *p <= '9' && !(*n >> 32); p++)
		*n = *n * 10 + (uint64_t)(*p - '0');
	return end - p >= 2 && p[0] == '\r' && p[1] == '\n' ? p + 2 : NULL;
}

/* Where the command at p ends; of what is none, end. */
static inline const char *redis_command_end(const char *p, const char *end)
{
	uint64_t words, len;

	p = redis_count(&words, '*', p, end);
	for (; p && words; words--) {
		p = redis_count(&len, '$', p, end);
		if (!p || len + 2 > (uint64_t)(end - p))
			return end;
		p += len + 2;
	}
	return p ? p : end;
}

/* Commands; with ask, each as one that was ASKED (send.h). */
static inline void redis_commands(struct outbuf *o, const char *p, size_t len,
				  bool ask)
{
	const char *end = p + len, *next;

	for (; ask && p < end; p = next) {
		next = redis_command_end(p, end);
		redis_command(o, 1);
		redis_word(o, "ASKING", 6);
		outbuf_bytes(o, p, (size_t)(next - p));
	}
	outbuf_bytes(o, p, (size_t)(end - p));
}

static inline void redis_text(struct outbuf *o, const char *text)
{
	redis_word(o, text, strlen(text));
}

#endif
