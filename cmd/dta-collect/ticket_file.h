/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_file.h - where tickets go. */
#ifndef DTA_COLLECT_TICKET_FILE_H
#define DTA_COLLECT_TICKET_FILE_H

#include "op/ticket.h"

struct ticket_form;
typedef int ticket_writer(const struct ticket *t,
			  const struct ticket_form *form, FILE *out);

/* Whether a switch can serve a ticket's tables: 0 or -EINVAL. */
typedef int ticket_checker(const struct ticket *t,
			   const struct ticket_form *form, struct fault *f);

/* How a ticket is written: as it is, or as what write() makes of it (bmv2.h,
 * tofino.h). */
struct ticket_form {
	ticket_writer *write;  /* NULL: ticket_write() */
	ticket_checker *check; /* where there is a write() */
	unsigned number, of;   /* of the collectors, or nodes on the way, this
				  one, from 0 */
	unsigned what;	       /* a node tells: its id, latency, queue */
};

/*
 * Writes a ticket to a file, "-" is stdout: a file is replaced at once, so that
 * a translator reads the old one or the new one. Returns 0 or -errno.
 */
int ticket_put(const struct ticket *t, const char *path,
	       const struct ticket_form *form);

/* Whether it could: 0 or -errno. NULL and "-" are fine. */
int ticket_can_put(const char *path);

#endif
