/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/spool.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "queue/driver.h"

enum {
	MAGIC = 0x52535444, /* "DTSR", little-endian */
	SENT = 0x58535444,  /* "DTSX" */
	HEADER = 16,
	SEGMENTS = 16, /* that a full spool has, about */
	SEGMENT_MIN = 1 << 16,
	SEGMENT_MAX = 1 << 24,
	NAME = 32,
};

struct header {
	uint32_t magic, rows, len, crc;
};

struct segment {
	struct segment *next;
	uint64_t number;
	uint64_t size, read; /* bytes; up to where it is sent */
	uint64_t rows;	     /* not sent */
};

struct spool {
	pthread_mutex_t lock;
	char path[256]; /* for messages */
	int dir;
	int in, out;		      /* of the first and last segment, or -1 */
	struct segment *first, *last; /* last: NULL: none is open to append */
	uint64_t next;		      /* number of the next segment */
	_Atomic uint64_t rows;	      /* read without the lock, too */
	uint64_t bytes, size;
	uint64_t segment;   /* bytes of one, at least */
	struct header head; /* of the block that spool_next() gave */
};

static void name_of(char name[NAME], uint64_t number)
{
	snprintf(name, NAME, "%016llx.spool", (unsigned long long)number);
}

static int open_segment(const struct spool *s, uint64_t number, int flags)
{
	char name[NAME];
	int fd;

	name_of(name, number);
	fd = openat(s->dir, name, flags | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static uint32_t checksum(uint32_t rows, const void *bytes, size_t len)
{
	uint32_t numbers[2] = {htole32(rows), htole32((uint32_t)len)};
	uLong crc = crc32(0, (const Bytef *)numbers, sizeof(numbers));

	return (uint32_t)crc32(crc, bytes, (uInt)len);
}

static bool read_header(struct header *h, int fd, uint64_t at)
{
	struct header raw;

	if (pread(fd, &raw, HEADER, (off_t)at) != HEADER)
		return false;
	*h = (struct header){le32toh(raw.magic), le32toh(raw.rows),
			     le32toh(raw.len), le32toh(raw.crc)};
	return h->magic == MAGIC || h->magic == SENT;
}

/* Whether a whole record is there. */
static bool is_record(struct header *h, int fd, uint64_t at, uint64_t end)
{
	return end - at >= HEADER && read_header(h, fd, at) &&
	       h->len <= end - at - HEADER;
}

/* Where the whole records of a segment end, and how many rows wait in them.
 * What is behind them and no beginning of a header counts as a row, as nobody
 * knows how many were there, and is found out again when it is read. */
static void survey(struct segment *g, int fd, uint64_t end)
{
	static const struct header zero;
	struct header h;

	while (is_record(&h, fd, g->size, end)) {
		g->size += HEADER + h.len;
		if (h.magic == MAGIC)
			g->rows += h.rows;
		else if (!g->rows)
			g->read = g->size;
	}
	if (pread(fd, &h, HEADER, (off_t)g->size) == HEADER &&
	    memcmp(&h, &zero, HEADER) != 0) {
		g->size = end;
		g->rows++;
	}
}

static void drop(struct spool *s, const struct segment *g)
{
	char name[NAME];

	name_of(name, g->number);
	unlinkat(s->dir, name, 0);
}

/* Puts a segment among the others, by its number. */
static void insert(struct spool *s, struct segment *g)
{
	struct segment **at = &s->first;

	while (*at && (*at)->number < g->number)
		at = &(*at)->next;
	g->next = *at;
	*at = g;
	s->rows += g->rows;
	s->bytes += g->size;
	if (g->number >= s->next)
		s->next = g->number + 1;
}

/* A file that was there. */
static int take_file(struct spool *s, uint64_t number)
{
	struct segment *g = calloc(1, sizeof(*g));
	int fd = open_segment(s, number, O_RDONLY);
	struct stat st;
	int rc = g ? fd : -ENOMEM;

	if (rc >= 0 && fstat(fd, &st) < 0)
		rc = -errno;
	if (rc >= 0) {
		g->number = number;
		survey(g, fd, (uint64_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	if (rc < 0 || !g->rows) {
		if (rc >= 0)
			drop(s, g);
		free(g);
		return rc < 0 ? rc : 0;
	}
	insert(s, g);
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

/* The directory of a spool, for this process alone. */
static int open_dir(const char *dir, const char *name, struct fault *f)
{
	int above, fd, rc;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return fault_set(f, -errno, "%s: %s", dir, strerror(errno));
	above = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (above < 0)
		return fault_set(f, -errno, "%s: %s", dir, strerror(errno));
	fd = mkdirat(above, name, 0700) < 0 && errno != EEXIST
		     ? -1
		     : openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = fd < 0 ? -errno : fd;
	close(above);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		rc = -EBUSY;
		close(fd);
	}
	if (rc == -EBUSY)
		return fault_set(f, rc, "%s/%s: another process uses it", dir,
				 name);
	return rc < 0 ? fault_set(f, rc, "%s/%s: %s", dir, name, strerror(-rc))
		      : rc;
}

int spool_open(struct spool **out, const char *dir, const char *name,
	       uint64_t size, uint64_t *found, struct fault *f)
{
	struct spool *s;
	int fd = open_dir(dir, name, f), rc;

	if (fd < 0)
		return fd;
	if (!(s = calloc(1, sizeof(*s)))) {
		close(fd);
		return fault_set(f, -ENOMEM, "out of memory");
	}
	pthread_mutex_init(&s->lock, NULL);
	s->dir = fd;
	snprintf(s->path, sizeof(s->path), "%s/%s", dir, name);
	s->in = s->out = -1;
	s->size = size;
	s->segment = size / SEGMENTS;
	if (s->segment < SEGMENT_MIN)
		s->segment = SEGMENT_MIN;
	if (s->segment > SEGMENT_MAX)
		s->segment = SEGMENT_MAX;
	rc = take_files(s);
	if (rc < 0) {
		spool_close(s);
		return fault_set(f, rc, "%s/%s: %s", dir, name, strerror(-rc));
	}
	*found = s->rows;
	*out = s;
	return 0;
}

static int cannot_write(const struct spool *s, uint64_t number, int rc,
			struct fault *f)
{
	char name[NAME];

	name_of(name, number);
	return fault_set(f, rc, "%s/%s: %s", s->path, name, strerror(-rc));
}

/* A new segment to append to. */
static int begin(struct spool *s, struct fault *f)
{
	uint64_t number = s->next;
	struct segment *g = calloc(1, sizeof(*g));
	int fd = g ? open_segment(s, number, O_WRONLY | O_CREAT | O_EXCL)
		   : -ENOMEM;

	if (fd < 0) {
		free(g);
		return cannot_write(s, number, fd, f);
	}
	g->number = number;
	insert(s, g);
	s->last = g;
	s->out = fd;
	return 0;
}

/* One record, whole, or nothing. */
static int write_record(struct spool *s, const struct block *b, struct fault *f)
{
	struct segment *g = s->last;
	char *bytes = b->bytes + b->at;
	size_t len = b->len - b->at;
	struct header h = {htole32(MAGIC), htole32(b->rows),
			   htole32((uint32_t)len),
			   htole32(checksum(b->rows, bytes, len))};
	struct iovec io[2] = {{&h, HEADER}, {bytes, len}};
	ssize_t n;

	if (len > UINT32_MAX || (s->rows && s->bytes + HEADER + len > s->size))
		return fault_set(f, -ENOSPC,
				 "%s: it may hold %" PRIu64 " bytes, and does",
				 s->path, s->size);
	n = pwritev(s->out, io, 2, (off_t)g->size);
	if (n != (ssize_t)(HEADER + len)) {
		n = n < 0 ? -errno : -ENOSPC;
		if (ftruncate(s->out, (off_t)g->size) < 0)
			n = -errno;
		return cannot_write(s, g->number, (int)n, f);
	}
	g->size += HEADER + len;
	g->rows += b->rows;
	s->bytes += HEADER + len;
	s->rows += b->rows;
	return 0;
}

static void end_out(struct spool *s)
{
	if (s->out >= 0) {
		fdatasync(s->out);
		close(s->out);
	}
	s->out = -1;
	s->last = NULL;
}

int spool_append(struct spool *s, const struct block *b, struct fault *f)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	if (s->last && s->last->size >= s->segment)
		end_out(s);
	if (!s->last)
		rc = begin(s, f);
	if (rc == 0)
		rc = write_record(s, b, f);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void end_in(struct spool *s)
{
	if (s->in >= 0)
		close(s->in);
	s->in = -1;
}

/* The first segment is of no use any more. */
static void drop_first(struct spool *s)
{
	struct segment *g = s->first;

	end_in(s);
	if (g == s->last) {
		close(s->out);
		s->out = -1;
		s->last = NULL;
	}
	s->first = g->next;
	s->rows -= g->rows;
	s->bytes -= g->size;
	drop(s, g);
	free(g);
}

/* The record at the first segment's place: 1; 0: it is sent, or there is none;
 * -EBADMSG; or -errno. */
static int read_record(struct spool *s, struct block **out)
{
	struct segment *g = s->first;
	struct block *b;

	if (s->in < 0)
		s->in = open_segment(s, g->number, O_RDWR);
	if (s->in < 0)
		return s->in;
	if (!read_header(&s->head, s->in, g->read) ||
	    s->head.len > g->size - g->read - HEADER)
		return -EBADMSG;
	if (s->head.magic == SENT) {
		g->read += HEADER + s->head.len;
		return 0;
	}
	b = calloc(1, sizeof(*b));
	if (!b || !(b->bytes = malloc(s->head.len + 1))) {
		free(b);
		return -ENOMEM;
	}
	*out = b;
	b->len = s->head.len;
	b->rows = s->head.rows;
	return pread(s->in, b->bytes, b->len, (off_t)(g->read + HEADER)) ==
				       (ssize_t)b->len &&
			       checksum(b->rows, b->bytes, b->len) ==
				       s->head.crc
		       ? 1
		       : -EBADMSG;
}

int spool_next(struct spool *s, struct block **out, uint64_t *lost)
{
	int rc = 0;

	*out = NULL;
	*lost = 0;
	pthread_mutex_lock(&s->lock);
	while (s->first && !rc) {
		if (s->first->rows)
			rc = read_record(s, out);
		else
			drop_first(s);
	}
	if (rc == -EBADMSG) {
		*lost = s->first->rows;
		drop_first(s);
	}
	pthread_mutex_unlock(&s->lock);
	if (rc < 0 && *out) {
		free((*out)->bytes);
		free(*out);
		*out = NULL;
	}
	return rc;
}

void spool_done(struct spool *s)
{
	uint32_t sent = htole32(SENT);
	struct segment *g;

	pthread_mutex_lock(&s->lock);
	g = s->first;
	/* if this fails the block is sent again one day */
	if (pwrite(s->in, &sent, sizeof(sent), (off_t)g->read) < 0)
		end_in(s);
	g->read += HEADER + s->head.len;
	g->rows -= s->head.rows;
	s->rows -= s->head.rows;
	if (!g->rows && g->read >= g->size)
		drop_first(s);
	pthread_mutex_unlock(&s->lock);
}

uint64_t spool_rows(struct spool *s)
{
	return s->rows; /* who asks must not wait for a disk */
}

void spool_close(struct spool *s)
{
	struct segment *next;

	if (!s)
		return;
	end_in(s);
	end_out(s);
	for (struct segment *g = s->first; g; g = next) {
		next = g->next;
		if (!g->rows)
			drop(s, g);
		free(g);
	}
	fsync(s->dir);
	close(s->dir);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
