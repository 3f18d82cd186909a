/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input is a byte and a snapshot's file, without the zeros of the region's
 * header: its fields, then one table. The byte says which checksums are made
 * right first: the head's, the index's, the blocks' headers'. All of what opens
 * is read and checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hash/crc.h"
#include "region/snapshot_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_head(uint8_t *file, size_t size)
{
	struct snapshot_header h;
	struct region_header r;

	memcpy(&h, file, sizeof(h));
	memcpy(&r, file + sizeof(h), sizeof(r));
	r.crc = region_header_crc(&r);
	if (r.values_len > size - sizeof(h) - sizeof(r))
		return;
	r.values_crc = crc(CRC_CHECKSUM, file + sizeof(h) + sizeof(r),
			   r.values_len);
	r.crc = region_header_crc(&r);
	h.crc = snapshot_header_crc(&h, &r, file + sizeof(h) + sizeof(r));
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), &r, sizeof(r));
}

static void mend_index(uint8_t *file, size_t size)
{
	struct snapshot_trailer t;
	uint64_t len;

	memcpy(&t, file + size - sizeof(t), sizeof(t));
	len = t.blocks * sizeof(struct snapshot_entry);
	if (t.index_at > size || t.blocks > size || len > size - t.index_at)
		return;
	t.index_crc = crc(CRC_CHECKSUM, file + t.index_at, len);
	t.crc = snapshot_trailer_crc(&t);
	memcpy(file + size - sizeof(t), &t, sizeof(t));
}

static void mend_blocks(uint8_t *file, size_t size)
{
	struct snapshot_block b;

	for (size_t at = sizeof(struct snapshot_header) +
			 sizeof(struct region_header);
	     at + sizeof(b) <= size; at++) {
		memcpy(&b, file + at, sizeof(b));
		if (memcmp(b.magic, snapshot_block_magic, 4) != 0)
			continue;
		if (b.packed <= size - at - sizeof(b))
			b.sum = crc(CRC_CHECKSUM, file + at + sizeof(b),
				    b.packed);
		b.crc = snapshot_block_crc(&b);
		memcpy(file + at, &b, sizeof(b));
	}
}

static void read_all(struct snapshot *s)
{
	struct memory *m = snapshot_memory(s);
	uint64_t blocks, damaged;
	uint8_t byte;
	struct table_view v;

	snapshot_verify(s, &blocks, &damaged, NULL);
	if (damaged > blocks)
		abort();
	for (unsigned i = 0; i < m->tables; i++) {
		const struct table *t = &m->table[i];

		memory_view(&v, m, t, m->newest);
		memory_load(&v, t->length - 1, &byte, 1);
	}
}

enum {
	HEAD = sizeof(struct snapshot_header) +
	       offsetof(struct region_header, reserved),
	TABLE = sizeof(struct table),
	HEAD_FULL = sizeof(struct snapshot_header) +
		    sizeof(struct region_header),
	TABLE_AT = sizeof(struct snapshot_header) +
		   offsetof(struct region_header, table),
};

/* The file that the input stands for. */
static uint8_t *expand(const uint8_t *data, size_t *size)
{
	size_t rest = *size - HEAD - TABLE;
	uint8_t *file = calloc(1, HEAD_FULL + rest);

	memcpy(file, data, HEAD);
	memcpy(file + TABLE_AT, data + HEAD, TABLE);
	memcpy(file + HEAD_FULL, data + HEAD + TABLE, rest);
	*size = HEAD_FULL + rest;
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot *s;
	uint8_t *file;
	char path[32];
	int fd;

	if (size < 1 + HEAD + TABLE + sizeof(struct snapshot_trailer))
		return 0;
	size--;
	file = expand(data + 1, &size);
	if (data[0] & 4)
		mend_blocks(file, size);
	if (data[0] & 2)
		mend_index(file, size);
	if (data[0] & 1)
		mend_head(file, size);
	fd = memfd_create("snapshot", MFD_CLOEXEC);
	if (fd < 0 || write(fd, file, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!snapshot_open(&s, path, NULL)) {
		read_all(s);
		snapshot_close(s);
	}
	close(fd);
	free(file);
	return 0;
}
