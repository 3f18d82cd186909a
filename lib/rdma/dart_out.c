/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dart_out.c - frames of a DART switch: a template (roce_template_private.h)
 * into which a collector's 20 bytes and the operation are filled in. The iCRC
 * up to the collector's IP address is the same for all frames, and made once.
 */
#include "rdma/dart_out.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rdma/roce_template_private.h"
#include "net/be.h"
#include "net/roce.h"

enum {
	AT_IP_SUM = ROCE_AT_IP + NET_IP4_AT_SUM,
	AT_IP_DST = ROCE_AT_IP + NET_IP4_AT_DST,
	AT_UDP_SUM = ROCE_AT_UDP + NET_UDP_AT_SUM,
	AT_BTH_RESERVED = ROCE_AT_BTH + ROCE_BTH_AT_RESERVED,
	AT_RKEY = ROCE_AT_RETH + ROCE_RETH_AT_RKEY,
	AT_SWAP = ROCE_AT_RETH + ROCE_ATOMIC_AT_SWAP,
	AT_COMPARE = ROCE_AT_RETH + ROCE_ATOMIC_AT_COMPARE,
	AT_IMMEDIATE = ROCE_AT_RETH + ROCE_RETH_LEN,
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct dart_ledger, packets, LEDGER_IN),
	LEDGER_FIELD(struct dart_ledger, sent, LEDGER_DONE),
	LEDGER_FIELD(struct dart_ledger, lost, LEDGER_LOSS),
	LEDGER_FIELD(struct dart_ledger, resyncs, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct dart_ledger);

const struct ledger dart_ledger = {
	.stage = "dart",
	.unit = "packets",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

enum {
	NONE = UINT16_MAX, /* not a Key-Write table */
	VERBS = OP_CMP_SWAP + 1,
	FORGET_EVERY = ROCE_PSN_HALF / 4,
	STALE_AFTER = 1 << 16, /* packets after which a NAK counts again */
};

/*
 * What a responder has executed. It sends one NAK for a PSN; another of the
 * same or an earlier PSN was duplicated or delayed on the way.
 */
struct dart_sequence {
	uint32_t from; /* PSNs before this one were executed */
	bool back;     /* a NAK has set that PSN */
};

/* Frames of one table and verb. */
struct dart_cached_template {
	struct roce_template template;
	uint32_t length; /* that it was made for; 0: not yet */
	uint32_t ip_sum; /* of the IP header without destination */
	uint32_t icrc;	 /* before the destination address */
};

/* A Key-Write table of the deployment. */
struct dart_frame {
	struct table t;
	uint64_t address;
	struct dart_cached_template cached[VERBS];
};

struct dart_out {
	struct transport transport;
	struct transport *rest;
	struct snk *sink;
	unsigned n, tables; /* collectors, tables of each */
	unsigned ncommon;
	unsigned ack_every;
	struct dart_ledger ctr;
	uint8_t mac[6], ip[4]; /* ours */
	uint16_t common_of[TABLE_MAX];
	struct dart_frame *common;
	struct dart_state *state;    /* of collector c: [c * ncommon + ...] */
	struct dart_sequence *heard; /* the same */
};

static inline struct dart_out *self(struct transport *r)
{
	return (struct dart_out *)r;
}

static uint8_t opcode_of(const struct table *t, uint8_t verb)
{
	static const uint8_t rc[VERBS] = {
		[OP_WRITE] = ROCE_RC_WRITE_ONLY,
		[OP_WRITE_IMM] = ROCE_RC_WRITE_ONLY_IMM,
		[OP_CMP_SWAP] = ROCE_RC_CMP_SWAP,
	};
	static const uint8_t uc[VERBS] = {
		[OP_WRITE] = ROCE_UC_WRITE_ONLY,
		[OP_WRITE_IMM] = ROCE_UC_WRITE_ONLY_IMM,
	};

	return t->qp == TABLE_QP_RC ? rc[verb] : uc[verb];
}

/* The sum of the IPv4 header's words, destination and sum left out. */
static uint32_t ip_sum_of(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < NET_IP4_AT_DST; i += 2)
		if (i != NET_IP4_AT_SUM)
			sum += be16_load(ip + i);
	return sum;
}

/* The iCRC's beginning. */
static uint32_t icrc_of(const uint8_t *ip)
{
	uint8_t masked[ICRC_ONES + NET_IP4_AT_DST];

	memset(masked, 0xff, ICRC_ONES);
	memcpy(masked + ICRC_ONES, ip, NET_IP4_AT_DST);
	icrc_mask_ip4(masked + ICRC_ONES);
	return crc(CRC_SLOT0, masked, sizeof(masked));
}

static int template_cache(const struct dart_out *o, const struct dart_frame *c,
			  uint8_t verb, uint32_t length,
			  struct dart_cached_template *s)
{
	static const uint8_t zeros[ROCE_PAYLOAD_MAX];
	bool payload = verb != OP_CMP_SWAP;
	struct roce r = {
		.version = 4,
		.ttl = 64,
		.opcode = opcode_of(&c->t, verb),
		.migreq = true,
		.pkey = 0xffff,
		.dma_len = payload ? length : 0,
		.payload = payload ? zeros : NULL,
		.len = payload ? length : 0,
	};
	int rc;

	memcpy(r.eth_src, o->mac, 6);
	memcpy(r.src, o->ip, 4);
	if (!r.opcode)
		return -EINVAL;
	rc = roce_template_make(&s->template, &r);
	if (rc < 0)
		return rc;
	s->length = length;
	s->ip_sum = ip_sum_of(s->template.frame + ROCE_AT_IP);
	s->icrc = icrc_of(s->template.frame + ROCE_AT_IP);
	return 0;
}

/* To be called every so many PSNs of a queue pair. They come round: what was
 * heard half of them ago says nothing any more. */
static void reset_sequence(struct dart_sequence *h, uint32_t psn)
{
	if (((psn - h->from) & ROCE_PSN_MASK) < ROCE_PSN_HALF)
		return;
	h->from = (psn - ROCE_PSN_HALF) & ROCE_PSN_MASK;
	h->back = false;
}

/* What a frame has of its collector; counts the PSN. */
static void fill_collector(const struct dart_out *o, uint8_t *frame,
			   const struct dart_cached_template *s,
			   struct dart_state *st)
{
	uint32_t psn = be24_load(st->psn), ip = be32_load(st->ip);
	uint32_t sum = s->ip_sum + (ip >> 16) + (ip & 0xffff);

	be24_store(st->psn, psn + 1);
	if (!(psn % FORGET_EVERY))
		reset_sequence(&o->heard[st - o->state], psn);
	if (o->ack_every && (psn + 1) % o->ack_every == 0)
		psn |= UINT32_C(1) << 31;
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	memcpy(frame, s->template.frame, s->template.head);
	memcpy(frame, st->mac, 6);
	be16_store(frame + AT_IP_SUM, (uint16_t)~sum);
	memcpy(frame + AT_IP_DST, st->ip, 4);
	be16_store(frame + ROCE_AT_UDP, roce_src_port(be24_load(st->qpn)));
	memcpy(frame + ROCE_AT_DEST_QP, st->qpn, 3);
	be32_store(frame + ROCE_AT_ACK_REQ, psn);
	memcpy(frame + AT_RKEY, st->rkey, 4);
}

static void fill_op(uint8_t *frame, const struct roce_template *f,
		    uint64_t base, const struct op *op)
{
	uint64_t operand[2];

	be64_store(frame + ROCE_AT_RETH, base + op->offset);
	if (op->verb == OP_CMP_SWAP) { /* AtomicETH: swap, then compare */
		memcpy(operand, op->data, sizeof(operand));
		be64_store(frame + AT_SWAP, operand[1]);
		be64_store(frame + AT_COMPARE, operand[0]);
		return;
	}
	if (op->verb == OP_WRITE_IMM)
		be32_store(frame + AT_IMMEDIATE, op->immediate);
	memcpy(frame + f->head, op->data, op->length);
	memset(frame + f->head + op->length, 0, -op->length & 3);
}

/* The rest of the iCRC, over the frame as it counts, and then as it goes. */
static size_t put_icrc(uint8_t *frame, const struct dart_cached_template *s)
{
	uint32_t sum;

	be16_store(frame + AT_UDP_SUM, 0xffff);
	frame[AT_BTH_RESERVED] = 0xff;
	sum = htole32(crc_extend(CRC_SLOT0, s->icrc, frame + AT_IP_DST,
				 (size_t)s->template.body - AT_IP_DST));
	be16_store(frame + AT_UDP_SUM, 0);
	frame[AT_BTH_RESERVED] = 0;
	memcpy(frame + s->template.body, &sum, sizeof(sum));
	return (size_t)s->template.body + ROCE_ICRC_LEN;
}

static int send_op(struct dart_out *o, unsigned member, unsigned common,
		   const struct op *op, uint64_t ts_ns)
{
	struct dart_frame *c = &o->common[common];
	struct dart_state *st = &o->state[member * o->ncommon + common];
	struct dart_cached_template *s;
	uint8_t *frame;
	int rc;

	if (op->verb >= VERBS)
		return -EINVAL;
	s = &c->cached[op->verb];
	if (s->length != op->length &&
	    (rc = template_cache(o, c, op->verb, op->length, s)) < 0)
		return rc;
	frame = snk_room(o->sink, (size_t)s->template.body + ROCE_ICRC_LEN);
	if (!frame)
		return errno ? -errno : -EIO;
	fill_collector(o, frame, s, st);
	fill_op(frame, &s->template, c->address, op);
	snk_done(o->sink, put_icrc(frame, s), ts_ns);
	o->ctr.packets++;
	return 0;
}

/* The operations of one member on one table. */
static int run_exec(struct dart_out *o, const struct op *ops, size_t n,
		    uint64_t ts_ns, const uint64_t *stamps)
{
	unsigned member = ops->table / o->tables;
	unsigned common = o->common_of[ops->table % o->tables];
	int rc = 0;

	if (member >= o->n)
		return -ERANGE;
	if (common == NONE) {
		o->rest->stamps = stamps;
		return o->rest->exec(o->rest, ops, n, ts_ns);
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = send_op(o, member, common, &ops[i],
			     stamps ? stamps[i] : ts_ns);
	return rc;
}

static int dart_exec(struct transport *transport, const struct op *ops,
		     size_t n, uint64_t ts_ns)
{
	const uint64_t *stamps = transport->stamps;
	int rc = 0;

	while (n && !rc) {
		size_t k = 1;

		while (k < n && ops[k].table == ops->table)
			k++;
		rc = run_exec(self(transport), ops, k, ts_ns, stamps);
		stamps = stamps ? stamps + k : NULL;
		ops += k;
		n -= k;
	}
	return rc;
}

static uint64_t dart_begin(struct transport *transport)
{
	return self(transport)->rest->begin(self(transport)->rest);
}

static void dart_end(struct transport *transport)
{
	self(transport)->rest->end(self(transport)->rest);
}

static uint64_t dart_head(struct transport *transport, unsigned table,
			  uint32_t list)
{
	return self(transport)->rest->head(self(transport)->rest, table, list);
}

/* A switch's own queue pairs never are: what is lost is lost. */
static bool dart_busy(struct transport *transport, unsigned table)
{
	struct dart_out *o = self(transport);

	return o->common_of[table % o->tables] == NONE && o->rest->busy &&
	       o->rest->busy(o->rest, table);
}

static int make_frame_template(struct dart_out *o, const struct ticket *t,
			       struct error *err)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *g = &t->table[i];

		o->common_of[i] = NONE;
		if (g->kind != TABLE_KEYWRITE)
			continue;
		if (g->value_len + 4u > t->mtu)
			return error_set(err, -EINVAL,
					 "table %s: slots above the path MTU "
					 "of %u: DART writes them in one "
					 "packet",
					 g->name, t->mtu);
		o->common_of[i] = (uint16_t)o->ncommon;
		o->common[o->ncommon].t = *g;
		o->common[o->ncommon++].address = t->at[i].address;
	}
	return 0;
}

/* Whether a collector is one of the deployment, whose state fits. */
static int check_ticket(const struct dart_out *o, const struct ticket *t,
			struct error *err)
{
	if (t->version != 4)
		return error_set(err, -EAFNOSUPPORT,
				 "an IPv6 address: DART's 20 bytes of state "
				 "hold an IPv4 one");
	if (memcmp(t->peer_ip, o->ip, 4) != 0)
		return error_set(err, -EINVAL,
				 "peer_ip is not what the first collector has: "
				 "a switch has one address");
	for (unsigned i = 0; i < t->n; i++) {
		unsigned k = o->common_of[i];

		if (k != NONE && t->at[i].address != o->common[k].address)
			return error_set(
				err, -EINVAL,
				"table %s: at another address than "
				"the first collector's, and DART keeps "
				"one for all: rotate them together",
				t->table[i].name);
	}
	return 0;
}

int dart_out_accepts(const struct dart_out *o, const struct ticket *t,
		     struct error *err)
{
	char ip[TEXT_IP_MAX];
	struct error why = {""};
	int rc = check_ticket(o, t, &why);

	return rc < 0 ? error_set(err, rc, "collector %s: %.400s",
				  text_of_ip(ip, t->version, t->ip), why.text)
		      : 0;
}

/* Where the state goes on, but for what was counted in it: was, if not NULL. */
static int make_state(struct dart_out *o, const struct ticket *was,
		      const struct ticket *t, unsigned collector,
		      struct error *err)
{
	struct dart_state *st = &o->state[collector * o->ncommon];
	struct dart_sequence *h = &o->heard[collector * o->ncommon];
	int rc = dart_out_accepts(o, t, err);

	if (rc < 0 || (was && ticket_is_same(was, t)))
		return rc;
	for (unsigned i = 0; i < t->n; i++) {
		unsigned k = o->common_of[i];
		uint32_t psn = t->at[i].psn;

		if (k == NONE)
			continue;
		if (was)
			psn = ticket_psn(was, t, i, be24_load(st[k].psn));
		if (!was || !ticket_pair_lasts(was, t, i) ||
		    psn != be24_load(st[k].psn))
			h[k] = (struct dart_sequence){.from = psn};
		memcpy(st[k].mac, t->mac, 6);
		memcpy(st[k].ip, t->ip, 4);
		be24_store(st[k].qpn, t->at[i].qpn);
		be24_store(st[k].psn, psn);
		be32_store(st[k].rkey, t->at[i].rkey);
	}
	return 0;
}

static int alloc(struct dart_out **out, unsigned n, unsigned tables,
		 struct error *err)
{
	struct dart_out *o = calloc(1, sizeof(*o));

	if (o) {
		o->common = calloc(tables, sizeof(o->common[0]));
		o->state = calloc((size_t)n * tables, sizeof(o->state[0]));
		o->heard = calloc((size_t)n * tables, sizeof(o->heard[0]));
	}
	if (!o || !o->common || !o->state || !o->heard) {
		dart_out_close(o);
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	}
	o->transport = (struct transport){
		.begin = dart_begin,
		.exec = dart_exec,
		.end = dart_end,
		.head = dart_head,
		.busy = dart_busy,
		.stamped = true,
	};
	o->n = n;
	o->tables = tables;
	*out = o;
	return 0;
}

int dart_out_open(struct dart_out **out, const struct ticket *const *tickets,
		  unsigned n, struct snk *sink, struct transport *rest,
		  unsigned ack_every, struct error *err)
{
	struct dart_out *o = NULL;
	int rc = alloc(&o, n, tickets[0]->n, err);

	if (rc < 0)
		return rc;
	o->rest = rest;
	o->sink = sink;
	o->ack_every = ack_every;
	memcpy(o->mac, tickets[0]->peer_mac, 6);
	memcpy(o->ip, tickets[0]->peer_ip, 4);
	rc = make_frame_template(o, tickets[0], err);
	for (unsigned c = 0; c < n && !rc; c++)
		rc = make_state(o, NULL, tickets[c], c, err);
	if (rc < 0) {
		dart_out_close(o);
		return rc;
	}
	*out = o;
	return 0;
}

int dart_out_reticket(struct dart_out *o, unsigned collector,
		      const struct ticket *was, const struct ticket *t,
		      struct error *err)
{
	return make_state(o, was, t, collector, err);
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
static void process_ack(struct dart_sequence *h, uint32_t next, uint32_t acked)
{
	uint32_t sent = (next - h->from) & ROCE_PSN_MASK;

	if (((acked - h->from) & ROCE_PSN_MASK) >= sent)
		return;
	h->from = (acked + 1) & ROCE_PSN_MASK;
	h->back = false;
}

/* Whether a NAK tells what was not known: that all from psn on is lost. */
static bool process_nak(struct dart_sequence *h, uint32_t next, uint32_t psn)
{
	uint32_t sent = (next - h->from) & ROCE_PSN_MASK;
	uint32_t on = (psn - h->from) & ROCE_PSN_MASK;

	if (on >= sent || (!on && h->back && sent < STALE_AFTER))
		return false;
	h->from = psn;
	h->back = true;
	return true;
}

bool dart_out_answer(struct dart_out *o, const struct pkt *p)
{
	struct dart_state *st;
	struct dart_sequence *h;
	struct roce r;
	uint32_t next, lost;

	if (roce_decode(&r, p->data, p->len) < 0 || !r.icrc_ok ||
	    r.version != 4 || !(st = state_of(o, &r)))
		return false;
	h = &o->heard[st - o->state];
	next = be24_load(st->psn);
	if (r.opcode == ROCE_RC_ACK && r.syndrome == ROCE_ACK)
		process_ack(h, next, r.psn);
	if (r.opcode != ROCE_RC_ACK || r.syndrome != ROCE_NAK_PSN)
		return true;
	lost = (next - r.psn) & ROCE_PSN_MASK;
	/* About what never was sent, or was known before. */
	if (lost > o->ctr.packets - o->ctr.lost || !process_nak(h, next, r.psn))
		return true;
	be24_store(st->psn, r.psn);
	o->ctr.lost += lost;
	o->ctr.resyncs++;
	return true;
}

struct transport *dart_out_transport(struct dart_out *o)
{
	return &o->transport;
}

struct dart_ledger dart_out_ledger(const struct dart_out *o)
{
	struct dart_ledger l = o->ctr;

	l.sent = l.packets - l.lost;
	return l;
}

const struct dart_state *dart_out_state(const struct dart_out *o,
					unsigned collector, unsigned table)
{
	unsigned k = o->common_of[table];

	return k == NONE ? NULL : &o->state[collector * o->ncommon + k];
}

void dart_out_close(struct dart_out *o)
{
	if (!o)
		return;
	free(o->common);
	free(o->state);
	free(o->heard);
	free(o);
}
