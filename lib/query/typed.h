/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * typed.h - values from text: what render.h shows, read back.
 *
 *	hex   pairs of digits, with or without 0x
 *	u8..  a number, decimal or 0x; fits its width
 *	u8s.. numbers with commas or blanks between them
 *	text  characters; \\ and \xNN as shown
 *	a key as key.h has it; what is behind it as +hex
 */
#ifndef QUERY_TYPED_H
#define QUERY_TYPED_H

#include "base/fault.h"
#include "query/show.h"

/*
 * Bytes of a text, in out. len: that many, zeros behind what a list or a text
 * has; 0: as many as the text has, cap at most. Returns their number, or
 * -EINVAL, and f is what is behind the text: "is above 255".
 */
int typed_read(const struct render *r, uint8_t *out, size_t len, size_t cap,
	       const char *text, struct fault *f);

#endif
