/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region_place.c - where regions are: hugetlbfs mounts and /dev/shm; how much
 * room there is; which pages a region really has.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "store/region_file.h"

static const char shm[] = "/dev/shm";

enum {
	SAMPLES = 64, /* huge pages looked at, to tell what a region has */
};

/* A hugetlbfs. */
struct mount {
	char dir[256];
	uint64_t page, free; /* bytes */
};

static uint64_t read_number(const char *path)
{
	unsigned long long v = 0;
	FILE *in = fopen(path, "re");

	if (!in)
		return 0;
	if (fscanf(in, "%llu", &v) != 1)
		v = 0;
	fclose(in);
	return v;
}

/* A number that the kernel keeps of its pool of huge pages. */
static uint64_t huge_number(uint64_t page, const char *what)
{
	char path[96];

	snprintf(path, sizeof(path),
		 "/sys/kernel/mm/hugepages/hugepages-%llukB/%s",
		 (unsigned long long)(page >> 10), what);
	return read_number(path);
}

/* Bytes of huge pages to be had; a mount's own limit may be lower. */
static uint64_t huge_free(uint64_t page, const struct statfs *s)
{
	uint64_t pool = huge_number(page, "free_hugepages");
	uint64_t promised = huge_number(page, "resv_hugepages");

	pool = pool > promised ? pool - promised : 0;
	if (s->f_blocks && s->f_blocks != (fsblkcnt_t)-1 && s->f_bavail < pool)
		pool = s->f_bavail;
	return pool * page;
}

/* The hugetlbfs that regions of a plain name are on: the first one. */
static bool find_mount(struct mount *out)
{
	FILE *in = setmntent("/proc/mounts", "re");
	struct mntent entry;
	char text[4096];
	bool found = false;

	while (in && !found && getmntent_r(in, &entry, text, sizeof(text))) {
		struct statfs s;

		if (strcmp(entry.mnt_type, "hugetlbfs") != 0 ||
		    strlen(entry.mnt_dir) >= sizeof(out->dir) ||
		    statfs(entry.mnt_dir, &s) < 0 || s.f_bsize <= 0 ||
		    access(entry.mnt_dir, R_OK | X_OK) < 0)
			continue;
		found = true;
		memcpy(out->dir, entry.mnt_dir, strlen(entry.mnt_dir) + 1);
		out->page = (uint64_t)s.f_bsize;
		out->free = huge_free(out->page, &s);
	}
	if (in)
		endmntent(in);
	return found;
}

/* "/fabric" and "fabric" are names; anything with a further slash is a path. */
static const char *plain_name(const char *name)
{
	if (*name == '/')
		name++;
	return strchr(name, '/') ? NULL : name;
}

static int check_name(const char *name, struct fault *f)
{
	const char *plain = plain_name(name);
	const char *last = strrchr(name, '/');

	last = last ? last + 1 : name;
	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return fault_set(f, -EINVAL, "'%s' is no name for a region",
				 name);
	if (strlen(last) > REGION_NAME_MAX - 32)
		return fault_set(f, -ENAMETOOLONG, "the name is too long");
	return plain ? 1 : 0;
}

static int place(struct region_place *out, const char *dir, const char *name,
		 uint64_t huge)
{
	out->huge = huge;
	if (!dir)
		out->path = strdup(name);
	else if (asprintf(&out->path, "%s/%s", dir, name) < 0)
		out->path = NULL;
	return out->path ? 0 : -ENOMEM;
}

/* A path's own page size, if a hugetlbfs holds it. The path has a slash. */
static uint64_t huge_of_path(const char *path)
{
	char *dir = strndup(path, (size_t)(strrchr(path, '/') + 1 - path));
	uint64_t page = 0;
	struct statfs s;

	if (dir && !statfs(dir, &s) && s.f_type == HUGETLBFS_MAGIC)
		page = (uint64_t)s.f_bsize;
	free(dir);
	return page;
}

int region_find(struct region_place *out, const char *name, struct fault *f)
{
	int plain = check_name(name, f);
	struct mount m;

	if (plain < 0)
		return plain;
	if (!plain)
		return place(out, NULL, name, huge_of_path(name));
	name = plain_name(name);
	if (find_mount(&m)) {
		int rc = place(out, m.dir, name, m.page);

		if (rc < 0 || !access(out->path, F_OK))
			return rc;
		free(out->path);
	}
	return place(out, shm, name, 0);
}

/* Whether a file begins as a region does, or we may not read it and it is large
 * enough: who looks at it is told why it cannot be. */
static bool is_region(const char *path)
{
	char magic[sizeof(region_magic)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	bool is;

	if (fd < 0)
		return errno == EACCES && !lstat(path, &st) &&
		       S_ISREG(st.st_mode) && st.st_size > REGION_STATIC_LEN;
	is = read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	     !memcmp(magic, region_magic, sizeof(magic));
	close(fd);
	return is;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void list_dir(const char *dir, region_each *each, void *ctx)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, by_name);
	char path[4096];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
		if (is_region(path))
			each(ctx, path, entry[i]->d_name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

void region_list(region_each *each, void *ctx)
{
	struct mount m;

	list_dir(shm, each, ctx);
	if (find_mount(&m))
		list_dir(m.dir, each, ctx);
}

int region_choose(struct region_place *out, const char *name, uint64_t size,
		  enum region_pages pages, struct fault *f)
{
	/* A name is one region, whichever place has it. */
	int rc = region_find(out, name, f);
	struct mount m;

	if (rc < 0 || !plain_name(name))
		return rc;
	if (!access(out->path, F_OK))
		return fault_set(f, -EEXIST, REGION_EXISTS, out->path);
	if (pages == REGION_PAGES_SMALL || !find_mount(&m) || m.page > size ||
	    m.free < size + m.page || access(m.dir, W_OK) < 0)
		return 0;
	free(out->path);
	return place(out, m.dir, plain_name(name), m.page);
}

static int no_room(uint64_t size, uint64_t there, const char *where,
		   struct fault *f)
{
	return fault_set(f, -ENOSPC, "needs %.1f MiB, %s has %.1f MiB free",
			 (double)size / 0x1p20, where, (double)there / 0x1p20);
}

/* Memory that can be had without swapping out others: MemAvailable. */
static uint64_t memory_available(void)
{
	FILE *in = fopen("/proc/meminfo", "re");
	unsigned long long kb = 0;
	char line[128];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "MemAvailable: %llu kB", &kb) == 1)
			break;
	if (in)
		fclose(in);
	return kb << 10;
}

int region_check_room(const struct region *r, uint64_t size, struct fault *f)
{
	const char *slash = strrchr(r->path, '/');
	char dir[256];
	struct statfs s;
	uint64_t there;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - r->path), r->path);
	if (fstatfs(r->fd, &s) < 0)
		return fault_set(f, -errno, "%s: %s", dir, strerror(errno));
	if (s.f_type == HUGETLBFS_MAGIC)
		there = huge_free((uint64_t)s.f_bsize, &s);
	else
		there = (uint64_t)s.f_bavail * (uint64_t)s.f_bsize;
	/* A tmpfs without a limit says 0 blocks. */
	if (there < size && !(s.f_type == TMPFS_MAGIC && !s.f_blocks))
		return no_room(size, there, dir, f);
	if (s.f_type == TMPFS_MAGIC && memory_available() < size)
		return no_room(size, memory_available(), "memory", f);
	return 0;
}

/* Adds up a field of /proc/self/smaps over a range of addresses, bytes. */
struct look {
	uint64_t rss, huge;
};

static struct look look_at(const void *start, uint64_t len)
{
	unsigned long long from, to, kb, at = (uintptr_t)start;
	FILE *in = fopen("/proc/self/smaps", "re");
	struct look l = {0, 0};
	bool inside = false;
	char line[512];

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
			inside = from >= at && to <= at + len;
		else if (!inside)
			continue;
		else if (sscanf(line, "Rss: %llu kB", &kb) == 1)
			l.rss += kb << 10;
		else if (sscanf(line, "ShmemPmdMapped: %llu kB", &kb) == 1 ||
			 sscanf(line, "FilePmdMapped: %llu kB", &kb) == 1)
			l.huge += kb << 10;
	}
	if (in)
		fclose(in);
	return l;
}

/*
 * Asks for huge pages and getting them are two things, so this looks: pages
 * spread over the tables are touched, then the kernel tells how they are
 * mapped.
 */
void region_look_at_pages(struct region *r)
{
	uint64_t chunks = r->h.file_size / REGION_HUGE;
	uint64_t step = chunks / SAMPLES + 1;
	const char *kind = "4K";
	struct look l;

	if (r->huge) {
		snprintf(r->pages, sizeof(r->pages), "%llu%c",
			 (unsigned long long)(r->huge >> 30 ? r->huge >> 30
							    : r->huge >> 20),
			 r->huge >> 30 ? 'G' : 'M');
		return;
	}
	for (uint64_t i = 1; i < chunks; i += step)
		madvise(r->map + i * REGION_HUGE, REGION_HUGE,
			MADV_POPULATE_READ);
	l = look_at(r->map, r->h.file_size);
	if (l.huge && l.huge >= l.rss - l.rss / 8)
		kind = "2M-transparent";
	else if (l.huge)
		kind = "4K+2M-transparent";
	snprintf(r->pages, sizeof(r->pages), "%s", kind);
}
