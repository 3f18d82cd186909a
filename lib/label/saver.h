/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * saver.h - the database saved (state.h) while packets go on: a copy of it, as
 * it is at one time, is written by a thread of its own, in which all signals
 * are blocked. Making the copy is a matter of memory alone.
 */
#ifndef LABEL_SAVER_H
#define LABEL_SAVER_H

#include "base/fault.h"
#include "label/db.h"

struct label_saver;

/* To that path, which outlives it. 0 or -ENOMEM. */
int label_saver_open(struct label_saver **out, const char *path);
/* 0; -EBUSY: the one before is not ready; -ENOMEM, -EAGAIN: no thread. */
int label_saver_begin(struct label_saver *s, struct label_db *db);
/* -EAGAIN: nothing has ended since the last call. Else what came of it: 0, or
 * -errno and why. */
int label_saver_look(struct label_saver *s, struct fault *why);
/* Waits for what is under way. NULL is fine. */
void label_saver_close(struct label_saver *s);

#endif
