/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout_values.h - private to this room: the text of V, the set of values that
 * a postcard can carry.
 */
#ifndef STORE_LAYOUT_VALUES_H
#define STORE_LAYOUT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "store/table.h"

/* "file:PATH"? */
bool layout_values_is_file(const char *text);

/*
 * "MIN-MAX", or "1,2,7": sets value_min, value_max, and for a set values, its
 * size; *set (if wanted) gets it, sorted, malloc'ed. 0, -EINVAL or -ENOMEM.
 */
int layout_values_parse(uint32_t **set, struct table *t, const char *text,
			struct fault *f);

/*
 * The same from a file: one number a line; blank lines and what follows a # do
 * not count. path relative to the directory of the file base.
 */
int layout_values_load(uint32_t **set, struct table *t, const char *path,
		       const char *base, struct fault *f);

#endif
