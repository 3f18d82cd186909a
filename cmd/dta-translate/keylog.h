/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keylog.h - the keys of reports, one a line: memory stores checksums in their
 * place, and who wants to list what is there must have them written down.
 *
 * A key is written when it is not the last one that was seen in its place of a
 * table: some come again, none is left out.
 */
#ifndef DTA_TRANSLATE_KEYLOG_H
#define DTA_TRANSLATE_KEYLOG_H

#include "packet/pkt.h"
#include "store/table.h"
#include "wire/dta.h"

struct keylog;

/* Exits if the file cannot be written. tables: n, which outlive it. */
struct keylog *keylog_open(const char *path, enum dta_format format,
			   const struct table *tables, unsigned n);
void keylog_rx(struct keylog *k, const struct pkt *pkts, size_t n);
/* What was written is there for others. */
void keylog_flush(struct keylog *k);
/* NULL is fine. Returns 0 or -errno of the file. */
int keylog_close(struct keylog *k);

#endif
