/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words.h - commands as Redis reads them (RESP): a command of so many words,
 * "*N\r\n", and its words, "$LENGTH\r\nBYTES\r\n".
 */
#ifndef REDIS_WORDS_H
#define REDIS_WORDS_H

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

static inline void redis_text(struct outbuf *o, const char *text)
{
	redis_word(o, text, strlen(text));
}

#endif
