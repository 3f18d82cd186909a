/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures in gzip data: what is read is what the same capture plain gives. */
#include <signal.h>
#include <zlib.h>

#include "capture.h"

static char plain[sizeof(path)];
static struct image packed;

/* n bytes of the image from at on as a member behind what is packed. flush:
 * Z_FINISH, or Z_SYNC_FLUSH, without an end. */
static void member(size_t at, size_t n, int flush)
{
	z_stream z = {
		.next_in = image.bytes + at,
		.avail_in = (uInt)n,
		.next_out = packed.bytes + packed.len,
		.avail_out = (uInt)(sizeof(packed.bytes) - packed.len),
	};

	if (deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) ||
	    deflate(&z, flush) < 0 || !z.avail_out)
		exit(1);
	packed.len += z.total_out;
	deflateEnd(&z);
}

static void save_packed(size_t len)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(packed.bytes, 1, len, f) != len || fclose(f))
		exit(1);
}

/* The image is plain for what is packed. */
static void save_plain(void)
{
	char gz[sizeof(path)];

	memcpy(gz, path, sizeof(path));
	memcpy(path, plain, sizeof(path));
	save(image.len);
	memcpy(path, gz, sizeof(path));
}

static bool same(const struct pkt *a, const struct pkt *b)
{
	return a->len == b->len && a->wire_len == b->wire_len &&
	       a->ts_ns == b->ts_ns && !memcmp(a->data, b->data, a->len);
}

/* Packets that both have, -1 where they differ. Batches of the two need not be
 * the same. */
static long compare(void)
{
	struct pkt a[PKT_BATCH], b;
	struct src *x, *y;
	struct error err = {""};
	uint64_t at = 0;
	long total = 0;
	int n;

	if (src_open(&x, path, &err) || src_open(&y, plain, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	while ((n = src_rx(x, a, PKT_BATCH, &err)) > 0) {
		for (int i = 0; i < n; i++, total++) {
			touch_headroom(&a[i]);
			if (src_rx(y, &b, 1, &err) != 1 || !same(&a[i], &b))
				return -1;
		}
		TEST(src_done(x) >= at);
		at = src_done(x);
	}
	if (n || src_rx(y, &b, 1, &err))
		total = -1;
	TEST(src_done(x) <= packed.len); /* zeros behind are nobody's */
	TEST(src_size(x) == packed.len);
	src_close(x);
	src_close(y);
	return total;
}

static void ng_block(uint32_t type, const void *body, uint32_t len)
{
	uint32_t room = (len + 3) & ~3U;

	add(type, 4);
	add(room + 12, 4);
	add_bytes(body, len);
	add(0, room - len);
	add(room + 12, 4);
}

static void ng_packet(uint32_t i, uint32_t len)
{
	static uint8_t body[20 + (1 << 16)];
	const uint32_t le_len = htole32(len);
	const uint32_t head[] = {0, 0, htole32(i), le_len, le_len};

	memcpy(body, head, sizeof(head));
	memset(body + 20, (int)i, len);
	ng_block(6, body, 20 + len);
}

static void pcapng_begin(void)
{
	const uint8_t section[] = {0x4d, 0x3c, 0x2b, 0x1a, 1,	 0,
				   0,	 0,    0xff, 0xff, 0xff, 0xff,
				   0xff, 0xff, 0xff, 0xff};
	const uint8_t interface[8] = {1};

	begin(false);
	ng_block(0x0a0d0d0a, section, sizeof(section));
	ng_block(1, interface, sizeof(interface));
}

static void pcap_begin(void)
{
	begin(false);
	pcap_header(0xa1b23c4d, 1);
}

/* Captures of several blocks, that compress well and that do not at all. */
static void make(bool ng)
{
	if (ng)
		pcapng_begin();
	else
		pcap_begin();
	for (uint32_t k = 0; image.len < 5 << 20; k++) {
		uint32_t len = k * 7919 % 20011;

		if (ng)
			ng_packet(k, len);
		else
			pcap_record(k, k, len, 0);
	}
	save_plain();
}

static void check(void)
{
	save_packed(packed.len);
	TEST(compare() > 500);
}

static void test_same(bool ng)
{
	make(ng);
	packed.len = 0;
	member(0, image.len, Z_FINISH);
	check();
	/* Members that end anywhere, empty ones, and zeros behind. */
	packed.len = 0;
	for (size_t at = 0, n; at < image.len; at += n) {
		n = at * 31 % 99991 + 1;
		if (n > image.len - at)
			n = image.len - at;
		member(at, n, Z_FINISH);
		if (at % 3 == 0)
			member(0, 0, Z_FINISH);
	}
	memset(packed.bytes + packed.len, 0, 1000);
	packed.len += 1000;
	check();
}

/* Ten packets, packed; their lengths differ. */
static void make_small(void)
{
	pcap_begin();
	for (uint32_t i = 0; i < 10; i++)
		pcap_record(i, i, 40 + i, 60);
	save_plain();
	packed.len = 0;
	member(0, image.len, Z_FINISH);
}

static void fails(long packets, const char *text)
{
	struct error err;
	int rc;
	long n;

	save_packed(packed.len);
	err = read_to_error(&rc, &n);
	if (!TEST(rc == -EBADMSG && n == packets && strstr(err.text, text)))
		fprintf(stderr, "%d after %ld: %s\n", rc, n, err.text);
}

/* Every beginning: an error, behind whole packets only. */
static void test_cut(void)
{
	long n, most = 0;
	struct error err;
	int rc;

	make_small();
	for (size_t len = 0; len < packed.len; len++) {
		save_packed(len);
		err = read_to_error(&rc, &n);
		if (!TEST(rc == -EBADMSG && n <= 10 && n >= most &&
			  (len < 2 || strstr(err.text, "inside gzip data"))))
			fprintf(stderr, "%zu: %d %s\n", len, rc, err.text);
		most = n;
	}
	TEST(most == 10); /* all but the trailer */
	/* In the second member. */
	packed.len = 0;
	member(0, image.len - 60, Z_FINISH);
	member(image.len - 60, 60, Z_FINISH);
	packed.len -= 12;
	fails(9, "cut short: ends inside gzip data, after packet 9");
}

/* Any bit: told, or it makes no difference, as the time in the header. */
static void test_flipped(void)
{
	unsigned told = 0;

	make_small();
	for (size_t bit = 0; bit < packed.len * 8; bit++) {
		size_t at = bit / 8;
		int rc;
		long n;

		packed.bytes[at] ^= (uint8_t)(1 << bit % 8);
		save_packed(packed.len);
		read_to_error(&rc, &n);
		told += rc < 0;
		if (!TEST(rc || compare() == 10))
			fprintf(stderr, "bit %zu: %d after %ld\n", bit, rc, n);
		packed.bytes[at] ^= (uint8_t)(1 << bit % 8);
	}
	TEST(told > packed.len * 7);
}

static void test_damaged(void)
{
	make_small();
	packed.bytes[packed.len - 8] ^= 1;
	fails(0, "damaged gzip data: incorrect data check");
	make_small();
	packed.bytes[packed.len - 1] ^= 1;
	fails(0, "damaged gzip data: incorrect length check");
}

static void test_not_a_capture(void)
{
	begin(false);
	packed.len = 0;
	member(0, 0, Z_FINISH);
	fails(0, "empty");
	make_small();
	memcpy(image.bytes, packed.bytes, packed.len);
	image.len = packed.len;
	packed.len = 0;
	member(0, image.len, Z_FINISH); /* twice */
	fails(0, "neither pcap nor pcapng");
	pcap_begin();
	pcap_record(1, 1, 60, 60);
	packed.len = 0;
	member(0, image.len - 1, Z_FINISH);
	fails(0, "cut short: ends inside a record, after packet 0");
}

/* A pipe is not read from its beginning again. */
static void test_pipe(void)
{
	struct error err = {""};
	struct src *s;
	int fds[2];

	if (pipe(fds))
		exit(1);
	make_small();
	TEST(write(fds[1], packed.bytes, packed.len) == (ssize_t)packed.len);
	TEST(src_open(&s, fd_path(fds[0]), &err) == -EBADMSG);
	TEST(!!strstr(err.text, "unpack it first, as with zcat"));
	close(fds[0]);
	close(fds[1]);
}

/* Packets stay as they are for as many more calls that return some, however
 * many return none between. */
static void test_held(void)
{
	struct pkt first, next;
	struct error err = {""};
	struct src *s;
	int fds[2];

	if (pipe(fds))
		exit(1);
	pcap_begin();
	TEST(write(fds[1], image.bytes, image.len) == (ssize_t)image.len);
	TEST(!src_open(&s, fd_path(fds[0]), &err));
	TEST(src_hold_batches(s, SRC_HOLD_MAX + 1) == -EINVAL);
	TEST(!src_hold_batches(s, 2));
	for (uint8_t i = 1; i < 20; i++) {
		image.len = 0;
		pcap_record(i, i, 60, 60);
		memset(image.bytes + image.len - 60, i, 60);
		TEST(write(fds[1], image.bytes, image.len) ==
		     (ssize_t)image.len);
		TEST(src_rx(s, &next, 1, &err) == 1 && next.data[0] == i);
		TEST(i == 1 || first.data[0] == i - 1);
		for (unsigned k = 0; k < i; k++)
			TEST(src_rx_now(s, &first, 1, &err) == -EAGAIN);
		TEST(next.data[0] == i);
		first = next;
	}
	src_close(s);
	close(fds[0]);
	close(fds[1]);
	pcap_begin();
	save_plain();
	TEST(!src_open(&s, path, &err));
	TEST(!src_hold_batches(s, SRC_HOLD_MAX));
	src_close(s);
}

/* Batches of a file are full, but for the last, whoever takes them. */
static void test_batches(const char *file, uint32_t records, bool hold)
{
	static struct pkt pkts[PKT_BATCH];
	struct error err;
	struct src *s;
	int n;

	if (!TEST(!src_open(&s, file, &err)))
		return;
	TEST(!hold || !src_hold_batches(s, 3));
	while ((n = src_rx(s, pkts, PKT_BATCH, &err)) == PKT_BATCH)
		records -= PKT_BATCH;
	TEST((uint32_t)n == records && src_done(s) == src_size(s));
	TEST(src_rx(s, pkts, PKT_BATCH, &err) == 0);
	src_close(s);
}

static void test_full_batches(uint32_t len)
{
	uint32_t records = 0;

	pcap_begin();
	for (; image.len < 5 << 20; records++)
		pcap_record(records, records, records * 7919 % len, 0);
	packed.len = 0;
	member(0, image.len, Z_FINISH);
	save_packed(packed.len);
	save_plain();
	for (int hold = 0; hold < 2; hold++) {
		test_batches(path, records, hold);
		test_batches(plain, records, hold);
	}
}

int main(void)
{
	capture_init();
	snprintf(plain, sizeof(plain), "%s/p", dir);
	test_same(false);
	test_same(true);
	test_cut();
	test_flipped();
	test_damaged();
	test_not_a_capture();
	test_pipe();
	test_held();
	test_full_batches(20011);
	test_full_batches(200);
	unlink(plain);
	return capture_end();
}
