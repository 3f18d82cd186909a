/* SPDX-License-Identifier: BSD-2-Clause */
/* nack.c - the frames that tell a reporter where its sequence stands. */
#include "translate/private.h"

#include "reporters/answer.h"

void nack_send(struct translator *t, const struct net_udp *u, uint16_t table,
	       const struct pkt *p, uint16_t last, enum dta_nack_reason reason)
{
	struct dta_report answer = {
		.opcode = DTA_NACK,
		.hop = (uint8_t)reason,
		.table = table,
		.sequence = last,
	};
	int rc;

	if (!t->nacks)
		return;
	if (t->nacks_lock)
		pthread_mutex_lock(t->nacks_lock);
	rc = answer_send(t->nacks, u, p, is_dta0(u) ? t->format : DTA_FORMAT_1,
			 &answer);
	if (t->nacks_lock)
		pthread_mutex_unlock(t->nacks_lock);
	if (rc > 0)
		t->ctr.nacks_sent++;
	else if (rc < 0 && !t->error)
		t->error = rc;
}
