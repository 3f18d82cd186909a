/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/roce.h"

#include <errno.h>

#include "base/cur.h"
#include "base/put.h"
#include "hash/crc.h"
#include "net/net.h"

enum {
	/* Bytes that are copied, to be masked for the iCRC: a usual packet
	 * whole, of a longer one all headers at least. */
	ICRC_COPY = 120,
};

/* What an opcode's extended headers are. */
enum {
	HAS_RETH = 1,
	HAS_ATOMIC = 2,
	HAS_AETH = 4,
	HAS_ATOMIC_ACK = 8,
	HAS_IMM = 16,
	HAS_PAYLOAD = 32,
};

static const struct opcode {
	const char *name;
	uint8_t has;
} opcodes[] = {
	[ROCE_RC_WRITE_ONLY] = {"rc_write_only", HAS_RETH | HAS_PAYLOAD},
	[ROCE_RC_WRITE_ONLY_IMM] = {"rc_write_only_imm",
				    HAS_RETH | HAS_IMM | HAS_PAYLOAD},
	[ROCE_RC_ACK] = {"rc_ack", HAS_AETH},
	[ROCE_RC_ATOMIC_ACK] = {"rc_atomic_ack", HAS_AETH | HAS_ATOMIC_ACK},
	[ROCE_RC_CMP_SWAP] = {"rc_cmp_swap", HAS_ATOMIC},
	[ROCE_RC_FETCH_ADD] = {"rc_fetch_add", HAS_ATOMIC},
	[ROCE_UC_WRITE_ONLY] = {"uc_write_only", HAS_RETH | HAS_PAYLOAD},
	[ROCE_UC_WRITE_ONLY_IMM] = {"uc_write_only_imm",
				    HAS_RETH | HAS_IMM | HAS_PAYLOAD},
};

static const struct opcode *opcode_of(uint8_t opcode)
{
	if (opcode >= sizeof(opcodes) / sizeof(opcodes[0]))
		return NULL;
	return opcodes[opcode].name ? &opcodes[opcode] : NULL;
}

const char *roce_opcode_name(uint8_t opcode)
{
	const struct opcode *o = opcode_of(opcode);

	return o ? o->name : NULL;
}

uint32_t roce_icrc(const uint8_t *ip, size_t len)
{
	uint8_t buf[ICRC_ONES + ICRC_COPY], *h = buf + ICRC_ONES;
	size_t ip_len, copy;
	uint32_t sum;

	if (!len)
		return 0;
	ip_len = ip[0] >> 4 == 4 ? (ip[0] & 15) * 4u : NET_IP6_LEN;
	if (ip_len < NET_IP4_LEN || len < ip_len + NET_UDP_LEN + ROCE_BTH_LEN)
		return 0;
	copy = len < ICRC_COPY ? len : ICRC_COPY;
	memset(buf, 0xff, ICRC_ONES);
	memcpy(h, ip, copy);
	icrc_mask(h, ip_len);
	sum = crc(CRC_SLOT0, buf, ICRC_ONES + copy);
	return copy == len ? sum
			   : crc_extend(CRC_SLOT0, sum, ip + copy, len - copy);
}

static void bth_decode(struct roce *r, struct cur *c)
{
	uint8_t flags;

	r->opcode = cur_u8(c);
	flags = cur_u8(c);
	r->solicited = flags & ROCE_BTH_SOLICITED;
	r->migreq = flags & ROCE_BTH_MIGREQ;
	r->pad = flags >> 4 & 3;
	r->tver = flags & 15;
	r->pkey = cur_be16(c);
	r->dest_qp = cur_be32(c) &
		     ROCE_PSN_MASK; /* the high byte: FECN, BECN */
	r->psn = cur_be32(c);
	r->ack_req = r->psn >> 24 & ROCE_BTH_ACK_REQ;
	r->psn &= ROCE_PSN_MASK;
}

static void extended_decode(struct roce *r, struct cur *c, unsigned has)
{
	if (has & HAS_RETH) {
		r->va = cur_be64(c);
		r->rkey = cur_be32(c);
		r->dma_len = cur_be32(c);
	}
	if (has & HAS_ATOMIC) {
		r->va = cur_be64(c);
		r->rkey = cur_be32(c);
		r->swap_add = cur_be64(c);
		r->compare = cur_be64(c);
	}
	if (has & HAS_AETH) {
		r->msn = cur_be32(c);
		r->syndrome = (uint8_t)(r->msn >> 24);
		r->msn &= ROCE_PSN_MASK;
	}
	if (has & HAS_ATOMIC_ACK)
		r->original = cur_be64(c);
	if (has & HAS_IMM)
		r->imm = cur_be32(c);
}

static void copy_addresses(struct roce *r, const struct net_udp *u,
			   const uint8_t *frame)
{
	size_t n = u->version == 4 ? 4 : 16;

	memcpy(r->eth_dst, frame, 6);
	memcpy(r->eth_src, frame + NET_ETH_AT_SRC, 6);
	memcpy(r->src, u->src, n);
	memcpy(r->dst, u->dst, n);
	r->version = u->version;
	r->src_port = u->src_port;
	if (u->version == 4) {
		r->tos = u->ip[NET_IP4_AT_TOS];
		r->ip_id = be16_load(u->ip + NET_IP4_AT_ID);
		r->ttl = u->ip[NET_IP4_AT_TTL];
	} else {
		r->tos = (uint8_t)(be16_load(u->ip) >> 4);
		r->ttl = u->ip[NET_IP6_AT_HOPS];
	}
}

/* The payload, its pad and the iCRC: all that is left of the datagram. */
static int tail_decode(struct roce *r, struct cur *c, unsigned has,
		       const struct net_udp *u)
{
	const uint8_t *icrc;
	size_t left = cur_left(c);

	if (!cur_ok(c) || left < (size_t)ROCE_ICRC_LEN + r->pad)
		return -EBADMSG;
	r->len = left - ROCE_ICRC_LEN - r->pad;
	if (r->len && !(has & HAS_PAYLOAD))
		return -EBADMSG;
	r->payload = cur_take(c, r->len + r->pad);
	icrc = c->p;
	r->icrc_ok = roce_icrc(u->ip, (size_t)(icrc - u->ip)) ==
		     __builtin_bswap32(be32_load(icrc));
	return 0;
}

int roce_decode(struct roce *out, const uint8_t *frame, size_t len)
{
	const struct opcode *o;
	struct net_udp u;
	struct roce r;
	struct cur c;
	int rc = net_udp_decode(&u, frame, len);

	if (rc)
		return rc;
	if (u.dst_port != ROCE_PORT)
		return -ENOTSUP;
	/* IPv6 extension headers: no standard defines their iCRC */
	if (u.version == 6 && u.payload != u.ip + NET_IP6_LEN + NET_UDP_LEN)
		return -ENOTSUP;
	memset(&r, 0, sizeof(r));
	c = cur_of(u.payload, u.len);
	bth_decode(&r, &c);
	if (!cur_ok(&c))
		return -EBADMSG;
	if (!(o = opcode_of(r.opcode)))
		return -ENOTSUP;
	extended_decode(&r, &c, o->has);
	if ((rc = tail_decode(&r, &c, o->has, &u)))
		return rc;
	copy_addresses(&r, &u, frame);
	*out = r;
	return 0;
}

static size_t extended_len(unsigned has)
{
	return (has & HAS_RETH ? ROCE_RETH_LEN : 0) +
	       (has & HAS_ATOMIC ? ROCE_ATOMIC_LEN : 0) +
	       (has & HAS_AETH ? ROCE_AETH_LEN : 0) +
	       (has & HAS_ATOMIC_ACK ? ROCE_ATOMIC_ACK_LEN : 0) +
	       (has & HAS_IMM ? ROCE_IMM_LEN : 0);
}

/* Without a UDP checksum, for the iCRC covers the packet (RFC 6936). */
static void headers_encode(struct put *w, const struct roce *r, size_t body)
{
	struct net_udp4 udp4 = {.src_port = r->src_port,
				.dst_port = ROCE_PORT,
				.ip_id = r->ip_id,
				.tos = r->tos,
				.ttl = r->ttl};
	struct net_udp6 udp6 = {.src_port = r->src_port,
				.dst_port = ROCE_PORT,
				.tos = r->tos,
				.ttl = r->ttl};
	size_t len = r->version == 4 ? ROCE_AT_BTH : NET_UDP6_LEN;
	uint8_t *p = put_room(w, len);

	if (p && r->version == 4) {
		memcpy(udp4.src, r->src, 4);
		memcpy(udp4.dst, r->dst, 4);
		net_udp4_encode(p, len, &udp4, body);
	} else if (p) {
		memcpy(udp6.src, r->src, 16);
		memcpy(udp6.dst, r->dst, 16);
		net_udp6_encode(p, len, &udp6, NULL, body);
	}
	if (p) {
		memcpy(p, r->eth_dst, 6);
		memcpy(p + NET_ETH_AT_SRC, r->eth_src, 6);
	}
}

static void bth_encode(struct put *w, const struct roce *r, unsigned pad)
{
	put_u8(w, r->opcode);
	put_u8(w, (uint8_t)((r->solicited ? ROCE_BTH_SOLICITED : 0) |
			    (r->migreq ? ROCE_BTH_MIGREQ : 0) | pad << 4 |
			    r->tver));
	put_be16(w, r->pkey);
	put_be32(w, r->dest_qp);
	put_be32(w,
		 (r->ack_req ? (uint32_t)ROCE_BTH_ACK_REQ << 24 : 0) | r->psn);
}

static void extended_encode(struct put *w, const struct roce *r, unsigned has)
{
	if (has & (HAS_RETH | HAS_ATOMIC)) {
		put_be64(w, r->va);
		put_be32(w, r->rkey);
	}
	if (has & HAS_RETH)
		put_be32(w, r->dma_len);
	if (has & HAS_ATOMIC) {
		put_be64(w, r->swap_add);
		put_be64(w, r->compare);
	}
	if (has & HAS_AETH)
		put_be32(w, (uint32_t)r->syndrome << 24 | r->msn);
	if (has & HAS_ATOMIC_ACK)
		put_be64(w, r->original);
	if (has & HAS_IMM)
		put_be32(w, r->imm);
}

static bool is_encodable(const struct roce *r, const struct opcode *o)
{
	if (!o || (r->version != 4 && r->version != 6))
		return false;
	if (r->len > (o->has & HAS_PAYLOAD ? ROCE_PAYLOAD_MAX : 0))
		return false;
	return r->tver <= 15 && r->dest_qp <= ROCE_PSN_MASK &&
	       r->psn <= ROCE_PSN_MASK && r->msn <= ROCE_PSN_MASK;
}

int roce_encode(uint8_t *buf, size_t cap, const struct roce *r)
{
	const struct opcode *o = opcode_of(r->opcode);
	unsigned pad = -(unsigned)r->len & 3;
	struct put w = put_to(buf, cap);
	uint32_t icrc;
	size_t body;

	if (!is_encodable(r, o))
		return -EINVAL;
	body = ROCE_BTH_LEN + extended_len(o->has) + r->len + pad +
	       ROCE_ICRC_LEN;
	headers_encode(&w, r, body);
	bth_encode(&w, r, pad);
	extended_encode(&w, r, o->has);
	put_bytes(&w, r->payload, r->len);
	put_zero(&w, pad);
	if (!put_ok(&w))
		return -ENOBUFS;
	icrc = roce_icrc(buf + ROCE_AT_IP, put_len(&w) - ROCE_AT_IP);
	put_be32(&w, __builtin_bswap32(icrc));
	return put_ok(&w) ? (int)put_len(&w) : -ENOBUFS;
}
