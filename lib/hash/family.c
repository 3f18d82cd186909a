/* SPDX-License-Identifier: BSD-2-Clause */
/* family.c - the hash families of dta(7), HASHING, and of the published DTA
 * translator. */

#include "hash/crc.h"
#include "hash/family.h"

enum {
	DTA0_HOPS = 5, /* the published system has no more */
};

const char *hash_family_name(enum hash_family f)
{
	return f == HASH_DTA1 ? "dta1" : "dta0";
}

/* CRC-32 of the key's bytes, last one first. */
static uint32_t crc_reversed(const uint8_t *key, size_t len)
{
	uint32_t sum = 0;

	while (len)
		sum = crc_extend(CRC_SLOT0, sum, &key[--len], 1);
	return sum;
}

static enum crc_id dta0_hop_id(unsigned hop)
{
	return CRC_DTA0_HOP0 + (hop < DTA0_HOPS ? hop : DTA0_HOPS - 1);
}

/* Continues the checksum, a CRC, by one more byte: the copy's number. */
static uint32_t dta0_slot(uint32_t sum, unsigned copy)
{
	uint8_t n = (uint8_t)copy;

	return crc_extend(CRC_SLOT0, sum, &n, 1);
}

uint32_t hash_slot(enum hash_family f, unsigned copy, const uint8_t *key,
		   size_t len)
{
	if (f == HASH_DTA1)
		return crc(CRC_SLOT0 + copy, key, len);
	return dta0_slot(crc_reversed(key, len), copy);
}

uint32_t hash_checksum(enum hash_family f, const uint8_t *key, size_t len)
{
	if (f == HASH_DTA1)
		return crc(CRC_CHECKSUM, key, len);
	return crc_reversed(key, len);
}

uint32_t hash_chunk(enum hash_family f, unsigned copy, const uint8_t *key,
		    size_t len)
{
	return crc(f == HASH_DTA1 ? CRC_SLOT0 + copy : CRC_SLOT0, key, len);
}

uint32_t hash_hop(enum hash_family f, unsigned hop, const uint8_t *key,
		  size_t len)
{
	return crc(f == HASH_DTA1 ? CRC_HOP0 + hop : dta0_hop_id(hop), key,
		   len);
}

static void dta0_slots(unsigned copies, const uint8_t *const *keys, size_t len,
		       size_t n, uint32_t *const *slot, uint32_t *sum)
{
	for (size_t k = 0; k < n; k++) {
		uint32_t s = crc_reversed(keys[k], len);

		for (unsigned c = 0; c < copies; c++)
			slot[c][k] = dta0_slot(s, c);
		if (sum)
			sum[k] = s;
	}
}

void hash_slots(enum hash_family f, unsigned copies, const uint8_t *const *keys,
		size_t len, size_t n, uint32_t *const *slot, uint32_t *sum)
{
	enum crc_id ids[HASH_COPIES + 1];
	uint32_t *out[HASH_COPIES + 1];
	unsigned nids = 0;

	if (f == HASH_DTA0) {
		dta0_slots(copies, keys, len, n, slot, sum);
		return;
	}
	for (unsigned c = 0; c < copies; c++) {
		ids[nids] = CRC_SLOT0 + c;
		out[nids++] = slot[c];
	}
	if (sum) {
		ids[nids] = CRC_CHECKSUM;
		out[nids++] = sum;
	}
	crc_batch(ids, nids, keys, len, n, out);
}

void hash_chunks(enum hash_family f, unsigned copies, unsigned hops,
		 const uint8_t *const *keys, size_t len, size_t n,
		 uint32_t *const *chunk, uint32_t *const *hop)
{
	enum crc_id ids[HASH_COPIES + HASH_HOPS];
	uint32_t *out[HASH_COPIES + HASH_HOPS];
	unsigned nids = 0;

	for (unsigned c = 0; c < copies; c++) {
		ids[nids] = f == HASH_DTA1 ? CRC_SLOT0 + c : CRC_SLOT0;
		out[nids++] = chunk[c];
	}
	for (unsigned i = 0; i < hops; i++) {
		ids[nids] = f == HASH_DTA1 ? CRC_HOP0 + i : dta0_hop_id(i);
		out[nids++] = hop[i];
	}
	crc_batch(ids, nids, keys, len, n, out);
}
