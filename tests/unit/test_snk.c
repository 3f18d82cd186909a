/* SPDX-License-Identifier: BSD-2-Clause */
/* What snk writes, libpcap must read; and what happens where it cannot write.
 */
#include <signal.h>

#include "capture.h"

/* What snk writes: 3000 frames through room/done, as many through tx. */
static void write_frames(struct snk *k)
{
	struct rng r = {9};
	uint8_t frame[2000];

	for (uint32_t i = 0; i < 6000; i++) {
		size_t len = rng_below(&r, sizeof(frame));
		uint64_t ts = i * (uint64_t)1234567891;
		struct pkt p = {frame, (uint32_t)len, (uint32_t)len + 5, ts};
		uint8_t *room;

		for (size_t j = 0; j < len; j++)
			frame[j] = (uint8_t)(i + j);
		if (i % 2) {
			TEST(snk_tx(k, &p, 1) == 0);
			continue;
		}
		room = snk_room(k, sizeof(frame));
		if (!TEST(room != NULL))
			return;
		memcpy(room, frame, len);
		snk_done(k, len, ts);
		if (i % 1000 == 0)
			TEST(snk_flush(k) == 0);
	}
}

static bool is_frame(const struct pcap_pkthdr *h, const uint8_t *data,
		     uint32_t i, size_t len)
{
	uint64_t ts = i * (uint64_t)1234567891;

	if (h->caplen != len || h->len != len + (i % 2 ? 5 : 0) ||
	    (uint64_t)h->ts.tv_sec != ts / 1000000000 ||
	    (uint64_t)h->ts.tv_usec != ts % 1000000000)
		return false;
	for (size_t j = 0; j < len; j++)
		if (data[j] != (uint8_t)(i + j))
			return false;
	return true;
}

/* Reads them back from an open file with libpcap. */
static void check_frames(FILE *file)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *pc = pcap_fopen_offline_with_tstamp_precision(
		file, PCAP_TSTAMP_PRECISION_NANO, text);
	struct rng r = {9};
	struct pcap_pkthdr *h;
	const uint8_t *data;
	uint32_t i = 0;

	if (!TEST(pc != NULL))
		return;
	TEST(pcap_datalink(pc) == DLT_EN10MB);
	for (; pcap_next_ex(pc, &h, &data) == 1; i++)
		TEST(is_frame(h, data, i, rng_below(&r, 2000)));
	TEST(i == 6000);
	pcap_close(pc);
}

static void test_sink_file(void)
{
	struct error err;
	struct snk *k;

	image.len = 100;
	save(image.len); /* something to be truncated */
	if (!TEST(!snk_open(&k, path, &err)))
		return;
	write_frames(k);
	TEST(snk_close(k) == 0);
	check_frames(fopen(path, "rb"));
	if (!TEST(!snk_open(&k, path, &err)))
		return;
	TEST(!snk_room(k, PKT_MAX + 1) && errno == EMSGSIZE);
	TEST(snk_room(k, PKT_MAX) != NULL);
	TEST(snk_close(k) == 0);
	image.len = 24;
	TEST(compare_with_libpcap(1) == 0); /* a header alone */
}

/* Through stdout and a pipe that takes a little at a time. */
static void test_sink_pipe(void)
{
	int fds[2], status;
	pid_t pid;

	if (pipe(fds) || (pid = fork()) < 0)
		exit(1);
	if (!pid) {
		struct error err;
		struct snk *k;

		dup2(fds[1], STDOUT_FILENO);
		fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
		close(fds[0]);
		close(fds[1]);
		if (snk_open(&k, "-", &err))
			_exit(1);
		write_frames(k);
		_exit(snk_close(k) || test_end());
	}
	close(fds[1]);
	check_frames(fdopen(fds[0], "rb"));
	TEST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_sink_errors(void)
{
	uint8_t frame[1000] = {0};
	struct pkt p = {frame, sizeof(frame), sizeof(frame), 0};
	struct error err;
	struct snk *k;
	int fds[2], rc = 0;

	if (!TEST(!snk_open(&k, "/dev/full", &err)))
		return;
	for (int i = 0; i < 2000 && !rc; i++)
		rc = snk_tx(k, &p, 1);
	TEST(rc == -ENOSPC);
	TEST(!snk_room(k, PKT_MAX) || snk_flush(k) == -ENOSPC);
	TEST(snk_close(k) == -ENOSPC);
	if (pipe(fds))
		exit(1);
	if (!TEST(!snk_open(&k, fd_path(fds[1]), &err)))
		return;
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	TEST(snk_tx(k, &p, 1) == 0);
	TEST(snk_flush(k) == -EPIPE && snk_close(k) == -EPIPE);
	close(fds[1]);
	TEST(snk_close(NULL) == 0);
	TEST(snk_open(&k, "/nonexistent/x", &err) == -ENOENT);
	TEST(!!strstr(err.text, "No such file"));
}

static int open_stdout(struct error *err)
{
	struct snk *k;

	return snk_open(&k, "-", err);
}

int main(void)
{
	capture_init();
	test_sink_file();
	test_sink_pipe();
	test_sink_errors();
	capture_terminal(STDOUT_FILENO, open_stdout,
			 "standard output is a terminal");
	return capture_end();
}
