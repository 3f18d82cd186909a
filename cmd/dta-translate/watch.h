/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - what the user is told while reports come in: rows of --stats, and
 * a warning when a collector does not acknowledge what is sent, once, and when
 * it does so again.
 */
#ifndef DTA_TRANSLATE_WATCH_H
#define DTA_TRANSLATE_WATCH_H

#include "target.h"

struct watch;

/* *t may be succeeded by another one; s: the reports. */
struct watch *watch_open(const struct opts *o, struct target *g,
			 struct translator *const *t, const struct src *s);

/* To be called once a batch, and while one waits. */
void watch_look(struct watch *w);

/*
 * The last row, behind all that will be sent, with the target still open.
 * Returns why nothing of what was sent was confirmed: a message, which stays;
 * NULL: something was, or nothing was sent, or nobody can tell.
 */
const char *watch_close(struct watch *w);

#endif
