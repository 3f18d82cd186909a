/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_private.h - what reading keys alone and by shares has in common. */
#ifndef READING_KEYS_PRIVATE_H
#define READING_KEYS_PRIVATE_H

#include "reading/keys.h"

/* The header tells which column is meant: by its name, or its number. Exits if
 * it does not. */
void keys_find_column(struct keys *k, const char *line);
/* A line that is no key. */
void keys_warn(const struct keys *k, uint64_t number, const char *text,
	       const struct fault *why);
/* Exits: the file cannot be read, behind so many lines. */
void keys_fail(const struct keys *k, uint64_t number, int error);

#endif
