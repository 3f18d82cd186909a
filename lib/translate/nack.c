/* SPDX-License-Identifier: BSD-2-Clause */
/* nack.c - the frames that tell a reporter where its sequence stands. */
#include "translate/private.h"

#include <errno.h>

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
	size_t hlen = answer_len(u, 0);
	uint8_t *buf;
	int len;

	if (!t->nacks)
		return;
	buf = snk_room(t->nacks, ANSWER_MAX);
	if (!buf) {
		if (!t->error)
			t->error = errno ? -errno : -EIO;
		return;
	}
	len = dta_encode(buf + hlen, ANSWER_MAX - hlen,
			 is_dta0(u) ? t->format : DTA_FORMAT_1, &answer);
	if (len < 0)
		return;
	answer_encode(buf, u, p->data, (size_t)len);
	snk_done(t->nacks, answer_len(u, (size_t)len), p->ts_ns);
	t->ctr.nacks_sent++;
}
