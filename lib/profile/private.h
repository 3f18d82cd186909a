/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what reading and writing profiles share. */
#ifndef PROFILE_PRIVATE_H
#define PROFILE_PRIVATE_H

#include "base/field.h"
#include "wire/int_profile.h"
#include "wire/proto.h"

/* The keys of [profile], in the order in which they are written; the first is
 * like, which is not. */
extern const struct field profile_keys[];

/* Units of time, ns; text NULL: the end. */
struct profile_unit {
	const char *text;
	uint32_t ns;
};

extern const struct profile_unit profile_units[];

/* The sections of words. */
struct profile_words {
	const char *section; /* NULL: the end */
	uint16_t at;	     /* in struct int_profile */
	uint8_t bits;
};

extern const struct profile_words profile_sections[];

/* "queue:1 occupancy:3 us" to a word. 0, or -EINVAL and why. */
int profile_word_parse(struct int_word *out, const char *text, struct fault *f);

#endif
