/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/spool.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "export/driver.h"

enum {
	MAGIC = 0x42535444, /* "DTSB", little-endian */
	HEADER = 16,
	NAME = 32,
};

struct header {
	uint32_t magic, rows, len, crc;
};

struct spool {
	char path[PATH_MAX];
	int dir;
	uint64_t size;
	uint64_t given;	       /* bytes of the file that spool_next() read, */
	uint32_t given_rows;   /* and its rows */
	_Atomic uint64_t rows; /* read without the lock */
	pthread_mutex_t lock;  /* of what follows */
	uint64_t first, next;  /* numbers of files: the oldest, the new one */
	uint64_t bytes;
};

static void name_of(char name[NAME], uint64_t number)
{
	snprintf(name, NAME, "%016llx.spool", (unsigned long long)number);
}

static int open_file(const struct spool *s, uint64_t number, int flags)
{
	char name[NAME];
	int fd;

	name_of(name, number);
	fd = openat(s->dir, name, flags | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static void drop_file(const struct spool *s, uint64_t number)
{
	char name[NAME];

	name_of(name, number);
	unlinkat(s->dir, name, 0);
}

static uint32_t checksum(uint32_t rows, const void *bytes, size_t len)
{
	uint32_t numbers[2] = {htole32(rows), htole32((uint32_t)len)};
	uLong crc = crc32(0, (const Bytef *)numbers, sizeof(numbers));

	return (uint32_t)crc32(crc, bytes, (uInt)len);
}

/* The size of a file; and its header, if it has one, and is as long as that
 * says: else of one row and no magic, as it is not known how many it had. */
static uint64_t read_header(struct header *h, int fd)
{
	struct header raw;
	struct stat st;

	*h = (struct header){.rows = 1};
	if (fstat(fd, &st) < 0)
		return 0;
	if (pread(fd, &raw, HEADER, 0) == HEADER &&
	    le32toh(raw.magic) == MAGIC &&
	    (uint64_t)st.st_size == HEADER + (uint64_t)le32toh(raw.len))
		*h = (struct header){MAGIC, le32toh(raw.rows), le32toh(raw.len),
				     le32toh(raw.crc)};
	return (uint64_t)st.st_size;
}

/* A file that was there. */
static int take_file(struct spool *s, uint64_t number)
{
	int fd = open_file(s, number, O_RDONLY);
	struct header h;

	if (fd < 0)
		return fd;
	s->bytes += read_header(&h, fd);
	s->rows += h.rows;
	close(fd);
	if (s->first == s->next || number < s->first)
		s->first = number;
	if (number >= s->next)
		s->next = number + 1;
	return 0;
}

static int take_files(struct spool *s)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	    rc = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	unsigned long long number;
	struct dirent *e;
	char name[NAME];

	if (!d)
		return -errno;
	while (!rc && (e = readdir(d))) {
		if (sscanf(e->d_name, "%16llx", &number) != 1)
			continue;
		name_of(name, number);
		if (!strcmp(name, e->d_name))
			rc = take_file(s, number);
	}
	closedir(d);
	return rc;
}

/* Makes the directory of a spool, for this process alone. 0 or -errno. */
static int open_dir(struct spool *s, const char *dir)
{
	if ((mkdir(dir, 0700) < 0 && errno != EEXIST) ||
	    (mkdir(s->path, 0700) < 0 && errno != EEXIST))
		return -errno;
	s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return -errno;
	return flock(s->dir, LOCK_EX | LOCK_NB) < 0 ? -EBUSY : 0;
}

int spool_open(struct spool **out, const char *dir, const char *name,
	       uint64_t size, uint64_t *found, struct error *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	snprintf(s->path, sizeof(s->path), "%s/%s", dir, name);
	s->dir = -1;
	s->size = size;
	rc = open_dir(s, dir);
	if (rc == 0)
		rc = take_files(s);
	if (rc < 0) {
		error_set(err, rc, "%s: %s", s->path,
			  rc == -EBUSY ? "another process uses it"
				       : strerror(-rc));
		spool_close(s);
		return rc;
	}
	*found = s->rows;
	*out = s;
	return 0;
}

static int write_file(const struct spool *s, uint64_t number,
		      const struct export_block *b)
{
	char *bytes = b->bytes + b->at;
	size_t len = b->len - b->at;
	struct header h = {htole32(MAGIC), htole32(b->rows),
			   htole32((uint32_t)len),
			   htole32(checksum(b->rows, bytes, len))};
	struct iovec io[2] = {{&h, HEADER}, {bytes, len}};
	int fd = open_file(s, number, O_WRONLY | O_CREAT | O_EXCL), rc = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = writev(fd, io, 2);
	if (n != (ssize_t)(HEADER + len))
		rc = n < 0 ? -errno : -ENOSPC;
	close(fd);
	if (rc < 0)
		drop_file(s, number);
	return rc;
}

int spool_append(struct spool *s, const struct export_block *b,
		 struct error *err)
{
	uint64_t len = HEADER + b->len - b->at, bytes;
	char name[NAME];
	int rc;

	pthread_mutex_lock(&s->lock);
	bytes = s->bytes;
	pthread_mutex_unlock(&s->lock);
	if (len > UINT32_MAX || (bytes && bytes + len > s->size))
		return error_set(err, -ENOSPC,
				 "%s: it may hold %" PRIu64 " bytes, and does",
				 s->path, s->size);
	rc = write_file(s, s->next, b); /* which only this thread changes */
	if (rc < 0) {
		name_of(name, s->next);
		return error_set(err, rc, "%s/%s: %s", s->path, name,
				 strerror(-rc));
	}
	pthread_mutex_lock(&s->lock);
	s->next++;
	s->bytes += len;
	s->rows += b->rows;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* The block of a file: 1, -EBADMSG or -errno. Its size and rows are given. */
static int read_file(struct spool *s, int fd, struct export_block **out)
{
	struct header h;
	struct export_block *b;

	s->given = read_header(&h, fd);
	s->given_rows = h.rows;
	if (h.magic != MAGIC)
		return -EBADMSG;
	b = calloc(1, sizeof(*b));
	if (!b || !(b->bytes = malloc(h.len + 1ULL))) {
		free(b);
		return -ENOMEM;
	}
	b->len = h.len;
	b->rows = h.rows;
	if (pread(fd, b->bytes, b->len, HEADER) == (ssize_t)b->len &&
	    checksum(b->rows, b->bytes, b->len) == h.crc) {
		*out = b;
		return 1;
	}
	free(b->bytes);
	free(b);
	return -EBADMSG;
}

/* The oldest file, which is there; 0: there is none, and if there should be,
 * its rows were deleted, so many; or -errno. */
static int open_oldest(struct spool *s, uint64_t *lost)
{
	int fd = -ENOENT;

	pthread_mutex_lock(&s->lock);
	while (s->first < s->next &&
	       (fd = open_file(s, s->first, O_RDONLY)) == -ENOENT)
		s->first++;
	if (fd == -ENOENT) {
		*lost = s->rows;
		s->rows = s->bytes = 0;
	}
	pthread_mutex_unlock(&s->lock);
	return fd == -ENOENT ? 0 : fd;
}

int spool_next(struct spool *s, struct export_block **out, uint64_t *lost)
{
	int fd, rc;

	*out = NULL;
	*lost = 0;
	fd = open_oldest(s, lost);
	if (fd <= 0)
		return fd < 0 ? fd : *lost ? -EBADMSG : 0;
	rc = read_file(s, fd, out);
	close(fd);
	if (rc == -EBADMSG) {
		*lost = s->given_rows;
		spool_done(s);
	}
	return rc;
}

void spool_done(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	drop_file(s, s->first++);
	s->bytes -= s->given;
	s->rows -= s->given_rows;
	pthread_mutex_unlock(&s->lock);
}

uint64_t spool_rows(struct spool *s)
{
	return s->rows;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->rows)
		syncfs(s->dir);
	if (s->dir >= 0)
		close(s->dir);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
