/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis_words.h - commands as Redis reads them (RESP; private to this room): a
 * command of so many words, and its words.
 */
#ifndef EXPORT_REDIS_WORDS_H
#define EXPORT_REDIS_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "export/private.h"

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

#endif
