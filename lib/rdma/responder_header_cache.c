/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/responder_private.h"

#include <endian.h>
#include <string.h>

#include "hash/crc.h"
#include "net/be.h"

enum {
	HEADER_CACHE_BITS = 6,
	/* What differs from one to the other lies in these words: the length,
	 * the number of the IP packet; the source port; the queue pair. */
	AT_LEN = ROCE_AT_IP + NET_IP4_AT_LEN,
	AT_QP = ROCE_AT_BTH + ROCE_BTH_AT_RESERVED,
	AT_EXT = ROCE_AT_RETH,
};

_Static_assert(1 << HEADER_CACHE_BITS == HEADER_CACHE_MAX, "places");

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static unsigned index_of(const uint8_t *frame)
{
	uint32_t v = load32(frame + AT_LEN) * 0x9e3779b1u ^
		     load32(frame + ROCE_AT_UDP);

	v = (v ^ load32(frame + AT_QP)) * 0x9e3779b1u;
	return v >> (32 - HEADER_CACHE_BITS);
}

static inline bool is_same_header(const uint8_t *a, const uint8_t *b)
{
	uint64_t differs = load64(a + HEADER_CACHE_HEAD - 8) ^
			   load64(b + HEADER_CACHE_HEAD - 8);

	for (unsigned i = 0; i + 8 <= HEADER_CACHE_HEAD; i += 8)
		differs |= load64(a + i) ^ load64(b + i);
	return !differs;
}

static const struct header_entry *find_entry(const struct header_cache *k,
					     const struct pkt *pkt)
{
	const struct header_entry *one;

	if (pkt->len < AT_EXT)
		return NULL;
	one = &k->at[index_of(pkt->data)];
	return one->tail && is_same_header(one->head, pkt->data) &&
			       pkt->len >= HEADER_CACHE_HEAD +
						   (size_t)one->tail +
						   ROCE_ICRC_LEN
		       ? one
		       : NULL;
}

/* Decodes what follows the head. */
static void fill_decoded(struct roce *out, const struct header_entry *one,
			 const uint8_t *frame)
{
	const uint8_t *ext = frame + AT_EXT;
	uint32_t last = be32_load(frame + HEADER_CACHE_HEAD);

	*out = one->r;
	out->ack_req = last >> 31;
	out->psn = last & ROCE_PSN_MASK;
	out->va = be64_load(ext);
	out->rkey = be32_load(ext + ROCE_RETH_AT_RKEY);
	if (one->r.opcode == ROCE_RC_FETCH_ADD) {
		out->swap_add = be64_load(ext + ROCE_ATOMIC_AT_SWAP);
		out->compare = be64_load(ext + ROCE_ATOMIC_AT_COMPARE);
		out->payload = frame + HEADER_CACHE_HEAD + one->tail;
	} else {
		out->dma_len = be32_load(ext + ROCE_RETH_AT_LEN);
		out->payload = frame + ROCE_AT_PAYLOAD;
	}
}

/* Checks the iCRCs of packets with a tail as long as packet i's, and removes
 * them from like. */
static void check_icrcs(const struct pkt *pkts,
			const struct header_entry **like, unsigned i,
			unsigned n, struct roce *out, struct responder_qp **qps)
{
	const enum crc_id icrc = CRC_SLOT0;
	const size_t tail = like[i]->tail;
	const uint8_t *from[ROCE_BATCH];
	uint32_t sums[ROCE_BATCH], *to = sums;
	unsigned which[ROCE_BATCH], count = 0;

	for (unsigned j = i; j < n; j++) {
		from[count] = pkts[j].data + HEADER_CACHE_HEAD;
		which[count] = j;
		count += like[j] && like[j]->tail == tail;
	}
	crc_batch(&icrc, 1, from, tail, count, &to);
	for (unsigned j = 0; j < count; j++) {
		const struct header_entry *one = like[which[j]];
		bool right = (sums[j] ^ one->sum) ==
			     le32toh(load32(from[j] + tail));

		out[which[j]].icrc_ok = right;
		qps[which[j]] = right ? one->q : NULL;
		like[which[j]] = NULL;
	}
}

uint32_t header_cache_match(struct header_cache *k, const struct pkt *pkts,
			    unsigned n, struct roce *out,
			    struct responder_qp **qps)
{
	const struct header_entry *like[ROCE_BATCH];
	uint32_t taken = 0;

	for (unsigned i = 0; i < n; i++) {
		like[i] = find_entry(k, &pkts[i]);
		if (!like[i])
			continue;
		fill_decoded(&out[i], like[i], pkts[i].data);
		taken |= UINT32_C(1) << i;
	}
	for (unsigned i = 0; i < n; i++)
		if (like[i])
			check_icrcs(pkts, like, i, n, out, qps);
	return taken;
}

/* Whether fill_decoded() finds all fields, and no checksum but the iCRC covers
 * them. */
static bool is_common(const uint8_t *frame, const struct roce *r)
{
	bool add = r->opcode == ROCE_RC_FETCH_ADD && !r->pad;
	size_t ext = add ? ROCE_ATOMIC_LEN : ROCE_RETH_LEN;

	return r->version == 4 &&
	       (add || r->opcode == ROCE_RC_WRITE_ONLY ||
		r->opcode == ROCE_UC_WRITE_ONLY) &&
	       r->payload == frame + AT_EXT + ext &&
	       !be16_load(frame + ROCE_AT_UDP + NET_UDP_AT_SUM);
}

void header_cache_add(struct header_cache *k, const struct pkt *pkt,
		      const struct roce *r, struct responder_qp *q)
{
	struct header_entry *one = &k->at[index_of(pkt->data)];
	const uint8_t *tail = pkt->data + HEADER_CACHE_HEAD;
	size_t len = (size_t)(r->payload + r->len + r->pad - tail);

	if (!is_common(pkt->data, r))
		return;
	memcpy(one->head, pkt->data, HEADER_CACHE_HEAD);
	one->tail = (uint16_t)len;
	one->sum = le32toh(load32(tail + len)) ^ crc(CRC_SLOT0, tail, len);
	one->q = q;
	one->r = *r;
}
