/* SPDX-License-Identifier: BSD-2-Clause */
/* keytext.h - parses keys as people write them; finds the table they fit. */
#ifndef QUERY_KEYTEXT_H
#define QUERY_KEYTEXT_H

#include "base/error.h"
#include "region/table.h"
#include "net/key.h"

/*
 * Finds the one table of t[0 .. n) for which a text is a key: as it is; with
 * the table's protocol added; or without blanks, in lower case and with > for
 * ->. *loose: the text was changed so. Returns the table's index in t, with key
 * (KEY_MAX bytes) filled in; -EINVAL if there is none, -EEXIST if several. why:
 * "is no key of table flows (flow4, like 10.0.0.1:443>...), nor of ...: '77777'
 * is not a port from 0 to 65535".
 */
int query_key_pick(uint8_t *key, bool *loose, const struct table *const *t,
		   unsigned n, const char *text, struct error *why);

#endif
