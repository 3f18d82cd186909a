/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_target_ticket.c - what a translator must know of the device. */
#include <errno.h>
#include <string.h>

#include "base/zero.h"
#include "verbs/verbs_target_private.h"

static bool all_paired(const struct verbs_target *v)
{
	for (unsigned i = 0; v->o.peer && i < region_tables(v->region); i++)
		if (!v->pair[i].qp)
			return false;
	return true;
}

static void describe_pair(const struct verbs_target *v, struct ticket_table *at,
			  unsigned i)
{
	const struct verbs_pair *p = &v->pair[i];

	at->rkey = v->now.mr[i]->rkey;
	at->address = (uintptr_t)v->now.mr[i]->addr;
	if (!p->qp)
		return;
	at->qpn = p->qp->qp_num;
	at->psn = verbs_pair_psn(p);
	at->first_psn = p->first_psn;
	at->lasting = true;
}

int verbs_ticket_make(struct verbs_target *v, struct ticket *t, struct fault *f)
{
	int rc;

	*t = v->want;
	t->mtu = (uint16_t)v->mtu;
	t->atomics = verbs_pair_atomics(v);
	memcpy(t->ip, v->port.gid.raw + (t->version == 4 ? 12 : 0),
	       t->version == 4 ? 4 : 16);
	if (is_zero(t->mac, 6))
		memcpy(t->mac, v->port.mac, 6);
	if (!v->o.peer)
		memcpy(t->peer_ip, t->ip, 16);
	else if (is_zero(t->peer_mac, 6))
		verbs_peer_known(v, t->peer_mac);
	rc = ticket_of_region(t, v->region, f);
	if (rc < 0)
		return rc;
	if (t->epoch != v->now.epoch || !all_paired(v)) {
		ticket_fini(t);
		return fault_set(f, -EAGAIN, "%s: not ready yet", v->name);
	}
	for (unsigned i = 0; i < t->n; i++)
		describe_pair(v, &t->at[i], i);
	return 0;
}
