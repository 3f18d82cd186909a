/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_plan.c - which blocks a snapshot has, and the sums over its parts.
 */
#include "hash/crc.h"
#include "snapshot/snapshot_file.h"

const char snapshot_end_magic[8] = {'D', 'T', 'A', 'S', 'E', 'N', 'D', '\n'};
const char snapshot_block_magic[4] = {'D', 'B', 'L', 'K'};

void snapshot_plan_init(struct snapshot_plan *p, const struct region_header *h,
			uint64_t first, uint64_t last)
{
	uint64_t n = 0;

	p->h = h;
	p->first = first;
	p->last = last;
	for (unsigned i = 0; i < h->tables; i++) {
		p->start[i] = n;
		n += (h->table[i].length + SNAPSHOT_BLOCK - 1) / SNAPSHOT_BLOCK;
	}
	p->start[h->tables] = n;
	p->blocks = n * (last - first + 1);
}

struct snapshot_place snapshot_place(const struct snapshot_plan *p,
				     uint64_t block)
{
	uint64_t each = p->start[p->h->tables];
	struct snapshot_place at = {.epoch = p->first + block / each};
	uint64_t left;

	block %= each;
	while (block >= p->start[at.table + 1])
		at.table++;
	at.offset = (block - p->start[at.table]) * SNAPSHOT_BLOCK;
	left = p->h->table[at.table].length - at.offset;
	at.length = (uint32_t)(left < SNAPSHOT_BLOCK ? left : SNAPSHOT_BLOCK);
	return at;
}

uint64_t snapshot_number(const struct snapshot_plan *p, uint64_t epoch,
			 unsigned table, uint64_t offset)
{
	return (epoch - p->first) * p->start[p->h->tables] + p->start[table] +
	       offset / SNAPSHOT_BLOCK;
}

uint32_t snapshot_header_crc(const struct snapshot_header *h,
			     const struct region_header *r,
			     const uint8_t *values)
{
	struct snapshot_header copy = *h;
	uint32_t sum;

	copy.crc = 0;
	sum = crc(CRC_CHECKSUM, &copy, sizeof(copy));
	sum = crc_extend(CRC_CHECKSUM, sum, r, sizeof(*r));
	return crc_extend(CRC_CHECKSUM, sum, values, r->values_len);
}

uint32_t snapshot_block_crc(const struct snapshot_block *b)
{
	struct snapshot_block copy = *b;

	copy.crc = 0;
	return crc(CRC_CHECKSUM, &copy, sizeof(copy));
}

uint32_t snapshot_trailer_crc(const struct snapshot_trailer *t)
{
	return crc(CRC_CHECKSUM, t, offsetof(struct snapshot_trailer, crc));
}
