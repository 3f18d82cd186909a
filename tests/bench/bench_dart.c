/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DART's transport against DTA's: reports through the translator, one write for
 * each, into a region and as RoCEv2 frames into /dev/null. The "limit" is DTA's
 * rate with N = 1 in the same rounds: as many writes, without the draw. And
 * what it takes to part reports among three collectors.
 */
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "cluster/packet_transport.h"
#include "rdma/local.h"
#include "rdma/ticket.h"
#include "region/region.h"
#include "dta/translate.h"
#include "net/be.h"
#include "net/dta.h"
#include "net/key.h"
#include "net/net.h"

enum {
	REPORTS = 1 << 20,
	FRAME = 80, /* bytes from one frame to the next */
	KEY = 13,
	COLLECTORS = 3,
	SLOTS = 1 << 24, /* of each: 128 MiB */
	WAYS = 8,
};

static struct pkt *pkts[2]; /* N = 1, N = 2 */
static struct region *region[COLLECTORS];
static struct local_transport *local[COLLECTORS];
static struct transport *cluster; /* all of them */
static struct table table;

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "bench_dart: %s\n", what);
	exit(1);
}

static struct pkt *traffic(unsigned copies)
{
	uint8_t *block = calloc(REPORTS + 1, FRAME), key[16], value[4];
	struct pkt *p = calloc(REPORTS, sizeof(*p));
	struct net_udp4 h = {.src = {10, 0, 1, 1},
			     .dst = {10, 0, 0, 51},
			     .src_port = 50000,
			     .dst_port = DTA_PORT,
			     .ttl = 64};
	struct dta_report r = {.opcode = DTA_KEYWRITE,
			       .copies = (uint8_t)copies,
			       .table = 1,
			       .key_len = KEY,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	if (!block || !p)
		die("out of memory");
	for (unsigned i = 0; i < REPORTS; i++) {
		uint8_t *f = block + (size_t)(i + 1) * FRAME;
		int len;

		be64_store(key, rng_mix(i + 1));
		be64_store(key + 8, rng_mix(~(uint64_t)i));
		be32_store(value, i);
		len = dta_encode(f + 42, FRAME - 42, DTA_FORMAT_1, &r);
		if (len < 0 || net_udp4_encode(f, 42, &h, (size_t)len) < 0)
			die("a report that does not fit");
		p[i] = (struct pkt){f, 42u + (uint32_t)len, 42u + (uint32_t)len,
				    i * 100ull};
	}
	return p;
}

static void make_regions(void)
{
	struct layout l = {.n = 1};
	struct region_options o = {.epochs = 1};
	static const char path[] = "bench-dart-cluster.ini";
	const struct packet_transport_options po = {.cluster = path};
	FILE *out = fopen(path, "w");
	struct error err = {0};
	char name[64];

	if (!out)
		die(path);
	fprintf(out, "[cluster]\nversion = 1\n");

	l.table[0] = (struct table){.name = "flows",
				    .id = 1,
				    .kind = TABLE_KEYWRITE,
				    .copies = 1,
				    .key_len = KEY,
				    .key_type = KEY_HEX,
				    .value_len = 4,
				    .stride = 8,
				    .units = SLOTS,
				    .sequence = TABLE_SEQ_OFF};
	for (unsigned c = 0; c < COLLECTORS; c++) {
		snprintf(name, sizeof(name), "dta-test-%d-bench-dart-%u",
			 (int)getpid(), c);
		if (region_create(&region[c], name, &l, &o, &err) < 0 ||
		    local_open(&local[c], region[c], &err) < 0)
			die(err.text);
		fprintf(out, "[collector %u]\nregion = %s\n", c, name);
	}
	table = *region_table(region[0], 0);
	if (fclose(out) || packet_transport_open(&cluster, &po, &err) < 0)
		die(err.text);
	/* The names go at once: nothing is left behind. region_remove() refuses
	 * regions that have writers. */
	unlink(path);
	for (unsigned c = 0; c < COLLECTORS; c++)
		unlink(region_path(region[c]));
}

/* One way to go, measured in each round. */
struct way {
	const char *name;
	unsigned copies, collectors;
	bool roce;
	bool dart;
	unsigned against; /* the way whose rate is the limit */
	struct transport *packets;
	struct translator *t;
	double rate[BENCH_ROUNDS];
};

static struct way ways[] = {
	{.name = "Key-Write into a region, N = 1", .copies = 1},
	{.name = "DART into a region, one of N = 2", .copies = 2, .dart = true},
	{.name = "DART into a region, one of N = 1", .copies = 1, .dart = true},
	{.name = "Key-Write as RoCEv2, N = 1",
	 .copies = 1,
	 .roce = true,
	 .against = 3},
	{.name = "DART as RoCEv2, one of N = 2",
	 .copies = 2,
	 .roce = true,
	 .dart = true,
	 .against = 3},
	{.name = "DART as RoCEv2, one of N = 1",
	 .copies = 1,
	 .roce = true,
	 .dart = true,
	 .against = 3},
	{.name = "Key-Write into three regions by hash, N = 1",
	 .copies = 1,
	 .collectors = COLLECTORS},
};

static int open_sink(void *way, struct snk **out, struct error *err)
{
	(void)way;
	return snk_open(out, "/dev/null", err);
}

static void way_open(struct way *w)
{
	static const char path[] = "bench-dart-ticket.ini";
	struct translate_options o = {
		.collectors = w->collectors, .dart = w->dart, .seed = 1};
	struct packet_transport_options po = {.ticket = path,
					      .dart = w->dart,
					      .open_sink = open_sink,
					      .to = "/dev/null"};
	struct transport *transport = w->collectors ? cluster
						    : local_transport(local[0]);
	struct ticket t = {0};
	struct error err = {0};

	if (w->roce) {
		FILE *out = fopen(path, "w");

		if (!out || ticket_of_region(&t, region[0], &err) < 0 ||
		    ticket_write(&t, out) < 0 || fclose(out))
			die(err.text);
		ticket_fini(&t);
		if (packet_transport_open(&w->packets, &po, &err) < 0)
			die(err.text);
		unlink(path);
		transport = w->packets;
	}
	if (translate_open(&w->t, &table, 1, transport, &o, &err) < 0)
		die(err.text);
}

static double run(const struct way *w)
{
	const struct pkt *p = pkts[w->copies - 1];
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i += PKT_BATCH)
		if (translate_rx(w->t, p + i, PKT_BATCH))
			die("translate_rx failed");
	return REPORTS / (bench_now() - start) / 1e6;
}

static void way_close(struct way *w)
{
	const struct translate_ledger *c = translate_counters(w->t);

	if (c->stored != c->received)
		die("a report was dropped");
	translate_close(w->t);
	if (w->packets)
		w->packets->close(w->packets);
}

int main(void)
{
	const unsigned n = sizeof(ways) / sizeof(ways[0]);
	double median[WAYS];

	pkts[0] = traffic(1);
	pkts[1] = traffic(2);
	make_regions();
	for (unsigned i = 0; i < n; i++)
		way_open(&ways[i]);
	for (unsigned i = 0; i < n; i++)
		run(&ways[i]); /* maps every page */
	for (int k = 0; k < BENCH_ROUNDS; k++)
		for (unsigned i = 0; i < n; i++)
			ways[i].rate[k] = run(&ways[i]);
	for (unsigned i = 0; i < n; i++) {
		median[i] = bench_median(ways[i].rate, BENCH_ROUNDS);
		bench_row(ways[i].name, median[i],
			  ways[i].against == i ? 0 : median[ways[i].against],
			  ways[i].roce ? NULL : region_page_kind(region[0]));
		way_close(&ways[i]);
	}
	cluster->close(cluster);
	for (unsigned c = 0; c < COLLECTORS; c++) {
		local_close(local[c]);
		region_close(region[c]);
	}
	return 0;
}
