/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_same.c - what a new ticket leaves as it was. */
#include <string.h>

#include "op/ticket.h"
#include "wire/roce.h"

static bool same_heads(const struct table *t, const uint64_t *a,
		       const uint64_t *b)
{
	return a && b ? !memcmp(a, b, t->lists * sizeof(*a)) : a == b;
}

static bool same_place(const struct ticket_table *a,
		       const struct ticket_table *b)
{
	return a->qpn == b->qpn && a->psn == b->psn &&
	       a->lasting == b->lasting && a->first_psn == b->first_psn &&
	       a->rkey == b->rkey && a->address == b->address;
}

bool ticket_is_same(const struct ticket *a, const struct ticket *b)
{
	if (a->version != b->version || a->mtu != b->mtu ||
	    a->atomics != b->atomics || a->epoch != b->epoch ||
	    memcmp(a->mac, b->mac, 6) || memcmp(a->peer_mac, b->peer_mac, 6) ||
	    memcmp(a->ip, b->ip, 16) || memcmp(a->peer_ip, b->peer_ip, 16))
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!same_place(&a->at[i], &b->at[i]) ||
		    !same_heads(&a->table[i], a->at[i].heads, b->at[i].heads))
			return false;
	return true;
}

/* A first PSN is random: another queue pair of that number has another. */
bool ticket_pair_lasts(const struct ticket *was, const struct ticket *now,
		       unsigned table)
{
	const struct ticket_table *a = &was->at[table], *b = &now->at[table];

	return a->lasting && b->lasting && a->first_psn == b->first_psn &&
	       a->qpn == b->qpn && was->version == now->version &&
	       !memcmp(was->ip, now->ip, 16);
}

/*
 * What is sent after the ticket was written is expected, too, by the time that
 * the ticket is read. But a PSN that cannot come behind the ticket's is wrong.
 */
uint32_t ticket_psn(const struct ticket *was, const struct ticket *now,
		    unsigned table, uint32_t next)
{
	uint32_t psn = now->at[table].psn;

	return ticket_pair_lasts(was, now, table) &&
			       ((next - psn) & ROCE_PSN_MASK) < ROCE_PSN_HALF
		       ? next
		       : psn;
}
