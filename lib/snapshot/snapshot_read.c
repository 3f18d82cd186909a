/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_read.c - opens snapshots; reads them as if they were memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash/crc.h"
#include "snapshot/snapshot_file.h"

/* A region's head without its V sets: the least there can be. */
static const size_t least = sizeof(struct snapshot_header) +
			    sizeof(struct region_header) +
			    sizeof(struct snapshot_trailer);

static int damaged(struct fault *f, const char *what)
{
	return fault_set(f, -EBADMSG, "%s", what);
}

static int check_identity(const struct snapshot *s, struct fault *f)
{
	const struct snapshot_header *h = &s->head;

	if (!memcmp(h->magic, region_magic, sizeof(h->magic)))
		return damaged(f, "a region, not a snapshot");
	if (memcmp(h->magic, snapshot_magic, sizeof(h->magic)) != 0)
		return damaged(f, "not a snapshot");
	if (h->order != REGION_ORDER)
		return fault_set(f, -EPROTONOSUPPORT,
				 "a snapshot of another byte order");
	if (h->version != SNAPSHOT_VERSION)
		return fault_set(f, -EPROTONOSUPPORT,
				 "a snapshot of version %u; this program "
				 "knows version %d",
				 h->version, SNAPSHOT_VERSION);
	return 0;
}

static int load_head(struct snapshot *s, struct fault *f)
{
	struct fault why = {""};
	uint64_t at = sizeof(s->head), len;
	int rc;

	if (s->size < sizeof(s->head) ||
	    snapshot_pread(s, &s->head, sizeof(s->head), 0) < 0)
		return damaged(f, "not a snapshot, or cut short");
	rc = check_identity(s, f);
	if (rc < 0)
		return rc;
	if (s->size < least || snapshot_pread(s, &s->h, sizeof(s->h), at) < 0)
		return damaged(f, "cut short");
	at += sizeof(s->h);
	len = s->h.values_len;
	if (s->head.block != SNAPSHOT_BLOCK || len > s->size - least ||
	    s->head.data_at != at + len)
		return damaged(f, "the header is damaged");
	s->values = malloc(len + 1);
	if (!s->values)
		return fault_set(f, -ENOMEM, "out of memory");
	if (snapshot_pread(s, s->values, len, at) < 0)
		return damaged(f, "cut short");
	if (snapshot_header_crc(&s->head, &s->h, s->values) != s->head.crc)
		return damaged(f,
			       "the header is damaged: its checksum is wrong");
	/* Sums are no proof of good will: the geometry is judged anew. */
	if (region_check(&s->h, UINT64_MAX, &why) < 0 ||
	    region_check_values(&s->h, s->values, &why) < 0)
		return fault_set(f, -EBADMSG, "the region's header: %.400s",
				 why.text);
	return 0;
}

static int load_index(struct snapshot *s, struct fault *f)
{
	const struct snapshot_header *h = &s->head;
	char end[sizeof(snapshot_end_magic)];
	int rc;

	if (!h->first || h->first > h->last || h->last == UINT64_MAX ||
	    h->last - h->first >= s->h.epochs)
		return damaged(f, "the header is damaged: epochs");
	snapshot_plan_init(&s->plan, &s->h, h->first, h->last);
	if (snapshot_pread(s, end, sizeof(end), s->size - sizeof(end)) < 0 ||
	    memcmp(end, snapshot_end_magic, sizeof(end)) != 0 ||
	    s->plan.blocks != h->blocks ||
	    s->plan.blocks > (s->size - least) / sizeof(*s->index))
		return damaged(f, "cut short");
	s->index = calloc(s->plan.blocks, sizeof(*s->index));
	s->packed = malloc(SNAPSHOT_BLOCK);
	if (!s->index || !s->packed)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = snapshot_index_read(s);
	if (rc == -EBADMSG)
		rc = snapshot_index_walk(s, s->index);
	return rc < 0 ? fault_set(f, rc, "%s", strerror(-rc)) : 0;
}

static int prepare(struct snapshot *s, struct fault *f)
{
	s->z_open = inflateInit(&s->z) == Z_OK;
	if (!s->z_open)
		return fault_set(f, -ENOMEM, "out of memory");
	for (int i = 0; i < SNAPSHOT_CACHE; i++)
		s->cache[i].block = UINT64_MAX;
	return 0;
}

static int load(struct snapshot *s, struct fault *f)
{
	struct stat st;
	int rc;

	if (fstat(s->fd, &st) < 0)
		return fault_set(f, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return damaged(f, "not a file: a snapshot is not read in one "
				  "go");
	s->size = (uint64_t)st.st_size;
	if ((rc = load_head(s, f)) < 0 || (rc = load_index(s, f)) < 0)
		return rc;
	return prepare(s, f);
}

int snapshot_open(struct snapshot **out, const char *path, struct fault *f)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct fault why = {""};
	int rc;

	if (!s)
		return fault_set(f, -ENOMEM, "out of memory");
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	s->path = strdup(path);
	if (s->fd < 0)
		rc = fault_open(&why, -errno, path);
	else if (!s->path)
		rc = fault_set(&why, -ENOMEM, "out of memory");
	else
		rc = load(s, &why);
	if (rc < 0) {
		snapshot_close(s);
		return fault_set(f, rc, "%.200s: %.300s", path, why.text);
	}
	*out = s;
	return 0;
}

void snapshot_close(struct snapshot *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->z_open)
		inflateEnd(&s->z);
	for (int i = 0; i < SNAPSHOT_CACHE; i++)
		free(s->cache[i].data);
	free(s->packed);
	free(s->index);
	free(s->values);
	free(s->path);
	free(s);
}

static bool inflate_into(struct snapshot *s, uint32_t packed, uint8_t *out,
			 uint32_t length)
{
	inflateReset(&s->z);
	s->z.next_in = s->packed;
	s->z.avail_in = packed;
	s->z.next_out = out;
	s->z.avail_out = length;
	return inflate(&s->z, Z_FINISH) == Z_STREAM_END && !s->z.avail_out;
}

int snapshot_block_read(struct snapshot *s, uint64_t block, uint8_t *out)
{
	uint32_t length = snapshot_place(&s->plan, block).length;
	struct snapshot_entry e = s->index[block];
	int rc;

	if (!e.at)
		return -EBADMSG;
	if (!e.packed) {
		memset(out, 0, length);
		return 0;
	}
	rc = snapshot_pread(s, s->packed, e.packed, e.at);
	if (rc < 0)
		return rc;
	if (crc(CRC_CHECKSUM, s->packed, e.packed) != e.sum)
		return -EBADMSG;
	if (e.packed == length)
		memcpy(out, s->packed, length);
	else if (!inflate_into(s, e.packed, out, length))
		return -EBADMSG;
	return 0;
}

/* A block out of the cache, or into it. */
static int cached(struct snapshot *s, uint64_t block, const uint8_t **out)
{
	struct snapshot_cached *c = &s->cache[block % SNAPSHOT_CACHE];
	int rc;

	if (!c->data && !(c->data = malloc(SNAPSHOT_BLOCK)))
		return -ENOMEM;
	if (c->block != block) {
		c->block = UINT64_MAX;
		rc = snapshot_block_read(s, block, c->data);
		if (rc < 0)
			return rc;
		c->block = block;
	}
	*out = c->data;
	return 0;
}

static int read_one(struct snapshot *s, const struct memory_read *r)
{
	unsigned table = (unsigned)(r->t - s->h.table);
	uint64_t offset = r->offset;
	uint8_t *to = r->to;

	if (r->epoch < s->head.first || r->epoch > s->head.last)
		return -ERANGE;
	for (size_t left = r->length; left;) {
		size_t in = offset % SNAPSHOT_BLOCK;
		size_t n = SNAPSHOT_BLOCK - in < left ? SNAPSHOT_BLOCK - in
						      : left;
		const uint8_t *data;
		int rc = cached(
			s, snapshot_number(&s->plan, r->epoch, table, offset),
			&data);

		if (rc < 0)
			return rc;
		memcpy(to, data + in, n);
		to += n;
		offset += n;
		left -= n;
	}
	return 0;
}

static struct snapshot *snapshot_of(struct memory *m)
{
	return (struct snapshot *)((char *)m -
				   offsetof(struct snapshot, memory));
}

static void read_all(struct memory *m, struct memory_read *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		r[i].rc = read_one(snapshot_of(m), &r[i]);
}

static void close_snapshot(struct memory *m)
{
	snapshot_close(snapshot_of(m));
}

struct memory *snapshot_memory(struct snapshot *s)
{
	static const struct memory_ops ops = {
		.read = read_all,
		.close = close_snapshot,
	};
	struct memory *m = &s->memory;

	m->ops = &ops;
	m->path = s->path;
	m->table = s->h.table;
	m->tables = s->h.tables;
	m->oldest = s->head.first;
	m->newest = s->head.last;
	m->values = s->values;
	m->values_at = s->h.values_at;
	return m;
}
