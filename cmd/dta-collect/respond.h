/* SPDX-License-Identifier: BSD-2-Clause */
/* respond.h - dta-collect as an RDMA target in software. */
#ifndef DTA_COLLECT_RESPOND_H
#define DTA_COLLECT_RESPOND_H

#include "options.h"

/* The region's ticket, with the addresses given. The caller frees it. */
void ticket_for(struct ticket *t, const struct opts *o, const struct region *r);

/* Carries out the packets of -r; exits on an error. */
void respond(struct opts *o, struct region *r);

#endif
