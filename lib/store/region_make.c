/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region_make.c - makes a region: whole, or absent. The file has no name until
 * all of it is there; link(2) then gives it one, and never replaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "hash/crc.h"
#include "store/region_file.h"

static int fail(struct region *r, int err, struct fault *f)
{
	return fault_set(f, err, "%s: %s", r->final, strerror(-err));
}

/* A file system without unnamed files: a name aside, of this process. */
static int open_aside(struct region *r, mode_t mode)
{
	const char *slash = strrchr(r->final, '/');
	int dir = (int)(slash + 1 - r->final);

	if (asprintf(&r->aside, "%.*s.%s.%d.new", dir, r->final, slash + 1,
		     (int)getpid()) < 0) {
		r->aside = NULL;
		return -ENOMEM;
	}
	unlink(r->aside); /* of an earlier process of that number */
	r->fd = open(r->aside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return r->fd < 0 ? -errno : 0;
}

static int open_unnamed(struct region *r, mode_t mode)
{
	const char *slash = strrchr(r->final, '/');
	char *dir = strndup(r->final, (size_t)(slash - r->final) + 1);

	if (!dir)
		return -ENOMEM;
	r->fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
	free(dir);
	if (r->fd >= 0)
		return 0;
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
		return open_aside(r, mode);
	return -errno;
}

int region_publish(struct region *r, struct fault *f)
{
	char self[64];
	int rc;

	if (r->aside) {
		rc = link(r->aside, r->final);
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", r->fd);
		rc = linkat(AT_FDCWD, self, AT_FDCWD, r->final,
			    AT_SYMLINK_FOLLOW);
	}
	if (rc < 0)
		return errno == EEXIST ?
			       fault_set(f, -EEXIST, "%s exists", r->final) :
			       fail(r, -errno, f);
	if (r->aside)
		unlink(r->aside);
	free(r->aside);
	r->aside = NULL;
	r->path = r->final;
	r->final = NULL;
	return 0;
}

/*
 * Every page now: a file system that is full says so here, not by SIGBUS later.
 * Huge pages are asked for before the first touch; fallocate() would not see the
 * wish, so pages are faulted in.
 */
static int populate(struct region *r, enum region_pages pages, struct fault *f)
{
	uint64_t size = r->h.file_size;
	struct statfs s;
	int rc = 0;

	if (fstatfs(r->fd, &s) < 0)
		return fail(r, -errno, f);
	if (s.f_type == TMPFS_MAGIC)
		madvise(r->map, size,
			pages != REGION_PAGES_SMALL && size >= REGION_HUGE ?
				MADV_HUGEPAGE :
				MADV_NOHUGEPAGE);
	if (s.f_type != TMPFS_MAGIC && s.f_type != HUGETLBFS_MAGIC)
		rc = -posix_fallocate(r->fd, 0, (off_t)size);
	else if (madvise(r->map, size, MADV_POPULATE_WRITE) < 0)
		rc = errno == EINVAL /* before Linux 5.14 */ ?
			     -posix_fallocate(r->fd, 0, (off_t)size) :
			     -ENOSPC;
	if (rc == -ENOSPC)
		return fault_set(f, rc, "needs %.1f MiB, more than there is",
				 (double)size / 0x1p20);
	return rc < 0 ? fail(r, rc, f) : 0;
}

static int size_and_map(struct region *r, enum region_pages pages,
			struct fault *f)
{
	int rc;

	if (r->huge)
		r->h.file_size = (r->h.file_size + r->huge - 1) / r->huge *
				 r->huge;
	rc = region_check_room(r, r->h.file_size, f);
	if (rc < 0)
		return rc;
	if (ftruncate(r->fd, (off_t)r->h.file_size) < 0)
		return fail(r, -errno, f);
	rc = region_map(r);
	if (rc < 0)
		return fail(r, rc, f);
	rc = populate(r, pages, f);
	if (rc < 0 || pages != REGION_PAGES_HUGE)
		return rc;
	region_look_at_pages(r);
	if (strchr("4", r->pages[0]))
		return fault_set(f, -ENOTSUP,
				 "no huge pages: reserve some "
				 "(vm.nr_hugepages) and mount a hugetlbfs, or "
				 "set "
				 "/sys/kernel/mm/transparent_hugepage/"
				 "shmem_enabled to advise");
	return 0;
}

/* All but the tables' contents, which are zero as they come. */
static void write_header(struct region *r, const struct layout *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (r->h.table[i].values)
			memcpy(r->map + r->h.table[i].values_at, l->values[i],
			       r->h.table[i].values * sizeof(uint32_t));
	r->h.values_crc =
		crc(CRC_CHECKSUM, r->map + r->h.values_at, r->h.values_len);
	r->h.crc = region_header_crc(&r->h);
	memcpy(r->map, &r->h, sizeof(r->h));
	r->state->epoch = 1;
	r->state->oldest = 1;
}

static int make(struct region *r, const char *name, const struct layout *l,
		const struct region_options *o, struct fault *f)
{
	struct region_place where = { NULL, 0 };
	int rc = region_plan(&r->h, l, o->epochs, f);

	if (rc < 0)
		return rc;
	rc = region_choose(&where, name, r->h.file_size, o->pages, f);
	r->final = where.path;
	r->huge = where.huge;
	if (rc < 0)
		return rc;
	if (!access(r->final, F_OK))
		return fault_set(f, -EEXIST, "%s exists", r->final);
	rc = open_unnamed(r, o->mode ? (mode_t)o->mode : 0644);
	if (rc < 0)
		return fail(r, rc, f);
	rc = size_and_map(r, o->pages, f);
	if (!rc)
		write_header(r, l);
	return rc;
}

int region_make(struct region **out, const char *name, const struct layout *l,
		const struct region_options *o, struct fault *f)
{
	struct region *r = region_new();
	int rc;

	if (!r)
		return fault_set(f, -ENOMEM, "out of memory");
	r->write = true;
	rc = make(r, name, l, o, f);
	if (rc < 0)
		region_close(r);
	else
		*out = r;
	return rc;
}

int region_create(struct region **out, const char *name, const struct layout *l,
		  const struct region_options *o, struct fault *f)
{
	struct region *r;
	int rc = region_make(&r, name, l, o, f);

	if (rc < 0)
		return rc;
	rc = region_publish(r, f);
	if (rc < 0 || !out)
		region_close(r);
	else
		*out = r;
	return rc;
}
