/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder_private.h - shared by the responder's files. responder.c checks
 * packets, carries them out and sends answers; responder_cores.c does it on
 * several cores.
 */
#ifndef RDMA_RESPONDER_PRIVATE_H
#define RDMA_RESPONDER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "rdma/local.h"
#include "packet/pkt.h"
#include "rdma/responder.h"
#include "rdma/roce_template_private.h"
#include "region/table.h"
#include "net/roce.h"

struct responder_qp;

/*
 * Frames that answer requests.
 *
 * Replies are collected and sent together, in order: the CRC of bytes just
 * stored would wait for the stores, and CRCs of many frames wait only once. An
 * atomic's value is set after its reply was added. Replies to one peer differ
 * only in their last bytes, the tail. The iCRC is linear: a frame's is that of
 * the frame with a tail of zeros, XOR the CRC of the tail.
 */
enum {
	/* From the PSN on: an AETH, and perhaps an AtomicAckETH. */
	REPLY_TAIL = 4 + ROCE_AETH_LEN + ROCE_ATOMIC_ACK_LEN,
	/* Senders of a batch's packets: most queue pairs have one. Those beyond
	 * get no answer, and send again. */
	REPLY_PEERS = TABLE_MAX + 16,
	REPLY_NO_NUMBER = 0, /* numbers of replies begin at 1 */
	REPLAYS = 16,	     /* answers to atomics kept, as NICs do */
};

enum reply_kind {
	REPLY_NONE,
	REPLY_ACK,	/* an ACK or a NAK */
	REPLY_ATOMIC,	/* an atomic's: holds the value before it */
	REPLY_REPEATED, /* the same again, if the value is still kept */
};

/* Values that the last atomics of a queue pair found, for duplicates. */
struct replays {
	unsigned next;
	struct {
		uint32_t psn;
		bool used;
		uint64_t old;
	} at[REPLAYS];
};

struct reply_frame {
	struct roce_template t;
	uint32_t sum; /* the iCRC with a tail of zeros */
};

/* Frames for one requester. */
struct reply_peer {
	struct roce to;
	struct reply_frame ack, atomic;
};

struct pending_reply {
	const struct reply_frame *frame;
	uint64_t ts_ns;
	uint32_t sum; /* of the tail */
	uint8_t kind, table;
};

/* The replies of a batch, at most one for each packet. */
struct responder_replies {
	unsigned n;
	struct pending_reply pending[PKT_BATCH];
	/* Behind CRC_HEADROOM bytes each. Shorter ones begin with zeros. */
	uint8_t tail[1 + PKT_BATCH][REPLY_TAIL];
	unsigned peers;
	struct reply_peer peer[REPLY_PEERS];
	struct reply_peer *last[TABLE_MAX]; /* the last peer of each table */
};

/* Makes the CRCs, except of REPLY_REPEATED, once all values are set. */
void replies_checksum(struct responder_replies *replies);

/* Sends all replies in order. replays: of each table; values of atomics are
 * stored there and looked up for REPLY_REPEATED. Returns 0 or -errno, and adds
 * the number of repeated replies found to *again. */
int replies_send(struct responder_replies *replies, struct replays *replays,
		 struct snk *to, uint64_t *again);
void replies_drop(struct responder_replies *replies);

/*
 * Headers of requests that were found valid.
 *
 * Common requests of one length from one requester to one queue pair are equal
 * up to the PSN. Every check that needs one packet only reads just these bytes,
 * except the iCRC. The iCRC is linear: for two frames that begin alike, the
 * iCRCs differ as the CRCs of the remaining bytes do. Common: IPv4 without
 * options, no VLAN tag, no UDP checksum, WRITE Only (RC or UC) or FETCH_ADD.
 */
enum {
	HEADER_CACHE_HEAD =
		ROCE_AT_ACK_REQ, /* bytes in front of AckReq and the PSN */
	HEADER_CACHE_MAX = 64,
};

struct header_entry {
	uint8_t head[HEADER_CACHE_HEAD];
	uint16_t tail; /* bytes from there to the iCRC; 0: an empty entry */
	uint32_t sum;  /* the iCRC with a tail of zeros */
	struct responder_qp *q;
	struct roce r;
};

/* The latest headers, by a hash of the fields that differ. */
struct header_cache {
	struct header_entry at[HEADER_CACHE_MAX];
};

/* Decodes those of n <= ROCE_BATCH packets whose headers are in the cache: out
 * is what roce_decode() makes of them, qps their queue pairs, or NULL if the
 * iCRC is wrong. Returns a bit for each of them. */
uint32_t header_cache_match(struct header_cache *c, const struct pkt *pkts,
			    unsigned n, struct roce *out,
			    struct responder_qp **qps);

/* Stores the header of a valid packet for q, if it is a common one. */
void header_cache_add(struct header_cache *c, const struct pkt *pkt,
		      const struct roce *r, struct responder_qp *q);

struct responder_qp {
	const struct table *table;
	uint32_t qpn, rkey;
	uint64_t address;
	uint32_t expected, first; /* PSNs */
	bool error, nak_sent;
};

/* State that one packet leaves to the next. */
struct responder_state {
	struct ticket t;     /* addresses; R_Keys of the epoch */
	bool rc[TABLE_MAX];  /* not UC */
	uint64_t qp_version; /* counts how often the queue pairs were made */
	uint64_t epoch;
	uint64_t receives;
	struct responder_qp qp[TABLE_MAX];
	struct replays replays[TABLE_MAX];
};

/* Each core has one; all share the state s. */
struct responder {
	struct region *region;
	struct local_transport *local;
	struct snk *answers;
	struct responder_options o;
	struct responder_state *s;
	struct responder_ledger ctr;
	uint64_t qp_version; /* of the queue pairs that headers points at */
	struct header_cache headers;
	/* Operations of a batch (one core). */
	uint8_t *const *mem; /* to prefetch their lines; NULL (op.h) */
	unsigned nops, carried_out;
	struct op op[PKT_BATCH];
	/* The packets last screened, and the queue pair of each valid one. */
	struct roce decoded[ROCE_BATCH];
	struct responder_qp *qps[ROCE_BATCH];
	struct responder_replies replies;
};

static inline bool is_rc(uint8_t opcode)
{
	return opcode < ROCE_UC_WRITE_ONLY;
}

static inline bool is_atomic(uint8_t opcode)
{
	return opcode == ROCE_RC_FETCH_ADD;
}

static inline bool is_immediate(uint8_t opcode)
{
	return opcode == ROCE_RC_WRITE_ONLY_IMM ||
	       opcode == ROCE_UC_WRITE_ONLY_IMM;
}

static inline unsigned responder_qp_table(const struct responder *p,
					  const struct responder_qp *q)
{
	return (unsigned)(q - p->s->qp);
}

/* The result of checking a request. */
struct verdict {
	bool good;	/* it is to be carried out */
	uint8_t answer; /* enum reply_kind */
	uint32_t psn, aeth;
};

/* Checks lengths, alignment, R_Key and bounds: 0, or the NAK's syndrome. */
static inline __attribute__((always_inline)) uint8_t
responder_qp_access(const struct responder *p, const struct responder_qp *q,
		    const struct roce *r)
{
	uint64_t len = is_atomic(r->opcode) ? 8 : r->len;
	uint64_t offset = r->va - q->address;

	if (is_atomic(r->opcode)) {
		if (r->pad || (r->va & 7) || q->table->kind != TABLE_KEYINC)
			return ROCE_NAK_INVALID;
	} else if (r->dma_len != r->len || r->pad != (-r->len & 3) ||
		   r->len > p->s->t.mtu) {
		return ROCE_NAK_INVALID;
	}
	if (!len)
		return 0; /* touches nothing: not even a key is needed */
	if (r->rkey != q->rkey || r->va < q->address ||
	    offset > q->table->length || q->table->length - offset < len)
		return ROCE_NAK_ACCESS;
	return 0;
}

/* The MSN before a PSN: on RC each request has one PSN. */
static inline uint32_t responder_qp_msn(const struct responder_qp *q,
					uint32_t psn)
{
	return (psn - q->first) & ROCE_PSN_MASK;
}

/* The verdict on a valid request. */
static inline struct verdict responder_qp_accept(const struct responder_qp *q,
						 const struct roce *r)
{
	bool acked = is_rc(r->opcode) && r->ack_req;

	return (struct verdict){
		.good = true,
		.answer = is_atomic(r->opcode) ? REPLY_ATOMIC
			  : acked	       ? REPLY_ACK
					       : REPLY_NONE,
		.psn = r->psn,
		.aeth = (uint32_t)ROCE_ACK << 24 |
			responder_qp_msn(q, r->psn + 1),
	};
}

/* Checks the next packet of a queue pair; counts it if it is not valid. */
struct verdict responder_qp_judge(struct responder *p, struct responder_qp *q,
				  const struct roce *r);

/* Counts a valid request and fills in its operation, whose length may be 0. */
static inline __attribute__((always_inline)) void
responder_qp_op(const struct responder *p, const struct responder_qp *q,
		const struct roce *r, struct responder_ledger *ctr,
		struct op *op)
{
	bool imm = is_immediate(r->opcode);

	ctr->executed++;
	op->table = (uint16_t)responder_qp_table(p, q);
	op->immediate = r->imm;
	if (!is_atomic(r->opcode)) {
		ctr->writes++;
		ctr->bytes += r->len;
		ctr->immediates += imm;
		ctr->acks += is_rc(r->opcode) && r->ack_req;
		op->verb = imm ? OP_WRITE_IMM : OP_WRITE;
		op->offset = r->len ? r->va - q->address : 0;
		op->length = (uint32_t)r->len;
		op->data = r->payload;
		return;
	}
	ctr->atomics++;
	ctr->bytes += 8;
	ctr->acks++;
	op->offset = r->va - q->address;
	op->length = 8;
	op->verb = OP_FETCH_ADD;
	op->add = r->swap_add;
}

/* Adds the reply of a verdict to the sender of r. Returns its number, or
 * REPLY_NO_NUMBER. At most PKT_BATCH before replies_send(). */
unsigned responder_qp_reply(const struct responder *p,
			    const struct responder_qp *q, const struct roce *r,
			    const struct verdict *v,
			    struct responder_replies *replies, uint64_t ts_ns);

/* Carries out n checked operations. If replies is not NULL, an atomic's
 * immediate is the number of its reply (or REPLY_NO_NUMBER), which gets the
 * value found. 0 or -errno. */
int responder_exec(struct responder *p, const struct op *op, size_t n,
		   struct responder_replies *replies);

/* Decodes n <= ROCE_BATCH packets and makes all checks that do not depend on
 * earlier packets; qps: the queue pair of each valid one, else NULL. */
void responder_screen(struct responder *p, const struct pkt *pkts, unsigned n,
		      struct roce *decoded, struct responder_qp **qps);
/* Gives the queue pairs the R_Keys and addresses of an epoch. */
void responder_set_epoch(struct responder *p, uint64_t epoch);

#endif
