/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_src.c - reads captures: classic pcap (draft-ietf-opsawg-pcap), pcapng
 * (draft-ietf-opsawg-pcapng), either also in gzip (RFC 1952).
 *
 * The file is read in blocks into a window, in which the records of classic
 * pcap are found in place, several times as fast as libpcap gives them out. A
 * record that a block cuts moves to the front of the window before the next
 * read(), so packets are never copied one by one. pcapng is libpcap's: its
 * packets are put into the window as records of classic pcap. Where packets are
 * held for workers, a file of classic pcap is mapped: all of it is the window.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "hash/crc.h"
#include "packet/kind.h"

enum {
	HEADROOM = 64,	      /* CRC_HEADROOM, and a cache line */
	READ_BLOCK = 1 << 20, /* bytes asked of one read() */
	/* Asked of a pipe, which holds READ_BLOCK bytes: its writer has room
	 * to write more while these are processed. */
	PIPE_BLOCK = READ_BLOCK / 4,
	/* Asked of gzread(), which gives nothing of a block that is damaged. */
	GZIP_BLOCK = 1 << 16,
	HEADER_LEN = 24, /* of a file */
	RECORD_LEN = 16, /* of a record */
	BATCH = 1 << 17, /* bytes that a batch usually has */
	/* Room for a batch of jumbo frames; no more of it is touched than a
	 * batch and a block fill. */
	WINDOW = 16 << 20,
	MAGIC_MICRO = 0xa1b2c3d4,
	MAGIC_NANO = 0xa1b23c4d,
	MAGIC_NG = 0x0a0d0d0a,
	MAGIC_GZIP = 0x1f8b, /* two bytes */
	LINK_ETHERNET = 1,
	LINK_SLL = 113,
	LINK_SLL2 = 276,
	LINK_MASK = 0x03ffffff, /* above: length of the frame check sequence */
};

_Static_assert((int)HEADROOM >= (int)CRC_HEADROOM,
	       "the first packet needs headroom");

struct capture {
	struct src src;
	bool opened, eof;
	bool begun;	   /* the format is known */
	bool swap, nano;   /* of classic pcap */
	size_t block;	   /* bytes asked of one read() */
	uint8_t *mem;	   /* HEADROOM, then a window */
	uint8_t *map;	   /* the whole file, or NULL */
	uint8_t *window;   /* the part of mem or map that packets are in */
	size_t head, tail; /* unread bytes of the window */
	uint64_t read;	   /* bytes of the file */
	uint64_t packets;
	gzFile gz; /* NULL: the file is not compressed */
	/* pcapng, else NULL: libpcap's reader, the bytes that it has not read
	 * yet, and a packet that the window had no room for. */
	pcap_t *ng;
	uint8_t *raw;
	size_t raw_at, raw_end;
	struct pcap_pkthdr *held_header;
	const uint8_t *held; /* or NULL */
	int ng_result; /* pcap_next_ex()'s when it had no packet, else 0 */
};

/* The host's number of four bytes that a file of either byte order holds. */
static inline uint32_t load32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t load16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static uint8_t *window_new(void)
{
	size_t size = (HEADROOM + WINDOW + HEADROOM - 1) & -(size_t)HEADROOM;
	uint8_t *mem = aligned_alloc(HEADROOM, size);

	if (mem)
		memset(mem, 0, HEADROOM);
	return mem;
}

/* One read() that waits. Returns bytes, 0 at the end, or -errno. The first one
 * of a FIFO has to poll: before its first writer the FIFO reads as ended. */
static ssize_t read_some(int fd, void *buf, size_t len, int wait_ms, bool first)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	if ((first || wait_ms >= 0) && (n = poll(&p, 1, wait_ms)) <= 0)
		return n < 0 ? -errno : -EAGAIN;
	/* Another program that has it open may have made it non-blocking. */
	while ((n = read(fd, buf, len)) < 0 && errno == EAGAIN)
		if (poll(&p, 1, -1) < 0)
			return -errno;
	return n < 0 ? -errno : n;
}

/* Why zlib reads no more. */
static int gzip_error(struct capture *s, struct error *err)
{
	int rc;
	const char *text = gzerror(s->gz, &rc), *why = strstr(text, ": ");

	if (rc == Z_ERRNO)
		return error_set(err, -EIO, "%s", strerror(errno));
	if (rc == Z_MEM_ERROR)
		return error_set(err, -ENOMEM, "out of memory");
	if (rc == Z_BUF_ERROR)
		return error_set(err, -EBADMSG,
				 "cut short: ends inside gzip data, after "
				 "packet %" PRIu64,
				 s->packets);
	return error_set(err, -EBADMSG,
			 "damaged gzip data: %s, after packet %" PRIu64,
			 why ? why + 2 : text, /* without the file's name */
			 s->packets);
}

static ssize_t read_gzip(struct capture *s, uint8_t *to, size_t room,
			 struct error *err)
{
	int n = gzread(s->gz, to,
		       room < GZIP_BLOCK ? (unsigned)room : GZIP_BLOCK),
	    rc = Z_OK;

	s->read = (uint64_t)gzoffset(s->gz);
	if (!n)
		gzerror(s->gz, &rc);
	return n < 0 || rc ? gzip_error(s, err) : n;
}

static ssize_t read_file(struct capture *s, uint8_t *to, size_t room,
			 int wait_ms, struct error *err)
{
	ssize_t n;

	if (s->gz)
		return read_gzip(s, to, room, err);
	n = read_some(s->src.fd, to, room, wait_ms, !s->read);
	if (n < 0)
		return error_set(err, (int)n, "%s", strerror((int)-n));
	s->read += (uint64_t)n;
	return n;
}

/* Read function of libpcap's FILE (fopencookie(3)): the rest of raw, or a new
 * block. A signal does not end it: libpcap cannot go on inside a block. */
static ssize_t give_raw(void *capture, char *to, size_t room)
{
	struct capture *s = capture;
	ssize_t n = 0;

	if (s->raw_at == s->raw_end) {
		struct error err;

		do
			n = read_file(s, s->raw, s->block, -1, &err);
		while (n == -EINTR);
		if (n <= 0) {
			errno = (int)-n;
			return n ? -1 : 0;
		}
		s->raw_at = 0;
		s->raw_end = (size_t)n;
	}
	if (room > s->raw_end - s->raw_at)
		room = s->raw_end - s->raw_at;
	memcpy(to, s->raw + s->raw_at, room);
	s->raw_at += room;
	return (ssize_t)room;
}

/* Whether libpcap would find a block without waiting. Only libpcap knows the
 * byte order of its length. In the wrong one, a length below 64 KiB gets
 * larger, so the smaller is taken. Where that is wrong, libpcap waits. */
static bool is_ready(const struct capture *s)
{
	const uint8_t *p = s->raw + s->raw_at;
	size_t left = s->raw_end - s->raw_at;
	uint32_t a, b;

	if (s->src.size)
		return true;
	if (left < 8)
		return false;
	a = load32(p + 4, false);
	b = load32(p + 4, true);
	return (a < b ? a : b) <= left;
}

/* Reads on in a block that raw has a part of. Returns bytes; 0 at the end or if
 * raw is full, where libpcap is asked all the same; or -errno, also -EINTR. */
static ssize_t read_raw(struct capture *s, struct error *err)
{
	size_t left = s->raw_end - s->raw_at;
	ssize_t n;

	memmove(s->raw, s->raw + s->raw_at, left);
	s->raw_at = 0;
	s->raw_end = left;
	if (left == s->block)
		return 0;
	n = read_file(s, s->raw + left, s->block - left, s->src.wait_ms, err);
	s->raw_end += n > 0 ? (size_t)n : 0;
	return n;
}

/* Packets as records, at most room bytes of them; waits for the first only. */
static ssize_t read_ng(struct capture *s, uint8_t *to, size_t room,
		       struct error *err)
{
	const struct pcap_pkthdr *h;
	size_t have = 0, len;
	int rc;

	while (!s->held && !s->ng_result && !is_ready(s)) {
		ssize_t n = read_raw(s, err);

		if (n < 0)
			return n;
		if (!n)
			break;
	}
	while (s->held || (!s->ng_result && (is_ready(s) || !have))) {
		if (!s->held) {
			rc = pcap_next_ex(s->ng, &s->held_header, &s->held);
			if (rc != 1) {
				s->held = NULL;
				s->ng_result = rc;
				break;
			}
		}
		h = s->held_header;
		len = h->caplen;
		if (len > PKT_MAX || RECORD_LEN + len > room - have)
			break;
		memcpy(to + have,
		       (const uint32_t[]){(uint32_t)h->ts.tv_sec,
					  (uint32_t)h->ts.tv_usec, /* ns */
					  h->caplen, h->len},
		       RECORD_LEN);
		memcpy(to + have + RECORD_LEN, s->held, len);
		have += RECORD_LEN + len;
		s->held = NULL;
	}
	if (have)
		return (ssize_t)have;
	if (s->ng_result == PCAP_ERROR_BREAK) /* the end */
		return 0;
	return error_set(err, -EBADMSG,
			 "packet %" PRIu64 ": %s; editcap -F pcap may mend it",
			 s->packets + 1,
			 s->held ? "impossible length" : pcap_geterr(s->ng));
}

/* Reads more; append: nothing moves, else what is left goes to the front. */
static int fill(struct capture *s, bool append, struct error *err)
{
	size_t room = append ? BATCH : READ_BLOCK;
	ssize_t n;

	if (!append) {
		s->tail -= s->head;
		memmove(s->window, s->window + s->head, s->tail);
		s->head = 0;
	}
	n = s->ng ? read_ng(s, s->window + s->tail, room, err)
		  : read_file(s, s->window + s->tail, room, s->src.wait_ms,
			      err);
	if (n < 0)
		return (int)n;
	s->eof = !n;
	s->tail += (size_t)n;
	return 0;
}

/* Reads until len bytes are there, or the file ends. */
static int fill_to(struct capture *s, size_t len, struct error *err)
{
	int rc = 0;

	while (!rc && !s->eof && s->tail < len)
		rc = fill(s, false, err);
	return rc;
}

/* Reads the file from its beginning again, by zlib. */
static int begin_gzip(struct capture *s, struct error *err)
{
	int fd;

	if (!s->src.size)
		return error_set(err, -EBADMSG,
				 "compressed, and no file: unpack it first, as "
				 "with zcat");
	if (lseek(s->src.fd, -(off_t)s->tail, SEEK_CUR) < 0 ||
	    (fd = dup(s->src.fd)) < 0)
		return error_set(err, -errno, "%s", strerror(errno));
	if (!(s->gz = gzdopen(fd, "r"))) {
		close(fd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	s->tail = 0;
	s->eof = false;
	return fill_to(s, HEADER_LEN, err);
}

/* The capture is not of Ethernet frames. */
static int bad_link(struct error *err, uint32_t link)
{
	bool any = link == LINK_SLL || link == LINK_SLL2; /* tcpdump -i any */

	return error_set(err, -ENOTSUP, "link type %u: only Ethernet is read%s",
			 (unsigned)link,
			 any ? "; capture on one interface, not on any" : "");
}

/* libpcap gets the bytes that were read, and reads on by give_raw(). */
static int begin_ng(struct capture *s, struct error *err)
{
	const cookie_io_functions_t io = {.read = give_raw};
	char why[PCAP_ERRBUF_SIZE];
	uint8_t *mem = window_new();
	FILE *file = fopencookie(s, "r", io);

	if (!mem || !file) {
		free(mem);
		if (file)
			fclose(file);
		return error_set(err, -ENOMEM, "out of memory");
	}
	setvbuf(file, NULL, _IONBF, 0); /* so raw_at is where libpcap is */
	s->raw = s->mem;
	s->raw_at = HEADROOM;
	s->raw_end = HEADROOM + s->tail;
	s->mem = mem;
	s->window = mem + HEADROOM;
	s->tail = 0;
	s->nano = true; /* of records made here */
	s->src.kind = "pcapng";
	s->ng = pcap_fopen_offline_with_tstamp_precision(
		file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!s->ng) {
		fclose(file);
		return error_set(err, -EBADMSG, "pcapng: %s", why);
	}
	if (pcap_datalink(s->ng) != DLT_EN10MB)
		return bad_link(err, (uint32_t)pcap_datalink(s->ng));
	return 0;
}

static int begin_pcap(struct capture *s, struct error *err)
{
	const uint8_t *h = s->window;
	uint32_t magic = load32(h, false), link;
	unsigned major, minor;

	s->swap = magic == __builtin_bswap32(MAGIC_MICRO) ||
		  magic == __builtin_bswap32(MAGIC_NANO);
	magic = load32(h, s->swap);
	s->nano = magic == MAGIC_NANO;
	if (magic != MAGIC_MICRO && magic != MAGIC_NANO)
		return error_set(
			err, -EBADMSG,
			"not a capture: neither pcap nor pcapng; if it "
			"is compressed, unpack it first");
	if (s->tail < HEADER_LEN)
		return error_set(err, -EBADMSG,
				 "cut short: ends inside the file header");
	major = load16(h + 4, s->swap);
	minor = load16(h + 6, s->swap);
	link = load32(h + 20, s->swap) & LINK_MASK;
	if (major != 2 || minor != 4)
		return error_set(err, -ENOTSUP,
				 "pcap version %u.%u: only 2.4 is read; "
				 "editcap -F pcap converts it",
				 major, minor);
	s->head = HEADER_LEN;
	return link == LINK_ETHERNET ? 0 : bad_link(err, link);
}

/* Tells the format by the first bytes. Is called again if a signal ended it. */
static int open_format(struct capture *s, struct error *err)
{
	int rc = fill_to(s, HEADER_LEN, err);

	if (!rc && !s->gz && s->tail >= 2 &&
	    be16toh(load16(s->window, false)) == MAGIC_GZIP)
		rc = begin_gzip(s, err);
	if (rc)
		return rc;
	if (!s->tail)
		return error_set(err, -EBADMSG, "empty: not a capture");
	if (s->tail < sizeof(uint32_t))
		return error_set(err, -EBADMSG, "too short for a capture");
	s->begun = true;
	return load32(s->window, false) == MAGIC_NG ? begin_ng(s, err)
						    : begin_pcap(s, err);
}

/* A FIFO is opened without waiting for its writer: signals must end that wait,
 * and a program that opens another FIFO behind this one must reach it. */
static int open_fd(struct capture *s, const char *path, struct error *err)
{
	struct stat st;

	if (strcmp(path, "-")) {
		s->src.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		s->opened = s->src.fd >= 0;
		if (s->opened)
			fcntl(s->src.fd, F_SETFL, 0);
	} else if (isatty(STDIN_FILENO)) {
		return error_set(err, -EINVAL,
				 "standard input is a terminal: name a "
				 "capture, or pipe one in");
	}
	if (s->src.fd < 0 || fstat(s->src.fd, &st) < 0)
		return error_set(err, -errno, "%s", strerror(errno));
	if (S_ISREG(st.st_mode)) {
		s->src.size = (uint64_t)st.st_size;
		posix_fadvise(s->src.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	} else if (S_ISFIFO(st.st_mode)) {
		fcntl(s->src.fd, F_SETPIPE_SZ, READ_BLOCK); /* best effort */
		s->block = PIPE_BLOCK;
	}
	return 0;
}

/* Finds whole records. Inlined for each byte order, so that the loop does not
 * test swap. Returns packets, 0 if no record is whole, or -EBADMSG. */
static inline int find_packets_as(struct capture *s, struct pkt *pkts, int max,
				  bool swap, uint32_t unit_ns,
				  struct error *err)
{
	const uint8_t *begin = s->window + s->head, *p = begin;
	const uint8_t *end = s->window + s->tail;
	uint32_t cap, wire;
	int n;

	for (n = 0; n < max && end - p >= RECORD_LEN; n++) {
		cap = load32(p + 8, swap);
		wire = load32(p + 12, swap);
		if (cap > PKT_MAX || cap > end - p - RECORD_LEN)
			break;
		pkts[n] = (struct pkt){
			.data = p + RECORD_LEN,
			.len = cap,
			.wire_len = wire > cap ? wire : cap,
			.ts_ns = load32(p, swap) * (uint64_t)1000000000 +
				 load32(p + 4, swap) * (uint64_t)unit_ns,
		};
		p += RECORD_LEN + cap;
	}
	s->head += (size_t)(p - begin);
	if (!n && end - p >= RECORD_LEN) {
		cap = load32(p + 8, swap);
		if (cap > PKT_MAX)
			return error_set(err, -EBADMSG,
					 "impossible length: %u bytes",
					 (unsigned)cap);
	}
	return n;
}

static int find_packets(struct capture *s, struct pkt *pkts, int max,
			struct error *err)
{
	uint32_t unit_ns = s->nano ? 1 : 1000;

	return s->swap ? find_packets_as(s, pkts, max, true, unit_ns, err)
		       : find_packets_as(s, pkts, max, false, unit_ns, err);
}

/* Returns packets, 0 at the end, or -errno. An error behind packets is returned
 * by the next call, which finds it again. A file's batch has max packets,
 * except the last one, and where the window is too small for as many. */
static int read_batch(struct capture *s, struct pkt *pkts, int max,
		      struct error *err)
{
	struct error why;
	int n = 0, more, rc = 0;

	if (!s->begun && (rc = open_format(s, err)))
		return rc;
	if (s->src.size && !s->eof && s->tail - s->head < BATCH)
		fill(s, false, &why);
	while ((more = find_packets(s, pkts + n, max - n, &why)) >= 0) {
		n += more;
		if (n == max || s->eof ||
		    (n && (!s->src.size || s->tail + BATCH > WINDOW)) ||
		    (rc = fill(s, n > 0, err)))
			break;
	}
	s->packets += (uint64_t)n;
	if (n || rc)
		return n ? n : rc;
	if (more < 0)
		return error_set(err, more, "packet %" PRIu64 ": %s",
				 s->packets + 1, why.text);
	if (s->head < s->tail)
		return error_set(err, -EBADMSG,
				 "cut short: ends inside a record, "
				 "after packet %" PRIu64,
				 s->packets);
	return 0;
}

static int capture_rx(struct src *src, struct pkt *pkts, int max,
		      struct error *err)
{
	struct capture *s = (struct capture *)src;
	int n = read_batch(s, pkts, max, err);

	/* Another thread may read it to show progress. */
	__atomic_store_n(&s->src.done,
			 s->read - (s->gz || s->ng ? 0 : s->tail - s->head),
			 __ATOMIC_RELAXED);
	return n;
}

static void capture_close(struct src *src)
{
	struct capture *s = (struct capture *)src;

	if (s->ng)
		pcap_close(s->ng);
	if (s->gz)
		gzclose(s->gz);
	if (s->opened)
		close(s->src.fd);
	if (s->map)
		munmap(s->map, s->src.size);
	free(s->raw);
	free(s->mem);
	free(s);
}

/* The window becomes the mapped file from its first unread byte on. */
static bool map_file(struct src *src)
{
	struct capture *s = (struct capture *)src;
	off_t at = lseek(s->src.fd, 0, SEEK_CUR) - (off_t)(s->tail - s->head);
	void *map;

	if (!s->begun || s->gz || s->ng || at < 0 || (uint64_t)at > s->src.size)
		return false;
	map = mmap(NULL, s->src.size, PROT_READ, MAP_PRIVATE, s->src.fd, 0);
	if (map == MAP_FAILED)
		return false;
	s->map = map;
	s->window = s->map + at;
	s->head = 0;
	s->tail = s->src.size - (size_t)at;
	s->read = s->src.size;
	s->eof = true;
	return true;
}

static const struct src_ops ops = {
	.rx = capture_rx,
	.hold = map_file,
	.close = capture_close,
};

int src_open(struct src **out, const char *path, struct error *err)
{
	struct capture *s = calloc(1, sizeof(*s));
	int rc;

	if (!s || !(s->mem = window_new())) {
		free(s);
		return error_set(err, -ENOMEM, "out of memory");
	}
	s->src = (struct src){
		.ops = &ops,
		.kind = "pcap",
		.fd = STDIN_FILENO,
		.wait_ms = -1,
	};
	s->window = s->mem + HEADROOM;
	s->block = READ_BLOCK;
	rc = open_fd(s, path, err);
	if (!rc)
		rc = open_format(s, err);
	if (rc && rc != -EINTR) { /* after -EINTR src_rx() goes on */
		src_close(&s->src);
		return rc;
	}
	*out = &s->src;
	return 0;
}
