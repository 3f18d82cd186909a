/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.h - captures laid out byte by byte in a file of their own, and read
 * by src and by libpcap, which must agree.
 */
#ifndef TESTS_UNIT_CAPTURE_H
#define TESTS_UNIT_CAPTURE_H

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "bytes.h"
#include "hash/crc.h"
#include "packet/pkt.h"
#include "test.h"

static char dir[] = "/tmp/test_pcap.XXXXXX";
static char path[sizeof(dir) + 16];

static inline void capture_init(void)
{
	if (!mkdtemp(dir))
		exit(1);
	snprintf(path, sizeof(path), "%s/x", dir);
}

static inline int capture_end(void)
{
	unlink(path);
	rmdir(dir);
	return test_end();
}

/* A capture being made. */
struct image {
	uint8_t bytes[8 << 20];
	size_t len;
	bool big; /* big-endian */
};

static struct image image;

static inline void add_bytes(const void *data, size_t n)
{
	if (image.len + n > sizeof(image.bytes))
		exit(1);
	memcpy(image.bytes + image.len, data, n);
	image.len += n;
}

static inline void add(uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t b = (uint8_t)(v >> 8 * (image.big ? n - 1 - i : i));

		add_bytes(&b, 1);
	}
}

static inline void begin(bool big)
{
	image.len = 0;
	image.big = big;
}

static inline void save(size_t len)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(image.bytes, 1, len, f) != len || fclose(f))
		exit(1);
}

static inline void pcap_header(uint32_t magic, uint32_t link)
{
	add(magic, 4);
	add(2, 2);
	add(4, 2);
	add(0, 8);
	add(PKT_MAX, 4);
	add(link, 4);
}

static inline void pcap_record(uint32_t s, uint32_t frac, uint32_t cap,
			       uint32_t wire)
{
	struct rng r = {s ^ cap};

	add(s, 4);
	add(frac, 4);
	add(cap, 4);
	add(wire, 4);
	for (uint32_t i = 0; i < cap; i++)
		add(rng_u64(&r), 1);
}

/* The headroom must be readable; the sum keeps the compiler from dropping it.
 */
static unsigned headroom_sum;

static inline void touch_headroom(const struct pkt *p)
{
	for (int i = 1; i <= CRC_HEADROOM; i++)
		headroom_sum += p->data[-i];
}

static inline bool same_packet(const struct pkt *p, const struct pcap_pkthdr *h,
			       const uint8_t *data)
{
	uint64_t ns = (uint64_t)h->ts.tv_sec * 1000000000 +
		      (uint64_t)h->ts.tv_usec; /* nanoseconds, as asked */

	return p->len == h->caplen && p->ts_ns == ns &&
	       p->wire_len == (h->len > h->caplen ? h->len : h->caplen) &&
	       !memcmp(p->data, data, p->len);
}

/* Reads path with both, max packets at a time. Returns how many they agreed on,
 * or -1. */
static inline long compare_with_libpcap(int max)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *pc = pcap_open_offline_with_tstamp_precision(
		path, PCAP_TSTAMP_PRECISION_NANO, text);
	struct pkt pkts[PKT_BATCH];
	struct pcap_pkthdr *h;
	const uint8_t *data;
	struct error err;
	struct src *s;
	long total = 0;
	int n = -1;

	if (!pc || src_open(&s, path, &err))
		return -1;
	while ((n = src_rx(s, pkts, max, &err)) > 0) {
		for (int i = 0; i < n; i++, total++) {
			touch_headroom(&pkts[i]);
			if (pcap_next_ex(pc, &h, &data) != 1 ||
			    !same_packet(&pkts[i], h, data))
				return -1;
		}
	}
	if (n < 0 || pcap_next_ex(pc, &h, &data) != PCAP_ERROR_BREAK)
		total = -1;
	if (src_done(s) != src_size(s) || src_size(s) != image.len)
		total = -1;
	src_close(s);
	pcap_close(pc);
	return total;
}

/* How reading path ends: *rc of the failing call, *packets before it. */
static inline struct error read_to_error(int *rc, long *packets)
{
	struct error err = {""};
	struct pkt pkts[16];
	struct src *s;

	*packets = 0;
	*rc = src_open(&s, path, &err);
	if (*rc)
		return err;
	while ((*rc = src_rx(s, pkts, 16, &err)) > 0)
		*packets += *rc;
	if (*rc)
		TEST(src_rx(s, pkts, 16, &err) == *rc); /* and stays so */
	src_close(s);
	return err;
}

static inline void expect(int rc, long packets, const char *text)
{
	int got;
	long n;
	struct error err;

	save(image.len);
	err = read_to_error(&got, &n);
	if (!TEST(got == rc && n == packets && strstr(err.text, text)))
		fprintf(stderr, "%d after %ld: %s\n", got, n, err.text);
}

/*
 * Each prefix of a small capture: whole packets, then an error that says so,
 * but for the prefixes that end with a packet (ends[i] bytes hold i of them),
 * and one of head bytes.
 */
static inline void check_prefixes(const size_t *ends, long n, size_t head)
{
	for (size_t len = 0; len < image.len; len++) {
		long whole = 0, got;
		struct error err;
		bool clean;
		int rc;

		while (whole < n && ends[whole + 1] <= len)
			whole++;
		clean = len == ends[whole] || len == head;
		save(len);
		err = read_to_error(&rc, &got);
		if (!TEST(got == whole && rc == (clean ? 0 : -EBADMSG)))
			fprintf(stderr, "%zu bytes: %d after %ld: %s\n", len,
				rc, got, err.text);
	}
}

/* A pipe end by its name. */
static inline const char *fd_path(int fd)
{
	static char text[64];

	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	return text;
}

static inline void push(int fd, size_t from, size_t to)
{
	ssize_t n = (ssize_t)(to - from);

	if (write(fd, image.bytes + from, to - from) != n)
		exit(1);
}

/*
 * The image through a pipe, packets as packet(len) adds them: some, and the
 * beginning of one more. Were those held back, this would wait for ever.
 */
static inline void check_arrival(void (*packet)(uint32_t len))
{
	struct pkt pkts[PKT_BATCH];
	struct error err;
	struct src *s;
	int fds[2];

	if (pipe(fds))
		exit(1);
	push(fds[1], 0, image.len);
	if (!TEST(!src_open(&s, fd_path(fds[0]), &err)))
		return;
	TEST(src_size(s) == 0);
	for (uint32_t i = 1; i < 50; i++) {
		size_t from = image.len, whole;

		for (uint32_t k = 0; k < i; k++)
			packet(i + k);
		whole = image.len;
		packet(5 * i);
		push(fds[1], from, whole + i % 13);
		TEST(src_rx(s, pkts, PKT_BATCH, &err) == (int)i);
		TEST(pkts[0].len == i && pkts[i - 1].len == 2 * i - 1);
		push(fds[1], whole + i % 13, image.len);
		TEST(src_rx(s, pkts, PKT_BATCH, &err) == 1);
		TEST(pkts[0].len == 5 * i);
	}
	close(fds[1]);
	TEST(src_rx(s, pkts, PKT_BATCH, &err) == 0);
	src_close(s);
	close(fds[0]);
}

/* In a process whose descriptor fd is a terminal, opening "-" is refused. */
static inline void
capture_on_terminal(int fd, int (*open_it)(struct error *err), const char *says)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct error err = {""};

	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    (slave = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0)
		_exit(TEST_SKIP);
	dup2(slave, fd);
	_exit(open_it(&err) != -EINVAL || !strstr(err.text, says));
}

static inline void capture_terminal(int fd, int (*open_it)(struct error *err),
				    const char *says)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		capture_on_terminal(fd, open_it, says);
	TEST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == TEST_SKIP)
		fprintf(stderr, "no pseudo terminals: not tested\n");
	else
		TEST(WEXITSTATUS(status) == 0);
}

#endif
