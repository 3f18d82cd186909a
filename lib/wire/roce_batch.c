/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/roce_batch.h"

#include <string.h>

#include "hash/crc.h"
#include "wire/be.h"
#include "wire/icrc.h"
#include "wire/net.h"

enum {
	IP_MAX = 248, /* bytes from the IP header to before the iCRC */
	/* Offsets in a packet that begins at the IP header. */
	AT_UDP = ROCE_AT_UDP - ROCE_AT_IP,
	AT_BTH = ROCE_AT_BTH - ROCE_AT_IP,
	AT_RETH = ROCE_AT_RETH - ROCE_AT_IP,
	AT_PAYLOAD = ROCE_AT_PAYLOAD - ROCE_AT_IP,
};

/*
 * What the iCRCs cover, copied and masked; CRC_HEADROOM bytes before each. All
 * are made before the first is summed, or every sum would wait for the stores.
 */
struct masked {
	uint8_t bytes[ROCE_BATCH][CRC_HEADROOM + ICRC_ONES + IP_MAX];
	size_t len[ROCE_BATCH]; /* 0: none */
};

/* Whether the 20 bytes of an IPv4 header add up to ones (RFC 1071). */
static bool ip4_sum_right(const uint8_t *ip)
{
	uint64_t a, b;
	uint32_t c;

	memcpy(&a, ip, 8);
	memcpy(&b, ip + 8, 8);
	memcpy(&c, ip + 16, 4);
	a = (a >> 32) + (uint32_t)a + (b >> 32) + (uint32_t)b + c;
	a = (a >> 16 & 0xffff) + (a & 0xffff) + (a >> 32);
	a = (a >> 16) + (a & 0xffff);
	a = (a >> 16) + (a & 0xffff);
	return a == 0xffff;
}

/*
 * Length from the IP header to before the iCRC, by the headers, or 0 if this is
 * not a common frame.
 */
static size_t common_len(const uint8_t *frame, size_t len)
{
	const uint8_t *ip = frame + ROCE_AT_IP;
	size_t total;

	if (len < ROCE_AT_PAYLOAD + ROCE_ICRC_LEN ||
	    be16_load(frame + NET_ETH_AT_TYPE) != NET_ETHERTYPE_IP4 ||
	    ip[0] != NET_IP4_PLAIN ||
	    (be16_load(ip + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT) ||
	    ip[NET_IP4_AT_PROTO] != NET_PROTO_UDP)
		return 0;
	total = be16_load(ip + NET_IP4_AT_LEN);
	if (total > len - ROCE_AT_IP || total < AT_PAYLOAD + ROCE_ICRC_LEN ||
	    total > IP_MAX ||
	    be16_load(ip + AT_UDP + NET_UDP_AT_DST) != ROCE_PORT ||
	    be16_load(ip + AT_UDP + NET_UDP_AT_LEN) != total - AT_UDP ||
	    be16_load(ip + AT_UDP + NET_UDP_AT_SUM) || !ip4_sum_right(ip))
		return 0;
	return total - ROCE_ICRC_LEN;
}

/* n >= 8 bytes, in words that the compiler moves by itself. */
static inline void copy_words(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i + 8 <= n; i += 8)
		memcpy(to + i, from + i, 8);
	memcpy(to + n - 8, from + n - 8, 8);
}

static void mask(uint8_t *to, const uint8_t *ip, size_t len)
{
	uint8_t *m = to + ICRC_ONES;

	memset(to, 0xff, ICRC_ONES);
	memcpy(m, ip, AT_PAYLOAD);
	copy_words(m + AT_PAYLOAD - 8, ip + AT_PAYLOAD - 8,
		   len - AT_PAYLOAD + 8);
	icrc_mask_ip4(m);
	icrc_mask_udp(m + AT_UDP);
}

/* Sums those of the length of the first, which is i; they are done then. */
static void check_icrcs(struct roce *out, const uint8_t *const *frames,
			struct masked *m, unsigned i, unsigned n)
{
	const enum crc_id icrc = CRC_SLOT0;
	const uint8_t *keys[ROCE_BATCH];
	uint32_t sums[ROCE_BATCH], *to = sums, sum;
	unsigned which[ROCE_BATCH], count = 0;
	size_t len = m->len[i];

	for (; i < n; i++) {
		if (m->len[i] != len)
			continue;
		keys[count] = m->bytes[i] + CRC_HEADROOM;
		which[count++] = i;
		m->len[i] = 0;
	}
	crc_batch(&icrc, 1, keys, ICRC_ONES + len, count, &to);
	for (i = 0; i < count; i++) {
		sum = htole32(sums[i]);
		out[which[i]].icrc_ok = !memcmp(
			&sum, frames[which[i]] + ROCE_AT_IP + len, sizeof(sum));
	}
}

static void bth_load(struct roce *r, const uint8_t *bth)
{
	uint32_t last = be32_load(bth + ROCE_BTH_AT_ACK_REQ);

	r->opcode = bth[0];
	r->solicited = bth[ROCE_BTH_AT_FLAGS] & ROCE_BTH_SOLICITED;
	r->migreq = bth[ROCE_BTH_AT_FLAGS] & ROCE_BTH_MIGREQ;
	r->pad = bth[ROCE_BTH_AT_FLAGS] >> 4 & 3;
	r->tver = bth[ROCE_BTH_AT_FLAGS] & 15;
	r->pkey = be16_load(bth + ROCE_BTH_AT_PKEY);
	r->dest_qp = be32_load(bth + ROCE_BTH_AT_RESERVED) & ROCE_PSN_MASK;
	r->ack_req = last >> 31;
	r->psn = last & ROCE_PSN_MASK;
}

static void addresses_load(struct roce *r, const uint8_t *frame)
{
	const uint8_t *ip = frame + ROCE_AT_IP;

	memcpy(r->eth_dst, frame, 6);
	memcpy(r->eth_src, frame + NET_ETH_AT_SRC, 6);
	r->version = 4;
	memset(r->src, 0, sizeof(r->src));
	memset(r->dst, 0, sizeof(r->dst));
	memcpy(r->src, ip + NET_IP4_AT_SRC, 4);
	memcpy(r->dst, ip + NET_IP4_AT_DST, 4);
	r->src_port = be16_load(ip + AT_UDP);
	r->ip_id = be16_load(ip + NET_IP4_AT_ID);
	r->tos = ip[NET_IP4_AT_TOS];
	r->ttl = ip[NET_IP4_AT_TTL];
}

/* All but the iCRC. Returns how many bytes that one covers, 0: not common. */
static size_t decode_one(struct roce *out, const uint8_t *frame, size_t len)
{
	const uint8_t *ip = frame + ROCE_AT_IP, *ext = ip + AT_RETH;
	size_t body = common_len(frame, len);
	uint8_t opcode;

	if (!body)
		return 0;
	opcode = ip[AT_BTH];
	bth_load(out, ip + AT_BTH);
	out->syndrome = 0; /* what neither opcode has */
	out->msn = out->imm = 0;
	out->orig = 0;
	out->va = be64_load(ext);
	out->rkey = be32_load(ext + ROCE_RETH_AT_RKEY);
	if (opcode == ROCE_RC_WRITE_ONLY || opcode == ROCE_UC_WRITE_ONLY) {
		if (body < (size_t)AT_PAYLOAD + out->pad)
			return 0;
		out->dma_len = be32_load(ext + ROCE_RETH_AT_LEN);
		out->payload = ip + AT_PAYLOAD;
		out->len = body - AT_PAYLOAD - out->pad;
		out->swap_add = out->compare = 0;
	} else if (opcode == ROCE_RC_FETCH_ADD) {
		if (body != AT_RETH + ROCE_ATOMIC_LEN || out->pad)
			return 0;
		out->swap_add = be64_load(ext + ROCE_ATOMIC_AT_SWAP);
		out->compare = be64_load(ext + ROCE_ATOMIC_AT_COMPARE);
		out->payload = ip + body;
		out->len = out->dma_len = 0;
	} else {
		return 0;
	}
	addresses_load(out, frame);
	return body;
}

uint32_t roce_decode_batch(struct roce *out, const uint8_t *const *frames,
			   const uint32_t *lens, unsigned n)
{
	struct masked m;
	uint32_t taken = 0;

	for (unsigned i = 0; i < n; i++) {
		m.len[i] = decode_one(&out[i], frames[i], lens[i]);
		if (!m.len[i])
			continue;
		taken |= UINT32_C(1) << i;
		mask(m.bytes[i] + CRC_HEADROOM, frames[i] + ROCE_AT_IP,
		     m.len[i]);
	}
	for (unsigned i = 0; i < n; i++)
		if (m.len[i])
			check_icrcs(out, frames, &m, i, n);
	return taken;
}
