/* SPDX-License-Identifier: BSD-2-Clause */
/* ears.h - hears the collector's answers, and rereads its ticket. */
#ifndef DTA_TRANSLATE_EARS_H
#define DTA_TRANSLATE_EARS_H

#include "target.h"

struct ears;

/* Turns on the road's window if there will be answers, else returns NULL,
 * which the others take. Exits if it cannot. */
struct ears *ears_open(struct target *g, const struct opts *o);

/*
 * Sends on what waits and takes in the answers that are there, waiting up to ms
 * for the first. Also rereads the ticket if it was asked to. 0 or -errno.
 */
int ears_listen(struct ears *e, int ms);

/* Waits until reports or answers are there, or it is time for something. */
void ears_wait(struct ears *e, const struct src *reports);

/* At the end: until all is confirmed, or there is no hope. */
int ears_finish(struct ears *e);

void ears_close(struct ears *e);

#endif
