/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live interfaces, over veth in a network namespace of its own; all is done by
 * one core.
 *
 * Sending: reports of random keys, by AF_XDP next to AF_PACKET; the other end
 * drops them at once (XDP_DROP), which is cheap.
 *
 * Receiving into a region, next to a loop that only counts the packets: the
 * kernel makes reports of random keys (a process in BPF_PROG_TEST_RUN, which is
 * cheap) and sends them through veth, receives them, and hands them to us.
 *
 * The same by two workers on all cores, which share a ring and have its packets
 * copied: by the time, and by what they take of it.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "packet/live.h"
#include "rdma/local.h"
#include "dta/cores.h"
#include "net/dta.h"
#include "net/key.h"
#include "net/net.h"

enum {
	FRAME = 67,
	KEY = 13,
	KEY_AT = 50, /* in the frame */
	ID_AT = 19,  /* low bytes, which are changed so that the sum stays */
	SRC_AT = 29,
	SLOTS = 1 << 22,
	ROUND_MS = 300,
};

static void die(const char *what)
{
	fprintf(stderr, "bench_live: %s\n", what);
	exit(1);
}

static void make_report(uint8_t *frame)
{
	struct net_udp4 h = {.src = {10, 0, 1, 0},
			     .dst = {10, 0, 0, 51},
			     .src_port = 50000,
			     .dst_port = DTA_PORT,
			     .ttl = 64};
	static const uint8_t key[KEY], value[4];
	struct dta_report r = {.opcode = DTA_KEYWRITE,
			       .copies = 1,
			       .table = 1,
			       .key_len = KEY,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	if (dta_encode(frame + 42, FRAME - 42, DTA_FORMAT_1, &r) !=
		    FRAME - 42 ||
	    net_udp4_encode(frame, 42, &h, FRAME - 42) < 0)
		die("a report that does not fit");
	net_ip4_set16(frame + NET_ETH_LEN, NET_IP4_AT_ID, 0xff);
}

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(const struct bpf_insn *text, unsigned n)
{
	union bpf_attr a = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)text,
		.insn_cnt = n,
		.license = (uintptr_t) "GPL",
	};

	return (int)bpf(BPF_PROG_LOAD, &a);
}

/* Has an interface drop all that it receives, until what is returned is
 * closed. */
static int drop_all(int ifindex)
{
	static const struct bpf_insn text[] = {
		{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_DROP},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	int prog = load(text, 2), link;
	union bpf_attr a = {.link_create = {
				    .prog_fd = (uint32_t)prog,
				    .target_ifindex = (uint32_t)ifindex,
				    .attach_type = BPF_XDP,
				    .flags = XDP_FLAGS_DRV_MODE,
			    }};

	link = prog < 0 ? -1 : (int)bpf(BPF_LINK_CREATE, &a);
	if (link < 0)
		die(strerror(errno));
	close(prog);
	return link;
}

/* A program that gives its packet a random key and source, and sends it by an
 * interface. */
static int load_generator(int ifindex)
{
	enum { R0, R1, R2, R6 = 6, R7, R8 };
	const struct bpf_insn text[] = {
		{BPF_ALU64 | BPF_MOV | BPF_X, R6, R1, 0, 0},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32},
		{BPF_LDX | BPF_MEM | BPF_W, R7, R6, 0, 0}, /* data */
		{BPF_LDX | BPF_MEM | BPF_W, R8, R6, 4, 0}, /* data_end */
		{BPF_ALU64 | BPF_MOV | BPF_X, R2, R7, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, R2, 0, 0, FRAME},
		{BPF_JMP | BPF_JGT | BPF_X, R2, R8, 7, 0},
		{BPF_STX | BPF_MEM | BPF_W, R7, R0, KEY_AT, 0},
		{BPF_STX | BPF_MEM | BPF_B, R7, R0, SRC_AT, 0},
		{BPF_ALU64 | BPF_XOR | BPF_K, R0, 0, 0, 0xff},
		{BPF_STX | BPF_MEM | BPF_B, R7, R0, ID_AT, 0},
		{BPF_ALU64 | BPF_MOV | BPF_K, R1, 0, 0, ifindex},
		{BPF_ALU64 | BPF_MOV | BPF_K, R2, 0, 0, 0},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};

	return load(text, sizeof(text) / sizeof(text[0]));
}

static int generator;
static uint8_t frame[FRAME];

/* A process that makes packets until it is killed. */
static pid_t generate(void)
{
	union bpf_attr a = {
		.test =
			{
				.prog_fd = (uint32_t)generator,
				.data_size_in = FRAME,
				.data_in = (uintptr_t)frame,
				.repeat = INT32_MAX,
				.flags = BPF_F_TEST_XDP_LIVE_FRAMES,
				.batch_size = 64,
			},
	};
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		if (bpf(BPF_PROG_TEST_RUN, &a) < 0)
			die(strerror(errno));
}

/* Millions of packets a second; t: NULL counts only. */
static double receive(struct src *s, struct translator *t)
{
	static struct pkt pkts[PKT_BATCH];
	double start = bench_now(), took;
	uint64_t n = 0, bytes = 0;
	struct error err = {0};

	while ((took = bench_now() - start) < ROUND_MS / 1000.0) {
		int m = src_rx(s, pkts, PKT_BATCH, &err);

		if (m < 0)
			die(err.text);
		n += (uint64_t)m;
		if (t && translate_rx(t, pkts, (size_t)m))
			die("translate_rx failed");
		for (int i = 0; !t && i < m; i++)
			bytes += pkts[i].len;
	}
	if (!t && bytes != n * FRAME)
		die("not our packets");
	return (double)n / took / 1e6;
}

static struct snk *open_sink(enum live_kind kind)
{
	struct error err = {0};
	struct snk *k;

	if (!snk_open_live(&k, "va", kind, &err))
		return k;
	fprintf(stderr, "bench_live: %s\n", err.text);
	return NULL;
}

/* Millions of frames a second that the interface took. */
static double send_round(struct snk *k)
{
	static struct rng rng = {.state = 1};
	uint64_t n = 0, drops = snk_drops(k);
	double start = bench_now(), took;

	while ((took = bench_now() - start) < ROUND_MS / 1000.0) {
		for (int i = 0; i < PKT_BATCH; i++, n++) {
			uint8_t *at = snk_room(k, FRAME);
			uint64_t key = rng_u64(&rng);

			memcpy(at, frame, FRAME);
			memcpy(at + KEY_AT, &key, sizeof(key));
			snk_done(k, FRAME, 0);
		}
		if (snk_flush(k))
			die("snk_flush failed");
	}
	return (double)(n - (snk_drops(k) - drops)) / took / 1e6;
}

static void run_sinks(void)
{
	struct snk *packet = open_sink(LIVE_PACKET), *xdp = open_sink(LIVE_XDP);
	double rate[2][BENCH_ROUNDS];
	int drop;
	char name[80];

	if (!packet || !xdp)
		return;
	drop = drop_all((int)if_nametoindex("vb"));
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		rate[0][i] = send_round(packet);
		rate[1][i] = send_round(xdp);
	}
	close(drop);
	bench_row("AF_PACKET, sent", bench_median(rate[0], BENCH_ROUNDS), 0,
		  NULL);
	snprintf(name, sizeof(name), "%s, sent (limit: AF_PACKET)",
		 snk_kind(xdp));
	bench_row(name, bench_median(rate[1], BENCH_ROUNDS),
		  bench_median(rate[0], BENCH_ROUNDS), NULL);
	snk_close(packet);
	snk_close(xdp);
}

static void run(enum live_kind kind, struct translator *t)
{
	struct live_options o = {.kind = kind, .port = {DTA_PORT}};
	double count[BENCH_ROUNDS], store[BENCH_ROUNDS];
	struct error err = {0};
	char name[80];
	uint64_t drops;
	struct src *s;
	pid_t pid;

	if (src_open_live(&s, "vb", &o, &err)) {
		fprintf(stderr, "bench_live: %s\n", err.text);
		return;
	}
	pid = generate();
	receive(s, t); /* until all of it runs */
	drops = src_drops(s);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		count[i] = receive(s, NULL);
		store[i] = receive(s, t);
	}
	if (src_drops(s) > drops)
		fprintf(stderr, "bench_live: %s: %ju dropped\n", src_kind(s),
			(uintmax_t)(src_drops(s) - drops));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	snprintf(name, sizeof(name), "%s into a region (limit: counting)",
		 src_kind(s));
	src_close(s);
	bench_row(name, bench_median(store, BENCH_ROUNDS),
		  bench_median(count, BENCH_ROUNDS), NULL);
}

static int take(void *ctx, const struct pkt **pkts, struct pkt *room, int max)
{
	struct error err;
	int n = src_rx_now(ctx, room, max, &err);

	(void)pkts;
	return n > 0 ? n : 0;
}

static double cpu_now(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* What a team receives in so long. */
static uint64_t work(struct src *s, struct translate_cores *c, double seconds)
{
	static struct pkt pkts[TRANSLATE_CORES_BATCH];
	uint64_t before = translate_cores_counters(c).received;
	double start = bench_now();
	struct error err = {0};

	while (bench_now() - start < seconds) {
		int m = src_rx(s, pkts, TRANSLATE_CORES_BATCH, &err);

		if (m == -EAGAIN ? translate_cores_rest(c)
		    : m < 0	 ? m
				 : translate_cores_rx(c, pkts, (size_t)m))
			die("translate_cores_rx failed");
	}
	translate_cores_rest(c);
	return translate_cores_counters(c).received - before;
}

/* Millions a second, of the clock and of the workers' time, by a team. */
static void receive_together(struct translator *t, double rate[2])
{
	struct live_options lo = {.kind = LIVE_PACKET, .port = {DTA_PORT}};
	struct translate_cores_options o = {.workers = 2, .take = take};
	struct translate_cores *c;
	double start, cpu, n;
	struct error err = {0};
	struct src *s;

	if (src_open_live(&s, "vb", &lo, &err) || src_hold_batches(s, 2))
		die(err.text);
	o.ctx = s;
	if (translate_cores_open(&c, t, &o, &err))
		die(err.text);
	work(s, c, ROUND_MS / 3000.0); /* what has come meanwhile */
	start = bench_now();
	cpu = cpu_now();
	n = (double)work(s, c, ROUND_MS / 1000.0) / 1e6;
	rate[0] = n / (bench_now() - start);
	rate[1] = n / (cpu_now() - cpu);
	translate_cores_close(c);
	src_close(s);
}

static void run_together(struct translator *t)
{
	double rate[BENCH_ROUNDS], spent[BENCH_ROUNDS], now[2];
	pid_t pid = generate();

	for (int i = -1; i < BENCH_ROUNDS; i++) {
		receive_together(t, now);
		rate[i < 0 ? 0 : i] = now[0];
		spent[i < 0 ? 0 : i] = now[1];
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (translate_counters(t)->stored < translate_counters(t)->received)
		die("reports that were not stored");
	bench_row("AF_PACKET, two workers", bench_median(rate, BENCH_ROUNDS), 0,
		  NULL);
	bench_row("the same, by the workers' time",
		  bench_median(spent, BENCH_ROUNDS), 0, NULL);
}

/* veth takes packets from XDP if its other end polls; GRO has it do so. */
static void make_net(void)
{
	struct ethtool_value gro = {ETHTOOL_SGRO, 1};
	struct ifreq r = {.ifr_name = "vb", .ifr_data = (char *)&gro};
	int fd;

	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0 ||
	    system("ip link add va type veth peer name vb && "
		   "ip link set va up && ip link set vb up") != 0) {
		fprintf(stderr, "bench_live: skipped: not root, or no network "
				"namespaces\n");
		exit(0);
	}
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (ioctl(fd, SIOCETHTOOL, &r) < 0)
		die(strerror(errno));
	close(fd);
}

int main(void)
{
	struct region_options ro = {.epochs = 1};
	struct layout l = {.n = 1};
	struct local_transport *local;
	struct translator *t = NULL;
	struct region *region;
	struct error err = {0};
	char name[64];
	cpu_set_t one, all;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	make_net();
	make_report(frame);
	generator = load_generator((int)if_nametoindex("va"));
	if (generator < 0)
		die(strerror(errno));
	l.table[0] = (struct table){.id = 1,
				    .kind = TABLE_KEYWRITE,
				    .name = "flows",
				    .copies = 1,
				    .key_len = KEY,
				    .key_type = KEY_HEX,
				    .value_len = 4,
				    .stride = 8,
				    .units = SLOTS};
	snprintf(name, sizeof(name), "dta-test-%d-bench-live", getpid());
	if (region_create(&region, name, &l, &ro, &err))
		die(err.text);
	region_remove(name, NULL);
	if (local_open(&local, region, &err) ||
	    translate_open(&t, region_table(region, 0), 1,
			   local_transport(local), NULL, &err))
		die(err.text);
	run_sinks();
	run(LIVE_PACKET, t);
	run(LIVE_XDP, t);
	sched_setaffinity(0, sizeof(all), &all);
	run_together(t);
	translate_close(t);
	local_close(local);
	region_close(region);
	return 0;
}
