/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_index.c - where the blocks of a snapshot are. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hash/crc.h"
#include "snapshot/snapshot_file.h"

int snapshot_pread(const struct snapshot *s, void *buf, size_t len, uint64_t at)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = pread(s->fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Whether the bytes of a block can be where an entry says. */
static bool entry_ok(const struct snapshot *s, uint64_t block,
		     const struct snapshot_entry *e)
{
	uint32_t length = snapshot_place(&s->plan, block).length;

	return e->packed <= length && e->at >= s->head.data_at &&
	       e->at <= s->size && e->packed <= s->size - e->at;
}

int snapshot_index_read(struct snapshot *s)
{
	uint64_t len = s->plan.blocks * sizeof(*s->index);
	struct snapshot_trailer t;
	int rc = snapshot_pread(s, &t, sizeof(t), s->size - sizeof(t));

	if (rc < 0)
		return rc;
	if (t.crc != snapshot_trailer_crc(&t) || t.blocks != s->plan.blocks ||
	    t.index_at > s->size || len > s->size - t.index_at)
		return -EBADMSG;
	rc = snapshot_pread(s, s->index, len, t.index_at);
	if (rc < 0)
		return rc;
	if (crc(CRC_CHECKSUM, s->index, len) != t.index_crc)
		return -EBADMSG;
	for (uint64_t i = 0; i < s->plan.blocks; i++)
		if (!entry_ok(s, i, &s->index[i]))
			s->index[i] = (struct snapshot_entry){0};
	return 0;
}

/* The next place from at on that could be a block's header; size if none. */
static uint64_t seek_magic(const struct snapshot *s, uint64_t at)
{
	uint8_t window[8192];

	while (at + sizeof(struct snapshot_block) <= s->size) {
		size_t n = s->size - at < sizeof(window)
				   ? (size_t)(s->size - at)
				   : sizeof(window);
		const uint8_t *p;

		if (snapshot_pread(s, window, n, at) < 0)
			break;
		p = memmem(window, n, snapshot_block_magic,
			   sizeof(snapshot_block_magic));
		if (p)
			return at + (uint64_t)(p - window);
		/* It may begin at the window's end. */
		at += n - (sizeof(snapshot_block_magic) - 1);
	}
	return s->size;
}

/* Judges a header found at at; fills in what it tells. */
static bool take_block(const struct snapshot *s, struct snapshot_entry *index,
		       const struct snapshot_block *b, uint64_t at)
{
	struct snapshot_entry e = {
		.at = at + sizeof(*b),
		.packed = b->packed,
		.sum = b->sum,
	};

	if (memcmp(b->magic, snapshot_block_magic, sizeof(b->magic)) != 0 ||
	    b->crc != snapshot_block_crc(b) || !b->count ||
	    b->number >= s->plan.blocks ||
	    b->count > s->plan.blocks - b->number ||
	    (b->packed && b->count != 1) || !entry_ok(s, b->number, &e))
		return false;
	/* What is there already stays: no work is done twice, whatever comes.
	 */
	for (uint64_t i = b->number; i < b->number + b->count; i++) {
		if (index[i].at)
			break;
		index[i] = e;
	}
	return true;
}

int snapshot_index_walk(const struct snapshot *s, struct snapshot_entry *index)
{
	uint64_t at = s->head.data_at;
	struct snapshot_block b;

	memset(index, 0, s->plan.blocks * sizeof(*index));
	while (at + sizeof(b) <= s->size) {
		int rc = snapshot_pread(s, &b, sizeof(b), at);

		if (rc < 0)
			return rc;
		if (take_block(s, index, &b, at))
			at += sizeof(b) + b.packed;
		else
			at = seek_magic(s, at + 1);
	}
	return 0;
}
