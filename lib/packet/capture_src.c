/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures, read: classic pcap (draft-ietf-opsawg-pcap), pcapng
 * (draft-ietf-opsawg-pcapng), either also in gzip (RFC 1952).
 *
 * The file is read in blocks into a window, in which the records of classic
 * pcap are found in place, several times as fast as libpcap gives them out. A
 * record that a block cuts moves to the front of the window before the next
 * read(), so packets are never copied one by one. pcapng is libpcap's: its
 * packets are put into the window as records of classic pcap.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "hash/crc.h"
#include "packet/kind.h"

enum {
	HEADROOM = 64,	      /* CRC_HEADROOM, and a cache line */
	READ_BLOCK = 1 << 20, /* bytes asked of one read() */
	/* Of a pipe, whose size is a READ_BLOCK: who writes to it has room for
	 * more while that is worked on. */
	PIPE_BLOCK = READ_BLOCK / 4,
	/* Of gzip data: what is lost in front of damage is less than that. */
	GZIP_BLOCK = 1 << 16,
	HEADER_LEN = 24, /* of a file */
	RECORD_LEN = 16, /* of a record */
	/* A window has room for a block behind the longest partial record. */
	WINDOW = PKT_MAX + RECORD_LEN + READ_BLOCK,
	KEPT_MEAN = 128,   /* bytes of a record, before any was seen */
	KEPT_LEAST = 1024, /* bytes asked for beside the wanted packets */
	MAGIC_MICRO = 0xa1b2c3d4,
	MAGIC_NANO = 0xa1b23c4d,
	MAGIC_NG = 0x0a0d0d0a,
	MAGIC_GZIP = 0x1f8b, /* two bytes */
	LINK_ETHERNET = 1,
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
	uint8_t *mem;	   /* HEADROOM, then the window */
	size_t head, tail; /* unread bytes of the window */
	/* src_hold_batches(): the windows in turn, mem is one of them. */
	unsigned windows, current;
	uint8_t *kept[SRC_HOLD_MAX];
	bool pinned;	 /* the call in hand has packets in the window */
	bool turned;	 /* or is the first that has it */
	bool none;	 /* the last call returned no packets */
	uint64_t walked; /* bytes of records */
	uint64_t read;	 /* bytes of the file */
	uint64_t filled; /* bytes of the capture: more, if it was compressed */
	uint64_t packets;
	gzFile gz; /* NULL: the file is not compressed */
	/* pcapng, else NULL: libpcap's reader, the bytes that it has not read
	 * yet, and a packet that the window had no room for. */
	pcap_t *ng;
	uint8_t *raw;
	size_t raw_at, raw_end;
	struct pcap_pkthdr *held_header;
	const uint8_t *held; /* or NULL */
	int ended;	     /* what libpcap has ended with, or 0 */
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

static uint8_t *window(const struct capture *s)
{
	return s->mem + HEADROOM;
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
	while ((n = read(fd, buf, len)) < 0 && errno == EAGAIN)
		if (poll(&p, 1, -1) <
		    0) /* its other users made it non-blocking */
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
			 why ? why + 2 : text, /* the file's name before it */
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

/* What libpcap asks for, as fread() does. Within a block it is not disturbed by
 * signals. */
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

/*
 * Whether libpcap would find a block without waiting. Which byte order its
 * length has is libpcap's to know: a length is the smaller of the two.
 */
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

/* The header of a record in this host's form, and room for what follows. */
static void put_record(uint8_t *to, const struct pcap_pkthdr *h,
		       const uint8_t *data)
{
	const uint32_t words[4] = {
		(uint32_t)h->ts.tv_sec,
		(uint32_t)h->ts.tv_usec, /* ns */
		h->caplen,
		h->len,
	};

	memcpy(to, words, sizeof(words));
	memcpy(to + sizeof(words), data, h->caplen);
}

/* More of a block that is not there yet. Returns bytes, 0: libpcap shall say
 * what is to be said, or -errno, also of a signal. */
static ssize_t read_raw(struct capture *s, struct error *err)
{
	size_t left = s->raw_end - s->raw_at;
	ssize_t n;

	memmove(s->raw, s->raw + s->raw_at, left);
	s->raw_at = 0;
	s->raw_end = left;
	if (left == s->block)
		return 0; /* longer than there is room for */
	n = read_file(s, s->raw + left, s->block - left, s->src.wait_ms, err);
	s->raw_end += n > 0 ? (size_t)n : 0;
	return n;
}

/* Packets as records, at most room bytes of them; waits for the first only. */
static ssize_t read_ng(struct capture *s, uint8_t *to, size_t room,
		       struct error *err)
{
	size_t have = 0;
	int rc;

	while (!s->held && !s->ended && !is_ready(s)) {
		ssize_t n = read_raw(s, err);

		if (n < 0)
			return n;
		if (!n)
			break;
	}
	while (s->held || (!s->ended && (is_ready(s) || !have))) {
		if (!s->held) {
			rc = pcap_next_ex(s->ng, &s->held_header, &s->held);
			if (rc != 1) {
				s->held = NULL;
				s->ended = rc;
				break;
			}
		}
		if (s->held_header->caplen > PKT_MAX ||
		    RECORD_LEN + s->held_header->caplen > room - have)
			break;
		put_record(to + have, s->held_header, s->held);
		have += RECORD_LEN + s->held_header->caplen;
		s->held = NULL;
	}
	if (have)
		return (ssize_t)have;
	if (s->ended == PCAP_ERROR_BREAK) /* the end */
		return 0;
	return error_set(err, -EBADMSG,
			 "packet %" PRIu64 ": %s; editcap -F pcap may mend it",
			 s->packets + 1,
			 s->held ? "impossible length" : pcap_geterr(s->ng));
}

/* Where a capture in a file is read to at once. */
static size_t block_left(const struct capture *s)
{
	return READ_BLOCK - s->filled % READ_BLOCK;
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
 * Bytes behind the last ones. Of gzip data so many as there is room for: how
 * they come out of it is no place for a batch to end.
 */
static ssize_t read_behind(struct capture *s, size_t room, struct error *err)
{
	uint8_t *to = window(s) + s->tail;
	size_t have = 0;
	ssize_t n = 0;

	if (s->ng)
		return read_ng(s, to, room, err);
	do {
		n = read_file(s, to + have, room - have, s->src.wait_ms, err);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 && s->gz && have < room);
	/* What is wrong behind them comes up again. */
	return have ? (ssize_t)have : n;
}

/* Moves what is left to the front and reads behind it. wanted: packets. */
static int fill(struct capture *s, int wanted, struct error *err)
{
	size_t block = s->windows && !s->ng ? kept_block(s, wanted)
					    : READ_BLOCK,
	       room;
	ssize_t n;

	if (!s->pinned)
		move(s);
	room = WINDOW - s->tail;
	n = read_behind(s, room < block ? room : block, err);
	if (n < 0)
		return (int)n;
	s->eof = !n;
	s->tail += (size_t)n;
	s->filled += (uint64_t)n;
	return 0;
}

/* Reads until len bytes are there, or the file ends. */
static int fill_to(struct capture *s, size_t len, struct error *err)
{
	int rc = 0;

	while (!rc && !s->eof && s->tail < len)
		rc = fill(s, PKT_BATCH, err);
	return rc;
}

/* From its beginning again, by zlib. */
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
	s->filled = 0;
	s->eof = false;
	return fill_to(s, HEADER_LEN, err);
}

/*
 * A link type in a file is not always libpcap's DLT of that number. Only
 * libpcap knows which; it tells by opening a capture of that type.
 */
static const char *link_name(uint32_t link)
{
	struct pcap_file_header h = {
		.magic = (bpf_u_int32)MAGIC_MICRO,
		.version_major = 2,
		.version_minor = 4,
		.snaplen = PKT_MAX,
		.linktype = link,
	};
	FILE *file = fmemopen(&h, sizeof(h), "rb");
	char text[PCAP_ERRBUF_SIZE];
	const char *name = NULL;
	pcap_t *p;

	if (!file)
		return NULL;
	if ((p = pcap_fopen_offline(file, text))) {
		name = pcap_datalink_val_to_name(pcap_datalink(p));
		pcap_close(p); /* and file */
	} else {
		fclose(file);
	}
	return name;
}

/* The capture is not of Ethernet frames; name may be NULL. */
static int bad_link(struct error *err, const char *name, uint32_t link)
{
	if (name && !strncmp(name, "LINUX_SLL", 9)) /* tcpdump -i any */
		return error_set(err, -ENOTSUP,
				 "link type %s: only Ethernet is read; capture "
				 "on one interface, not on any",
				 name);
	if (name)
		return error_set(err, -ENOTSUP,
				 "link type %s: only Ethernet is read", name);
	return error_set(err, -ENOTSUP, "link type %u: only Ethernet is read",
			 (unsigned)link);
}

/* What was read is libpcap's, and it reads on by itself. */
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
	setvbuf(file, NULL, _IONBF, 0); /* what is there, raw_at tells */
	s->raw = s->mem;
	s->raw_at = HEADROOM;
	s->raw_end = HEADROOM + s->tail;
	s->mem = mem;
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
		return bad_link(err,
				pcap_datalink_val_to_name(pcap_datalink(s->ng)),
				(uint32_t)pcap_datalink(s->ng));
	return 0;
}

static int begin_pcap(struct capture *s, struct error *err)
{
	const uint8_t *h = window(s);
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
	return link == LINK_ETHERNET ? 0 : bad_link(err, link_name(link), link);
}

/* Looks at the first bytes to tell the format. After a signal: once more. */
static int open_format(struct capture *s, struct error *err)
{
	int rc = fill_to(s, HEADER_LEN, err);

	if (!rc && !s->gz && s->tail >= 2 &&
	    be16toh(load16(window(s), false)) == MAGIC_GZIP)
		rc = begin_gzip(s, err);
	if (rc)
		return rc;
	if (!s->tail)
		return error_set(err, -EBADMSG, "empty: not a capture");
	if (s->tail < sizeof(uint32_t))
		return error_set(err, -EBADMSG, "too short for a capture");
	s->begun = true;
	return load32(window(s), false) == MAGIC_NG ? begin_ng(s, err)
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

/* Finds whole records. Inlined for each byte order, so that the loop tests
 * neither. Returns the number of packets, 0 for want of bytes, or -EBADMSG. */
static inline int walk_as(struct capture *s, struct pkt *pkts, int max,
			  bool swap, uint32_t unit_ns, struct error *err)
{
	const uint8_t *begin = window(s) + s->head, *p = begin;
	const uint8_t *end = window(s) + s->tail;
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
	s->walked += (uint64_t)(p - begin);
	if (!n && end - p >= RECORD_LEN) {
		cap = load32(p + 8, swap);
		if (cap > PKT_MAX)
			return error_set(err, -EBADMSG,
					 "impossible length: %u bytes",
					 (unsigned)cap);
	}
	return n;
}

static int walk(struct capture *s, struct pkt *pkts, int max, struct error *err)
{
	uint32_t unit_ns = s->nano ? 1 : 1000;

	return s->swap ? walk_as(s, pkts, max, true, unit_ns, err)
		       : walk_as(s, pkts, max, false, unit_ns, err);
}

/* Whether a batch that is not full waits for more: of a file, up to the end of
 * a block. */
static bool goes_on(const struct capture *s)
{
	return s->windows && !s->ng && s->src.size && !s->eof &&
	       block_left(s) < READ_BLOCK;
}

/* Packets, the end, or what is wrong. */
static int rx(struct capture *s, struct pkt *pkts, int max, struct error *err)
{
	struct error why;
	int n, rc;

	if (!s->begun && (rc = open_format(s, err)))
		return rc;
	while (!(n = walk(s, pkts, max, &why))) {
		if (s->eof && s->head < s->tail)
			return error_set(err, -EBADMSG,
					 "cut short: ends inside a record, "
					 "after packet %" PRIu64,
					 s->packets);
		if (s->eof)
			return 0;
		if ((rc = fill(s, max, err)))
			return rc;
	}
	if (n < 0)
		return error_set(err, n, "packet %" PRIu64 ": %s",
				 s->packets + 1, why.text);
	s->packets += (uint64_t)n;
	return n;
}

/* More of the same batch; what is wrong comes up again at the next call. */
static int rx_more(struct capture *s, struct pkt *pkts, int n, int max)
{
	struct error later;
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
		      struct error *err)
{
	struct capture *s = (struct capture *)src;
	int n;

	/* A call that returned no packets leaves its window to this one. */
	s->turned = s->turned && s->none;
	n = rx(s, pkts, max, err);
	s->none = n <= 0;
	if (n > 0)
		n = rx_more(s, pkts, n, max);
	s->src.done = s->read - (s->gz || s->ng ? 0 : s->tail - s->head);
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
	free(s->raw);
	for (unsigned i = 0; i < s->windows; i++)
		if (s->kept[i] != s->mem)
			free(s->kept[i]);
	free(s->mem);
	free(s);
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
	.hold = capture_keep,
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
	s->block = READ_BLOCK;
	rc = open_fd(s, path, err);
	if (!rc)
		rc = open_format(s, err);
	if (rc && rc != -EINTR) { /* src_rx() will wait on */
		src_close(&s->src);
		return rc;
	}
	*out = &s->src;
	return 0;
}
