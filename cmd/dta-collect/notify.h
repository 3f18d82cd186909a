/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notify.h - tells of immediates: a row each.
 *
 * Whoever wrote them: the software responder, a device, or a translator of
 * another process. A region remembers the last REGION_IMMEDIATES; what was
 * overwritten before it could be told is counted as missed.
 */
#ifndef DTA_COLLECT_NOTIFY_H
#define DTA_COLLECT_NOTIFY_H

#include "options.h"

struct notify;

/* Tells of what comes from now on. NULL if the options ask for nothing. */
struct notify *notify_open(const struct opts *o, struct region *r);

/* Tells what there is; never waits. NULL is fine. */
void notify_tell(struct notify *n);

/* Waits for notifications, and tells, until a signal comes. */
void notify_run(struct notify *n);

/* Prints the ledger. */
void notify_report(const struct notify *n);

/* Tells the rest, lets the command end. NULL is fine. */
void notify_close(struct notify *n);

#endif
