/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_out.c - the RoCEv2 transport: makes requests of operations, sends them
 * at once or by a window (requester.c), makes frames, by templates, and takes
 * new tickets.
 */
#include "rdma/requester_private.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hash/crc.h"
#include "net/be.h"

enum {
	TIMEOUT_FIRST = 20 * 1000000, /* ns */
	/* A NAK of the same PSN counts again after so many packets. */
	DART_NAK_AGAIN = 1 << 16,
	/* Every so many PSNs it is checked whether the last answer is too old
	 * to compare with. */
	DART_AGE_CHECK = ROCE_PSN_HALF / 4,
};

static const struct ledger_field fields[] = {
	LEDGER_FIELD(struct requester_ledger, requests, LEDGER_IN),
	LEDGER_FIELD(struct requester_ledger, acked, LEDGER_DONE),
	LEDGER_FIELD(struct requester_ledger, uc, LEDGER_DONE),
	LEDGER_FIELD(struct requester_ledger, unanswered, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, window_full, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, refused, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, outdated, LEDGER_LOSS),
	LEDGER_FIELD(struct requester_ledger, unsent, LEDGER_LOSS),
	LEDGER_LEVEL(struct requester_ledger, waiting, LEDGER_HARMLESS),
	LEDGER_FIELD(struct requester_ledger, packets, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, resent, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, probes, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, acks, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_psn, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_access, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_invalid, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, naks_rnr, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, timeouts, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, resyncs, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, late, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, unmatched, LEDGER_NOTE),
	LEDGER_FIELD(struct requester_ledger, malformed, LEDGER_NOTE),
};

LEDGER_COMPLETE(fields, struct requester_ledger);

const struct ledger requester_ledger = {
	.stage = "requester",
	.unit = "requests",
	.fields = fields,
	.n = sizeof(fields) / sizeof(fields[0]),
};

static const struct ledger_field dart_fields[] = {
	LEDGER_FIELD(struct dart_ledger, packets, LEDGER_IN),
	LEDGER_FIELD(struct dart_ledger, sent, LEDGER_DONE),
	LEDGER_FIELD(struct dart_ledger, lost, LEDGER_LOSS),
	LEDGER_FIELD(struct dart_ledger, resyncs, LEDGER_NOTE),
};

LEDGER_COMPLETE(dart_fields, struct dart_ledger);

const struct ledger dart_ledger = {
	.stage = "dart",
	.unit = "packets",
	.fields = dart_fields,
	.n = sizeof(dart_fields) / sizeof(dart_fields[0]),
};

static inline struct roce_out *self(struct transport *r)
{
	return (struct roce_out *)r;
}

int roce_template_make(struct roce_template *t, const struct roce *r)
{
	uint8_t frame[ROCE_FRAME_MAX], masked[ICRC_ONES + TEMPLATE_HEAD_MAX];
	uint8_t *ip = masked + ICRC_ONES;
	size_t ip_len = r->version == 6 ? NET_IP6_LEN : NET_IP4_LEN;
	int len = roce_encode(frame, sizeof(frame), r);

	if (len < 0)
		return len;
	t->psn = (uint16_t)(NET_ETH_LEN + ip_len + NET_UDP_LEN + TEMPLATE_PSN);
	t->ext = (uint16_t)(t->psn - TEMPLATE_PSN + ROCE_BTH_LEN);
	t->body = (uint16_t)(len - ROCE_ICRC_LEN);
	t->head = (uint16_t)(t->body - r->len - (-r->len & 3));
	memcpy(t->frame, frame, t->head);
	memset(masked, 0xff, ICRC_ONES);
	memcpy(ip, frame + NET_ETH_LEN, t->psn - (size_t)NET_ETH_LEN);
	icrc_mask(ip, ip_len);
	t->sum = crc(CRC_SLOT0, masked,
		     ICRC_ONES + t->psn - (size_t)NET_ETH_LEN);
	return 0;
}

/* Not inlined: else roce_out_emit() pays for its struct roce (stack, and stack
 * protector) with every packet. */
__attribute__((noinline)) static int
make_template(const struct roce_out *o, unsigned table, uint8_t opcode,
	      uint32_t length, struct roce_cached_template *c)
{
	static const uint8_t zeros[ROCE_PAYLOAD_MAX];
	const struct ticket *t = o->t;
	struct roce r = {
		.version = t->version,
		.src_port = roce_src_port(t->at[table].qpn),
		.ttl = 64,
		.opcode = opcode,
		.migreq = true,
		.pkey = 0xffff,
		.dest_qp = t->at[table].qpn,
		.rkey = t->at[table].rkey,
		.dma_len = length,
		.payload = zeros,
		.len = length,
	};
	int rc;

	memcpy(r.eth_dst, t->mac, 6);
	memcpy(r.eth_src, t->peer_mac, 6);
	memcpy(r.src, t->peer_ip, 16);
	memcpy(r.dst, t->ip, 16);
	rc = roce_template_make(&c->template, &r);
	c->opcode = rc < 0 ? 0 : opcode;
	c->length = length;
	return rc;
}

static int get_template(struct roce_out *o, unsigned table, uint8_t opcode,
			uint32_t length, const struct roce_template **out)
{
	struct roce_cached_template *c =
		&o->qp[table].cached[(length / 4 + opcode) % TEMPLATES];

	*out = &c->template;
	if (c->opcode == opcode && c->length == length)
		return 0;
	return make_template(o, table, opcode, length, c);
}

/* Fills an operation's own fields into a template's frame. */
static void fill_frame(uint8_t *frame, const struct roce_template *t,
		       const struct op *op, uint64_t va)
{
	uint8_t *ext = frame + t->ext;

	be64_store(ext, va);
	if (op->verb == OP_FETCH_ADD) {
		be64_store(ext + ROCE_ATOMIC_AT_SWAP, op->add);
		return;
	}
	memcpy(frame + t->head, op->data, op->length);
	memset(frame + t->head + op->length, 0, -op->length & 3);
	if (t->head == t->ext + ROCE_RETH_LEN + ROCE_IMM_LEN)
		be32_store(ext + ROCE_RETH_LEN, op->immediate);
}

int roce_out_emit(struct roce_out *o, const struct op *op, uint8_t opcode,
		  uint32_t psn, uint64_t ts_ns)
{
	const struct roce_template *t;
	uint8_t *frame;
	uint32_t sum;
	int rc = get_template(o, op->table, opcode,
			      op->verb == OP_FETCH_ADD ? 0 : op->length, &t);

	if (rc < 0)
		return rc;
	frame = snk_room(o->sink, (size_t)t->body + ROCE_ICRC_LEN);
	if (!frame)
		return errno ? -errno : -EIO;
	memcpy(frame, t->frame, t->head);
	be32_store(frame + t->psn, psn);
	fill_frame(frame, t, op, o->t->at[op->table].address + op->offset);
	sum = htole32(crc_extend(CRC_SLOT0, t->sum, frame + t->psn,
				 (size_t)t->body - t->psn));
	memcpy(frame + t->body, &sum, sizeof(sum));
	snk_done(o->sink, (size_t)t->body + ROCE_ICRC_LEN, ts_ns);
	o->packets++;
	return 0;
}

/* The opcode that carries a verb to a table, or 0: UC has no atomics. */
static uint8_t opcode_of(const struct table *t, uint8_t verb)
{
	static const uint8_t rc[] = {
		[OP_WRITE] = ROCE_RC_WRITE_ONLY,
		[OP_WRITE_IMM] = ROCE_RC_WRITE_ONLY_IMM,
		[OP_FETCH_ADD] = ROCE_RC_FETCH_ADD,
	};

	if (t->qp == TABLE_QP_RC)
		return verb < sizeof(rc) ? rc[verb] : 0;
	return verb == OP_WRITE	      ? ROCE_UC_WRITE_ONLY
	       : verb == OP_WRITE_IMM ? ROCE_UC_WRITE_ONLY_IMM
				      : 0;
}

/* PSNs wrap around: after 2^23 more of them an answer no longer tells which
 * were executed. */
static void dart_count(struct roce_out *o, struct dart_sequence *d,
		       uint32_t psn)
{
	o->dart_ctr.packets++;
	if (psn % DART_AGE_CHECK ||
	    ((psn - d->from) & ROCE_PSN_MASK) < ROCE_PSN_HALF)
		return;
	d->from = (psn - ROCE_PSN_HALF) & ROCE_PSN_MASK;
	d->nakked = false;
}

/* Sends a request without keeping it. */
static int send_request(struct roce_out *o, const struct op *op, uint8_t opcode)
{
	struct requester_qp *p = &o->qp[op->table];
	uint32_t psn = p->psn;

	if (p->dart.on)
		dart_count(o, &p->dart, psn);
	p->psn = (psn + 1) & ROCE_PSN_MASK;
	if (o->ack_every && ++p->since_ack >= o->ack_every) {
		p->since_ack = 0;
		psn |= ack_req;
	}
	return roce_out_emit(o, op, opcode, psn, o->ts_ns);
}

/* Puts a request into the window, if this queue pair has one, or sends it. */
static int put_request(struct roce_out *o, const struct op *op, uint8_t opcode,
		       bool *taken)
{
	if (o->qp[op->table].q.on)
		return requester_add(o, op, opcode, taken);
	if (o->windows && !o->qp[op->table].dart.on) {
		o->ctr.requests++;
		o->ctr.uc++;
	}
	return send_request(o, op, opcode);
}

/* An operation that is longer than a packet may be: several requests. The
 * immediate goes with the last one: it says that all is there. */
static int put_parts(struct roce_out *o, const struct op *op, uint8_t opcode,
		     bool *taken)
{
	const uint8_t write = opcode_of(&o->t->table[op->table], OP_WRITE);
	/* Read once: a new ticket may replace o->t while a request waits. */
	const uint32_t mtu = o->t->mtu;
	struct op part = *op;
	int rc = 0;

	part.verb = OP_WRITE;
	part.length = mtu;
	for (; op->data + op->length - part.data > mtu && !rc;
	     part.data += mtu, part.offset += mtu)
		rc = put_request(o, &part, write, taken);
	part.verb = op->verb;
	part.length = (uint32_t)(op->data + op->length - part.data);
	return rc ? rc : put_request(o, &part, opcode, taken);
}

/* One operation: a request, or several. *taken: the last one was not dropped.
 */
static int accept_op(struct roce_out *o, const struct op *op, bool *taken)
{
	uint8_t opcode = opcode_of(&o->t->table[op->table], op->verb);

	if (!opcode)
		return -EINVAL;
	*taken = true;
	if (op->verb == OP_FETCH_ADD || op->length <= o->t->mtu)
		return put_request(o, op, opcode, taken);
	return put_parts(o, op, opcode, taken);
}

static int push_all(struct roce_out *o)
{
	int rc = 0;

	for (unsigned i = 0; i < o->t->n && !rc; i++)
		if (o->qp[i].q.on)
			rc = requester_push(o, i);
	return rc;
}

static int roce_exec(struct transport *transport, const struct op *ops,
		     size_t n, uint64_t ts_ns)
{
	struct roce_out *o = self(transport);
	const uint64_t *stamp = transport->stamps ? transport->stamps : &ts_ns;
	const size_t next = transport->stamps ? 1 : 0;
	int rc = 0;

	for (const struct op *op = ops; op < ops + n && !rc; op++) {
		bool taken;

		o->ts_ns = *stamp;
		stamp += next;
		if (op->table >= o->t->n)
			return -ERANGE;
		rc = accept_op(o, op, &taken);
		if (!rc && taken)
			ticket_note_head(o->heads, o->t, op);
	}
	return rc || !o->windows ? rc : push_all(o);
}

static uint64_t roce_begin(struct transport *transport)
{
	struct roce_out *o = self(transport);

	for (unsigned i = 0; i < o->t->n; i++)
		o->qp[i].q.dropping = NULL;
	return o->generation;
}

static uint64_t roce_head(struct transport *transport, unsigned table,
			  uint32_t list)
{
	return self(transport)->heads[table][list];
}

/* A queue pair that has refused a request refuses all until it is made anew.
 * One whose expected PSN is not known takes them while its window has room. */
static bool roce_busy(struct transport *transport, unsigned table)
{
	const struct requester *q = &self(transport)->qp[table].q;

	if (!q->on || q->phase == REQUESTER_OPEN)
		return false;
	return q->phase == REQUESTER_DEAD ||
	       q->w.snd.end - q->w.snd.una > q->w.mask / 2;
}

int roce_out_open(struct roce_out **out, const struct ticket *t,
		  struct snk *sink, unsigned ack_every, struct error *err)
{
	int rc = ticket_check_mtu(t->table, t->n, t->mtu, err);
	struct roce_out *o;

	if (rc < 0)
		return rc;
	if (!(o = calloc(1, sizeof(*o))))
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	o->transport = (struct transport){
		.begin = roce_begin,
		.exec = roce_exec,
		.head = roce_head,
		.busy = roce_busy,
		.stamped = true,
	};
	o->t = t;
	o->sink = sink;
	o->ack_every = ack_every;
	o->generation = t->epoch;
	for (unsigned i = 0; i < t->n; i++)
		o->qp[i].psn = t->at[i].psn;
	if (ticket_take_heads(o->heads, t) < 0) {
		roce_out_close(o);
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	}
	*out = o;
	return 0;
}

struct transport *roce_out_transport(struct roce_out *o)
{
	return &o->transport;
}

uint32_t roce_out_psn(const struct roce_out *o, unsigned table)
{
	const struct requester_qp *p = &o->qp[table];

	if (!p->q.on)
		return p->psn;
	return p->q.was_open ? p->q.unused : o->t->at[table].psn;
}

int roce_out_dart(struct roce_out *o, struct error *err)
{
	for (unsigned i = 0; i < o->t->n; i++) {
		const struct table *t = &o->t->table[i];

		if (t->kind != TABLE_KEYWRITE)
			continue;
		if (t->value_len + 4u > o->t->mtu)
			return error_set(err, -EINVAL,
					 "table %s: slots above the path MTU "
					 "of %u: DART writes them in one "
					 "packet",
					 t->name, o->t->mtu);
		o->qp[i].dart = (struct dart_sequence){.on = true,
						       .from = o->qp[i].psn};
	}
	o->dart = true;
	return 0;
}

struct dart_ledger roce_out_dart_ledger(const struct roce_out *o)
{
	struct dart_ledger l = o->dart_ctr;

	l.sent = l.packets - l.lost;
	return l;
}

/* An answer about packets of a DART table: an ACK says that all up to its PSN
 * were executed; a NAK that is no duplicate, that all from its PSN on are lost.
 */
static void dart_answer(struct roce_out *o, struct requester_qp *p,
			const struct roce *r)
{
	struct dart_sequence *d = &p->dart;
	uint32_t sent = (p->psn - d->from) & ROCE_PSN_MASK;
	uint32_t at = (r->psn - d->from) & ROCE_PSN_MASK;

	if (r->opcode != ROCE_RC_ACK || at >= sent)
		return;
	if (r->syndrome == ROCE_ACK) {
		d->from = (r->psn + 1) & ROCE_PSN_MASK;
		d->nakked = false;
	} else if (r->syndrome == ROCE_NAK_PSN &&
		   (at || !d->nakked || sent >= DART_NAK_AGAIN)) {
		p->psn = d->from = r->psn;
		d->nakked = true;
		o->dart_ctr.lost += sent - at;
		o->dart_ctr.resyncs++;
	}
}

/* The queue pair that an answer is for, if it is one that takes answers. */
static struct requester_qp *find_qp(struct roce_out *o, const struct roce *r)
{
	const struct ticket *t = o->t;
	size_t len = t->version == 4 ? 4 : 16;

	if (r->version != t->version || memcmp(r->src, t->ip, len) != 0 ||
	    memcmp(r->dst, t->peer_ip, len) != 0 ||
	    memcmp(r->eth_dst, t->peer_mac, 6) != 0)
		return NULL;
	for (unsigned i = 0; i < t->n; i++)
		if ((o->qp[i].q.on || o->qp[i].dart.on) &&
		    t->at[i].qpn == r->dest_qp)
			return &o->qp[i];
	return NULL;
}

static int process_answer(struct roce_out *const *transports, unsigned n,
			  const struct roce *r)
{
	for (unsigned i = 0; i < n; i++) {
		struct requester_qp *p = find_qp(transports[i], r);

		if (!p)
			continue;
		if (p->q.on)
			return requester_judge(
				transports[i],
				(unsigned)(p - transports[i]->qp), r);
		dart_answer(transports[i], p, r);
		return 0;
	}
	transports[0]->ctr.unmatched++;
	return 0;
}

int roce_out_answers(struct roce_out *const *transports, unsigned n,
		     const struct pkt *pkts, size_t npkts, uint64_t now_ns)
{
	int rc = 0, one;

	for (unsigned i = 0; i < n; i++)
		transports[i]->now_ns = now_ns;
	for (const struct pkt *p = pkts; p < pkts + npkts; p++) {
		struct roce r;

		if (roce_decode(&r, p->data, p->len) < 0 || !r.icrc_ok ||
		    r.tver || (r.pkey & 0x7fff) != 0x7fff ||
		    (r.opcode != ROCE_RC_ACK &&
		     r.opcode != ROCE_RC_ATOMIC_ACK)) {
			transports[0]->ctr.malformed++;
			continue;
		}
		one = process_answer(transports, n, &r);
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

struct roce_out_progress roce_out_progress(const struct roce_out *o,
					   unsigned table)
{
	const struct requester *q = &o->qp[table].q;

	return (struct roce_out_progress){
		.acked = q->w.snd.una,
		.waiting = q->w.snd.end - q->w.snd.una,
		.refused = q->phase == REQUESTER_DEAD,
		.stale = q->stale,
	};
}

/* The longest payload that a table's requests have. */
static size_t longest_payload(const struct table *t, uint32_t mtu)
{
	size_t len = t->kind == TABLE_APPEND
			     ? (size_t)TABLE_BATCH_MAX * t->stride
			     : t->stride;

	return len < mtu ? len : mtu;
}

int roce_out_window(struct roce_out *o, unsigned size, roce_out_wait *wait,
		    void *ctx, struct error *err)
{
	uint64_t n = 1;

	while (n < size)
		n *= 2;
	for (unsigned i = 0; i < o->t->n; i++) {
		const struct table *t = &o->t->table[i];
		struct requester *q = &o->qp[i].q;

		if (t->qp != TABLE_QP_RC || o->qp[i].dart.on)
			continue;
		if (request_window_open(&q->w, n,
					longest_payload(t, o->t->mtu)) < 0)
			return error_set(err, -ENOMEM,
					 "no memory for a window of %u", size);
		q->on = true;
		q->timeout = TIMEOUT_FIRST;
		q->farthest = o->t->at[i].psn;
		requester_restart(q, o->t->at[i].psn);
	}
	o->windows = true;
	o->wait = wait;
	o->ctx = ctx;
	return 0;
}

uint64_t roce_out_due(const struct roce_out *o)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < o->t->n; i++) {
		const struct requester *q = &o->qp[i].q;

		if (q->resume && q->resume < due)
			due = q->resume;
		if (q->deadline && q->deadline < due)
			due = q->deadline;
	}
	return due;
}

uint64_t roce_out_pending(const struct roce_out *o)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < o->t->n; i++)
		if (o->qp[i].q.phase != REQUESTER_DEAD || o->qp[i].q.stale)
			n += o->qp[i].q.w.snd.end - o->qp[i].q.w.snd.una;
	return n;
}

bool roce_out_stalled(const struct roce_out *o)
{
	for (unsigned i = 0; i < o->t->n; i++)
		if (o->qp[i].q.phase == REQUESTER_DEAD || o->qp[i].q.tries > 1)
			return true;
	return false;
}

bool roce_out_stale(const struct roce_out *o)
{
	for (unsigned i = 0; i < o->t->n; i++)
		if (o->qp[i].q.stale)
			return true;
	return false;
}

struct requester_ledger roce_out_ledger(const struct roce_out *o, bool open)
{
	struct requester_ledger l = o->ctr;

	l.packets = o->windows ? o->packets : 0;
	for (unsigned i = 0; i < o->t->n; i++) {
		const struct requester *q = &o->qp[i].q;
		const struct snd *w = &q->w.snd;

		if (q->phase == REQUESTER_DEAD)
			l.refused += w->end - w->una;
		else if (open)
			l.waiting += w->end - w->una;
		else
			l.unsent += w->end - w->max;
		if (q->phase == REQUESTER_DEAD || !open)
			l.unanswered += w->max - w->una;
	}
	return l;
}

/* Whether a collector's lists can be those that we wrote to: each holds no more
 * than we sent, and no less than it confirmed: up to a batch before the oldest
 * head that is not confirmed. */
static bool same_lists(const struct roce_out *o, unsigned i,
		       const uint64_t *heads)
{
	const struct table *t = &o->t->table[i];
	const struct request_window *w = &o->qp[i].q.w;
	uint64_t *least = malloc(t->lists * sizeof(*least));
	bool same = true;

	if (!least)
		return false;
	memcpy(least, o->heads[i], t->lists * sizeof(*least));
	for (uint64_t k = w->snd.end; k-- > w->snd.una;) {
		const struct op *op = &request_window_at(w, k)->op;
		uint64_t list = (op->offset - t->heads) / 8, count;

		if (op->offset < t->heads || list >= t->lists)
			continue;
		count = be64_load(op->data);
		least[list] = count < t->batch ? 0 : count - t->batch;
	}
	for (uint32_t k = 0; k < t->lists && same; k++)
		same = heads[k] >= least[k] && heads[k] <= o->heads[i][k];
	free(least);
	return same;
}

/* Keeps pending list entries if their places are still right, else drops them.
 */
static void renew_lists(struct roce_out *o, unsigned i, const struct ticket *t)
{
	struct requester *q = &o->qp[i].q;
	struct snd *w = &q->w.snd;
	const uint64_t *heads = t->at[i].heads;
	uint32_t lists = t->table[i].lists;

	if (heads && t->epoch == o->t->epoch && same_lists(o, i, heads))
		return;
	if (q->on) {
		o->ctr.outdated += w->end - w->una;
		w->end = w->nxt = w->max = w->una;
		q->dropping = &o->ctr.outdated;
	}
	if (heads)
		memcpy(o->heads[i], heads, lists * sizeof(*heads));
	else
		memset(o->heads[i], 0, lists * sizeof(*heads));
	o->generation++;
}

/* Whether a new ticket leads where the old one does, and nothing was refused
 * there: then the connection may well live, and answers about what is under way
 * are still to come. The caller has it probed. */
static bool is_same_qp(const struct roce_out *o, unsigned i,
		       const struct ticket *t)
{
	const struct ticket_table *a = &o->t->at[i], *b = &t->at[i];
	size_t len = t->table[i].lists * sizeof(*b->heads);

	if (!o->qp[i].q.on || o->qp[i].q.phase == REQUESTER_DEAD ||
	    t->epoch != o->t->epoch || a->qpn != b->qpn || a->rkey != b->rkey ||
	    a->address != b->address)
		return false;
	return a->heads && b->heads ? !memcmp(a->heads, b->heads, len)
				    : a->heads == b->heads;
}

int roce_out_reticket(struct roce_out *o, const struct ticket *t,
		      struct error *err)
{
	int rc = ticket_check_mtu(t->table, t->n, t->mtu, err);
	uint32_t psn;
	bool same;

	if (t->mtu != o->t->mtu && (o->windows || o->dart))
		return error_set(err, -EINVAL, "another MTU needs a new start");
	if (rc < 0)
		return rc;
	same = ticket_is_same(o->t, t);
	/* Where the queue pair is the same, lists continue behind what we sent,
	 * which the new ticket's heads need not cover yet. */
	for (unsigned i = 0; i < t->n; i++) {
		bool lasts = same || (t->epoch == o->t->epoch &&
				      ticket_pair_lasts(o->t, t, i));

		if (t->table[i].kind == TABLE_APPEND &&
		    !(o->qp[i].q.on ? is_same_qp(o, i, t) : lasts))
			renew_lists(o, i, t);
	}
	for (unsigned i = 0; i < t->n; i++) {
		struct requester_qp *p = &o->qp[i];

		memset(p->cached, 0, sizeof(p->cached));
		if (!p->q.on) {
			psn = same ? p->psn : ticket_psn(o->t, t, i, p->psn);
			/* Answers of the old queue pair say nothing here. */
			if (!same &&
			    (psn != p->psn || !ticket_pair_lasts(o->t, t, i)))
				p->dart = (struct dart_sequence){
					.on = p->dart.on, .from = psn};
			p->psn = psn;
			continue;
		}
		if (is_same_qp(o, i, t)) {
			if (p->q.phase == REQUESTER_OPEN)
				requester_doubt(&p->q);
			continue;
		}
		o->ctr.unanswered += request_window_drop_atomics(&p->q.w);
		requester_restart(&p->q, t->at[i].psn);
	}
	o->t = t;
	/* The ticket is taken; an error of the sink shows at the next flush. */
	push_all(o);
	return 0;
}

void roce_out_close(struct roce_out *o)
{
	if (!o)
		return;
	for (unsigned i = 0; i < TABLE_MAX; i++) {
		free(o->heads[i]);
		free(o->qp[i].q.w.mem);
	}
	free(o);
}

/* --- health of a collector ----------------------------------------------- */

/* A table without progress for so long is reported. */
static const uint64_t stuck_ns = UINT64_C(5000000000);

const char roce_out_nothing_acked[] =
	"nothing was acknowledged of all that was sent";

/* Describes a collector's state, its likely cause, and what to do. */
static void describe_health(struct error *err, const struct ticket *t,
			    bool refused, unsigned table, const char *symptom)
{
	char ip[TEXT_IP_MAX], peer[TEXT_IP_MAX];

	text_of_ip(ip, t->version, t->ip);
	if (refused)
		error_set(err, -1,
			  "%s: table %.*s is refused: is the ticket out of "
			  "date? dta-collect writes it anew; a copy of it has "
			  "to be copied again",
			  ip, TABLE_NAME_MAX, t->table[table].name);
	else
		error_set(err, -1,
			  "%s: %s: is dta-collect running there, with "
			  "--peer-ip %s and this ticket? Do packets with %u "
			  "bytes of payload get there (dta-collect --mtu)?",
			  ip, symptom, text_of_ip(peer, t->version, t->peer_ip),
			  t->mtu);
}

/* A table that has waited too long for any progress, preferably a refused one;
 * TABLE_MAX: none has. */
static unsigned stuck_table(struct roce_out_health *st,
			    const struct roce_out *o, uint64_t now, bool away)
{
	unsigned stuck = TABLE_MAX;

	for (unsigned i = 0; i < o->t->n; i++) {
		struct roce_out_progress at = roce_out_progress(o, i);
		bool renewed = st->table[i].refused && !at.refused;

		if (away || renewed || !at.waiting ||
		    at.acked != st->table[i].acked)
			st->table[i].since_ns = now;
		else if (now - st->table[i].since_ns >= stuck_ns &&
			 (stuck == TABLE_MAX || at.refused))
			stuck = i;
		st->table[i].acked = at.acked;
		st->table[i].refused = at.refused;
	}
	return stuck;
}

bool roce_out_check_health(struct roce_out_health *st, const struct roce_out *o,
			   uint64_t now_ns, bool away, bool waits,
			   struct error *err)
{
	unsigned stuck = stuck_table(st, o, now_ns, away);
	enum roce_out_health_state state = ROCE_OUT_SILENT;
	char ip[TEXT_IP_MAX];
	struct error health;

	/* That nothing waits any more does not make it healthy. */
	if (stuck == TABLE_MAX)
		state = roce_out_progress(o, st->stuck).acked != st->acked
				? ROCE_OUT_HEALTHY
				: st->state;
	else if (roce_out_progress(o, stuck).refused)
		state = ROCE_OUT_REFUSED;
	if (state == st->state)
		return false;
	st->state = state;
	if (state == ROCE_OUT_HEALTHY) {
		error_set(err, -1, "%s: requests are acknowledged now",
			  text_of_ip(ip, o->t->version, o->t->ip));
		return true;
	}
	st->stuck = stuck;
	st->acked = roce_out_progress(o, stuck).acked;
	if (state == ROCE_OUT_REFUSED && roce_out_stale(o))
		return false; /* packet_transport.c reports it */
	describe_health(&health, o->t, state == ROCE_OUT_REFUSED, stuck,
			"nothing is acknowledged");
	error_set(err, -1, "%.400s%s", health.text,
		  waits && state == ROCE_OUT_SILENT
			  ? " Reports are left unread while the window is "
			    "full: start it, or interrupt this"
			  : "");
	return true;
}

bool roce_out_unacked_reason(const struct roce_out *o, struct error *err)
{
	for (unsigned k = 0; k < o->t->n; k++) {
		struct roce_out_progress at = roce_out_progress(o, k);

		if (!at.waiting)
			continue;
		describe_health(err, o->t, at.refused, k,
				roce_out_nothing_acked);
		return true;
	}
	return false;
}
