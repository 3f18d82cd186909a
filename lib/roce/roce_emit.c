/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_emit.c - packets. What frames of one table, opcode and length have in
 * common is made once (template.h) and then filled in, in the sink's own
 * buffer.
 */
#include "roce/requester_private.h"

#include <errno.h>
#include <string.h>

static int make_template(const struct roce_out *o, unsigned table,
			 uint8_t opcode, uint32_t length, struct template *f)
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

	memcpy(r.eth_dst, t->mac, 6);
	memcpy(r.eth_src, t->peer_mac, 6);
	memcpy(r.src, t->peer_ip, 16);
	memcpy(r.dst, t->ip, 16);
	return template_make(f, &r);
}

static int template_of(struct roce_out *o, unsigned table, uint8_t opcode,
		       uint32_t length, const struct template **out)
{
	struct cached_template *s =
		&o->pair[table].cached[(length / 4 + opcode) % TEMPLATES];
	int rc = 0;

	if (s->opcode != opcode || s->length != length) {
		rc = make_template(o, table, opcode, length, &s->template);
		s->opcode = rc < 0 ? 0 : opcode;
		s->length = length;
	}
	*out = &s->template;
	return rc;
}

/* Fills in what an operation of a template has of its own. */
static void fill(uint8_t *frame, const struct template *f, const struct op *op,
		 uint64_t va)
{
	uint8_t *ext = frame + f->ext;
	uint64_t operand[2];

	be64_store(ext, va);
	if (has_payload(op->verb)) {
		memcpy(frame + f->head, op->data, op->length);
		memset(frame + f->head + op->length, 0, -op->length & 3);
		if (f->head == f->ext + ROCE_RETH_LEN + ROCE_IMM_LEN)
			be32_store(ext + ROCE_RETH_LEN, op->immediate);
	} else if (op->verb == OP_FETCH_ADD) {
		be64_store(ext + ROCE_ATOMIC_AT_SWAP, op->add);
	} else { /* AtomicETH: swap, then compare */
		memcpy(operand, op->data, sizeof(operand));
		be64_store(ext + ROCE_ATOMIC_AT_SWAP, operand[1]);
		be64_store(ext + ROCE_ATOMIC_AT_COMPARE, operand[0]);
	}
}

int roce_out_emit(struct roce_out *o, const struct op *op, uint8_t opcode,
		  uint32_t psn, uint64_t ts_ns)
{
	const struct template *f;
	uint8_t *frame;
	int rc = template_of(o, op->table, opcode,
			     has_payload(op->verb) ? op->length : 0, &f);

	if (rc < 0)
		return rc;
	frame = snk_room(o->sink, (size_t)f->body + ROCE_ICRC_LEN);
	if (!frame)
		return errno ? -errno : -EIO;
	template_start(frame, f, psn);
	fill(frame, f, op, o->t->at[op->table].address + op->offset);
	snk_done(o->sink, template_end(frame, f), ts_ns);
	o->packets++;
	return 0;
}
