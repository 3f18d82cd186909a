/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The software responder: takes batches of packets, decodes and screens them,
 * and hands the good ones to their queue pairs (responder_pair.c).
 */
#include "roce/responder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "roce/responder_pair.h"
#include "wire/net.h"

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct responder_ledger, received, LEDGER_IN),
	LEDGER_FIELD(struct responder_ledger, executed, LEDGER_DONE),
	LEDGER_FIELD(struct responder_ledger, duplicate, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, foreign, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, malformed, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, bad_icrc, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, bad_pkey, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, bad_tver, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, bad_opcode, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, bad_qp, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, bad_peer, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, qp_error, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, out_of_order, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, old_epoch, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, invalid, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, access, LEDGER_DROP),
	LEDGER_FIELD(struct responder_ledger, rnr, LEDGER_DROP),
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

static struct queue_pair *find_qp(struct responder *p, uint32_t qpn)
{
	uint32_t guess = qpn - p->qp[0].qpn; /* they are numbered in a row */

	if (guess < p->t.n && p->qp[guess].qpn == qpn)
		return &p->qp[guess];
	for (unsigned i = 0; i < p->t.n; i++)
		if (p->qp[i].qpn == qpn)
			return &p->qp[i];
	return NULL;
}

static bool from_peer(const struct responder *p, const struct roce *r)
{
	return p->o.any_peer ||
	       (r->version == p->t.version &&
		!memcmp(r->src, p->t.peer_ip, r->version == 4 ? 4 : 16));
}

static void note_stranger(struct responder *p, const struct roce *r)
{
	p->ctr.bad_peer++;
	if (p->stranger.version)
		return;
	p->stranger.version = r->version;
	memcpy(p->stranger.ip, r->src, sizeof(r->src));
}

static bool to_us(const struct responder *p, const struct roce *r)
{
	return r->version == p->t.version &&
	       !memcmp(r->dst, p->t.ip, r->version == 4 ? 4 : 16);
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
	else if (memcmp(r->eth_dst, p->t.mac, 6) != 0)
		ctr->foreign++;
	else if ((r->pkey & 0x7fff) != 0x7fff)
		ctr->bad_pkey++;
	else if (r->tver)
		ctr->bad_tver++;
	else if (!q)
		ctr->bad_qp++;
	else if (is_answer(r->opcode) ||
		 is_rc(r->opcode) != (q->table->qp == TABLE_QP_RC))
		ctr->bad_opcode++;
	else if (!from_peer(p, r))
		note_stranger(p, r);
	else if (!to_us(p, r))
		ctr->foreign++;
	else
		return q;
	return NULL;
}

/*
 * Reads the lines that atomics will need. In a loop of its own, so short that
 * the misses of all overlap. Prefetches in such a row are half as many at a
 * time on AMD, and the atomics wait for what is left.
 */
static void read_lines(const struct responder *p, unsigned n)
{
	const uint8_t *line[ROCE_BATCH];
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct roce *r = &p->seen[i];
		const struct queue_pair *q = p->whose[i];

		if (q && is_atomic(r->opcode) &&
		    r->va - q->address < q->table->length)
			line[k++] = local_mem(p->local, (unsigned)(q - p->qp)) +
				    (r->va - q->address);
	}
	for (unsigned i = 0; i < k; i++)
		(void)*(const volatile uint8_t *)line[i];
}

/* Decodes and screens some packets. */
static void look_at(struct responder *p, const struct pkt *pkts, unsigned n)
{
	const uint8_t *frames[ROCE_BATCH];
	uint32_t lens[ROCE_BATCH], taken;

	for (unsigned i = 0; i < n; i++) {
		frames[i] = pkts[i].data;
		lens[i] = pkts[i].len;
	}
	taken = roce_decode_batch(p->seen, frames, lens, n);
	p->ctr.received += n;
	for (unsigned i = 0; i < n; i++) {
		struct roce *r = &p->seen[i];
		struct queue_pair *q = NULL;
		int rc = 0;

		if (!(taken >> i & 1))
			rc = roce_decode(r, pkts[i].data, pkts[i].len);
		if (rc < 0)
			not_decoded(&p->ctr, &pkts[i], rc);
		else
			q = screen(p, r);
		p->whose[i] = q;
	}
	if (p->answers) /* else additions wait, for a loop that asks itself */
		read_lines(p, n);
}

static int act_on(struct responder *p, const struct pkt *pkts, unsigned n)
{
	int rc = 0, one;

	for (unsigned i = 0; i < n; i++) {
		if (!p->whose[i])
			continue;
		p->ts_ns = pkts[i].ts_ns;
		one = pair_rx(p, p->whose[i], &p->seen[i]);
		rc = rc ? rc : one;
	}
	return rc;
}

/* A new epoch has new places and new R_Keys; queue pairs stay. */
static void follow_epoch(struct responder *p, uint64_t epoch)
{
	struct ticket_table at;

	if (epoch == p->epoch)
		return;
	for (unsigned i = 0; i < p->t.n; i++) {
		ticket_place(&at, p->region, i, epoch);
		p->qp[i].rkey = at.rkey;
		p->qp[i].address = at.address;
	}
	p->epoch = epoch;
}

/* Whatever the answers' sink says, every packet is judged and counted. */
int responder_rx(struct responder *p, const struct pkt *pkts, size_t n)
{
	struct road *road = local_road(p->local);
	int rc = 0, some;

	follow_epoch(p, road->begin(road));
	for (size_t at = 0; at < n; at += ROCE_BATCH) {
		size_t left = n - at;
		unsigned m = left < ROCE_BATCH ? (unsigned)left : ROCE_BATCH;

		look_at(p, pkts + at, m);
		some = act_on(p, pkts + at, m);
		rc = rc ? rc : some;
	}
	some = pair_flush(p);
	road->end(road);
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
	p->t = *t;
	p->epoch = t->epoch;
	for (unsigned i = 0; i < t->n; i++) {
		p->t.at[i].heads = NULL; /* the ticket's own */
		const struct queue_pair *old = &p->qp[i];

		p->qp[i] = (struct queue_pair){
			.refused = old->refused,
			.told = old->told,
			.refused_rkey = old->refused_rkey,
			.table = region_table(p->region, i),
			.qpn = t->at[i].qpn,
			.rkey = t->at[i].rkey,
			.address = t->at[i].address,
			.expected = t->at[i].psn,
		};
	}
}

/* Further away than windows and their probes reach (ROCE_OUT_WINDOW_MAX). */
void responder_renumber(const struct responder *p, struct ticket *t)
{
	struct rng rng = {.state = rng_seed()};
	const uint32_t away = ROCE_PSN_HALF / 2;

	for (unsigned i = 0; i < t->n; i++)
		t->at[i].psn = (p->qp[i].expected + away +
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
	if (!p)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	if ((rc = local_open(&p->local, r, f)) < 0) {
		free(p);
		return rc;
	}
	p->region = r;
	p->answers = answers;
	p->o = *o;
	make_pairs(p, t);
	*out = p;
	return 0;
}

bool responder_stranger(struct responder *p, struct responder_stranger *out)
{
	if (!p->stranger.version || p->stranger.told)
		return false;
	p->stranger.told = true;
	out->version = p->stranger.version;
	memcpy(out->ip, p->stranger.ip, 16);
	out->peer_version = p->t.version;
	memcpy(out->peer_ip, p->t.peer_ip, 16);
	return true;
}

bool responder_refused(struct responder *p, struct responder_refusal *out)
{
	for (unsigned i = 0; i < p->t.n; i++) {
		struct queue_pair *q = &p->qp[i];

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
	for (unsigned i = 0; i < p->t.n; i++)
		if (p->qp[i].error)
			return true;
	return false;
}

uint64_t responder_epoch(const struct responder *p)
{
	return p->t.epoch;
}

void responder_post(struct responder *p, uint64_t n)
{
	if (n > UINT64_MAX - p->o.receives)
		n = UINT64_MAX - p->o.receives;
	p->o.receives += n;
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
	free(p);
}
