/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash/crc.h"
#include "snapshot/snapshot_file.h"

enum {
	LEVEL = 1,	 /* of zlib: the disk is not to wait */
	TICK_EVERY = 64, /* blocks */
};

struct saving {
	const struct region *r;
	struct snapshot_plan plan;
	int fd;
	uint64_t at; /* bytes written */
	struct snapshot_entry *index;
	uint64_t zeros; /* blocks of the run in hand, before block n */
	z_stream z;
	bool z_open;
	/* A block's header and bytes; deflate may make them longer. */
	uint8_t raw[SNAPSHOT_BLOCK];
	uint8_t out[sizeof(struct snapshot_block) + SNAPSHOT_BLOCK];
};

static int put(struct saving *s, const void *data, size_t len)
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

static int put_header(struct saving *s)
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
	if ((rc = put(s, &head, sizeof(head))) < 0 ||
	    (rc = put(s, h, sizeof(*h))) < 0)
		return rc;
	return put(s, values, h->values_len);
}

static void seal(struct snapshot_block *b)
{
	memcpy(b->magic, snapshot_block_magic, sizeof(b->magic));
	b->crc = snapshot_block_crc(b);
}

/* The run of zero blocks that ends before block n. */
static int put_zeros(struct saving *s, uint64_t n)
{
	struct snapshot_block b = {.number = n - s->zeros, .count = s->zeros};

	if (!s->zeros)
		return 0;
	for (uint64_t i = b.number; i < n; i++)
		s->index[i].at = s->at + sizeof(b);
	s->zeros = 0;
	seal(&b);
	return put(s, &b, sizeof(b));
}

/* Deflates raw behind the header's room; returns the bytes that are best. */
static uint32_t pack(struct saving *s, uint32_t len)
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

static int put_block(struct saving *s, uint64_t n)
{
	struct snapshot_place place = snapshot_place(&s->plan, n);
	const struct table *t = &s->r->h.table[place.table];
	struct snapshot_block b = {.number = n, .count = 1};
	int rc;

	/* A copy: the memory may change, what is summed must not. */
	memcpy(s->raw, region_read(s->r, t, place.epoch) + place.offset,
	       place.length);
	if (!place.offset && (rc = put_zeros(s, n)) < 0)
		return rc;
	if (!s->raw[0] && !memcmp(s->raw, s->raw + 1, place.length - 1)) {
		s->zeros++;
		return 0;
	}
	if ((rc = put_zeros(s, n)) < 0)
		return rc;
	b.packed = pack(s, place.length);
	b.sum = crc(CRC_CHECKSUM, s->out + sizeof(b), b.packed);
	seal(&b);
	memcpy(s->out, &b, sizeof(b));
	s->index[n] = (struct snapshot_entry){
		.at = s->at + sizeof(b),
		.packed = b.packed,
		.sum = b.sum,
	};
	return put(s, s->out, sizeof(b) + b.packed);
}

static int put_index(struct saving *s)
{
	size_t len = s->plan.blocks * sizeof(*s->index);
	struct snapshot_trailer t = {
		.index_at = s->at,
		.blocks = s->plan.blocks,
		.index_crc = crc(CRC_CHECKSUM, s->index, len),
	};
	int rc = put(s, s->index, len);

	memcpy(t.magic, snapshot_end_magic, sizeof(t.magic));
	t.crc = snapshot_trailer_crc(&t);
	return rc < 0 ? rc : put(s, &t, sizeof(t));
}

static int save(struct saving *s, snapshot_progress *tick, void *ctx)
{
	uint64_t n, all = s->plan.blocks;
	int rc;

	s->index = calloc(all, sizeof(*s->index));
	s->z_open = s->index && deflateInit(&s->z, LEVEL) == Z_OK;
	if (!s->z_open)
		return -ENOMEM;
	rc = put_header(s);
	for (n = 0; n < all && !rc; n++) {
		rc = put_block(s, n);
		if (tick && n % TICK_EVERY == 0)
			tick(ctx, n * SNAPSHOT_BLOCK, all * SNAPSHOT_BLOCK);
	}
	if (!rc)
		rc = put_zeros(s, n);
	if (!rc)
		rc = put_index(s);
	if (tick && !rc)
		tick(ctx, all * SNAPSHOT_BLOCK, all * SNAPSHOT_BLOCK);
	return rc;
}

/* Writers may come and go while a snapshot is made: seats ever taken tell. */
static uint64_t seatings(const struct region *r)
{
	return __atomic_load_n(&r->state->seated, __ATOMIC_ACQUIRE);
}

/* Nobody is writing there, and nobody died over it. */
static int check_writers(const struct region *r, uint64_t first, uint64_t last,
			 bool current, struct fault *f)
{
	for (unsigned i = 0; i < REGION_WRITERS; i++) {
		const struct region_seat *s = &r->seat[i];
		uint64_t at = __atomic_load_n(&s->epoch, __ATOMIC_SEQ_CST);
		bool here = current || (at >= first && at <= last);

		if (!__atomic_load_n(&s->pid, __ATOMIC_ACQUIRE))
			continue;
		if (!region_seat_lives(s)) {
			if (s->state == JOURNAL_FULL)
				return fault_set(
					f, -EBUSY,
					"%s: a writer was killed: open the "
					"region for writing first, so that its "
					"last operation is completed",
					region_path(r));
		} else if (here) {
			return fault_set(f, -EBUSY,
					 "%s: process %u is at work in epoch "
					 "%llu: rotate first",
					 region_path(r), s->pid,
					 (unsigned long long)(at ? at : last));
		}
	}
	return 0;
}

static int check_epochs(const struct region *r, uint64_t first, uint64_t last,
			bool current, struct fault *f)
{
	uint64_t oldest = region_oldest(r), epoch = region_epoch(r);

	if (first > last || first < oldest || last > epoch)
		return fault_set(f, -ERANGE,
				 "%s: epochs %llu to %llu are not among %llu "
				 "to %llu",
				 region_path(r), (unsigned long long)first,
				 (unsigned long long)last,
				 (unsigned long long)oldest,
				 (unsigned long long)epoch);
	return check_writers(r, first, last, current, f);
}

/*
 * What is in the file is what the region held at one moment, or an error.
 * current: the last epoch was, when the snapshot was begun.
 */
static int check_still(const struct region *r, uint64_t first, bool current,
		       uint64_t seated, struct fault *f)
{
	if (region_oldest(r) > first)
		return fault_set(f, -ESTALE,
				 "%s: epoch %llu was recycled meanwhile",
				 region_path(r), (unsigned long long)first);
	if (current && seated != seatings(r))
		return fault_set(f, -EBUSY,
				 "%s: a writer came while the snapshot was "
				 "made: rotate first",
				 region_path(r));
	return 0;
}

static void saving_free(struct saving *s)
{
	if (s->z_open)
		deflateEnd(&s->z);
	free(s->index);
	free(s);
}

static int save_to(int fd, const struct region *r, uint64_t first,
		   uint64_t last, const char *path, snapshot_progress *tick,
		   void *ctx, struct fault *f)
{
	struct saving *s = calloc(1, sizeof(*s));
	bool current = last == region_epoch(r);
	uint64_t seated = seatings(r);
	int rc;

	if (!s)
		return fault_set(f, -ENOMEM, "out of memory");
	s->r = r;
	s->fd = fd;
	snapshot_plan_init(&s->plan, &r->h, first, last);
	rc = check_epochs(r, first, last, current, f);
	if (rc < 0)
		goto out;
	rc = save(s, tick, ctx);
	if (rc < 0)
		fault_set(f, rc, "%s: %s", path, strerror(-rc));
	else
		rc = check_still(r, first, current, seated, f);
out:
	saving_free(s);
	return rc;
}

int snapshot_write(const struct region *r, uint64_t first, uint64_t last,
		   const char *path, snapshot_progress *tick, void *ctx,
		   struct fault *f)
{
	char *real = NULL;
	struct aside a;
	struct stat st;
	int rc, fd;

	if (!strcmp(path, "-"))
		return save_to(STDOUT_FILENO, r, first, last, "standard output",
			       tick, ctx, f);
	/* A device or a pipe is written, not replaced. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return fault_set(f, -errno, "%s: %s", path,
					 strerror(errno));
		rc = save_to(fd, r, first, last, path, tick, ctx, f);
		if (close(fd) < 0 && !rc)
			rc = fault_set(f, -errno, "%s: %s", path,
				       strerror(errno));
		return rc;
	}
	real = realpath(path, NULL); /* not the symbolic link itself */
	rc = aside_open(&a, real ? real : path, 0666);
	if (rc < 0) {
		fault_set(f, rc, "%s: %s", path, strerror(-rc));
	} else {
		rc = save_to(a.fd, r, first, last, path, tick, ctx, f);
		if (!rc && (rc = aside_replace(&a)) < 0)
			fault_set(f, rc, "%s: %s", path, strerror(-rc));
	}
	aside_drop(&a);
	if (a.fd >= 0)
		close(a.fd);
	free(real);
	return rc;
}
