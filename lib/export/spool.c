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
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "export/driver.h"

enum {
	MAGIC = 0x42535444, /* "DTSB", little-endian */
	HEADER = 16,
};

/* As in a file: little-endian. */
struct header {
	uint32_t magic, rows, len, crc;
};

/* A block that waits. */
struct entry {
	STAILQ_ENTRY(entry) next;
	struct export_block *block; /* NULL: in its file alone */
	uint64_t bytes;
	uint32_t rows;
	char file[32];
};

struct spool {
	char path[PATH_MAX];
	int dir; /* -1: there are no files */
	uint64_t size;
	uint64_t number; /* of the next file */
	_Atomic uint64_t rows, bytes;
	pthread_mutex_t lock; /* of what follows */
	STAILQ_HEAD(entries, entry) entries;
};

static uint32_t checksum(const struct header *h, const void *bytes, size_t len)
{
	uLong crc = crc32(0, (const Bytef *)&h->rows, 8);

	return htole32((uint32_t)crc32(crc, bytes, (uInt)len));
}

static bool is_header(const struct header *h, uint64_t bytes)
{
	return h->magic == htole32(MAGIC) && bytes == HEADER + le32toh(h->len);
}

static struct entry *make_entry(uint64_t number, uint64_t bytes, uint32_t rows)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->bytes = bytes;
	e->rows = rows;
	snprintf(e->file, sizeof(e->file), "%016" PRIx64 ".spool", number);
	return e;
}

static void append_entry(struct spool *s, struct entry *e)
{
	pthread_mutex_lock(&s->lock);
	STAILQ_INSERT_TAIL(&s->entries, e, next);
	s->bytes += e->bytes;
	s->rows += e->rows;
	pthread_mutex_unlock(&s->lock);
}

/* Adds a file that exists; a damaged one counts as one row. 0 or -errno. */
static int find_file(struct spool *s, const char *name)
{
	uint64_t number = strtoull(name, NULL, 16);
	struct entry *e = make_entry(number, 0, 1);
	int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC);
	struct header h = {0};
	struct stat st;

	if (fd >= 0 && e && fstat(fd, &st) == 0) {
		e->bytes = (uint64_t)st.st_size;
		if (pread(fd, &h, HEADER, 0) == HEADER &&
		    is_header(&h, e->bytes))
			e->rows = le32toh(h.rows);
	}
	if (fd >= 0)
		close(fd);
	if (!e)
		return -ENOMEM;
	s->number = number + 1;
	append_entry(s, e);
	return 0;
}

static int is_block_file(const struct dirent *e)
{
	return strspn(e->d_name, "0123456789abcdef") == 16 &&
	       !strcmp(e->d_name + 16, ".spool");
}

/* Makes and locks the directory of a spool, and lists files. 0 or -errno. */
static int open_dir(struct spool *s, const char *dir)
{
	struct dirent **list;
	int n, rc = 0;

	if ((mkdir(dir, 0700) < 0 && errno != EEXIST) ||
	    (mkdir(s->path, 0700) < 0 && errno != EEXIST))
		return -errno;
	s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return -errno;
	if (flock(s->dir, LOCK_EX | LOCK_NB) < 0)
		return -EBUSY;
	n = scandir(s->path, &list, is_block_file, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = find_file(s, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return rc;
}

int spool_open(struct spool **out, const char *dir, const char *name,
	       uint64_t size, uint64_t *found, struct error *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	s->dir = -1;
	s->size = size;
	STAILQ_INIT(&s->entries);
	if (dir) {
		snprintf(s->path, sizeof(s->path), "%s/%s", dir, name);
		rc = open_dir(s, dir);
	}
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

static int write_file(const struct spool *s, const struct entry *e,
		      const struct export_block *b)
{
	char *bytes = b->bytes + b->at;
	size_t len = b->len - b->at;
	struct header h = {htole32(MAGIC), htole32(b->rows),
			   htole32((uint32_t)len)};
	struct iovec io[2] = {{&h, HEADER}, {bytes, len}};
	int fd = openat(s->dir, e->file,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	h.crc = checksum(&h, bytes, len);
	n = writev(fd, io, 2);
	if (n != (ssize_t)e->bytes)
		rc = n < 0 ? -errno : -ENOSPC;
	close(fd);
	if (rc < 0)
		unlinkat(s->dir, e->file, 0);
	return rc;
}

static void free_block(struct export_block *b)
{
	if (b)
		free(b->bytes);
	free(b);
}

int spool_append(struct spool *s, struct export_block *b, struct error *err)
{
	uint64_t len = HEADER + b->len - b->at;
	struct entry *e;
	int rc = 0;

	if (len > UINT32_MAX || (s->bytes && s->bytes + len > s->size))
		return error_set(err, -ENOSPC,
				 "%s: it may hold %" PRIu64 " bytes, and does",
				 s->path, s->size);
	if (!(e = make_entry(s->number, len, b->rows)))
		return error_set(err, -ENOMEM, "out of memory");
	if (s->dir >= 0)
		rc = write_file(s, e, b);
	if (rc < 0) {
		error_set(err, rc, "%s/%s: %s", s->path, e->file,
			  strerror(-rc));
		free(e);
		return rc;
	}
	if (s->dir >= 0)
		free_block(b);
	else
		e->block = b;
	s->number++;
	append_entry(s, e);
	return 0;
}

/* The block of a file: 1, -EBADMSG or -errno. */
static int read_file(const struct spool *s, struct entry *e)
{
	struct export_block *b = calloc(1, sizeof(*b));
	struct header h = {0};
	struct iovec io[2] = {{&h, HEADER}};
	int fd = openat(s->dir, e->file, O_RDONLY | O_CLOEXEC), rc = 1;

	if (fd < 0)
		rc = errno == ENOENT ? -EBADMSG : -errno;
	else if (e->bytes < HEADER || e->bytes > HEADER + (uint64_t)UINT32_MAX)
		rc = -EBADMSG;
	else if (!b || !(b->bytes = malloc(e->bytes)))
		rc = -ENOMEM;
	if (rc > 0) {
		b->len = e->bytes - HEADER;
		b->rows = e->rows;
		io[1] = (struct iovec){b->bytes, b->len};
		if (preadv(fd, io, 2, 0) != (ssize_t)e->bytes ||
		    !is_header(&h, e->bytes) || le32toh(h.rows) != b->rows ||
		    checksum(&h, b->bytes, b->len) != h.crc)
			rc = -EBADMSG;
	}
	if (fd >= 0)
		close(fd);
	if (rc > 0)
		e->block = b;
	else
		free_block(b);
	return rc;
}

int spool_next(struct spool *s, struct export_block **out, uint64_t *lost)
{
	struct entry *e;
	int rc = 1;

	pthread_mutex_lock(&s->lock);
	e = STAILQ_FIRST(&s->entries);
	pthread_mutex_unlock(&s->lock);
	if (!e)
		return 0;
	if (!e->block)
		rc = read_file(s, e);
	*out = e->block;
	if (rc == -EBADMSG) {
		*lost = e->rows;
		spool_done(s);
	}
	return rc;
}

/* The oldest entry goes. */
static void drop_first(struct spool *s)
{
	struct entry *e;

	pthread_mutex_lock(&s->lock);
	e = STAILQ_FIRST(&s->entries);
	STAILQ_REMOVE_HEAD(&s->entries, next);
	pthread_mutex_unlock(&s->lock);
	s->bytes -= e->bytes;
	s->rows -= e->rows;
	free_block(e->block);
	free(e);
}

void spool_done(struct spool *s)
{
	if (s->dir >= 0)
		unlinkat(s->dir, STAILQ_FIRST(&s->entries)->file, 0);
	drop_first(s);
}

uint64_t spool_rows(struct spool *s)
{
	return s->rows;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->dir >= 0) {
		if (s->rows)
			syncfs(s->dir);
		close(s->dir);
	}
	while (!STAILQ_EMPTY(&s->entries))
		drop_first(s);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
