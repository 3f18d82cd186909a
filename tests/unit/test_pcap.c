/* SPDX-License-Identifier: BSD-2-Clause */
/* Classic pcap, and what is true of every source. */
#include <signal.h>
#include <sys/time.h>

#include "capture.h"

static void test_classic(void)
{
	for (int i = 0; i < 8; i++) {
		bool nano = i & 2;

		begin(i & 1);
		pcap_header(nano ? 0xa1b23c4d : 0xa1b2c3d4,
			    i & 4 ? 0x14000001 : 1); /* with an FCS length */
		TEST((save(image.len), compare_with_libpcap(10)) == 0);
		for (uint32_t k = 0; k < 5000; k++)
			pcap_record(1700000000 + k, nano ? k * 199999 : k * 199,
				    k % 300, k % 700);
		pcap_record(0x7fffffff, nano ? 999999999 : 999999, 0, 0);
		pcap_record(1, 1, 65535, 65535);
		pcap_record(2, 2, 9, 1500);
		save(image.len);
		TEST(image.len > 1 << 19);
		TEST(compare_with_libpcap(1) == 5003);
		TEST(compare_with_libpcap(PKT_BATCH) == 5003);
	}
}

/* Records of all lengths, so that block ends fall everywhere in them. */
static void test_block_ends(void)
{
	begin(false);
	pcap_header(0xa1b23c4d, 1);
	for (uint32_t k = 0; image.len < (5 << 20) + 12345; k++)
		pcap_record(k, k, k * 7919 % 20011, 0);
	pcap_record(1, 1, PKT_MAX, PKT_MAX);
	pcap_record(1, 1, 3, PKT_MAX);
	save(image.len);
	TEST(compare_with_libpcap(PKT_BATCH) > 500);
}

static void test_bad_classic(void)
{
	begin(false);
	expect(-EBADMSG, 0, "empty");
	add_bytes("\xd4\xc3", 2);
	expect(-EBADMSG, 0, "too short");
	begin(false);
	add_bytes("#!/bin/sh\necho this is not a capture\n", 37);
	expect(-EBADMSG, 0, "neither pcap nor pcapng");
	begin(false);
	add_bytes("\x28\xb5\x2f\xfd\0\0\0\0\0\0", 10);
	expect(-EBADMSG, 0, "unpack it first");
	begin(true);
	pcap_header(0xa1b2c3d4, 113);
	expect(-ENOTSUP, 0,
	       "link type 113: only Ethernet is read; capture on one");
	begin(false);
	pcap_header(0xa1b2c3d4, 101); /* another number in libpcap */
	expect(-ENOTSUP, 0, "link type 101:");
	begin(false);
	pcap_header(0xa1b2c3d4, 54321);
	expect(-ENOTSUP, 0, "link type 54321:");
	begin(false);
	pcap_header(0xa1b2c3d4, 1);
	image.bytes[6] = 3;
	expect(-ENOTSUP, 0, "version 2.3");
	begin(false);
	pcap_header(0xa1b2c3d4, 1);
	pcap_record(1, 1, 60, 60);
	pcap_record(1, 1, 60, 60);
	add(1, 4);
	add(1, 4);
	add(PKT_MAX + 1, 4);
	add(60, 4);
	expect(-EBADMSG, 2, "packet 3: impossible length: 262145");
	image.len += 300000; /* even when that many bytes follow */
	expect(-EBADMSG, 2, "packet 3: impossible length: 262145");
}

static void test_prefixes(void)
{
	size_t ends[5];

	begin(false);
	pcap_header(0xa1b2c3d4, 1);
	ends[0] = image.len;
	for (uint32_t i = 1; i < 5; i++) {
		pcap_record(i, i, 14 + i, 60);
		ends[i] = image.len;
	}
	check_prefixes(ends, 4, ends[0]);
}

static void test_no_file(void)
{
	struct error err = {""};
	struct src *s;

	TEST(src_open(&s, "/nonexistent/x", &err) == -ENOENT);
	TEST(!!strstr(err.text, "No such file"));
	TEST(src_open(&s, "/", &err) == -EISDIR);
	src_close(NULL);
}

static void add_packet(uint32_t len)
{
	pcap_record(len, len, len, len);
}

static void test_arrival(void)
{
	begin(true);
	pcap_header(0xa1b2c3d4, 1);
	check_arrival(add_packet);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* first: whether the signal comes before the file header. */
static void test_signal(bool first)
{
	const struct itimerval often = {{0, 5000}, {0, 5000}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	struct sigaction sa = {.sa_handler = on_alarm};
	struct pkt pkts[4];
	struct error err;
	struct src *s;
	int fds[2];

	if (pipe(fds))
		exit(1);
	begin(false);
	pcap_header(0xa1b2c3d4, 1);
	push(fds[1], 0, first ? 10 : image.len);
	sigaction(SIGALRM, &sa, NULL);
	if (first)
		setitimer(ITIMER_REAL, &often, NULL);
	if (!TEST(!src_open(&s, fd_path(fds[0]), &err)))
		return;
	setitimer(ITIMER_REAL, &often, NULL);
	TEST(src_rx(s, pkts, 4, &err) == -EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	if (first)
		push(fds[1], 10, image.len);
	image.len = 0;
	pcap_record(1, 1, 60, 60);
	push(fds[1], 0, image.len);
	TEST(src_rx(s, pkts, 4, &err) == 1); /* as if nothing had been */
	src_close(s);
	close(fds[0]);
	close(fds[1]);
}

static int open_stdin(struct error *err)
{
	struct src *s;

	return src_open(&s, "-", err);
}

int main(void)
{
	capture_init();
	test_classic();
	test_block_ends();
	test_bad_classic();
	test_prefixes();
	test_no_file();
	test_arrival();
	test_signal(false);
	test_signal(true);
	capture_terminal(STDIN_FILENO, open_stdin,
			 "standard input is a terminal");
	return capture_end();
}
