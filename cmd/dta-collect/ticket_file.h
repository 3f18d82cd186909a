/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_file.h - where tickets go. */
#ifndef DTA_COLLECT_TICKET_FILE_H
#define DTA_COLLECT_TICKET_FILE_H

#include "op/ticket.h"

/*
 * Writes a ticket to a file, "-" is stdout: a file is replaced at once, so that
 * a translator reads the old one or the new one. Returns 0 or -errno.
 */
int ticket_put(const struct ticket *t, const char *path);

/* Whether it could: 0 or -errno. NULL and "-" are fine. */
int ticket_can_put(const char *path);

#endif
