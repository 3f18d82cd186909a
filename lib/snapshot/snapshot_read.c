/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_read.c - opens snapshots; reads them as if they were memory; checks
 * all of one, and makes a region of it. snapshot_write.c makes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* All len bytes at an offset: 0, -EBADMSG (the file ends before) or -errno. */
static int read_at(const struct snapshot *s, void *buf, size_t len, uint64_t at)
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

static int read_index(struct snapshot *s)
{
	uint64_t len = s->plan.blocks * sizeof(*s->index);
	struct snapshot_trailer t;
	int rc = read_at(s, &t, sizeof(t), s->size - sizeof(t));

	if (rc < 0)
		return rc;
	if (t.crc != snapshot_trailer_crc(&t) || t.blocks != s->plan.blocks ||
	    t.index_at > s->size || len > s->size - t.index_at)
		return -EBADMSG;
	rc = read_at(s, s->index, len, t.index_at);
	if (rc < 0)
		return rc;
	if (crc(CRC_CHECKSUM, s->index, len) != t.index_crc)
		return -EBADMSG;
	for (uint64_t i = 0; i < s->plan.blocks; i++)
		if (!entry_ok(s, i, &s->index[i]))
			s->index[i] = (struct snapshot_entry){0};
	return 0;
}

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
	    read_at(s, &s->head, sizeof(s->head), 0) < 0)
		return damaged(f, "not a snapshot, or cut short");
	rc = check_identity(s, f);
	if (rc < 0)
		return rc;
	if (s->size < least || read_at(s, &s->h, sizeof(s->h), at) < 0)
		return damaged(f, "cut short");
	at += sizeof(s->h);
	len = s->h.values_len;
	if (s->head.block != SNAPSHOT_BLOCK || len > s->size - least ||
	    s->head.data_at != at + len)
		return damaged(f, "the header is damaged");
	s->values = malloc(len + 1);
	if (!s->values)
		return fault_set(f, -ENOMEM, "out of memory");
	if (read_at(s, s->values, len, at) < 0)
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
	if (read_at(s, end, sizeof(end), s->size - sizeof(end)) < 0 ||
	    memcmp(end, snapshot_end_magic, sizeof(end)) != 0 ||
	    s->plan.blocks != h->blocks ||
	    s->plan.blocks > (s->size - least) / sizeof(*s->index))
		return damaged(f, "cut short");
	s->index = calloc(s->plan.blocks, sizeof(*s->index));
	s->packed = malloc(SNAPSHOT_BLOCK);
	if (!s->index || !s->packed)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = read_index(s);
	if (rc == -EBADMSG)
		return damaged(f, "the index is damaged");
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
	rc = read_at(s, s->packed, e.packed, e.at);
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

/* A block, and the header before it, which only other readers need. */
static int check_block(struct snapshot *s, uint64_t block, uint8_t *room)
{
	uint64_t at = s->index[block].at;
	struct snapshot_block b = {0};
	int rc = snapshot_block_read(s, block, room);

	if (!rc)
		rc = read_at(s, &b, sizeof(b), at - sizeof(b));
	return !rc && b.crc != snapshot_block_crc(&b) ? -EBADMSG : rc;
}

int snapshot_verify(struct snapshot *s, uint64_t *blocks, uint64_t *damaged,
		    struct fault *f)
{
	uint8_t *room = malloc(SNAPSHOT_BLOCK);
	int rc = room ? 0 : -ENOMEM;

	*blocks = s->plan.blocks;
	*damaged = 0;
	for (uint64_t i = 0; i < s->plan.blocks && !rc; i++) {
		rc = check_block(s, i, room);
		if (rc == -EBADMSG) {
			++*damaged;
			rc = 0;
		}
	}
	free(room);
	return rc < 0 ? fault_set(f, rc, "%s: %s", s->path, strerror(-rc)) : 0;
}

/* The layout that the region was made from. The values stay the snapshot's. */
static void layout_of(struct layout *l, struct snapshot *s)
{
	struct view v;

	memset(l, 0, sizeof(*l));
	l->n = s->h.tables;
	for (unsigned i = 0; i < l->n; i++) {
		l->table[i] = s->h.table[i];
		memory_view(&v, snapshot_memory(s), &s->h.table[i],
			    s->head.first);
		l->values[i] = (uint32_t *)v.values;
	}
}

/* A table's inner places must come out as they were. */
static int check_geometry(const struct snapshot *s, const struct region *r,
			  struct fault *f)
{
	for (unsigned i = 0; i < s->h.tables; i++) {
		const struct table *a = &s->h.table[i], *b = &r->h.table[i];

		if (a->length != b->length || a->heads != b->heads ||
		    a->stride != b->stride)
			return fault_set(f, -ENOTSUP,
					 "%s: table %s has a geometry that "
					 "this program would not make",
					 s->path, a->name);
	}
	return 0;
}

static int restore_blocks(struct snapshot *s, struct region *r,
			  uint64_t *damaged)
{
	for (uint64_t i = 0; i < s->plan.blocks; i++) {
		struct snapshot_place at = snapshot_place(&s->plan, i);
		uint8_t *to = r->map + at.offset +
			      region_offset(r, &r->h.table[at.table], at.epoch);
		int rc = snapshot_block_read(s, i, to);

		if (rc == -EBADMSG) {
			memset(to, 0, at.length);
			++*damaged;
		} else if (rc < 0) {
			return rc;
		}
	}
	r->state->epoch = s->head.last;
	r->state->oldest = s->head.first;
	return 0;
}

int snapshot_restore(struct snapshot *s, const char *name,
		     const struct region_options *o, uint64_t *damaged,
		     struct fault *f)
{
	struct region_options options = *o;
	struct layout l;
	struct region *r;
	int rc;

	*damaged = 0;
	/* No fewer sets than there were: the epochs have to have room. */
	if (options.epochs < s->h.epochs)
		options.epochs = s->h.epochs;
	layout_of(&l, s);
	rc = region_make(&r, name, &l, &options, f);
	if (rc < 0)
		return rc;
	rc = check_geometry(s, r, f);
	if (!rc) {
		rc = restore_blocks(s, r, damaged);
		if (rc < 0)
			fault_set(f, rc, "%s: %s", s->path, strerror(-rc));
	}
	if (!rc)
		rc = region_publish(r, f);
	region_close(r);
	if (!rc && *damaged)
		rc = fault_set(f, -EBADMSG,
			       "%s: %llu of %llu blocks are damaged and were "
			       "left zero; the rest is restored",
			       s->path, (unsigned long long)*damaged,
			       (unsigned long long)s->plan.blocks);
	return rc;
}
