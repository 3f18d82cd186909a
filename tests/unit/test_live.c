/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live sources and sinks that need no privileges: Unix datagrams, filters, and
 * what is said about names that mean nothing.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/live.h"
#include "test.h"
#include "wire/net.h"

static char dir[] = "/tmp/test-live-XXXXXX";
static char near[128], both[300];

/* A UDP datagram to a port, with n bytes of payload; its length. */
static size_t frame(uint8_t *p, uint16_t port, size_t n)
{
	struct net_udp4 h = {.src = {10, 0, 0, 1},
			     .dst = {10, 0, 0, 2},
			     .src_port = 1000,
			     .dst_port = port,
			     .ttl = 64};

	memset(p + 42, (int)n, n);
	return (size_t)net_udp4_encode(p, 42, &h, n) + n;
}

static struct src *source(const char *filter)
{
	struct live_options o = {.filter = filter};
	struct fault f = {0};
	struct src *s;

	if (TEST(!src_open_live(&s, both, &o, &f)))
		return s;
	fprintf(stderr, "%s\n", f.text);
	exit(test_end());
}

static struct snk *sink(void)
{
	struct fault f = {0};
	struct snk *k;

	if (TEST(!snk_open_live(&k, both, LIVE_AUTO, &f)))
		return k;
	exit(test_end());
}

/* Every length from 1 byte to that of a jumbo frame and beyond comes as it
 * went, with the headroom that decoders want and a time of its own. */
static void test_lengths(void)
{
	static const size_t len[] = {1, 13, 60, 1514, 4200, 9014, 65535};
	static uint8_t out[65536];
	struct src *s = source(NULL);
	struct pkt p[PKT_BATCH], mine;
	struct snk *k = sink();
	struct fault f = {0};

	TEST(!strcmp(src_kind(s), "Unix datagrams"));
	TEST(!strcmp(snk_kind(k), "Unix datagrams"));
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 7 + i / 256);
	for (unsigned i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		mine = (struct pkt){out, (uint32_t)len[i], (uint32_t)len[i], 0};
		TEST(!snk_tx(k, &mine, 1) && !snk_flush(k));
		if (!TEST(src_rx(s, p, PKT_BATCH, &f) == 1))
			continue;
		TEST(p[0].len == len[i] && p[0].wire_len == len[i]);
		TEST(!memcmp(p[0].data, out, len[i]));
		TEST(p[0].ts_ns > UINT64_C(1700000000000000000));
		TEST(((volatile const uint8_t *)p[0].data)[-16] == 0);
	}
	TEST(snk_drops(k) == 0 && src_drops(s) == 0);
	TEST(src_size(s) == 0 && src_done(s) > 65535);
	TEST(!snk_close(k));
	src_close(s);
}

/* Many at once, built in place, arrive in order and in batches. */
static void test_batches(void)
{
	struct src *s = source(NULL);
	struct pkt p[PKT_BATCH];
	struct snk *k = sink();
	struct fault f = {0};
	unsigned got = 0, sent = 0, bad = 0;
	uint8_t *room;
	int n;

	while (got < 5000) {
		/* no more than a socket's queue takes, which is 10 by default
		 */
		for (unsigned i = 0; i < 8 && sent < 5000; i++, sent++) {
			if (!TEST((room = snk_room(k, 1500)) != NULL))
				return;
			memcpy(room, &sent, sizeof(sent));
			snk_done(k, 60 + sent % 1000, 0);
		}
		TEST(!snk_flush(k));
		if (!TEST((n = src_rx(s, p, PKT_BATCH, &f)) > 0))
			return;
		for (int i = 0; i < n; i++, got++)
			bad += memcmp(p[i].data, &got, sizeof(got)) ||
			       p[i].len != 60 + got % 1000;
	}
	TEST(bad == 0 && got == 5000);
	TEST(!snk_close(k));
	src_close(s);
}

static void test_waiting(void)
{
	struct src *s = source(NULL);
	struct pollfd fd = {.fd = src_fd(s), .events = POLLIN};
	struct pkt p[4], mine = {(const uint8_t *)near, 60, 60, 0};
	struct snk *k = sink();
	struct fault f = {0};

	src_wait(s, 0);
	TEST(src_rx(s, p, 4, &f) == -EAGAIN);
	TEST(poll(&fd, 1, 0) == 0);
	TEST(!snk_tx(k, &mine, 1) && !snk_flush(k));
	TEST(poll(&fd, 1, -1) == 1);
	TEST(src_rx(s, p, 4, &f) == 1);
	TEST(src_rx(s, p, 4, &f) == -EAGAIN);
	TEST(!snk_close(k));
	src_close(s);
}

/* Nobody there, then somebody who does not read: counted, and no error. */
static void test_no_peer(void)
{
	struct pkt p[PKT_BATCH], mine = {(const uint8_t *)near, 60, 60, 0};
	struct snk *k = sink();
	struct fault f = {0};
	struct src *s;

	for (int i = 0; i < 300; i++)
		TEST(!snk_tx(k, &mine, 1));
	TEST(!snk_flush(k));
	TEST(snk_drops(k) == 300);
	s = source(NULL);
	TEST(!snk_tx(k, &mine, 1) && !snk_flush(k));
	TEST(src_rx(s, p, PKT_BATCH, &f) == 1 && snk_drops(k) == 300);
	TEST(!snk_close(k));
	src_close(s);
}

static void test_filter(void)
{
	struct src *s = source("udp dst port 40040 and len < 100");
	struct pkt p[PKT_BATCH], mine;
	struct snk *k = sink();
	struct fault f = {0};
	uint8_t bytes[200];

	for (unsigned i = 0; i < 8; i++) {
		uint16_t port = i & 1 ? 40040 : 40041;
		size_t len = frame(bytes, port, i & 2 ? 20 : 120);

		mine = (struct pkt){bytes, (uint32_t)len, (uint32_t)len, 0};
		TEST(!snk_tx(k, &mine, 1));
	}
	TEST(!snk_flush(k));
	TEST(src_rx(s, p, PKT_BATCH, &f) == 2);
	TEST(p[0].len == 62 && p[1].len == 62);
	TEST(!snk_close(k));
	src_close(s);
}

/* A socket that a dead process left is taken over; one in use is not, and a
 * file never. */
static void test_stale(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct live_options o = {0};
	struct fault f = {0};
	struct src *s, *t;
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	FILE *file;

	memcpy(a.sun_path, near, strlen(near) + 1);
	TEST(!bind(fd, (struct sockaddr *)&a, sizeof(a)));
	close(fd);
	s = source(NULL);
	TEST(src_open_live(&t, both, &o, &f) == -EADDRINUSE);
	TEST(!!strstr(f.text, near));
	src_close(s);
	TEST(stat(near, &st) < 0);
	if (!TEST((file = fopen(near, "w")) != NULL))
		return;
	fclose(file);
	TEST(src_open_live(&t, both, &o, &f) == -EADDRINUSE);
	TEST(!unlink(near));
}

static void refused(const char *name, const char *filter, int rc,
		    const char *why)
{
	struct live_options o = {.filter = filter};
	struct fault f = {0};
	struct src *s;

	if (!TEST(src_open_live(&s, name, &o, &f) == rc) ||
	    !TEST(!!strstr(f.text, why)))
		fprintf(stderr, "%s: %s\n", name, f.text);
}

static void test_refused(void)
{
	struct fault f = {0};
	struct snk *k;
	char longest[200];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest, "unix:", 5);
	longest[150] = ',';
	refused("", NULL, -ENODEV, "no such interface");
	refused("no-such-if0", NULL, -ENODEV, "no-such-if0: no such interface");
	refused("a-name-that-is-too-long", NULL, -ENODEV, "no such interface");
	refused("unix:/tmp/x", NULL, -EINVAL, "unix:LOCAL,REMOTE");
	refused("unix:,/tmp/x", NULL, -EINVAL, "LOCAL is missing");
	refused(longest, NULL, -ENAMETOOLONG, "107 bytes");
	refused("unix:/nonexistent/x,", NULL, -ENOENT, "/nonexistent/x");
	refused(both, "udp and and", -EINVAL, "filter 'udp and and'");
	refused(both, "tcp portt 5", -EINVAL, "filter 'tcp portt 5'");
	TEST(snk_open_live(&k, "unix:/tmp/x,", LIVE_AUTO, &f) == -EINVAL);
	TEST(!!strstr(f.text, "REMOTE is missing"));
	TEST(snk_open_live(&k, "no-such-if0", LIVE_AUTO, &f) == -ENODEV);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(near, sizeof(near), "%s/near", dir);
	/* sends to itself */
	snprintf(both, sizeof(both), "unix:%s,%s", near, near);
	test_lengths();
	test_batches();
	test_waiting();
	test_no_peer();
	test_filter();
	test_stale();
	test_refused();
	TEST(!rmdir(dir));
	return test_end();
}
