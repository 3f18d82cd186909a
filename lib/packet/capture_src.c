/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file is read in blocks into a window; walkers find the records in it. A
 * record that a block cuts moves to the front of the window before the next
 * read(), so packets are never copied one by one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash/crc.h"
#include "packet/gunzip.h"
#include "packet/kind.h"
#include "packet/walk.h"

enum {
	HEADROOM = 64, /* CRC_HEADROOM, and a cache line */
	WINDOW = WALK_RECORD_MAX + WALK_BLOCK,
	/* Of a pipe, whose size is a WALK_BLOCK: who writes to it has room for
	 * more while that is worked on. */
	PIPE_BLOCK = WALK_BLOCK / 4,
	KEPT_MEAN = 128,   /* bytes of a record, before any was seen */
	KEPT_LEAST = 1024, /* bytes asked for beside the wanted packets */
	MAGIC_MICRO = 0xa1b2c3d4,
	MAGIC_NANO = 0xa1b23c4d,
	MAGIC_NG = 0x0a0d0d0a,
	MAGIC_GZIP = 0x1f8b,	 /* RFC 1952, two bytes */
	MAGIC_ZSTD = 0x28b52ffd, /* RFC 8878 */
};

_Static_assert((int)HEADROOM >= (int)CRC_HEADROOM,
	       "the first packet needs headroom");

struct capture {
	struct src src;
	bool opened, eof, ng;
	bool begun;	   /* the format is known */
	size_t block;	   /* bytes asked of one read() */
	uint8_t *mem;	   /* HEADROOM, then the window */
	size_t head, tail; /* unread bytes of the window */
	/* src_keep(): the windows in turn, mem is one of them. */
	unsigned windows, current;
	uint8_t *kept[SRC_KEEP_MAX];
	bool pinned;	 /* the call in hand has packets in the window */
	bool turned;	 /* or is the first that has it */
	uint64_t walked; /* bytes of records */
	uint64_t skip;	 /* bytes to come that nobody wants */
	uint64_t read;	 /* bytes of the file */
	uint64_t filled; /* bytes of the capture: more, if it was compressed */
	uint64_t packets;
	struct gunzip *gz; /* NULL: the file is not compressed */
	struct pcap_walk pcap;
	struct pcapng_walk pcapng;
};

static uint8_t *window(const struct capture *s)
{
	return s->mem + HEADROOM;
}

/* One read() that waits. Returns bytes, 0 at the end, or -errno. The first one
 * of a FIFO has to poll: the end of one that nobody writes to yet is none. */
static ssize_t read_some(int fd, void *buf, size_t len, int wait_ms, bool first)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	if ((first || wait_ms >= 0) && (n = poll(&p, 1, wait_ms)) <= 0)
		return n < 0 ? -errno : -EAGAIN;
	while ((n = read(fd, buf, len)) < 0 && errno == EAGAIN)
		if (poll(&p, 1, -1) < 0) /* somebody made it non-blocking */
			return -errno;
	return n < 0 ? -errno : n;
}

static ssize_t read_plain(struct capture *s, uint8_t *to, size_t room,
			  struct fault *f)
{
	ssize_t n = read_some(s->src.fd, to, room, s->src.wait_ms, !s->read);

	if (n < 0)
		return fault_set(f, (int)n, "%s", strerror((int)-n));
	s->read += (uint64_t)n;
	return n;
}

static ssize_t read_gzip(struct capture *s, uint8_t *to, size_t room,
			 struct fault *f)
{
	struct fault why;
	ssize_t n;

	while (!(n = gunzip_take(s->gz, to, room, &why))) {
		n = read_plain(s, gunzip_room(s->gz), GUNZIP_ROOM, f);
		if (!n && !gunzip_may_end(s->gz))
			return fault_set(f, -EBADMSG,
					 "cut short: ends inside gzip data, "
					 "after packet %" PRIu64,
					 s->packets);
		if (n <= 0)
			return n;
		gunzip_fed(s->gz, (size_t)n);
	}
	if (n < 0)
		return fault_set(f, (int)n, "%s, after packet %" PRIu64,
				 why.text, s->packets);
	return n;
}

/* Where a capture in a file is read to at once. */
static size_t block_left(const struct capture *s)
{
	return WALK_BLOCK - s->filled % WALK_BLOCK;
}

/*
 * Who keeps packets moves what is left to another window: that should be
 * little. But batches of a file end where its blocks do, as they do without.
 */
static size_t kept_block(const struct capture *s, int wanted)
{
	uint64_t mean = s->packets ? s->walked / s->packets : KEPT_MEAN;
	uint64_t room = (uint64_t)wanted * mean + KEPT_LEAST;

	return room < block_left(s) ? (size_t)room : block_left(s);
}

/* Moves what is left to the front of the window, or of the next one. */
static void move(struct capture *s)
{
	size_t left = s->tail - s->head;
	const uint8_t *from = window(s) + s->head;

	if (s->windows && !s->turned) {
		s->turned = true;
		s->current = (s->current + 1) % s->windows;
		s->mem = s->kept[s->current];
		memcpy(window(s), from, left);
	} else if (s->head) {
		memmove(window(s), from, left);
	}
	s->head = 0;
	s->tail = left;
}

/*
 * Bytes behind the last ones. Of gzip data in a file so many as there is room
 * for: how they come out of it is no place for a batch to end.
 */
static ssize_t read_behind(struct capture *s, size_t room, struct fault *f)
{
	size_t have = 0;
	ssize_t n = 0;

	if (!s->gz)
		return read_plain(s, window(s) + s->tail, room, f);
	do {
		n = read_gzip(s, window(s) + s->tail + have, room - have, f);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 && s->src.size && have < room);
	/* What is wrong behind them comes up again. */
	return have ? (ssize_t)have : n;
}

/* Bytes of the file that are done with. */
static uint64_t position(const struct capture *s)
{
	return s->read - (s->gz ? gunzip_left(s->gz) : s->tail - s->head);
}

/* Moves what is left to the front and reads behind it. wanted: packets. */
static int fill(struct capture *s, int wanted, struct fault *f)
{
	size_t block = s->windows ? kept_block(s, wanted) : s->block, room;
	ssize_t n;

	if (!s->pinned)
		move(s);
	room = WINDOW - s->tail;
	n = read_behind(s, room < block ? room : block, f);
	if (n < 0)
		return (int)n;
	s->eof = !n;
	s->tail += (size_t)n;
	s->filled += (uint64_t)n;
	return 0;
}

/* Reads until len bytes are there, or the file ends. */
static int fill_to(struct capture *s, size_t len, struct fault *f)
{
	int rc = 0;

	while (!rc && !s->eof && s->tail < len)
		rc = fill(s, PKT_BATCH, f);
	return rc;
}

static bool is_gzip(const struct capture *s)
{
	return s->tail >= 2 &&
	       be16toh(walk_u16(window(s), false)) == MAGIC_GZIP;
}

/* What was read goes to who unpacks it, and comes back as the beginning of a
 * capture. */
static int begin_gzip(struct capture *s, struct fault *f)
{
	if (gunzip_open(&s->gz, window(s), s->tail))
		return fault_set(f, -ENOMEM, "out of memory");
	s->tail = 0;
	s->filled = 0;
	s->eof = false;
	return fill_to(s, PCAP_HEADER_LEN, f);
}

static int open_unknown(const uint8_t *p, struct fault *f)
{
	if (be32toh(walk_u32(p, false)) == MAGIC_ZSTD)
		return fault_set(
			f, -EBADMSG,
			"compressed: unpack it first, as with zstdcat");
	return fault_set(f, -EBADMSG, "not a capture: neither pcap nor pcapng");
}

/* Looks at the first bytes to tell the format. After a signal: once more. */
static int open_format(struct capture *s, struct fault *f)
{
	const uint8_t *p;
	uint32_t magic;
	int rc = fill_to(s, PCAP_HEADER_LEN, f);

	if (!rc && !s->gz && is_gzip(s))
		rc = begin_gzip(s, f);
	if (rc)
		return rc;
	if (!s->tail)
		return fault_set(f, -EBADMSG, "empty: not a capture");
	if (s->tail < sizeof(magic))
		return fault_set(f, -EBADMSG, "too short for a capture");
	p = window(s); /* where it is now: filling may have moved it */
	magic = walk_u32(p, false);
	s->begun = true;
	if (magic == MAGIC_NG) {
		s->ng = true;
		s->src.kind = "pcapng";
		return 0;
	}
	if (magic == __builtin_bswap32(MAGIC_MICRO) ||
	    magic == __builtin_bswap32(MAGIC_NANO))
		magic = __builtin_bswap32(magic);
	if (magic != MAGIC_MICRO && magic != MAGIC_NANO)
		return open_unknown(p, f);
	if (s->tail < PCAP_HEADER_LEN)
		return fault_set(f, -EBADMSG,
				 "cut short: ends inside the file header");
	s->head = PCAP_HEADER_LEN;
	return pcap_walk_open(&s->pcap, p, f);
}

/* A FIFO is opened without waiting for who writes to it: signals have to end
 * that wait, and who opens another FIFO behind this one must get there. */
static int open_fd(struct capture *s, const char *path, struct fault *f)
{
	struct stat st;

	if (strcmp(path, "-")) {
		s->src.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		s->opened = s->src.fd >= 0;
		if (s->opened)
			fcntl(s->src.fd, F_SETFL, 0);
	} else if (isatty(STDIN_FILENO)) {
		return fault_set(f, -EINVAL,
				 "standard input is a terminal: name a "
				 "capture, or pipe one in");
	}
	if (s->src.fd < 0 || fstat(s->src.fd, &st) < 0)
		return fault_set(f, -errno, "%s", strerror(errno));
	if (S_ISREG(st.st_mode)) {
		s->src.size = (uint64_t)st.st_size;
		posix_fadvise(s->src.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	} else if (S_ISFIFO(st.st_mode)) {
		fcntl(s->src.fd, F_SETPIPE_SZ, WALK_BLOCK); /* best effort */
		s->block = PIPE_BLOCK;
	}
	return 0;
}

/* Drops bytes of blocks that are longer than the window. */
static void skip(struct capture *s)
{
	size_t left = s->tail - s->head;
	size_t n = s->skip < left ? (size_t)s->skip : left;

	s->head += n;
	s->skip -= n;
}

static int walk(struct capture *s, struct pkt *pkts, int max, struct fault *f)
{
	struct walk_window win;
	int n;

	skip(s);
	win = (struct walk_window){
		.p = window(s) + s->head,
		.len = s->tail - s->head,
	};
	n = s->ng ? pcapng_walk(&s->pcapng, &win, pkts, max, f)
		  : pcap_walk(&s->pcap, &win, pkts, max, f);
	if (win.used > win.len) {
		s->skip = win.used - win.len;
		win.used = win.len;
	}
	s->head += win.used;
	s->walked += win.used;
	return n;
}

/* Whether a batch that is not full waits for more: of a file, up to the end of
 * a block. */
static bool goes_on(const struct capture *s)
{
	return s->windows && s->src.size && !s->eof &&
	       block_left(s) < WALK_BLOCK;
}

/* Packets, the end, or what is wrong. */
static int rx(struct capture *s, struct pkt *pkts, int max, struct fault *f)
{
	struct fault why;
	int n, rc;

	if (!s->begun && (rc = open_format(s, f)))
		return rc;
	while (!(n = walk(s, pkts, max, &why))) {
		if (s->eof && (s->head < s->tail || s->skip))
			return fault_set(f, -EBADMSG,
					 "cut short: ends inside a record, "
					 "after packet %" PRIu64,
					 s->packets);
		if (s->eof)
			return 0;
		if ((rc = fill(s, max, f)))
			return rc;
	}
	if (n < 0)
		return fault_set(f, n, "packet %" PRIu64 ": %s", s->packets + 1,
				 why.text);
	s->packets += (uint64_t)n;
	return n;
}

/* More of the same batch; what is wrong comes up again at the next call. */
static int rx_more(struct capture *s, struct pkt *pkts, int n, int max)
{
	struct fault later;
	int more = 0;

	s->pinned = true;
	while (more >= 0 && n < max && goes_on(s)) {
		more = fill(s, max - n, &later);
		if (!more)
			more = walk(s, pkts + n, max - n, &later);
		if (more > 0) {
			s->packets += (uint64_t)more;
			n += more;
		}
	}
	s->pinned = false;
	return n;
}

static int capture_rx(struct src *src, struct pkt *pkts, int max,
		      struct fault *f)
{
	struct capture *s = (struct capture *)src;
	int n;

	s->turned = false;
	n = rx(s, pkts, max, f);
	if (n > 0)
		n = rx_more(s, pkts, n, max);
	s->src.done = position(s);
	return n;
}

static void capture_close(struct src *src)
{
	struct capture *s = (struct capture *)src;

	if (s->opened)
		close(s->src.fd);
	pcapng_walk_close(&s->pcapng);
	gunzip_close(s->gz);
	for (unsigned i = 0; i < s->windows; i++)
		if (s->kept[i] != s->mem)
			free(s->kept[i]);
	free(s->mem);
	free(s);
}

static uint8_t *window_new(void)
{
	uint8_t *mem = aligned_alloc(HEADROOM, HEADROOM + WINDOW);

	if (mem)
		memset(mem, 0, HEADROOM);
	return mem;
}

static int capture_keep(struct src *src, unsigned calls)
{
	struct capture *s = (struct capture *)src;

	s->kept[0] = s->mem;
	for (s->windows = 1; s->windows < calls; s->windows++)
		if (!(s->kept[s->windows] = window_new()))
			return -ENOMEM;
	return 0;
}

static const struct src_ops ops = {
	.rx = capture_rx,
	.keep = capture_keep,
	.close = capture_close,
};

int src_open(struct src **out, const char *path, struct fault *f)
{
	struct capture *s = calloc(1, sizeof(*s));
	int rc;

	if (!s || !(s->mem = window_new())) {
		free(s);
		return fault_set(f, -ENOMEM, "out of memory");
	}
	s->src = (struct src){
		.ops = &ops,
		.kind = "pcap",
		.fd = STDIN_FILENO,
		.wait_ms = -1,
	};
	s->block = WALK_BLOCK;
	rc = open_fd(s, path, f);
	if (!rc)
		rc = open_format(s, f);
	if (rc && rc != -EINTR) { /* src_rx() will wait on */
		src_close(&s->src);
		return rc;
	}
	s->src.done = position(s);
	*out = &s->src;
	return 0;
}
