/* SPDX-License-Identifier: BSD-2-Clause */
/* keytext.h - parses keys as people write them, and finds the table they fit.
 */
#ifndef QUERY_KEYTEXT_H
#define QUERY_KEYTEXT_H

#include "base/error.h"
#include "region/table.h"
#include "net/key.h"

/*
 * Finds the table that a key fits: exactly one of n must fit, with the text as
 * it is, or without blanks and capitals and with > for ->. A flow without a
 * protocol has the table's.
 * Returns its number, with key (KEY_MAX bytes) filled in; -EINVAL: none does;
 * -EEXIST: several do; why: "is no key of table flows (flow4, like
 * 10.0.0.1:443>...), nor of ...: '77777' is not a port from 0 to 65535".
 * *loose: it was not as it is.
 */
int keytext_pick(uint8_t *key, bool *loose, const struct table *const *t,
		 unsigned n, const char *text, struct error *why);

#endif
