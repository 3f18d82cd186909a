/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ssh.h - a region on another machine: dta-dump serve there, by ssh, hands out
 * its bytes (query/far_wire.h).
 */
#ifndef PLACES_SSH_H
#define PLACES_SSH_H

#include <stdatomic.h>

#include "query/far.h"

struct ssh;

/*
 * Starts ssh HOST dta-dump serve REGION. Host and region reach a shell over
 * there: they must be plain. It never asks for a password, and gives up on a
 * machine that is silent, or when stop becomes true. host outlives it.
 */
int ssh_start(struct ssh **out, const char *host, const char *region,
	      const atomic_int *stop, struct fault *f);

/* Its memory, which takes s over, also when this fails. */
int ssh_memory(struct memory **out, struct ssh *s, struct fault *f);

#endif
