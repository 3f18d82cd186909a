/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program that decides which packets are ours, run by the kernel on packets
 * of a test (BPF_PROG_TEST_RUN), next to the same rule in C, and to what the
 * decoder behind it takes.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cur.h"
#include "base/rng.h"
#include "packet/xdp_ports.h"
#include "test.h"
#include "net/be.h"
#include "net/net.h"

enum {
	FRAME_MAX = 160,
	TAGS_MAX = 3,
	RANDOM = 200000,
	ASKED = 7,
};

static const uint16_t ours[PORTS_MAX] = {7, 40040, 4791};
static struct ports some, all;

struct frame {
	uint8_t bytes[FRAME_MAX];
	size_t len;
};

/* The rule, as ports.h has it. */
static bool is_ours(const uint8_t *bytes, size_t len)
{
	struct cur c = cur_of(bytes, len);
	unsigned type, version = 0, port;
	const uint8_t *ip;

	cur_take(&c, 12);
	type = cur_be16(&c);
	for (int i = 0; i < 2 && (type == 0x8100 || type == 0x88a8); i++) {
		cur_be16(&c);
		type = cur_be16(&c);
	}
	ip = c.p;
	if (type == 0x0800 && cur_left(&c) >= 20)
		version = 4;
	if (type == 0x86dd && cur_left(&c) >= 40)
		version = 6;
	if (!cur_ok(&c) || !version || ip[version == 4 ? 9 : 6] != 17 ||
	    (version == 4 && (be16_load(ip + 6) & 0x3fff)))
		return false;
	cur_take(&c, version == 4 ? (ip[0] & 15) * 4u : 40);
	cur_be16(&c);
	port = cur_be16(&c);
	cur_be32(&c);
	return cur_ok(&c) && (port == 7 || port == 40040 || port == 4791);
}

static unsigned verdict(const struct ports *p, const uint8_t *bytes, size_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = bytes,
		    .data_size_in = (uint32_t)len);

	return TEST(!bpf_prog_test_run_opts(p->prog, &o)) ? o.retval
							  : XDP_ABORTED;
}

/* Counts what was taken. The kernel runs nothing shorter than its Ethernet
 * header. */
static unsigned check(const struct frame *f, size_t len)
{
	bool taken = verdict(&some, f->bytes, len) == XDP_REDIRECT, decoded;
	uint8_t *copy = malloc(len); /* exactly so long */
	struct net_udp u = {0};
	int rc;

	memcpy(copy, f->bytes, len);
	rc = net_udp_decode(&u, copy, len);
	decoded = !rc && (u.dst_port == 7 || u.dst_port == 40040 ||
			  u.dst_port == 4791);
	if (!TEST(taken == is_ours(copy, len)) ||
	    /* what is good is taken, unless it has extension headers; */
	    !TEST(!decoded || taken ||
		  (u.version == 6 && u.payload != u.ip + 48)) ||
	    /* what is taken is good, or broken in a way that is counted. */
	    !TEST(!taken || decoded || rc == -EBADMSG || rc == -EBADE)) {
		fprintf(stderr, "%zu bytes:", len);
		for (size_t i = 0; i < len; i++)
			fprintf(stderr, " %02x", copy[i]);
		fprintf(stderr, "\n");
	}
	free(copy);
	return taken;
}

static unsigned check_prefixes(const struct frame *f)
{
	unsigned n = 0;

	for (size_t len = 14; len <= f->len; len++)
		n += check(f, len);
	return n;
}

/* A datagram of 4 bytes to a port; IPv4 has so many words of header, IPv6 that
 * next header. */
static struct frame make(unsigned tags, unsigned words, uint8_t next,
			 uint16_t port)
{
	static const uint16_t tpid[TAGS_MAX] = {0x8100, 0x88a8, 0x8100};
	struct frame f = {.len = 12};
	size_t ip_len = words ? words * 4 : 40;
	uint8_t *ip, *udp;

	for (unsigned i = 0; i < tags; i++, f.len += 4)
		be16_store(f.bytes + f.len, tpid[i]);
	be16_store(f.bytes + f.len, words ? 0x0800 : 0x86dd);
	ip = f.bytes + f.len + 2;
	udp = ip + ip_len;
	ip[0] = words ? (uint8_t)(0x40 | words) : 0x60;
	ip[words ? 9 : 6] = next;
	be16_store(ip + (words ? 2 : 4), (uint16_t)(12 + (words ? ip_len : 0)));
	be16_store(udp + 2, port);
	be16_store(udp + 4, 12);
	if (words >= 5)
		be16_store(ip + 10, net_checksum(ip, ip_len));
	f.len += 2 + ip_len + 12;
	return f;
}

/* Ours, and others: 40040 with its bytes exchanged. */
static const uint16_t asked[ASKED] = {7, 40040, 4791, 0, 9, 40041, 0x689c};

static void test_shapes(void)
{
	unsigned taken = 0, n;

	for (unsigned tags = 0; tags <= TAGS_MAX; tags++)
		for (unsigned words = 0; words <= 15; words++)
			for (size_t i = 0; i < ASKED; i++) {
				struct frame f = make(tags, words, 17,
						      asked[i]);

				n = check_prefixes(&f);
				if (!words || words >= 5)
					taken += n;
			}
	/* Tags, header lengths, ports, lengths of the frame. */
	TEST(taken == 3 * 12 * 3 * 5);
}

static void test_protocols(void)
{
	for (unsigned next = 0; next < 256; next++)
		for (unsigned words = 0; words <= 5; words += 5) {
			struct frame f = make(0, words, (uint8_t)next, 40040);

			TEST(check(&f, f.len) == (next == 17));
		}
}

/* Every bit of the word with the flags and the offset. */
static void test_fragments(void)
{
	for (unsigned bit = 0; bit < 16; bit++) {
		struct frame f = make(0, 5, 17, 40040);

		be16_store(f.bytes + 14 + 6, (uint16_t)(1 << bit));
		TEST(check(&f, f.len) == (bit >= 14)); /* DF, reserved */
	}
}

static void test_random(void)
{
	struct rng r = {1};
	unsigned taken = 0;

	for (int i = 0; i < RANDOM; i++) {
		struct frame f = make((unsigned)rng_below(&r, TAGS_MAX + 1),
				      (unsigned)rng_below(&r, 2) * 5, 17,
				      asked[rng_below(&r, ASKED)]);
		size_t at = (size_t)rng_below(&r, f.len);

		f.bytes[at] ^= (uint8_t)(1 << rng_below(&r, 8));
		f.bytes[rng_below(&r, f.len)] = (uint8_t)rng_below(&r, 256);
		taken += check(&f, 14 + (size_t)rng_below(&r, f.len - 13));
	}
	TEST(taken > 100 && taken < RANDOM / 2);
}

/* Without ports everything is taken, and nothing where no socket is. */
static void test_all(void)
{
	struct frame f = make(0, 5, 6, 80);
	struct ports none;

	for (size_t len = 14; len <= f.len; len++)
		TEST(verdict(&all, f.bytes, len) == XDP_REDIRECT);
	f = make(0, 5, 17, 40040);
	TEST(!ports_load(&none, 1, ours));
	TEST(verdict(&none, f.bytes, f.len) == XDP_PASS);
	ports_close(&none);
}

int main(void)
{
	static const uint16_t no_ports[PORTS_MAX];
	int fd = socket(AF_XDP, SOCK_RAW, 0);
	int rc = fd < 0 ? -errno : ports_load(&some, 1, ours);

	if (rc == -EPERM || rc == -EAFNOSUPPORT || rc == -ENOSYS) {
		fprintf(stderr, "AF_XDP and BPF: %s\n", strerror(-rc));
		return TEST_SKIP;
	}
	if (!TEST(!rc) || !TEST(!ports_load(&all, 1, no_ports)) ||
	    !TEST(!ports_socket(&some, 0, fd)) ||
	    !TEST(!ports_socket(&all, 0, fd)))
		return test_end();
	test_shapes();
	test_protocols();
	test_fragments();
	test_random();
	test_all();
	ports_close(&some);
	ports_close(&all);
	close(fd);
	return test_end();
}
