/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * INT's comparisons in the kernel, on a veth interface in a network namespace
 * of its own, next to XDP_DROP on the same interface, and next to one that
 * reads a word of each line of the packet before. All of it is done by one
 * core: the kernel makes the packets (a process in BPF_PROG_TEST_RUN, which is
 * cheap), sends them through veth, and gives them to the program. No value
 * changes: there are no events.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "int/int_md.h"
#include "int/treport.h"
#include "packet/live.h"
#include "net/be.h"
#include "net/net.h"
#include "xdp/xdp.h"

enum {
	HOPS_MAX = 32,
	HEADERS = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
	ROUND_MS = 300,
	WARM_MS = 1500,
	FLOWS_MANY = 0xffff,
};

static struct {
	uint8_t bytes[2048];
	size_t len, key_at; /* 4 bytes of the flow's key */
	size_t number_at;   /* a report's number, 4 bytes */
} frame;

static void die(const char *what)
{
	fprintf(stderr, "bench_int_xdp: %s\n", what);
	exit(1);
}

static void skip(const char *why)
{
	fprintf(stderr, "bench_int_xdp: skipped: %s\n", why);
	exit(0);
}

/* A packet with INT-MD of one bitmap: all values are small numbers. */
static void make_packet(const struct int_profile *p, uint16_t bitmap,
			unsigned hops)
{
	uint8_t plain[HEADERS + 32] = {0}, stack[HOPS_MAX * 64] = {0};
	struct net_udp4 h = {.src = {10, 0, 1, 1},
			     .dst = {10, 0, 0, 2},
			     .src_port = 50000,
			     .dst_port = 80,
			     .ttl = 64};
	struct int_layout plan;
	struct int_source s = {.version = p->version,
			       .type = INT_TYPE_MD,
			       .over = INT_OVER_L4,
			       .by = INT_BY_DSCP,
			       .hops_max = HOPS_MAX,
			       .bitmap = bitmap,
			       .hops = hops,
			       .stack = stack};
	int len;

	int_layout_make(&plan, p->instruction, INT_BITMAP_BITS, bitmap);
	for (unsigned i = 0; i < hops; i++) {
		uint64_t value[INT_FIELDS];

		for (unsigned k = 0; k < INT_FIELDS; k++)
			value[k] = i + k;
		int_put(stack + i * plan.len, &plan, UINT32_MAX, value);
	}
	s.stack_len = (size_t)hops * plan.len;
	if (net_udp4_encode(plain, HEADERS, &h, sizeof(plain) - HEADERS) < 0)
		die("no packet");
	len = int_insert(frame.bytes, sizeof(frame.bytes), p, &s, plain,
			 sizeof(plain));
	if (len < 0)
		die("no INT");
	frame.len = (size_t)len;
	frame.key_at = NET_ETH_LEN + NET_IP4_AT_SRC;
	frame.number_at = 0; /* the MAC address, which is no matter */
}

/* A report of the packet that was made. */
static void make_report(uint8_t version)
{
	struct net_udp4 h = {.src = {10, 0, 1, 1},
			     .dst = {10, 0, 0, 51},
			     .src_port = 50000,
			     .dst_port = INT_REPORT_PORT,
			     .ttl = 64};
	uint8_t packet[sizeof(frame.bytes)];
	struct treport_fields say = {.from = {.version = version, .node = 1},
				     .flags = INT_TRACKED,
				     .inner_type = TREPORT_ETHERNET,
				     .inner = packet,
				     .inner_len = frame.len};
	int len;

	memcpy(packet, frame.bytes, frame.len);
	len = treport_encode(frame.bytes + HEADERS,
			     sizeof(frame.bytes) - HEADERS, &say);
	if (len < 0)
		die("no report");
	frame.key_at += HEADERS + (size_t)len - frame.len;
	frame.number_at = HEADERS + TREPORT_V1_AT_SEQUENCE;
	frame.len = HEADERS + (size_t)len;
	if (net_udp4_encode(frame.bytes, HEADERS, &h, (size_t)len) < 0)
		die("no report's packet");
}

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(const struct bpf_insn *text, size_t size)
{
	union bpf_attr a = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)text,
		.insn_cnt = (uint32_t)(size / sizeof(*text)),
		.license = (uintptr_t) "GPL",
	};
	int fd = (int)bpf(BPF_PROG_LOAD, &a);

	if (fd < 0)
		skip(strerror(errno));
	return fd;
}

/* A number that programs count. */
static int new_counter(void)
{
	union bpf_attr a = {.map_type = BPF_MAP_TYPE_ARRAY,
			    .key_size = 4,
			    .value_size = 4,
			    .max_entries = 1};
	int fd = (int)bpf(BPF_MAP_CREATE, &a);

	if (fd < 0)
		skip(strerror(errno));
	return fd;
}

/* Gives its packet one of so many flows, and a report its number, and sends it
 * by an interface. */
static int load_generator(int ifindex, int flows)
{
	enum { R0, R1, R2, R6 = 6, R7, R8, R9, R10 };
	const int counter = new_counter();
	const struct bpf_insn text[] = {
		{BPF_ALU64 | BPF_MOV | BPF_X, R6, R1, 0, 0},
		{BPF_ST | BPF_MEM | BPF_W, R10, 0, -4, 0},
		{BPF_LD | BPF_DW | BPF_IMM, R1, BPF_PSEUDO_MAP_FD, 0, counter},
		{0},
		{BPF_ALU64 | BPF_MOV | BPF_X, R2, R10, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, R2, 0, 0, -4},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem},
		{BPF_JMP | BPF_JEQ | BPF_K, R0, 0, 16, 0}, /* never */
		{BPF_LDX | BPF_MEM | BPF_W, R9, R0, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, R9, 0, 0, 1},
		{BPF_STX | BPF_MEM | BPF_W, R0, R9, 0, 0},
		{BPF_ALU | BPF_END | BPF_TO_BE, R9, 0, 0, 32},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32},
		{BPF_ALU64 | BPF_AND | BPF_K, R0, 0, 0, flows},
		{BPF_LDX | BPF_MEM | BPF_W, R7, R6, 0, 0}, /* data */
		{BPF_LDX | BPF_MEM | BPF_W, R8, R6, 4, 0}, /* data_end */
		{BPF_ALU64 | BPF_MOV | BPF_X, R2, R7, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, R2, 0, 0, (int)frame.len},
		{BPF_JMP | BPF_JGT | BPF_X, R2, R8, 5, 0},
		{BPF_STX | BPF_MEM | BPF_W, R7, R0, (int16_t)frame.key_at, 0},
		{BPF_STX | BPF_MEM | BPF_W, R7, R9, (int16_t)frame.number_at,
		 0},
		{BPF_ALU64 | BPF_MOV | BPF_K, R1, 0, 0, ifindex},
		{BPF_ALU64 | BPF_MOV | BPF_K, R2, 0, 0, 0},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};

	return load(text, sizeof(text));
}

static int load_drop(void)
{
	const struct bpf_insn text[] = {
		{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_DROP},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};

	return load(text, sizeof(text));
}

/* The same behind a look at each line. */
static int load_read(void)
{
	enum { R0, R1, R2, R3, LINE = 64 };
	struct bpf_insn text[64] = {
		{BPF_LDX | BPF_MEM | BPF_W, R2, R1, 4, 0}, /* data_end */
		{BPF_LDX | BPF_MEM | BPF_W, R1, R1, 0, 0}, /* data */
		{BPF_ALU64 | BPF_MOV | BPF_K, R0, 0, 0, XDP_DROP},
		{BPF_ALU64 | BPF_MOV | BPF_X, R3, R1, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, R3, 0, 0, (int)frame.len},
		{BPF_JMP | BPF_JLE | BPF_X, R3, R2, 1, 0},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	unsigned n = 7;

	for (size_t at = 0; at + 4 <= frame.len && n < 63; at += LINE)
		text[n++] = (struct bpf_insn){BPF_LDX | BPF_MEM | BPF_W, R3, R1,
					      (int16_t)at, 0};
	text[n++] = (struct bpf_insn){BPF_JMP | BPF_EXIT, 0, 0, 0, 0};
	return load(text, n * sizeof(*text));
}

static int attach(int prog)
{
	union bpf_attr a = {.link_create = {
				    .prog_fd = (uint32_t)prog,
				    .target_ifindex = if_nametoindex("vb"),
				    .attach_type = BPF_XDP,
				    .flags = XDP_FLAGS_DRV_MODE,
			    }};
	int fd = (int)bpf(BPF_LINK_CREATE, &a);

	if (fd < 0)
		die(strerror(errno));
	return fd;
}

/* A process that sends the packet by a packet socket until it is killed. */
static pid_t send_on(void)
{
	struct error err;
	struct snk *k;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (snk_open_live(&k, "va", LIVE_PACKET, &err) < 0)
		die(err.text);
	for (uint32_t i = 0;; i++) {
		be32_store(frame.bytes + frame.number_at, i);
		memcpy(snk_room(k, frame.len), frame.bytes, frame.len);
		snk_done(k, frame.len, 0);
	}
}

/* A process that makes packets until it is killed. */
static pid_t generate(int prog)
{
	union bpf_attr a = {
		.test =
			{
				.prog_fd = (uint32_t)prog,
				.data_size_in = (uint32_t)frame.len,
				.data_in = (uintptr_t)frame.bytes,
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

static uint64_t came(void)
{
	FILE *f = fopen("/proc/net/dev", "re");
	unsigned long long n = 0;
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, " vb: %*u %llu", &n) == 1;
	if (!found)
		die("no count of packets");
	fclose(f);
	return n;
}

/* Time that a core has spent on making, sending and taking packets: it does
 * other things, too. */
static double spent(pid_t pid)
{
	struct timespec t;
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &t))
		die("no clock of the process");
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Millions of packets in a second of that; events are read, so that the ring is
 * empty. */
static double count(struct xdp_sink *x, pid_t pid, int ms)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	double start = bench_now(), before = spent(pid);
	struct pkt pkts[PKT_BATCH];
	uint64_t had = came();
	struct error err;

	while (bench_now() - start < ms / 1000.0) {
		nanosleep(&pause, NULL);
		src_rx(xdp_sink_source(x), pkts, PKT_BATCH, &err);
	}
	return (double)(came() - had) / (spent(pid) - before) / 1e6;
}

static void put_row(const char *what, int flows, const char *limit,
		    double *ours, double *theirs)
{
	char name[128];

	snprintf(name, sizeof(name), "XDP, %s, %s (limit: %s)", what,
		 flows < 0   ? "from a socket"
		 : flows > 0 ? "64 K flows"
			     : "1 flow",
		 limit);
	bench_row(name, bench_median(ours, BENCH_ROUNDS),
		  bench_median(theirs, BENCH_ROUNDS), NULL);
}

/* flows: of packets that XDP makes, a mask; -1: sent by a socket, of one. */
static void run(const struct int_profile *p, const char *what, int flows)
{
	static const struct telemetry_thresholds th;
	static const struct telemetry_sinks nowhere;
	double ours[BENCH_ROUNDS], drop[BENCH_ROUNDS], read[BENCH_ROUNDS];
	const struct xdp_sink_options o = {.profile = p, .sinks = &nowhere};
	const void *ctr;
	uint64_t frames;
	struct xdp_sink *x;
	struct error err;
	pid_t pid;
	int link;

	if (xdp_sink_open(&x, &o, &err) || xdp_sink_set_thresholds(x, &th))
		skip(err.text);
	pid = flows < 0 ? send_on()
			: generate(load_generator((int)if_nametoindex("va"),
						  flows));
	link = attach(xdp_sink_prog(x));
	count(x, pid, WARM_MS);
	close(link);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		link = attach(load_drop());
		drop[i] = count(x, pid, ROUND_MS);
		close(link);
		link = attach(load_read());
		read[i] = count(x, pid, ROUND_MS);
		close(link);
		link = attach(xdp_sink_prog(x));
		ours[i] = count(x, pid, ROUND_MS);
		close(link);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ctr = xdp_sink_counters(x);
	frames = ledger_get(&xdp_sink_ledger, ctr, 0);
	/* Neighbours' discovery is the host's, or may carry IOAM. */
	if (!frames || ledger_get(&xdp_sink_ledger, ctr, 2) + 100 < frames)
		die("not all packets were taken");
	xdp_sink_close(x);
	put_row(what, flows, "XDP_DROP", ours, drop);
	put_row(what, flows, "XDP_DROP that reads", ours, read);
}

int main(void)
{
	const struct int_profile *v1 = int_profile_named("1.0");
	const struct int_profile *v2 = int_profile_named("2.1");
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0 ||
	    system("ip link add va type veth peer name vb && "
		   "ip link set va up && ip link set vb up") != 0)
		skip("not root, or no network namespaces");
	/* veth takes packets from XDP if its other end has a program. */
	make_packet(v2, 0xb000, 5);
	run(v2, "INT-MD 2.1, 5 hops of 4 words", 0);
	run(v2, "INT-MD 2.1, 5 hops of 4 words", -1);
	make_packet(v1, 0xfd00, 6);
	make_report(1);
	run(v1, "report 1.0, 6 hops, all fields", 0);
	run(v1, "report 1.0, 6 hops, all fields", FLOWS_MANY);
	run(v1, "report 1.0, 6 hops, all fields", -1);
	return 0;
}
