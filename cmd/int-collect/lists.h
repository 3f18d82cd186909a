/* SPDX-License-Identifier: BSD-2-Clause */
/* lists.h - what there is to choose from, as rows on stdout; exit status. */
#ifndef INT_COLLECT_LISTS_H
#define INT_COLLECT_LISTS_H

#include "row/row.h"

int list_profiles(enum row_format fmt);
int list_fields(enum row_format fmt);

#endif
