/* SPDX-License-Identifier: BSD-2-Clause */
/* answer.h - the frame that tells a reporter where its sequence stands. */
#ifndef REPORTERS_ANSWER_H
#define REPORTERS_ANSWER_H

#include "packet/pkt.h"
#include "wire/dta.h"
#include "wire/net.h"

/* To the sender of u, which is in p. Returns the frames sent, 1 or 0, or
 * -errno. */
int answer_send(struct snk *to, const struct net_udp *u, const struct pkt *p,
		enum dta_format format, const struct dta_report *answer);

#endif
