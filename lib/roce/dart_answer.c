/* SPDX-License-Identifier: BSD-2-Clause */
/* dart_answer.c - what collectors answer to a DART switch. */
#include <string.h>

#include "roce/dart_out_private.h"
#include "wire/be.h"

enum {
	OLD_NEWS = 1 << 16, /* packets after which a NAK counts again */
};

/* PSNs come round: what was heard half of them ago says nothing any more. */
void dart_forget(struct heard *h, uint32_t psn)
{
	if (((psn - h->from) & ROCE_PSN_MASK) < ROCE_PSN_HALF)
		return;
	h->from = (psn - ROCE_PSN_HALF) & ROCE_PSN_MASK;
	h->back = false;
}

/* Whose answer it is: answers come to the number of the pair that was written
 * to (ticket.h). */
static struct dart_state *state_of(struct dart_out *o, const struct roce *r)
{
	for (unsigned i = 0; i < o->n * o->ncommon; i++) {
		struct dart_state *st = &o->state[i];

		if (!memcmp(st->ip, r->src, 4) &&
		    be24_load(st->qpn) == r->dest_qp)
			return st;
	}
	return NULL;
}

/* All up to that PSN, which was sent, were executed. */
static void hear_ack(struct heard *h, uint32_t next, uint32_t acked)
{
	uint32_t sent = (next - h->from) & ROCE_PSN_MASK;

	if (((acked - h->from) & ROCE_PSN_MASK) >= sent)
		return;
	h->from = (acked + 1) & ROCE_PSN_MASK;
	h->back = false;
}

/* Whether a NAK tells what was not known: that all from psn on is lost. */
static bool hear_nak(struct heard *h, uint32_t next, uint32_t psn)
{
	uint32_t sent = (next - h->from) & ROCE_PSN_MASK;
	uint32_t on = (psn - h->from) & ROCE_PSN_MASK;

	if (on >= sent || (!on && h->back && sent < OLD_NEWS))
		return false;
	h->from = psn;
	h->back = true;
	return true;
}

bool dart_out_answer(struct dart_out *o, const struct pkt *p)
{
	struct dart_state *st;
	struct heard *h;
	struct roce r;
	uint32_t next, lost;

	if (roce_decode(&r, p->data, p->len) < 0 || !r.icrc_ok ||
	    r.version != 4 || !(st = state_of(o, &r)))
		return false;
	h = &o->heard[st - o->state];
	next = be24_load(st->psn);
	if (r.opcode == ROCE_RC_ACK && r.syndrome == ROCE_ACK)
		hear_ack(h, next, r.psn);
	if (r.opcode != ROCE_RC_ACK || r.syndrome != ROCE_NAK_PSN)
		return true;
	lost = (next - r.psn) & ROCE_PSN_MASK;
	/* About what never was sent, or was known before. */
	if (lost > o->ctr.packets - o->ctr.lost || !hear_nak(h, next, r.psn))
		return true;
	be24_store(st->psn, r.psn);
	o->ctr.lost += lost;
	o->ctr.resyncs++;
	return true;
}
