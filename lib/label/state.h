/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state.h - the database at rest, so that a controller that is started again
 * knows its ports, and what S they have.
 *
 * A file is whole or absent. It begins with "INTLABEL" and a version; numbers
 * are in network order; a CRC-32C of all before it is at the end.
 */
#ifndef LABEL_STATE_H
#define LABEL_STATE_H

#include "base/fault.h"
#include "label/db.h"

/* Whether a file can be saved there: 0, or -errno and why. */
int label_state_check(const char *path, struct fault *why);

/* 0, or -errno and why. */
int label_state_save(const char *path, struct label_db *db, struct fault *why);

/*
 * Into a database that has no ports yet. -ENOENT: there is no such file;
 * -ENOTSUP: of another version; -EBADMSG: damaged, or none of ours; -ENOSPC:
 * more ports than there is room for; -errno. The database has no ports then.
 */
int label_state_load(const char *path, struct label_db *db, struct fault *why);

/* The same of a file's bytes. */
int label_state_take(const uint8_t *data, size_t len, struct label_db *db,
		     struct fault *why);

#endif
