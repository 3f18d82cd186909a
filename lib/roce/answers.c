/* SPDX-License-Identifier: BSD-2-Clause */
/* answers.c - which packets are answers, and whose. */
#include "roce/requester_private.h"

static struct requester *find(struct roce_out *o, const struct roce *r)
{
	const struct ticket *t = o->t;
	size_t len = t->version == 4 ? 4 : 16;

	if (!o->windows || r->version != t->version ||
	    memcmp(r->src, t->ip, len) != 0 ||
	    memcmp(r->dst, t->peer_ip, len) != 0 ||
	    memcmp(r->eth_dst, t->peer_mac, 6) != 0)
		return NULL;
	for (unsigned i = 0; i < t->n; i++)
		if (o->pair[i].q.on && t->at[i].qpn == r->dest_qp)
			return &o->pair[i].q;
	return NULL;
}

static bool is_whole(const struct roce *r)
{
	return r->icrc_ok && !r->tver && (r->pkey & 0x7fff) == 0x7fff &&
	       (r->opcode == ROCE_RC_ACK || r->opcode == ROCE_RC_ATOMIC_ACK);
}

static int take(struct roce_out *const *roads, unsigned n, const struct roce *r)
{
	struct requester *q = NULL;
	struct pair *p;

	for (unsigned i = 0; i < n && !q; i++) {
		q = find(roads[i], r);
		if (!q)
			continue;
		p = (struct pair *)((char *)q - offsetof(struct pair, q));
		return requester_judge(roads[i], (unsigned)(p - roads[i]->pair),
				       r);
	}
	roads[0]->ctr.strangers++;
	return 0;
}

int roce_out_answers(struct roce_out *const *roads, unsigned n,
		     const struct pkt *pkts, size_t npkts, uint64_t now_ns)
{
	int rc = 0, one;

	for (unsigned i = 0; i < n; i++)
		roads[i]->now_ns = now_ns;
	for (const struct pkt *p = pkts; p < pkts + npkts; p++) {
		struct roce r;

		if (roce_decode(&r, p->data, p->len) < 0 || !is_whole(&r)) {
			roads[0]->ctr.malformed++;
			continue;
		}
		one = take(roads, n, &r);
		rc = rc ? rc : one;
	}
	return rc;
}

int roce_out_tick(struct roce_out *o, uint64_t now_ns)
{
	int rc = 0, one;

	o->now_ns = now_ns;
	for (unsigned i = 0; i < o->t->n; i++) {
		one = requester_tick(o, i);
		rc = rc ? rc : one;
	}
	return rc;
}
