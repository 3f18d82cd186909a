/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot.c - numbers a snapshot's blocks; opens snapshots and reads them like
 * memory; verifies all of one; restores a region from one; writes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash/crc.h"
#include "region/snapshot_file.h"

enum {
	LEVEL = 1, /* zlib's fastest, so that the disk does not wait for it */
};

static const char end_magic[8] = {'D', 'T', 'A', 'S', 'E', 'N', 'D', '\n'};
const char snapshot_block_magic[4] = {'D', 'B', 'L', 'K'};

static void plan_init(struct snapshot_plan *p, const struct region_header *h,
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
	uint64_t per_epoch = p->start[p->h->tables];
	struct snapshot_place at = {.epoch = p->first + block / per_epoch};
	uint64_t left;

	block %= per_epoch;
	while (block >= p->start[at.table + 1])
		at.table++;
	at.offset = (block - p->start[at.table]) * SNAPSHOT_BLOCK;
	left = p->h->table[at.table].length - at.offset;
	at.length = (uint32_t)(left < SNAPSHOT_BLOCK ? left : SNAPSHOT_BLOCK);
	return at;
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
	for (uint64_t i = 0; i < s->plan.blocks; i++) {
		struct snapshot_entry *e = &s->index[i];

		/* The block cannot be where its entry says: mark it damaged. */
		if (e->packed > snapshot_place(&s->plan, i).length ||
		    e->at < s->head.data_at || e->at > s->size ||
		    e->packed > s->size - e->at)
			*e = (struct snapshot_entry){0};
	}
	return 0;
}

/* The least size: without blocks, an index, and V sets. */
static const size_t size_min = sizeof(struct snapshot_header) +
			       sizeof(struct region_header) +
			       sizeof(struct snapshot_trailer);

static int set_damaged(struct error *err, const char *what)
{
	return error_set(err, -EBADMSG, "%s", what);
}

static int load_head(struct snapshot *s, struct error *err)
{
	struct error why = {""};
	uint64_t at = sizeof(s->head), len;
	int rc;

	if (s->size < sizeof(s->head) ||
	    read_at(s, &s->head, sizeof(s->head), 0) < 0)
		return set_damaged(err, "not a snapshot, or cut short");
	rc = region_check_magic(s->head.magic, s->head.order, s->head.version,
				snapshot_magic, err);
	if (rc < 0)
		return rc;
	if (s->size < size_min || read_at(s, &s->h, sizeof(s->h), at) < 0)
		return set_damaged(err, "cut short");
	at += sizeof(s->h);
	len = s->h.values_len;
	if (s->head.block != SNAPSHOT_BLOCK || len > s->size - size_min ||
	    s->head.data_at != at + len)
		return set_damaged(err, "the header is damaged");
	s->values = malloc(len + 1);
	if (!s->values)
		return error_set(err, -ENOMEM, "out of memory");
	if (read_at(s, s->values, len, at) < 0)
		return set_damaged(err, "cut short");
	if (snapshot_header_crc(&s->head, &s->h, s->values) != s->head.crc)
		return set_damaged(
			err, "the header is damaged: its checksum is wrong");
	/* A right checksum does not show that the header is well-formed. */
	if (region_check(&s->h, UINT64_MAX, &why) < 0 ||
	    region_check_values(&s->h, s->values, &why) < 0)
		return error_set(err, -EBADMSG, "the region's header: %.400s",
				 why.text);
	return 0;
}

static int load_index(struct snapshot *s, struct error *err)
{
	const struct snapshot_header *h = &s->head;
	char end[sizeof(end_magic)];
	int rc;

	if (!h->first || h->first > h->last || h->last == UINT64_MAX ||
	    h->last - h->first >= s->h.epochs)
		return set_damaged(err, "the header is damaged: epochs");
	plan_init(&s->plan, &s->h, h->first, h->last);
	if (read_at(s, end, sizeof(end), s->size - sizeof(end)) < 0 ||
	    memcmp(end, end_magic, sizeof(end)) != 0 ||
	    s->plan.blocks != h->blocks ||
	    s->plan.blocks > (s->size - size_min) / sizeof(*s->index))
		return set_damaged(err, "cut short");
	s->index = calloc(s->plan.blocks, sizeof(*s->index));
	s->packed = malloc(SNAPSHOT_BLOCK);
	if (!s->index || !s->packed)
		return error_set(err, -ENOMEM, "out of memory");
	rc = read_index(s);
	if (rc == -EBADMSG)
		return set_damaged(err, "the index is damaged");
	return rc < 0 ? error_set(err, rc, "%s", strerror(-rc)) : 0;
}

static int load_snapshot(struct snapshot *s, struct error *err)
{
	struct stat st;
	int rc;

	if (fstat(s->fd, &st) < 0)
		return error_set(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return set_damaged(err,
				   "not a file: a snapshot is not read in one "
				   "go");
	s->size = (uint64_t)st.st_size;
	for (int i = 0; i < SNAPSHOT_CACHE; i++)
		s->cache[i].block = UINT64_MAX;
	if ((rc = load_head(s, err)) < 0 || (rc = load_index(s, err)) < 0)
		return rc;
	s->z_open = inflateInit(&s->z) == Z_OK;
	return s->z_open ? 0 : error_set(err, -ENOMEM, "out of memory");
}

int snapshot_open(struct snapshot **out, const char *path, struct error *err)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct error why = {""};
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	s->path = strdup(path);
	if (s->fd < 0)
		rc = error_opening(&why, -errno, path);
	else if (!s->path)
		rc = error_set(&why, -ENOMEM, "out of memory");
	else
		rc = load_snapshot(s, &why);
	if (rc < 0) {
		snapshot_close(s);
		return error_set(err, rc, "%.200s: %.300s", path, why.text);
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
	if (e.packed == length) {
		memcpy(out, s->packed, length);
		return 0;
	}
	inflateReset(&s->z);
	s->z.next_in = s->packed;
	s->z.avail_in = e.packed;
	s->z.next_out = out;
	s->z.avail_out = length;
	rc = inflate(&s->z, Z_FINISH);
	return rc == Z_STREAM_END && !s->z.avail_out ? 0 : -EBADMSG;
}

/* A block in the cache, into which it is read if it is not there. One that is
 * damaged is not read again. */
static int cached_block(struct snapshot *s, uint64_t block, const uint8_t **out)
{
	struct snapshot_cached *c = &s->cache[block % SNAPSHOT_CACHE];
	int rc;

	if (!c->data && !(c->data = malloc(SNAPSHOT_BLOCK)))
		return -ENOMEM;
	if (c->block != block) {
		c->block = UINT64_MAX;
		rc = snapshot_block_read(s, block, c->data);
		if (rc == -EBADMSG)
			s->index[block].at = 0;
		if (rc < 0)
			return rc;
		c->block = block;
	}
	*out = c->data;
	return 0;
}

static int read_one(struct snapshot *s, const struct memory_read *r)
{
	const struct snapshot_plan *p = &s->plan;
	uint64_t offset = r->offset;
	uint64_t block = (r->epoch - p->first) * p->start[p->h->tables] +
			 p->start[r->t - s->h.table] + offset / SNAPSHOT_BLOCK;
	uint8_t *to = r->to;

	if (r->epoch < s->head.first || r->epoch > s->head.last)
		return -ERANGE;
	for (size_t left = r->length; left;) {
		size_t at = offset % SNAPSHOT_BLOCK;
		size_t n = SNAPSHOT_BLOCK - at < left ? SNAPSHOT_BLOCK - at
						      : left;
		const uint8_t *data;
		int rc = cached_block(s, block++, &data);

		if (rc < 0)
			return rc;
		memcpy(to, data + at, n);
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

int snapshot_verify(struct snapshot *s, uint64_t *blocks, uint64_t *damaged,
		    struct error *err)
{
	uint8_t *room = malloc(SNAPSHOT_BLOCK);
	int rc = room ? 0 : -ENOMEM;

	*blocks = s->plan.blocks;
	*damaged = 0;
	for (uint64_t i = 0; i < s->plan.blocks && !rc; i++) {
		struct snapshot_block b = {0};

		rc = snapshot_block_read(s, i, room);
		/* Its struct snapshot_block, which only this function reads. */
		if (!rc)
			rc = read_at(s, &b, sizeof(b),
				     s->index[i].at - sizeof(b));
		if (!rc && b.crc != snapshot_block_crc(&b))
			rc = -EBADMSG;
		if (rc == -EBADMSG) {
			++*damaged;
			rc = 0;
		}
	}
	free(room);
	return rc < 0 ? error_set(err, rc, "%s: %s", s->path, strerror(-rc))
		      : 0;
}

/* Zeros instead of a damaged block would be read as values and entries, so that
 * nothing is restored then. 0 or -errno with err set. */
static int restore_blocks(struct snapshot *s, struct region *r,
			  struct error *err)
{
	uint64_t damaged = 0;

	for (uint64_t i = 0; i < s->plan.blocks; i++) {
		struct snapshot_place at = snapshot_place(&s->plan, i);
		uint8_t *to = r->map + at.offset +
			      region_offset(r, &r->h.table[at.table], at.epoch);
		int rc = snapshot_block_read(s, i, to);

		if (rc == -EBADMSG)
			damaged++;
		else if (rc < 0)
			return error_set(err, rc, "%s: %s", s->path,
					 strerror(-rc));
	}
	if (damaged)
		return error_set(err, -EBADMSG,
				 "%s: %ju of %ju blocks are damaged: nothing "
				 "is restored; dta-query --snapshot reads the "
				 "others",
				 s->path, (uintmax_t)damaged,
				 (uintmax_t)s->plan.blocks);
	r->state->epoch = s->head.last;
	r->state->oldest = s->head.first;
	return 0;
}

int snapshot_restore(struct snapshot *s, const char *name,
		     const struct region_options *o, struct error *err)
{
	struct region_options options = *o;
	struct layout l = {.n = s->h.tables}; /* as the region had it */
	struct region *r;
	int rc;

	/* No fewer epochs than the region had: all of the snapshot's fit. */
	if (options.epochs < s->h.epochs)
		options.epochs = s->h.epochs;
	for (unsigned i = 0; i < l.n; i++) {
		struct table_view v;

		l.table[i] = s->h.table[i];
		memory_view(&v, snapshot_memory(s), &s->h.table[i],
			    s->head.first);
		l.values[i] = (uint32_t *)v.values;
	}
	rc = region_make(&r, name, &l, &options, err);
	if (rc < 0)
		return rc;
	/* Offsets inside each table must be as they were. */
	for (unsigned i = 0; i < l.n && !rc; i++)
		if (l.table[i].length != r->h.table[i].length ||
		    l.table[i].heads != r->h.table[i].heads ||
		    l.table[i].stride != r->h.table[i].stride)
			rc = error_set(err, -ENOTSUP, "%s: %s", s->path,
				       strerror(ENOTSUP));
	if (!rc)
		rc = restore_blocks(s, r, err);
	if (!rc)
		rc = region_publish(r, err);
	region_close(r);
	return rc;
}

struct snapshot_writer {
	const struct region *r;
	struct snapshot_plan plan;
	int fd;
	uint64_t at; /* bytes written */
	struct snapshot_entry *index;
	uint64_t zero_blocks; /* the run of them that is not yet written */
	z_stream z;
	bool z_open;
	uint8_t raw[SNAPSHOT_BLOCK]; /* a copy of the block */
	/* Its struct snapshot_block, and its bytes as they are written. */
	uint8_t out[sizeof(struct snapshot_block) + SNAPSHOT_BLOCK];
};

static int write_all(struct snapshot_writer *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = write(s->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
		s->at += (uint64_t)n;
	}
	return 0;
}

static int put_header(struct snapshot_writer *s)
{
	const struct region_header *h = &s->r->h;
	const uint8_t *values = s->r->map + h->values_at;
	struct snapshot_header head = {
		.order = REGION_ORDER,
		.version = SNAPSHOT_VERSION,
		.block = SNAPSHOT_BLOCK,
		.data_at = sizeof(head) + sizeof(*h) + h->values_len,
		.first = s->plan.first,
		.last = s->plan.last,
		.blocks = s->plan.blocks,
	};
	int rc;

	memcpy(head.magic, snapshot_magic, sizeof(head.magic));
	head.crc = snapshot_header_crc(&head, h, values);
	if ((rc = write_all(s, &head, sizeof(head))) < 0 ||
	    (rc = write_all(s, h, sizeof(*h))) < 0)
		return rc;
	return write_all(s, values, h->values_len);
}

static void seal_block(struct snapshot_block *b)
{
	memcpy(b->magic, snapshot_block_magic, sizeof(b->magic));
	b->crc = snapshot_block_crc(b);
}

/* Writes the run of zero blocks that ends before block n. */
static int put_zeros(struct snapshot_writer *s, uint64_t n)
{
	struct snapshot_block b = {.number = n - s->zero_blocks,
				   .count = s->zero_blocks};

	if (!s->zero_blocks)
		return 0;
	for (uint64_t i = b.number; i < n; i++)
		s->index[i].at = s->at + sizeof(b);
	s->zero_blocks = 0;
	seal_block(&b);
	return write_all(s, &b, sizeof(b));
}

/* Puts raw behind out's header, deflated if shorter. Returns the length. */
static uint32_t pack_block(struct snapshot_writer *s, uint32_t len)
{
	uint8_t *to = s->out + sizeof(struct snapshot_block);

	deflateReset(&s->z);
	s->z.next_in = s->raw;
	s->z.avail_in = len;
	s->z.next_out = to;
	s->z.avail_out = len - 1;
	if (deflate(&s->z, Z_FINISH) == Z_STREAM_END)
		return (uint32_t)s->z.total_out;
	memcpy(to, s->raw, len);
	return len;
}

static int put_block(struct snapshot_writer *s, uint64_t n)
{
	struct snapshot_place place = snapshot_place(&s->plan, n);
	const struct table *t = &s->r->h.table[place.table];
	struct snapshot_block b = {.number = n, .count = 1};
	int rc;

	/* A copy: writers may change the region while this works on it. */
	memcpy(s->raw, region_read(s->r, t, place.epoch) + place.offset,
	       place.length);
	/* A run of zero blocks is of one table. */
	if (!place.offset && (rc = put_zeros(s, n)) < 0)
		return rc;
	if (!s->raw[0] && !memcmp(s->raw, s->raw + 1, place.length - 1)) {
		s->zero_blocks++;
		return 0;
	}
	if ((rc = put_zeros(s, n)) < 0)
		return rc;
	b.packed = pack_block(s, place.length);
	b.sum = crc(CRC_CHECKSUM, s->out + sizeof(b), b.packed);
	seal_block(&b);
	memcpy(s->out, &b, sizeof(b));
	s->index[n] = (struct snapshot_entry){
		.at = s->at + sizeof(b),
		.packed = b.packed,
		.sum = b.sum,
	};
	return write_all(s, s->out, sizeof(b) + b.packed);
}

static int put_index(struct snapshot_writer *s)
{
	size_t len = s->plan.blocks * sizeof(*s->index);
	struct snapshot_trailer t = {
		.index_at = s->at,
		.blocks = s->plan.blocks,
		.index_crc = crc(CRC_CHECKSUM, s->index, len),
	};
	int rc = write_all(s, s->index, len);

	memcpy(t.magic, end_magic, sizeof(t.magic));
	t.crc = snapshot_trailer_crc(&t);
	return rc < 0 ? rc : write_all(s, &t, sizeof(t));
}

static int save_epochs(struct snapshot_writer *s)
{
	uint64_t n, all = s->plan.blocks;
	int rc;

	s->index = calloc(all, sizeof(*s->index));
	s->z_open = s->index && deflateInit(&s->z, LEVEL) == Z_OK;
	if (!s->z_open)
		return -ENOMEM;
	rc = put_header(s);
	for (n = 0; n < all && !rc; n++)
		rc = put_block(s, n);
	if (!rc)
		rc = put_zeros(s, n);
	return rc ? rc : put_index(s);
}

/* Slots that writers ever took: shows a writer that came and went meanwhile. */
static uint64_t count_slots_taken(const struct region *r)
{
	return __atomic_load_n(&r->state->slots_taken, __ATOMIC_ACQUIRE);
}

/* 0 if no writer is in these epochs, or can come into one (current: last is the
 * region's current epoch), and none died in the middle of an operation. */
static int check_writers(const struct region *r, uint64_t first, uint64_t last,
			 bool current, struct error *err)
{
	for (unsigned i = 0; i < REGION_WRITERS; i++) {
		const struct region_writer_slot *s = &r->slot[i];
		uint64_t at = __atomic_load_n(&s->epoch, __ATOMIC_SEQ_CST);
		bool here = current || (at >= first && at <= last);

		if (!__atomic_load_n(&s->pid, __ATOMIC_ACQUIRE))
			continue;
		if (!region_writer_slot_lives(s)) {
			if (s->state == JOURNAL_FULL)
				return error_set(
					err, -EBUSY,
					"%s: a writer was killed: open the "
					"region for writing first, so that its "
					"last operation is completed",
					region_path(r));
		} else if (here) {
			return error_set(err, -EBUSY,
					 "%s: process %u is at work in epoch "
					 "%llu: rotate first",
					 region_path(r), s->pid,
					 (unsigned long long)(at ? at : last));
		}
	}
	return 0;
}

/* What is in the file is what the region held at one moment, or an error. */
static int save_to(int fd, const struct region *r, uint64_t first,
		   uint64_t last, const char *path, struct error *err)
{
	struct snapshot_writer *s = calloc(1, sizeof(*s));
	uint64_t oldest = region_oldest(r), epoch = region_epoch(r);
	bool current = last == epoch; /* a rotation may end it meanwhile */
	uint64_t slots_taken = count_slots_taken(r);
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->r = r;
	s->fd = fd;
	plan_init(&s->plan, &r->h, first, last);
	if (first > last || first < oldest || last > epoch)
		rc = error_set(err, -ERANGE,
			       "%s: epochs %ju to %ju are not among %ju to %ju",
			       region_path(r), (uintmax_t)first,
			       (uintmax_t)last, (uintmax_t)oldest,
			       (uintmax_t)epoch);
	else
		rc = check_writers(r, first, last, current, err);
	if (!rc && (rc = save_epochs(s)) < 0)
		error_set(err, rc, "%s: %s", path, strerror(-rc));
	if (!rc && region_oldest(r) > first)
		rc = error_set(err, -ESTALE,
			       "%s: epoch %ju was recycled meanwhile",
			       region_path(r), (uintmax_t)first);
	if (!rc && current && slots_taken != count_slots_taken(r))
		rc = error_set(err, -EBUSY,
			       "%s: a writer came while the snapshot was "
			       "made: rotate first",
			       region_path(r));
	if (s->z_open)
		deflateEnd(&s->z);
	free(s->index);
	free(s);
	return rc;
}

int snapshot_write(const struct region *r, uint64_t first, uint64_t last,
		   const char *path, struct error *err)
{
	struct atomic_file a;
	int rc;

	if (!strcmp(path, "-"))
		return save_to(STDOUT_FILENO, r, first, last, "standard output",
			       err);
	rc = atomic_file_output(&a, path);
	if (rc < 0)
		error_set(err, rc, "%s: %s", path, strerror(-rc));
	else
		rc = save_to(a.fd, r, first, last, path, err);
	if (!rc && (rc = atomic_file_replace(&a)) < 0)
		error_set(err, rc, "%s: %s", path, strerror(-rc));
	atomic_file_close(&a);
	return rc;
}
