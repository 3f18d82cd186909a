/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The software responder: InfiniBand Architecture 9.7 (RC) and 9.8 (UC), as
 * measured in rdma.md. A packet is judged in full before a byte is written;
 * writes of a batch gather and go down the local road together.
 */
#include "rdma/responder.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rdma/form.h"
#include "rdma/local.h"
#include "rdma/request.h"
#include "wire/net.h"
#include "wire/roce.h"

enum {
	REPLAYS = 16, /* atomics whose answer is kept, as NICs do */
	PSN_HALF = 0x800000,
	RNR_TIMER = 1, /* 0.01 ms: the shortest (InfiniBand table 45) */
	ANSWER_MAX = 128,
};

struct replay {
	uint32_t psn;
	bool used;
	uint64_t old;
};

/* Answers to one requester: most queue pairs have no other. */
struct answers {
	struct roce to; /* where they go; version 0: not made yet */
	struct form ack, atomic;
};

struct queue_pair {
	const struct table *table;
	uint32_t qpn, rkey;
	uint64_t address;
	uint32_t expected, msn;
	bool error, nak_sent;
	unsigned next_replay;
	struct replay replay[REPLAYS];
	struct answers answers;
};

struct responder {
	struct region *region;
	struct local_road *local;
	struct ticket t; /* addresses; R_Keys of the epoch */
	struct snk *answers;
	struct responder_options o;
	struct responder_ledger ctr;
	uint64_t epoch, ts_ns;
	unsigned nops;
	struct op op[PKT_BATCH];
	struct queue_pair qp[TABLE_MAX];
	/* The packets at hand; those for a queue pair of ours have one. */
	struct roce seen[REQUEST_BATCH];
	struct queue_pair *whose[REQUEST_BATCH];
};

#define COUNTER(name, role)                                                    \
	{                                                                      \
#name, offsetof(struct responder_ledger, name), role           \
	}

static const struct ledger_field fields[] = {
	COUNTER(received, LEDGER_IN),	    COUNTER(executed, LEDGER_DONE),
	COUNTER(duplicate, LEDGER_DROP),    COUNTER(foreign, LEDGER_DROP),
	COUNTER(malformed, LEDGER_DROP),    COUNTER(bad_icrc, LEDGER_DROP),
	COUNTER(bad_pkey, LEDGER_DROP),	    COUNTER(bad_tver, LEDGER_DROP),
	COUNTER(bad_opcode, LEDGER_DROP),   COUNTER(bad_qp, LEDGER_DROP),
	COUNTER(bad_peer, LEDGER_DROP),	    COUNTER(qp_error, LEDGER_DROP),
	COUNTER(out_of_order, LEDGER_DROP), COUNTER(invalid, LEDGER_DROP),
	COUNTER(access, LEDGER_DROP),	    COUNTER(rnr, LEDGER_DROP),
	COUNTER(writes, LEDGER_NOTE),	    COUNTER(atomics, LEDGER_NOTE),
	COUNTER(immediates, LEDGER_NOTE),   COUNTER(bytes, LEDGER_NOTE),
	COUNTER(acks, LEDGER_NOTE),	    COUNTER(naks, LEDGER_NOTE),
};

_Static_assert(sizeof(fields) / sizeof(fields[0]) ==
		       sizeof(struct responder_ledger) / sizeof(uint64_t),
	       "a counter has no name");

const struct ledger responder_ledger = {
	.stage = "responder",
	.unit = "packets",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static bool is_rc(uint8_t opcode)
{
	return opcode < ROCE_UC_WRITE_ONLY;
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == ROCE_RC_FETCH_ADD || opcode == ROCE_RC_CMP_SWAP;
}

static bool is_immediate(uint8_t opcode)
{
	return opcode == ROCE_RC_WRITE_ONLY_IMM ||
	       opcode == ROCE_UC_WRITE_ONLY_IMM;
}

static bool is_answer(uint8_t opcode)
{
	return opcode == ROCE_RC_ACK || opcode == ROCE_RC_ATOMIC_ACK;
}

/* Carries out the writes that wait. The road's bounds hold: they were judged.
 */
static int run_ops(struct responder *p)
{
	struct road *road = local_road(p->local);
	int rc = p->nops ? road->exec(road, p->op, p->nops, p->ts_ns) : 0;

	p->nops = 0;
	return rc;
}

static int make_answers(struct answers *a, const struct queue_pair *q,
			const struct roce *r)
{
	struct roce to = {
		.version = r->version,
		.src_port = r->src_port,
		.ttl = 64,
		.opcode = ROCE_RC_ACK,
		.migreq = true,
		.pkey = 0xffff,
		.dest_qp = q->qpn, /* the translator's has the same number */
	};
	int rc;

	memcpy(to.eth_dst, r->eth_src, 6);
	memcpy(to.eth_src, r->eth_dst, 6);
	memcpy(to.src, r->dst, 16);
	memcpy(to.dst, r->src, 16);
	a->to.version = 0;
	if ((rc = form_make(&a->ack, &to)) < 0)
		return rc;
	to.opcode = ROCE_RC_ATOMIC_ACK;
	if ((rc = form_make(&a->atomic, &to)) < 0)
		return rc;
	a->to = to;
	return 0;
}

static bool same_way(const struct answers *a, const struct roce *r)
{
	return a->to.version == r->version && a->to.src_port == r->src_port &&
	       !memcmp(a->to.eth_dst, r->eth_src, 6) &&
	       !memcmp(a->to.eth_src, r->eth_dst, 6) &&
	       !memcmp(a->to.dst, r->src, 16) && !memcmp(a->to.src, r->dst, 16);
}

/* An answer to r: positive, negative, or with an atomic's old value. */
static int answer(struct responder *p, struct queue_pair *q,
		  const struct roce *r, uint32_t psn, uint8_t syndrome,
		  const uint64_t *old)
{
	const struct form *f = old ? &q->answers.atomic : &q->answers.ack;
	uint8_t *frame;
	int rc;

	if (syndrome == ROCE_ACK)
		p->ctr.acks++;
	else
		p->ctr.naks++;
	if (!p->answers)
		return 0;
	if (!same_way(&q->answers, r) &&
	    (rc = make_answers(&q->answers, q, r)) < 0)
		return rc;
	frame = snk_room(p->answers, ANSWER_MAX);
	if (!frame)
		return errno ? -errno : -EIO;
	form_start(frame, f, psn);
	be32_store(frame + f->ext, (uint32_t)syndrome << 24 | q->msn);
	if (old)
		be64_store(frame + f->ext + ROCE_AETH_LEN, *old);
	snk_done(p->answers, form_end(frame, f), p->ts_ns);
	return 0;
}

/* RC: a NAK, and the queue pair is dead. UC: silence, and it lives on. */
static int refuse(struct responder *p, struct queue_pair *q,
		  const struct roce *r, uint8_t syndrome)
{
	if (syndrome == ROCE_NAK_ACCESS)
		p->ctr.access++;
	else
		p->ctr.invalid++;
	if (!is_rc(r->opcode))
		return 0;
	q->error = true;
	return answer(p, q, r, q->expected, syndrome, NULL);
}

static int duplicate(struct responder *p, struct queue_pair *q,
		     const struct roce *r)
{
	p->ctr.duplicate++;
	if (!is_atomic(r->opcode))
		return answer(p, q, r, (q->expected - 1) & ROCE_PSN_MASK,
			      ROCE_ACK, NULL);
	for (unsigned i = 0; i < REPLAYS; i++)
		if (q->replay[i].used && q->replay[i].psn == r->psn)
			return answer(p, q, r, r->psn, ROCE_ACK,
				      &q->replay[i].old);
	return 0; /* too old to know: silence */
}

/* 0 if the packet may be carried out, else the syndrome that says why not. */
static uint8_t judge_access(const struct responder *p,
			    const struct queue_pair *q, const struct roce *r)
{
	uint64_t len = is_atomic(r->opcode) ? 8 : r->len;
	uint64_t offset = r->va - q->address;

	if (is_atomic(r->opcode)) {
		if (r->pad || (r->va & 7))
			return ROCE_NAK_INVALID;
	} else if (r->dma_len != r->len || r->pad != (-r->len & 3) ||
		   r->len > p->t.mtu) {
		return ROCE_NAK_INVALID;
	}
	if (!len)
		return 0; /* touches nothing: not even a key is needed */
	if (r->rkey != q->rkey || r->va < q->address ||
	    offset > q->table->length || q->table->length - offset < len)
		return ROCE_NAK_ACCESS;
	return 0;
}

static int do_atomic(struct responder *p, struct queue_pair *q,
		     const struct roce *r)
{
	uint64_t operand[2] = {r->compare, r->swap_add}, old;
	struct op op = {
		.verb = OP_CMP_SWAP,
		.table = (uint16_t)(q - p->qp),
		.offset = r->va - q->address,
		.length = 8,
		.data = (const uint8_t *)operand,
	};
	int rc;

	p->ctr.atomics++;
	p->ctr.bytes += 8;
	if (r->opcode == ROCE_RC_FETCH_ADD) {
		op.verb = OP_FETCH_ADD;
		op.add = r->swap_add;
	}
	if (!p->answers && op.verb == OP_FETCH_ADD) {
		p->op[p->nops++] = op; /* nobody asks what was there */
		p->ctr.acks++;
		return 0;
	}
	if ((rc = run_ops(p)) < 0) /* in order */
		return rc;
	old = local_atomic(p->local, &op);
	q->replay[q->next_replay] = (struct replay){r->psn, true, old};
	q->next_replay = (q->next_replay + 1) % REPLAYS;
	return answer(p, q, r, r->psn, ROCE_ACK, &old);
}

static int do_write(struct responder *p, struct queue_pair *q,
		    const struct roce *r)
{
	bool imm = is_immediate(r->opcode);

	p->ctr.writes++;
	p->ctr.bytes += r->len;
	if (imm) {
		p->ctr.immediates++;
		if (p->o.receives != UINT64_MAX)
			p->o.receives--;
	}
	p->op[p->nops++] = (struct op){
		.verb = imm ? OP_WRITE_IMM : OP_WRITE,
		.table = (uint16_t)(q - p->qp),
		.offset = r->len ? r->va - q->address : 0,
		.length = (uint32_t)r->len,
		.data = r->payload,
		.immediate = r->imm,
	};
	if (is_rc(r->opcode) && r->ack_req)
		return answer(p, q, r, r->psn, ROCE_ACK, NULL);
	return 0;
}

/* A good packet for a live queue pair whose turn it is. */
static int execute(struct responder *p, struct queue_pair *q,
		   const struct roce *r)
{
	uint8_t why;

	if (is_immediate(r->opcode) && !p->o.receives) {
		p->ctr.rnr++;
		return is_rc(r->opcode) ? answer(p, q, r, r->psn,
						 ROCE_RNR_NAK | RNR_TIMER, NULL)
					: 0;
	}
	why = judge_access(p, q, r);
	if (why)
		return refuse(p, q, r, why);
	p->ctr.executed++;
	q->expected = (r->psn + 1) & ROCE_PSN_MASK;
	q->msn = (q->msn + 1) & ROCE_PSN_MASK;
	q->nak_sent = false;
	return is_atomic(r->opcode) ? do_atomic(p, q, r) : do_write(p, q, r);
}

/* RC: only the expected PSN is carried out (InfiniBand 9.7.3). */
static int in_turn(struct responder *p, struct queue_pair *q,
		   const struct roce *r)
{
	uint32_t ahead = (r->psn - q->expected) & ROCE_PSN_MASK;

	if (q->error) {
		p->ctr.qp_error++;
		return 0;
	}
	if (!is_rc(r->opcode) || !ahead)
		return execute(p, q, r);
	if (ahead >= PSN_HALF)
		return duplicate(p, q, r);
	p->ctr.out_of_order++;
	if (q->nak_sent)
		return 0;
	q->nak_sent = true;
	return answer(p, q, r, q->expected, ROCE_NAK_PSN, NULL);
}

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
		ctr->bad_peer++;
	else
		return q;
	return NULL;
}

/*
 * Asks for the lines that atomics will need. In a loop of its own, so short
 * that the misses of all overlap.
 */
static void want_lines(const struct responder *p, unsigned n)
{
	const uint8_t *line[REQUEST_BATCH];
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
		__builtin_prefetch(line[i], 1);
}

/* Decodes and screens some packets. */
static void look_at(struct responder *p, const struct pkt *pkts, unsigned n)
{
	uint32_t taken = request_decode(p->seen, pkts, n);

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
	want_lines(p, n);
}

static int act_on(struct responder *p, const struct pkt *pkts, unsigned n)
{
	int rc = 0, one;

	for (unsigned i = 0; i < n; i++) {
		if (!p->whose[i])
			continue;
		p->ts_ns = pkts[i].ts_ns;
		one = in_turn(p, p->whose[i], &p->seen[i]);
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
	for (size_t at = 0; at < n; at += REQUEST_BATCH) {
		size_t left = n - at;
		unsigned m = left < REQUEST_BATCH ? (unsigned)left
						  : REQUEST_BATCH;

		look_at(p, pkts + at, m);
		some = act_on(p, pkts + at, m);
		rc = rc ? rc : some;
	}
	some = run_ops(p);
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
	p->t = *t;
	p->answers = answers;
	p->o = *o;
	p->epoch = t->epoch;
	for (unsigned i = 0; i < t->n; i++) {
		p->t.at[i].heads = NULL; /* the ticket's own */
		p->qp[i] = (struct queue_pair){
			.table = region_table(r, i),
			.qpn = t->at[i].qpn,
			.rkey = t->at[i].rkey,
			.address = t->at[i].address,
			.expected = t->at[i].psn,
		};
	}
	*out = p;
	return 0;
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
