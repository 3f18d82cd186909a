/* SPDX-License-Identifier: BSD-2-Clause */
/* follow.h - list -f. */
#ifndef QUERY_FOLLOW_H
#define QUERY_FOLLOW_H

#include "entries.h"

/* New entries as they come, until a signal. The exit status. */
int entries_follow(struct entries *e);

#endif
