/* SPDX-License-Identifier: BSD-2-Clause */
/* keyfault.h - keys as people write them, and where a text stops being one. */
#ifndef QUERY_KEYFAULT_H
#define QUERY_KEYFAULT_H

#include <stdbool.h>

#include "wire/key.h"

/*
 * A text without what people put in and makes no difference: blanks, capitals,
 * -> for >. at[i] is where out[i] was; both have room for so many. Returns its
 * length, 0 if there is no room.
 */
size_t keyfault_loosen(char *out, uint16_t *at, size_t room, const char *text);

/* Why a text is no key. */
struct key_fault {
	const char *part; /* of the text: where it stops being one */
	bool shell;	  /* where > would stand: perhaps a shell took it */
	char why[128];	  /* "port 77777: above 65535" */
};

/* For a (loosened) text that key_parse() refused; said: the same with its
 * capitals. Returns how much of it was right. */
size_t keyfault_explain(struct key_fault *f, enum key_type t, size_t len,
			const char *text, const char *said);

#endif
