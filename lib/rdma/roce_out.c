/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The RoCEv2 road. Of a frame, all but PSN, address, R_Key's neighbour fields
 * and payload depends on nothing but table, opcode and length: such a form is
 * made once by roce_encode(), with the iCRC's register up to the PSN, and then
 * filled in.
 */
#include "rdma/roce_out.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "wire/net.h"
#include "wire/roce.h"

enum {
	FORMS = 16, /* of a table, by opcode and length */
	HEAD_MAX = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN + ROCE_BTH_LEN +
		   ROCE_ATOMIC_LEN + ROCE_IMM_LEN,
	BTH_PSN_AT = 8, /* AckReq and the PSN: the first field that changes */
	BTH_ACK_REQ = 0x80,
};

struct form {
	uint8_t opcode;   /* 0: unused */
	uint32_t length;  /* of the payload */
	uint32_t crc;	  /* of what the iCRC covers before BTH_PSN_AT */
	uint32_t bth;	  /* where the BTH begins */
	uint32_t head;	  /* bytes in front of the payload */
	uint8_t frame[HEAD_MAX];
};

struct pair { /* a queue pair */
	uint32_t psn, since_ack;
	struct form form[FORMS];
};

struct roce_out {
	struct road road;
	const struct ticket *t;
	struct snk *sink;
	unsigned ack_every;
	uint64_t packets;
	uint64_t *heads[TABLE_MAX];
	struct pair pair[TABLE_MAX];
};

static inline struct roce_out *self(struct road *r)
{
	return (struct roce_out *)r;
}

static void store_be64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

static void store_be32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static bool has_payload(uint8_t verb)
{
	return verb == OP_WRITE || verb == OP_WRITE_IMM;
}

static uint8_t opcode_of(const struct table *t, uint8_t verb)
{
	static const uint8_t rc[] = {
		[OP_WRITE] = ROCE_RC_WRITE_ONLY,
		[OP_WRITE_IMM] = ROCE_RC_WRITE_ONLY_IMM,
		[OP_FETCH_ADD] = ROCE_RC_FETCH_ADD,
		[OP_CMP_SWAP] = ROCE_RC_CMP_SWAP,
	};

	if (t->qp == TABLE_QP_RC)
		return rc[verb];
	return verb == OP_WRITE ? ROCE_UC_WRITE_ONLY : ROCE_UC_WRITE_ONLY_IMM;
}

/* Makes the form of an opcode and length for a table. */
static int make_form(const struct roce_out *o, unsigned table, uint8_t opcode,
		     uint32_t length, struct form *f)
{
	static const uint8_t zeros[4096];
	const struct ticket *t = o->t;
	uint8_t frame[ROCE_FRAME_MAX], masked[HEAD_MAX + 8];
	uint32_t ip = NET_ETH_LEN;
	struct roce r = {
		.version = t->version,
		.src_port = (uint16_t)(0xc000 | (t->at[table].qpn & 0x3fff)),
		.ttl = 64,
		.opcode = opcode,
		.migreq = true,
		.pad = (uint8_t)(-length & 3),
		.pkey = 0xffff,
		.dest_qp = t->at[table].qpn,
		.rkey = t->at[table].rkey,
		.dma_len = length,
		.payload = zeros,
		.len = length,
	};
	int len;

	memcpy(r.eth_dst, t->mac, 6);
	memcpy(r.eth_src, t->peer_mac, 6);
	memcpy(r.src, t->peer_ip, 16);
	memcpy(r.dst, t->ip, 16);
	len = roce_encode(frame, sizeof(frame), &r);
	if (len < 0)
		return len;
	f->opcode = opcode;
	f->length = length;
	f->bth = ip + (t->version == 6 ? NET_IP6_LEN : NET_IP4_LEN) +
		 NET_UDP_LEN;
	f->head = (uint32_t)len - ROCE_ICRC_LEN - length - r.pad;
	memcpy(f->frame, frame, f->head);
	/* InfiniBand annex A17.3: what routers change counts as ones. */
	memset(masked, 0xff, 8);
	memcpy(masked + 8, frame + ip, f->bth + BTH_PSN_AT - ip);
	if (t->version == 6) {
		store_be32(masked + 8, 0x6fffffff);
		masked[8 + 7] = 0xff;
	} else {
		masked[8 + 1] = masked[8 + 8] = 0xff;
		memset(masked + 8 + 10, 0xff, 2);
	}
	memset(masked + 8 + f->bth - ip - 2, 0xff, 2); /* UDP checksum */
	masked[8 + f->bth - ip + 4] = 0xff;
	f->crc = crc(CRC_SLOT0, masked, 8 + f->bth + BTH_PSN_AT - ip);
	return 0;
}

static struct form *form_of(struct roce_out *o, unsigned table, uint8_t opcode,
			    uint32_t length, int *rc)
{
	struct form *f = &o->pair[table].form[(length / 4 + opcode) % FORMS];

	if (f->opcode != opcode || f->length != length) {
		*rc = make_form(o, table, opcode, length, f);
		if (*rc < 0) {
			f->opcode = 0;
			return NULL;
		}
	}
	return f;
}

/* Fills in what an operation of a form has of its own. */
static void fill(uint8_t *frame, const struct form *f, const struct op *op,
		 uint64_t va, const uint8_t *data, uint32_t length)
{
	uint8_t *ext = frame + f->bth + ROCE_BTH_LEN;
	uint64_t operand[2];

	store_be64(ext, va);
	if (has_payload(op->verb)) {
		memcpy(frame + f->head, data, length);
		memset(frame + f->head + length, 0, -length & 3);
		if (f->head == f->bth + ROCE_BTH_LEN + ROCE_RETH_LEN +
				       ROCE_IMM_LEN)
			store_be32(ext + ROCE_RETH_LEN, op->immediate);
	} else if (op->verb == OP_FETCH_ADD) {
		store_be64(ext + 12, op->add);
	} else { /* AtomicETH: swap, then compare */
		memcpy(operand, op->data, sizeof(operand));
		store_be64(ext + 12, operand[1]);
		store_be64(ext + 20, operand[0]);
	}
}

static int emit(struct roce_out *o, const struct op *op, uint8_t opcode,
		uint64_t offset, const uint8_t *data, uint32_t length,
		uint64_t ts_ns)
{
	struct pair *p = &o->pair[op->table];
	uint32_t payload = has_payload(op->verb) ? length : 0, psn, sum;
	int rc = 0;
	struct form *f = form_of(o, op->table, opcode, payload, &rc);
	size_t body;
	uint8_t *frame;

	if (!f)
		return rc;
	body = f->head + payload + (-payload & 3);
	frame = snk_room(o->sink, body + ROCE_ICRC_LEN);
	if (!frame)
		return errno ? -errno : -EIO;
	memcpy(frame, f->frame, f->head);
	psn = p->psn;
	p->psn = (psn + 1) & ROCE_PSN_MASK;
	if (o->ack_every && ++p->since_ack >= o->ack_every) {
		p->since_ack = 0;
		psn |= (uint32_t)BTH_ACK_REQ << 24;
	}
	store_be32(frame + f->bth + BTH_PSN_AT, psn);
	fill(frame, f, op, o->t->at[op->table].address + offset, data, payload);
	sum = crc_extend(CRC_SLOT0, f->crc, frame + f->bth + BTH_PSN_AT,
			 body - f->bth - BTH_PSN_AT);
	sum = htole32(sum);
	memcpy(frame + body, &sum, sizeof(sum));
	snk_done(o->sink, body + ROCE_ICRC_LEN, ts_ns);
	o->packets++;
	return 0;
}

/* Keeps the count of a list that goes over the road, for head(). */
static void note_head(struct roce_out *o, const struct op *op)
{
	const struct table *t = &o->t->table[op->table];
	uint64_t count;

	if (t->kind != TABLE_APPEND || op->offset < t->heads || op->length != 8)
		return;
	memcpy(&count, op->data, sizeof(count));
	o->heads[op->table][(op->offset - t->heads) / 8] = be64toh(count);
}

static int roce_exec(struct road *road, const struct op *ops, size_t n,
		     uint64_t ts_ns)
{
	struct roce_out *o = self(road);
	uint32_t mtu = o->t->mtu;
	int rc = 0;

	for (const struct op *op = ops; op < ops + n && !rc; op++) {
		const struct table *t = &o->t->table[op->table];
		uint32_t done = 0;

		/* Longer than a packet: several, the immediate on the last. */
		while (op->length - done > mtu && !rc) {
			rc = emit(o, op, opcode_of(t, OP_WRITE),
				  op->offset + done, op->data + done, mtu,
				  ts_ns);
			done += mtu;
		}
		if (!rc)
			rc = emit(o, op, opcode_of(t, op->verb),
				  op->offset + done,
				  has_payload(op->verb) ? op->data + done :
							  NULL,
				  op->length - done, ts_ns);
		note_head(o, op);
	}
	return rc;
}

static uint64_t roce_begin(struct road *road)
{
	return self(road)->t->epoch;
}

static void roce_end(struct road *road)
{
	(void)road;
}

static uint64_t roce_head(struct road *road, unsigned table, uint32_t list)
{
	return self(road)->heads[table][list];
}

/* Our own copy of the ticket's heads: they go on from there. */
static int take_heads(struct roce_out *o, unsigned i, struct fault *f)
{
	uint32_t lists = o->t->table[i].lists;

	if (o->t->table[i].kind != TABLE_APPEND)
		return 0;
	o->heads[i] = calloc(lists, sizeof(*o->heads[i]));
	if (!o->heads[i])
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	if (o->t->at[i].heads)
		memcpy(o->heads[i], o->t->at[i].heads,
		       lists * sizeof(*o->heads[i]));
	return 0;
}

int roce_out_open(struct roce_out **out, const struct ticket *t,
		  struct snk *sink, unsigned ack_every, struct fault *f)
{
	struct roce_out *o = calloc(1, sizeof(*o));
	int rc = 0;

	if (!o)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	o->road = (struct road){
		.begin = roce_begin,
		.exec = roce_exec,
		.end = roce_end,
		.head = roce_head,
	};
	o->t = t;
	o->sink = sink;
	o->ack_every = ack_every;
	for (unsigned i = 0; i < t->n && !rc; i++) {
		o->pair[i].psn = t->at[i].psn;
		if (t->table[i].qp == TABLE_QP_UC &&
		    t->table[i].kind == TABLE_KEYINC)
			rc = fault_set(f, -EINVAL,
				       "table %s: counters need atomics, which "
				       "UC does not have; say qp = rc",
				       t->table[i].name);
		else
			rc = take_heads(o, i, f);
	}
	if (rc < 0) {
		roce_out_close(o);
		return rc;
	}
	*out = o;
	return 0;
}

struct road *roce_out_road(struct roce_out *o)
{
	return &o->road;
}

uint64_t roce_out_packets(const struct roce_out *o)
{
	return o->packets;
}

void roce_out_close(struct roce_out *o)
{
	if (!o)
		return;
	for (unsigned i = 0; i < TABLE_MAX; i++)
		free(o->heads[i]);
	free(o);
}
