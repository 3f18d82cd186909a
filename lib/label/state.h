/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state.h - the database at rest, so that a controller that is started again
 * knows its ports, and what S they have.
 *
 * A file is whole or absent, and text: a line for each port, between "INTLABEL"
 * with a version and "end" with their number.
 */
#ifndef LABEL_STATE_H
#define LABEL_STATE_H

#include <stdio.h>

#include "base/fault.h"
#include "label/db.h"

/* 0, or -errno and why. */
int label_state_save(const char *path, struct label_db *db, struct fault *why);

/*
 * Into a database that has no ports yet. -ENOENT: there is no such file;
 * -ENOTSUP: of another version; -EBADMSG: damaged, or none of ours; -ENOSPC:
 * more ports than there is room for; -errno. The database has no ports then.
 */
int label_state_load(const char *path, struct label_db *db, struct fault *why);

/* The same of a stream. */
int label_state_read(FILE *f, struct label_db *db, struct fault *why);

#endif
