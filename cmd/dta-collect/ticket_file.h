/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_file.h - where tickets go. */
#ifndef DTA_COLLECT_TICKET_FILE_H
#define DTA_COLLECT_TICKET_FILE_H

#include "op/ticket.h"

/* ticket_write(), or what makes something else of it. Returns 0 or -errno. */
typedef int ticket_writer(const struct ticket *t, FILE *out);

/*
 * Writes a ticket to a file, "-" is stdout: a file is replaced at once, so that
 * a translator reads the old one or the new one. Returns 0 or -errno.
 */
int ticket_put(const struct ticket *t, const char *path, ticket_writer *write);

/* Whether it could: 0 or -errno. NULL and "-" are fine. */
int ticket_can_put(const char *path);

#endif
