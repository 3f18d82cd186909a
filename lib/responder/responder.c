/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The software responder: takes batches of packets, decodes and screens them,
 * and hands the good ones to their queue pairs (pair.c).
 */
#include "responder/responder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "responder/pair.h"
#include "wire/net.h"

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct responder_ledger, received, LEDGER_IN),
	LEDGER_FIELD(struct responder_ledger, executed, LEDGER_DONE),
	LEDGER_FIELD(struct responder_ledger, duplicate, LEDGER_HARMLESS),
	LEDGER_FIELD(struct responder_ledger, foreign, LEDGER_HARMLESS),
	LEDGER_FIELD(struct responder_ledger, malformed, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_icrc, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_pkey, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_tver, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_opcode, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_qp, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, bad_peer, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, qp_error, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, out_of_order, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, old_epoch, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, invalid, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, access, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, rnr, LEDGER_LOSS),
	LEDGER_FIELD(struct responder_ledger, writes, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, atomics, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, immediates, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, bytes, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, acks, LEDGER_NOTE),
	LEDGER_FIELD(struct responder_ledger, naks, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct responder_ledger);

const struct ledger responder_ledger = {
	.stage = "responder",
	.unit = "packets",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

/* Without a look at it: others may act on it meanwhile. */
static struct queue_pair *find_qp(struct responder *p, uint32_t qpn)
{
	const struct ticket *t = &p->s->t;
	uint32_t guess = qpn - t->at[0].qpn; /* they are numbered in a row */

	if (guess < t->n && t->at[guess].qpn == qpn)
		return &p->s->qp[guess];
	for (unsigned i = 0; i < t->n; i++)
		if (t->at[i].qpn == qpn)
			return &p->s->qp[i];
	return NULL;
}

static bool from_peer(const struct responder *p, const struct roce *r)
{
	return p->o.any_peer ||
	       (r->version == p->s->t.version &&
		!memcmp(r->src, p->s->t.peer_ip, r->version == 4 ? 4 : 16));
}

static void note_stranger(struct responder *p, const struct roce *r)
{
	p->ctr.bad_peer++;
	if (p->strange_version)
		return;
	p->strange_version = r->version;
	memcpy(p->strange_ip, r->src, sizeof(r->src));
}

static bool to_us(const struct responder *p, const struct roce *r)
{
	return r->version == p->s->t.version &&
	       !memcmp(r->dst, p->s->t.ip, r->version == 4 ? 4 : 16);
}

/* Counts a packet that roce_decode() did not take. */
static void not_decoded(struct responder_ledger *ctr, const struct pkt *pkt,
			int rc)
{
	struct net_udp u;

	if (rc != -ENOTSUP)
		ctr->malformed++;
	else if (net_udp_decode(&u, pkt->data, pkt->len) ||
		 u.dst_port != ROCE_PORT ||
		 (u.version == 6 &&
		  u.payload != u.ip + NET_IP6_LEN + NET_UDP_LEN))
		ctr->foreign++;
	else
		ctr->bad_opcode++; /* RoCEv2, but none of ours */
}

/* What can be said of a packet without knowing what came before it. */
static struct queue_pair *screen(struct responder *p, const struct roce *r)
{
	struct responder_ledger *ctr = &p->ctr;
	struct queue_pair *q = find_qp(p, r->dest_qp);

	if (!r->icrc_ok)
		ctr->bad_icrc++;
	else if (memcmp(r->eth_dst, p->s->t.mac, 6) != 0)
		ctr->foreign++;
	else if ((r->pkey & 0x7fff) != 0x7fff)
		ctr->bad_pkey++;
	else if (r->tver)
		ctr->bad_tver++;
	else if (!q)
		ctr->bad_qp++;
	else if (is_answer(r->opcode) ||
		 is_rc(r->opcode) != p->s->rc[q - p->s->qp])
		ctr->bad_opcode++;
	else if (!from_peer(p, r))
		note_stranger(p, r);
	else if (!to_us(p, r))
		ctr->foreign++;
	else
		return q;
	return NULL;
}

/* Who was known to whom is over. */
static void follow_pairs(struct responder *p)
{
	if (p->made == p->s->made)
		return;
	p->made = p->s->made;
	memset(&p->known, 0, sizeof(p->known));
	memset(p->to, 0, sizeof(p->to));
}

/* Packets that are known by nothing, in a row. */
static void look_closely(struct responder *p, const struct pkt *pkts,
			 unsigned n, struct roce *seen,
			 struct queue_pair **whose)
{
	const uint8_t *frames[ROCE_BATCH];
	uint32_t lens[ROCE_BATCH], taken;
	unsigned last = n;

	for (unsigned i = 0; i < n; i++) {
		frames[i] = pkts[i].data;
		lens[i] = pkts[i].len;
	}
	taken = n ? roce_decode_batch(seen, frames, lens, n) : 0;
	for (unsigned i = 0; i < n; i++) {
		struct queue_pair *q = NULL;
		int rc = 0;

		if (!(taken >> i & 1))
			rc = roce_decode(&seen[i], pkts[i].data, pkts[i].len);
		if (rc < 0)
			not_decoded(&p->ctr, &pkts[i], rc);
		else
			q = screen(p, &seen[i]);
		whose[i] = q;
	}
	/* One of them: what never comes again costs little. */
	while (last && !(whose[last - 1] && taken >> (last - 1) & 1))
		last--;
	if (last--)
		known_learn(&p->known, &pkts[last], &seen[last], whose[last]);
}

void responder_look(struct responder *p, const struct pkt *pkts, unsigned n,
		    struct roce *seen, struct queue_pair **whose)
{
	uint32_t known;
	unsigned end;

	follow_pairs(p);
	known = known_take(&p->known, pkts, n, seen, whose);
	p->ctr.received += n;
	for (unsigned i = 0; i < n; i = end) {
		end = i + 1;
		if (known >> i & 1) {
			p->ctr.bad_icrc += !whose[i];
			continue;
		}
		while (end < n && !(known >> end & 1))
			end++;
		look_closely(p, pkts + i, end - i, seen + i, whose + i);
	}
}

/* Of several who look, the first in the packets' order counts. */
static void take_stranger(struct responder *p)
{
	struct responder_state *s = p->s;

	if (p->strange_version && !s->stranger.version) {
		s->stranger.version = p->strange_version;
		memcpy(s->stranger.ip, p->strange_ip, sizeof(p->strange_ip));
	}
	p->strange_version = 0;
}

int responder_act(struct responder *p, const struct pkt *pkts, unsigned n,
		  const struct roce *seen, struct queue_pair *const *whose)
{
	int rc = 0, one;

	take_stranger(p);
	for (unsigned i = 0; i < n; i++) {
		if (!whose[i])
			continue;
		p->ts_ns = pkts[i].ts_ns;
		one = pair_rx(p, whose[i], &seen[i]);
		rc = rc ? rc : one;
	}
	return rc;
}

/* A new epoch has new places and new R_Keys; queue pairs stay. */
static void follow_epoch(struct responder *p, uint64_t epoch)
{
	struct ticket_table at;

	if (epoch == p->s->epoch)
		return;
	for (unsigned i = 0; i < p->s->t.n; i++) {
		ticket_place(&at, p->region, i, epoch);
		p->s->qp[i].rkey = at.rkey;
		p->s->qp[i].address = at.address;
	}
	p->s->epoch = epoch;
}

void responder_begin(struct responder *p)
{
	struct road *road = local_road(p->local);

	follow_epoch(p, road->begin(road));
}

/* Whatever the answers' sink says, every packet is judged and counted. */
int responder_rx(struct responder *p, const struct pkt *pkts, size_t n)
{
	struct road *road = local_road(p->local);
	int rc = 0, some;

	responder_begin(p);
	for (size_t at = 0; at < n; at += ROCE_BATCH) {
		size_t left = n - at;
		unsigned m = left < ROCE_BATCH ? (unsigned)left : ROCE_BATCH;

		responder_look(p, pkts + at, m, p->seen, p->whose);
		some = responder_act(p, pkts + at, m, p->seen, p->whose);
		rc = rc ? rc : some;
		some = p->asks ? pair_flush_asked(p) : 0;
		rc = rc ? rc : some;
	}
	some = pair_flush(p);
	rc = rc ? rc : some;
	road->end(road);
	some = pair_answer(p);
	return rc ? rc : some;
}

/* The ticket says what the region says, or offsets would be another table's. */
static int check_ticket(const struct region *r, const struct ticket *t,
			struct fault *f)
{
	if (t->n != region_tables(r))
		return fault_set(f, -EINVAL,
				 "the ticket has %u tables, the region %u",
				 t->n, region_tables(r));
	for (unsigned i = 0; i < t->n; i++)
		if (t->table[i].length != region_table(r, i)->length)
			return fault_set(f, -EINVAL,
					 "table %s: the ticket is another "
					 "region's",
					 region_table(r, i)->name);
	return 0;
}

static void make_pairs(struct responder *p, const struct ticket *t)
{
	p->s->t = *t;
	p->s->epoch = t->epoch;
	p->s->made++;
	for (unsigned i = 0; i < t->n; i++) {
		p->s->t.at[i].heads = NULL; /* the ticket's own */
		const struct queue_pair *old = &p->s->qp[i];

		p->s->qp[i] = (struct queue_pair){
			.refused = old->refused,
			.told = old->told,
			.refused_rkey = old->refused_rkey,
			.table = region_table(p->region, i),
			.qpn = t->at[i].qpn,
			.rkey = t->at[i].rkey,
			.address = t->at[i].address,
			.expected = t->at[i].psn,
		};
		p->s->replays[i] = (struct replays){0};
		p->s->rc[i] = region_table(p->region, i)->qp == TABLE_QP_RC;
	}
}

/* Further away than windows and their probes reach (ROCE_OUT_WINDOW_MAX). */
void responder_renumber(const struct responder *p, struct ticket *t)
{
	struct rng rng = {.state = rng_seed()};
	const uint32_t away = ROCE_PSN_HALF / 2;

	for (unsigned i = 0; i < t->n; i++)
		t->at[i].psn = (p->s->qp[i].expected + away +
				(uint32_t)rng_below(&rng, ROCE_PSN_HALF)) &
			       ROCE_PSN_MASK;
}

int responder_reopen(struct responder *p, const struct ticket *t,
		     struct fault *f)
{
	int rc = check_ticket(p->region, t, f);

	if (!rc)
		make_pairs(p, t);
	return rc;
}

int responder_open(struct responder **out, struct region *r,
		   const struct ticket *t, struct snk *answers,
		   const struct responder_options *o, struct fault *f)
{
	struct responder *p;
	int rc = check_ticket(r, t, f);

	if (rc < 0)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p || !(p->s = calloc(1, sizeof(*p->s))))
		rc = fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	if (!rc)
		rc = local_open(&p->local, r, f);
	if (rc < 0) {
		responder_close(p);
		return rc;
	}
	p->region = r;
	p->asks = local_road(p->local)->mem != NULL;
	p->answers = answers;
	p->o = *o;
	p->s->receives = o->receives;
	make_pairs(p, t);
	*out = p;
	return 0;
}

bool responder_stranger(struct responder *p, struct responder_stranger *out)
{
	if (!p->s->stranger.version || p->s->stranger.told)
		return false;
	p->s->stranger.told = true;
	out->version = p->s->stranger.version;
	memcpy(out->ip, p->s->stranger.ip, 16);
	out->peer_version = p->s->t.version;
	memcpy(out->peer_ip, p->s->t.peer_ip, 16);
	return true;
}

bool responder_refused(struct responder *p, struct responder_refusal *out)
{
	for (unsigned i = 0; i < p->s->t.n; i++) {
		struct queue_pair *q = &p->s->qp[i];

		if (q->refused == q->told)
			continue;
		q->told = q->refused;
		out->table = i;
		out->over = !q->refused;
		out->epoch = pair_epoch_of(p, i, q->refused_rkey);
		return true;
	}
	return false;
}

bool responder_is_dead(const struct responder *p)
{
	for (unsigned i = 0; i < p->s->t.n; i++)
		if (p->s->qp[i].error)
			return true;
	return false;
}

bool responder_has_news(const struct responder *p)
{
	const struct responder_state *s = p->s;

	for (unsigned i = 0; i < s->t.n; i++)
		if (s->qp[i].error || s->qp[i].refused != s->qp[i].told)
			return true;
	return s->epoch != s->t.epoch ||
	       (s->stranger.version && !s->stranger.told);
}

uint64_t responder_epoch(const struct responder *p)
{
	return p->s->t.epoch;
}

void responder_post(struct responder *p, uint64_t n)
{
	if (n > UINT64_MAX - p->s->receives)
		n = UINT64_MAX - p->s->receives;
	p->s->receives += n;
}

const struct responder_ledger *responder_counters(const struct responder *p)
{
	return &p->ctr;
}

void responder_close(struct responder *p)
{
	if (!p)
		return;
	local_close(p->local);
	free(p->s);
	free(p);
}
