/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region_make.c - where regions are: /dev/hugepages and /dev/shm; how one is
 * made, whole or absent; how one that another program made is checked; which
 * pages a region really has.
 *
 * A file has no name until all of it is there. link(2) then gives it one, and
 * never replaces another file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "hash/crc.h"
#include "region/region_file.h"

enum {
	REGION_PART = 128 << 20, /* populated at once; of whole huge pages */
	COLLAPSE = 25, /* MADV_COLLAPSE: newer than Debian 12's C library */
	SAMPLES = 64,  /* 2 MiB parts in which region_page_kind() looks */
};

static const char shm[] = "/dev/shm", huge_dir[] = "/dev/hugepages";

const char region_magic[8] = {'D', 'T', 'A', 'R', 'E', 'G', 'N', '\n'};
const char snapshot_magic[8] = {'D', 'T', 'A', 'S', 'N', 'A', 'P', '\n'};

/* The number behind a word that begins a line of a kernel's file, or 0. */
static uint64_t read_number(const char *path, const char *word)
{
	FILE *in = fopen(path, "re");
	unsigned long long v = 0;
	size_t n = strlen(word);
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (!strncmp(line, word, n) &&
		    sscanf(line + n, "%llu", &v) == 1)
			break;
	if (in)
		fclose(in);
	return v;
}

/* Free bytes in huge pages of this size. */
static uint64_t huge_free(uint64_t page)
{
	char path[96];

	snprintf(path, sizeof(path),
		 "/sys/kernel/mm/hugepages/hugepages-%llukB/free_hugepages",
		 (unsigned long long)(page >> 10));
	return read_number(path, "") * page;
}

/* The page size of a hugetlbfs; 0: it is none. */
static uint64_t huge_page_of(const char *dir)
{
	struct statfs s;

	return !statfs(dir, &s) && s.f_type == HUGETLBFS_MAGIC
		       ? (uint64_t)s.f_bsize
		       : 0;
}

/* "/fabric" and "fabric" are names; anything with a further slash is a path. */
static const char *plain_name(const char *name)
{
	if (*name == '/')
		name++;
	return strchr(name, '/') ? NULL : name;
}

static int set_place(struct region_place *out, const char *dir,
		     const char *name, uint64_t huge)
{
	out->huge = huge;
	if (asprintf(&out->path, "%s/%s", dir, name) < 0)
		out->path = NULL;
	return out->path ? 0 : -ENOMEM;
}

int region_find(struct region_place *out, const char *name, struct error *err)
{
	const char *slash = strrchr(name, '/'),
		   *last = slash ? slash + 1 : name;
	uint64_t page = huge_page_of(huge_dir);

	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return error_set(err, -EINVAL, "'%s' is no name for a region",
				 name);
	if (strlen(last) > REGION_NAME_MAX - 32)
		return error_set(err, -ENAMETOOLONG, "the name is too long");
	if (!plain_name(name)) {
		char *dir = strndup(name, (size_t)(last - name));

		*out = (struct region_place){strdup(name),
					     dir ? huge_page_of(dir) : 0};
		free(dir);
		return out->path ? 0 : -ENOMEM;
	}
	if (page) {
		int rc = set_place(out, huge_dir, last, page);

		if (rc < 0 || !access(out->path, F_OK))
			return rc;
		free(out->path);
	}
	return set_place(out, shm, last, 0);
}

int region_begins(const char *path)
{
	char magic[sizeof(region_magic)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	bool same;

	if (fd < 0)
		return -errno;
	same = read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	       !memcmp(magic, region_magic, sizeof(magic));
	close(fd);
	return same;
}

static void list_dir(const char *dir, region_each *each, void *ctx)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, alphasort), rc;
	char path[4096];
	struct stat st;

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
		rc = region_begins(path);
		/* A file that we may not read is listed, too, if it is large
		 * enough for a region: opening it then says what is wrong. */
		if (rc > 0 ||
		    (rc == -EACCES && !lstat(path, &st) &&
		     S_ISREG(st.st_mode) && st.st_size > REGION_STATIC_LEN))
			each(ctx, path, entry[i]->d_name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

void region_list(region_each *each, void *ctx)
{
	list_dir(shm, each, ctx);
	if (huge_page_of(huge_dir))
		list_dir(huge_dir, each, ctx);
}

static int choose_place(struct region_place *out, const char *name,
			uint64_t size, enum region_pages pages,
			struct error *err)
{
	uint64_t page = huge_page_of(huge_dir);
	int rc = region_find(out, name, err);

	/* If either directory has the name already, that is the place. */
	if (rc < 0 || !plain_name(name) || !access(out->path, F_OK))
		return rc;
	if (pages == REGION_PAGES_SMALL || !page || page > size ||
	    huge_free(page) < size + page || access(huge_dir, W_OK) < 0)
		return 0;
	free(out->path);
	return set_place(out, huge_dir, plain_name(name), page);
}

/* Whether the file system (s) in which r is to be has enough bytes free. */
static int check_room(const struct region *r, const struct statfs *s,
		      struct error *err)
{
	uint64_t size = r->h.file_size, memory, space;
	int dir = (int)(strrchr(r->path, '/') - r->path);

	space = s->f_type == HUGETLBFS_MAGIC
			? huge_free((uint64_t)s->f_bsize)
			: (uint64_t)s->f_bavail * (uint64_t)s->f_bsize;
	/* A tmpfs takes what is available without swapping, if that is less
	 * than its limit; f_blocks 0 is no limit. */
	memory = read_number("/proc/meminfo", "MemAvailable:") << 10;
	if (s->f_type == TMPFS_MAGIC && (!s->f_blocks || memory < space))
		space = memory;
	if (space >= size)
		return 0;
	return error_set(err, -ENOSPC, "needs %.1f MiB, %.*s has %.1f MiB free",
			 (double)size / 0x1p20, dir, r->path,
			 (double)space / 0x1p20);
}

/* The kernel need not give the huge pages that were asked for. So this touches
 * pages spread over the file, then reads how much shared memory this process,
 * which has no other region, has mapped by huge pages. */
const char *region_page_kind(const struct region *region)
{
	struct region *r = (struct region *)region;
	uint64_t chunks = r->h.file_size / REGION_HUGE, touched = 0, huge;
	uint64_t step = chunks / SAMPLES + 1;
	const char *kind = "4K";

	if (r->pages[0])
		return r->pages;
	if (r->huge) {
		snprintf(r->pages, sizeof(r->pages), "%llu%c",
			 (unsigned long long)(r->huge >> 30 ? r->huge >> 30
							    : r->huge >> 20),
			 r->huge >> 30 ? 'G' : 'M');
		return r->pages;
	}
	for (uint64_t i = 1; i < chunks; i += step, touched++)
		madvise(r->map + i * REGION_HUGE, REGION_HUGE,
			MADV_POPULATE_READ);
	huge = read_number("/proc/self/smaps_rollup", "ShmemPmdMapped:") /
	       (REGION_HUGE >> 10);
	if (huge && huge >= touched - touched / 8)
		kind = "2M-transparent";
	else if (huge)
		kind = "4K+2M-transparent";
	snprintf(r->pages, sizeof(r->pages), "%s", kind);
	return r->pages;
}

uint32_t region_header_crc(const struct region_header *h)
{
	static const uint8_t zero[sizeof(h->crc)];
	size_t at = offsetof(struct region_header, crc);
	size_t rest = at + sizeof(h->crc);
	uint32_t sum = crc(CRC_CHECKSUM, h, at);

	sum = crc_extend(CRC_CHECKSUM, sum, zero, sizeof(zero));
	return crc_extend(CRC_CHECKSUM, sum, (const uint8_t *)h + rest,
			  sizeof(*h) - rest);
}

/* What is large begins at a huge page, what is small at an ordinary one. */
static uint64_t align_of(uint64_t len)
{
	return len >= REGION_HUGE ? REGION_HUGE : REGION_ALIGN;
}

int region_check_magic(const char found[8], uint32_t order, uint32_t version,
		       const char magic[8], struct error *err)
{
	bool region = magic == region_magic;
	const char *const what = region ? "region" : "snapshot";

	if (memcmp(found, magic, 8) != 0)
		return error_set(
			err, -EBADMSG, "not a %s%s", what,
			!memcmp(found, region ? snapshot_magic : region_magic,
				8)
				? region ? ": a snapshot" : ": a region"
				: "");
	if (order != REGION_ORDER)
		return error_set(err, -EPROTONOSUPPORT,
				 "a %s of another byte order", what);
	if (version != REGION_VERSION)
		return error_set(err, -EPROTONOSUPPORT,
				 "a %s of version %u; this program knows "
				 "version %d",
				 what, version, REGION_VERSION);
	return 0;
}

static int check_identity(const struct region_header *h, struct error *err)
{
	int rc = region_check_magic(h->magic, h->order, h->version,
				    region_magic, err);

	if (rc < 0)
		return rc;
	if (h->length != REGION_STATIC_LEN || region_header_crc(h) != h->crc)
		return error_set(
			err, -EBADMSG,
			"the header is damaged: its checksum is wrong");
	return 0;
}

/* a + b <= max, without overflow. */
static bool fits_within(uint64_t a, uint64_t b, uint64_t max)
{
	return a <= max && b <= max - a;
}

static int check_places(const struct region_header *h, uint64_t file_size,
			struct error *err)
{
	uint64_t sets;

	if (!h->tables || h->tables > TABLE_MAX || !h->epochs ||
	    h->epochs > REGION_EPOCHS_MAX || h->writer_slots != REGION_WRITERS)
		return error_set(err, -EBADMSG, "the header is damaged");
	if (file_size < h->file_size)
		return error_set(err, -ESTALE,
				 "the file shrank: %llu bytes of %llu",
				 (unsigned long long)file_size,
				 (unsigned long long)h->file_size);
	if (h->values_at != REGION_HEAD_LEN ||
	    !fits_within(h->values_at, h->values_len, h->set_at) ||
	    h->set_at % REGION_ALIGN || !h->set_len ||
	    h->set_len % REGION_ALIGN ||
	    __builtin_mul_overflow(h->set_len, (uint64_t)h->epochs, &sets) ||
	    !fits_within(h->set_at, sets, h->file_size))
		return error_set(err, -EBADMSG, "the header is damaged");
	return 0;
}

/* A table lies in the set, its V set among the V sets. */
static bool table_placed(const struct region_header *h, const struct table *t)
{
	if (t->offset < h->set_at || t->offset % 64 ||
	    !fits_within(t->offset - h->set_at, t->length, h->set_len))
		return false;
	if (!t->values)
		return true;
	return t->values <= h->values_len / sizeof(uint32_t) &&
	       t->values_at % sizeof(uint32_t) == 0 &&
	       t->values_at >= h->values_at &&
	       fits_within(t->values_at - h->values_at,
			   t->values * sizeof(uint32_t), h->values_len);
}

int region_check(const struct region_header *h, uint64_t file_size,
		 struct error *err)
{
	struct error why = {""};
	int rc;

	if ((rc = check_identity(h, err)) < 0 ||
	    (rc = check_places(h, file_size, err)) < 0)
		return rc;
	for (unsigned i = 0; i < h->tables; i++) {
		const struct table *t = &h->table[i];

		if (table_check(t, &why) < 0)
			return error_set(err, -EBADMSG, "table %u: %.400s", i,
					 why.text);
		if (!table_placed(h, t))
			return error_set(err, -EBADMSG,
					 "table %u lies outside the region", i);
		for (const struct table *o = h->table; o < t; o++)
			if ((o->offset + o->length > t->offset &&
			     t->offset + t->length > o->offset) ||
			    o->id == t->id || !strcmp(o->name, t->name))
				return error_set(err, -EBADMSG,
						 "table %u has another's "
						 "place, id or name",
						 i);
	}
	return 0;
}

int region_check_values(const struct region_header *h, const uint8_t *values,
			struct error *err)
{
	if (crc(CRC_CHECKSUM, values, h->values_len) != h->values_crc)
		return error_set(err, -EBADMSG,
				 "the sets of values are damaged: their "
				 "checksum is wrong");
	for (unsigned i = 0; i < h->tables; i++) {
		const struct table *t = &h->table[i];
		uint64_t at = t->values_at - h->values_at;

		for (uint64_t k = 1; k < t->values; k++) {
			uint32_t pair[2];

			memcpy(pair, values + at + (k - 1) * sizeof(uint32_t),
			       sizeof(pair));
			if (pair[0] >= pair[1])
				return error_set(err, -EBADMSG,
						 "table %u: values are not "
						 "sorted",
						 i);
		}
	}
	return 0;
}

/* Fills in h, but for its checksums: completes the tables of a layout and gives
 * them their places. */
static int plan_header(struct region_header *h, const struct layout *l,
		       unsigned epochs, struct error *err)
{
	uint64_t at = REGION_HEAD_LEN, size;
	struct error why = {""};

	if (!l->n || l->n > TABLE_MAX)
		return error_set(err, -EINVAL, "%u tables; 1 to %d can be",
				 l->n, TABLE_MAX);
	if (!epochs || epochs > REGION_EPOCHS_MAX)
		return error_set(err, -EINVAL, "%u epochs; 1 to %d can be",
				 epochs, REGION_EPOCHS_MAX);
	memset(h, 0, sizeof(*h));
	for (unsigned i = 0; i < l->n; i++) {
		struct table *t = &h->table[i];

		*t = l->table[i];
		if (!t->id)
			t->id = (uint16_t)(i + 1);
		if (table_finish(t, &why) < 0)
			return error_set(err, -EINVAL, "table %.31s: %.400s",
					 t->name, why.text);
		t->values_at = t->values ? at : 0;
		at = table_round_up(at + t->values * sizeof(uint32_t), 64);
	}
	h->values_at = REGION_HEAD_LEN;
	h->values_len = at - h->values_at;
	size = 0;
	for (unsigned i = 0; i < l->n; i++)
		size += h->table[i].length;
	at = h->set_at = table_round_up(at, align_of(size));
	for (unsigned i = 0; i < l->n; i++) {
		struct table *t = &h->table[i];

		t->offset = table_round_up(at, align_of(t->length));
		at = t->offset + t->length;
	}
	h->set_len = table_round_up(at - h->set_at, align_of(size));
	memcpy(h->magic, region_magic, sizeof(h->magic));
	h->order = REGION_ORDER;
	h->version = REGION_VERSION;
	h->length = REGION_STATIC_LEN;
	h->tables = l->n;
	h->epochs = epochs;
	h->writer_slots = REGION_WRITERS;
	h->file_size = h->set_at + h->set_len * epochs;
	return 0;
}

int region_publish(struct region *r, struct error *err)
{
	int rc = atomic_file_link(&r->file);

	if (rc == -EEXIST)
		return error_set(err, rc, REGION_EXISTS, r->path);
	return rc < 0 ? region_fail(r, rc, err) : 0;
}

/*
 * Transparent huge pages in a tmpfs, whatever shmem_enabled says: populates one
 * page of each 2 MiB, then MADV_COLLAPSE (Linux 6.1) puts a huge page in its
 * place. Much faster than to collapse what is populated already. If it fails,
 * ordinary pages follow; region_page_kind() tells what came of it.
 */
static void make_huge(uint8_t *map, uint64_t size)
{
	size &= ~(uint64_t)(REGION_HUGE - 1);
	for (uint64_t at = 0; at < size; at += REGION_HUGE)
		if (madvise(map + at, REGION_ALIGN, MADV_POPULATE_WRITE) < 0)
			return;
	madvise(map, size, COLLAPSE);
}

/*
 * Allocates every page: a full file system is an error here, not SIGBUS later.
 */
static int populate_file(struct region *r, enum region_pages pages, long magic,
			 struct error *err)
{
	uint64_t all = r->h.file_size, size;
	int rc = 0;

	if (magic == TMPFS_MAGIC && pages == REGION_PAGES_SMALL)
		madvise(r->map, all, MADV_NOHUGEPAGE);
	else if (magic == TMPFS_MAGIC && all >= REGION_HUGE)
		madvise(r->map, all, MADV_HUGEPAGE);
	for (uint64_t at = 0; !rc && at < all; at += size) {
		size = all - at < REGION_PART ? all - at : REGION_PART;
		if (magic == TMPFS_MAGIC && pages != REGION_PAGES_SMALL)
			make_huge(r->map + at, size);
		if (magic != TMPFS_MAGIC && magic != HUGETLBFS_MAGIC)
			rc = -posix_fallocate(r->fd, (off_t)at, (off_t)size);
		else if (madvise(r->map + at, size, MADV_POPULATE_WRITE) < 0)
			rc = -ENOSPC;
	}
	if (rc == -ENOSPC)
		return error_set(
			err, rc, "needs %.1f MiB, more than there is%s",
			(double)all / 0x1p20, r->huge ? " of huge pages" : "");
	return rc < 0 ? region_fail(r, rc, err) : 0;
}

static int size_and_map(struct region *r, const struct region_options *o,
			struct error *err)
{
	struct statfs s;
	int rc;

	if (r->huge)
		r->h.file_size = table_round_up(r->h.file_size, r->huge);
	if (fstatfs(r->fd, &s) < 0)
		return region_fail(r, -errno, err);
	rc = check_room(r, &s, err);
	if (rc < 0)
		return rc;
	if (ftruncate(r->fd, (off_t)r->h.file_size) < 0)
		return region_fail(r, -errno, err);
	rc = region_map(r);
	if (rc < 0)
		return region_fail(r, rc, err);
	rc = populate_file(r, o->pages, (long)s.f_type, err);
	if (rc < 0 || o->pages != REGION_PAGES_HUGE)
		return rc;
	if (*region_page_kind(r) != '4')
		return 0;
	return error_set(err, -ENOTSUP,
			 "no huge pages: reserve some (vm.nr_hugepages) and "
			 "mount a hugetlbfs on /dev/hugepages, or set "
			 "/sys/kernel/mm/transparent_hugepage/shmem_enabled "
			 "to advise");
}

static int make_file(struct region *r, const char *name, const struct layout *l,
		     const struct region_options *o, struct error *err)
{
	struct region_place where = {NULL, 0};
	int rc = plan_header(&r->h, l, o->epochs, err);

	if (rc < 0)
		return rc;
	rc = choose_place(&where, name, r->h.file_size, o->pages, err);
	r->path = where.path;
	r->huge = where.huge;
	if (rc < 0)
		return rc;
	if (!access(r->path, F_OK))
		return error_set(err, -EEXIST, REGION_EXISTS, r->path);
	rc = atomic_file_open(&r->file, r->path, 0644);
	r->fd = r->file.fd;
	if (rc < 0)
		return region_fail(r, rc, err);
	rc = size_and_map(r, o, err);
	if (rc < 0)
		return rc;
	/* Tables are zero already, as new pages are. */
	for (unsigned i = 0; i < l->n; i++)
		if (r->h.table[i].values)
			memcpy(r->map + r->h.table[i].values_at, l->values[i],
			       r->h.table[i].values * sizeof(uint32_t));
	r->h.values_crc = crc(CRC_CHECKSUM, r->map + r->h.values_at,
			      r->h.values_len);
	r->h.crc = region_header_crc(&r->h);
	memcpy(r->map, &r->h, sizeof(r->h));
	r->state->epoch = 1;
	r->state->oldest = 1;
	r->state->began_ns = clock_wall_ns();
	return 0;
}

int region_make(struct region **out, const char *name, const struct layout *l,
		const struct region_options *o, struct error *err)
{
	struct region *r = region_new();
	int rc;

	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->write = true;
	rc = make_file(r, name, l, o, err);
	if (rc < 0)
		region_close(r);
	else
		*out = r;
	return rc;
}

int region_create(struct region **out, const char *name, const struct layout *l,
		  const struct region_options *o, struct error *err)
{
	struct region *r;
	int rc = region_make(&r, name, l, o, err);

	if (rc < 0)
		return rc;
	rc = region_publish(r, err);
	if (rc < 0 || !out)
		region_close(r);
	else
		*out = r;
	return rc;
}

/* Whether a region is what would be made. 0, -EEXIST or another error. */
static int compare_region(const struct region *r, const struct layout *l,
			  const struct region_options *o, struct error *err)
{
	static const char cure[] = "remove the region, or change the layout";
	struct region_header want;
	int rc;

	if (o->epochs && o->epochs != r->h.epochs)
		return error_set(err, -EEXIST,
				 "has %u epoch%s, not %u: remove the region, "
				 "or say --epochs %u",
				 r->h.epochs, text_s(r->h.epochs), o->epochs,
				 r->h.epochs);
	if (l->n != r->h.tables)
		return error_set(err, -EEXIST,
				 "has %u tables, the layout %u: %s",
				 r->h.tables, l->n, cure);
	rc = plan_header(&want, l, r->h.epochs, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < l->n; i++) {
		const struct table *t = &r->h.table[i];

		if (memcmp(t, &want.table[i], sizeof(*t)) != 0 ||
		    (t->values && memcmp(r->map + t->values_at, l->values[i],
					 t->values * sizeof(uint32_t)) != 0))
			return error_set(err, -EEXIST,
					 "table %s is not as the layout says: "
					 "%s",
					 t->name, cure);
	}
	return 0;
}

int region_create_absent(const char *name, const struct layout *l,
			 const struct region_options *o, struct error *err)
{
	struct region_options make = *o;
	struct region *r;
	int rc = region_open(&r, name, false, err);

	make.epochs += !make.epochs;
	if (rc == -ENOENT) {
		rc = region_create(NULL, name, l, &make, err);
		if (rc != -EEXIST)
			return rc < 0 ? rc : 1;
		rc = region_open(&r, name, false, err); /* another was faster */
	}
	if (rc < 0)
		return rc;
	rc = compare_region(r, l, o, err);
	region_close(r);
	return rc;
}
