/* SPDX-License-Identifier: BSD-2-Clause */
/* keytext.h - keys as people write them, and which table takes them. */
#ifndef QUERY_KEYTEXT_H
#define QUERY_KEYTEXT_H

#include "base/fault.h"
#include "store/table.h"
#include "wire/key.h"

/*
 * Finds the table that takes a key: exactly one of n must. Returns its number,
 * with key (KEY_MAX bytes) filled in; or -EINVAL: none does, or several do, and
 * why: "is no key of table flows (flow4, like 10.0.0.1:443>...), nor of ...".
 */
int keytext_pick(uint8_t *key, const struct table *const *t, unsigned n,
		 const char *text, struct fault *f);

#endif
