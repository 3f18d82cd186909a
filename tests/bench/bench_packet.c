/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast captures in the page cache are walked, against libpcap. */
#include <pcap/pcap.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "packet/pkt.h"

enum {
	RECORDS = 2000000,
	FRAME = 67, /* a Key-Write report, flow4 key, 4-byte value */
};

static uint64_t walk(const char *path)
{
	struct pkt pkts[PKT_BATCH];
	struct error err;
	struct src *s;
	uint64_t sum = 0;
	int n;

	if (src_open(&s, path, &err) < 0)
		return 0;
	while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++)
			sum += pkts[i].data[FRAME - 1];
	src_close(s);
	return sum;
}

static uint64_t walk_libpcap(const char *path)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(path, why);
	struct pcap_pkthdr *h;
	const u_char *data;
	uint64_t sum = 0;

	while (p && pcap_next_ex(p, &h, &data) == 1)
		sum += data[FRAME - 1];
	if (p)
		pcap_close(p);
	return sum;
}

int main(void)
{
	char path[] = "/tmp/bench-packet-XXXXXX";
	uint8_t frame[FRAME] = {0};
	double ours[BENCH_ROUNDS], theirs[BENCH_ROUNDS];
	struct snk *k;
	double t;
	int fd = mkstemp(path);

	if (fd < 0 || snk_open(&k, path, NULL) < 0)
		return 1;
	close(fd);
	for (int i = 0; i < RECORDS; i++) {
		struct pkt p = {frame, FRAME, FRAME, 1000ull * (unsigned)i};

		memcpy(frame + FRAME - 4, &i, 4);
		snk_tx(k, &p, 1);
	}
	if (snk_close(k) < 0)
		return 1;
	for (int r = 0; r < BENCH_ROUNDS; r++) {
		uint64_t a, b;

		t = bench_now();
		a = walk(path);
		ours[r] = RECORDS / (bench_now() - t) / 1e6;
		t = bench_now();
		b = walk_libpcap(path);
		theirs[r] = RECORDS / (bench_now() - t) / 1e6;
		if (a != b)
			return 1;
	}
	unlink(path);
	bench_row("walk a capture in the page cache (limit: libpcap)",
		  bench_median(ours, BENCH_ROUNDS),
		  bench_median(theirs, BENCH_ROUNDS), NULL);
	return 0;
}
