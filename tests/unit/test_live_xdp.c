/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AF_XDP in a network namespace, in veth's driver (copy); several queues; what
 * it leaves to the host; what it lacks.
 */
#include "live_net.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "hash/crc.h"

enum {
	PORT = 40040,
};

static const struct live_options all = {.kind = LIVE_XDP};
static const struct live_options ours = {.kind = LIVE_XDP, .port = {7, PORT}};
static const struct live_options host = {.kind = LIVE_PACKET};

static void test_frames(const char *from, const char *to, const char *kind)
{
	struct src *s = net_source(to, &all);
	struct snk *k = net_sink(from);
	volatile uint8_t sum = 0;
	struct error err = {0};
	struct pkt p;

	TEST(!strcmp(src_kind(s), kind));
	for (uint32_t len = 60; len <= 1514; len += 44)
		if (net_send(k, len, 0, PORT, len),
		    !net_expect(s, len, 0, PORT, len))
			break;
	for (unsigned tags = 1; tags <= 2; tags++) {
		net_send(k, 1514, tags, PORT, tags);
		net_expect(s, 1514, tags, PORT, tags);
	}
	net_send(k, 100, 0, PORT, 1);
	TEST(src_rx(s, &p, 1, &err) == 1);
	for (int i = 1; i <= CRC_HEADROOM; i++)
		sum = (uint8_t)(sum + p.data[-i]);
	TEST(p.ts_ns > UINT64_C(1700000000000000000));
	net_row(s, k, PORT, 100000);
	TEST(!snk_close(k));
	src_close(s);
}

static void test_drops(void)
{
	struct src *s = net_source("vb", &all);
	struct snk *k = net_sink("va");

	net_flood(s, k, PORT);
	net_nothing_before(s, k, PORT, 7);
	TEST(!snk_close(k));
	src_close(s);
}

/* A packet of which only its bytes matter. */
static void send_bytes(struct snk *k, const uint8_t *p, size_t len)
{
	struct pkt out = {p, (uint32_t)len, (uint32_t)len, 0};

	TEST(!snk_tx(k, &out, 1) && !snk_flush(k));
}

/*
 * The host's socket sees what AF_XDP leaves to it: everything but whole UDP
 * datagrams for the ports.
 */
static void test_ports(void)
{
	struct src *s = net_source("vb", &ours), *h = net_source("vb", &host);
	struct snk *k = net_sink("va");
	uint8_t frame[100];
	struct error err = {0};
	struct pkt p;

	for (uint32_t i = 0; i < 16; i++) /* tags of either kind */
		net_send(k, 100, i & 1, i & 2 ? PORT : i & 4 ? 7 : 9, i);
	for (uint32_t i = 0; i < 16; i++)
		net_expect(i & 2 || i & 4 ? s : h, 100, i & 1,
			   i & 2   ? PORT
			   : i & 4 ? 7
				   : 9,
			   i);
	net_frame(frame, 100, 0, PORT, 1);
	frame[20] = 0x20; /* more fragments */
	send_bytes(k, frame, 100);
	frame[20] = 0;
	frame[21] = 1; /* a later one */
	send_bytes(k, frame, 100);
	frame[21] = 0;
	frame[23] = 6; /* TCP */
	send_bytes(k, frame, 100);
	frame[23] = 17;
	frame[12] = 0x88; /* not IP */
	send_bytes(k, frame, 100);
	frame[12] = 0x08;
	frame[14] = 0x4f; /* options up to the port's bytes, which are not it */
	send_bytes(k, frame, 100);
	send_bytes(k, frame, 14 + 60); /* cut before the ports */
	for (int i = 0; i < 6; i++)
		if (!TEST(src_rx(h, &p, 1, &err) == 1))
			break;
	/* with options, and the ports behind them: taken */
	memmove(frame + 14 + 60, frame + 34, 100 - 14 - 60);
	send_bytes(k, frame, 100);
	TEST(src_rx(s, &p, 1, &err) == 1 && p.data[14] == 0x4f);
	net_nothing_before(s, k, PORT, 20);
	net_nothing_before(h, k, 9, 21);
	TEST(!snk_close(k));
	src_close(s);
	src_close(h);
}

static void test_ip6(void)
{
	struct src *s = net_source("vb", &ours), *h = net_source("vb", &host);
	struct snk *k = net_sink("va");
	uint8_t frame[100] = {
		[12] = 0x86, [13] = 0xdd,      [14] = 0x60,	 [19] = 46,
		[20] = 17,   [56] = PORT >> 8, [57] = PORT & 255};
	struct error err = {0};
	struct pkt p;

	send_bytes(k, frame, 100);
	TEST(src_rx(s, &p, 1, &err) == 1 && p.len == 100);
	frame[20] = 44; /* a fragment */
	send_bytes(k, frame, 100);
	frame[20] = 17;
	send_bytes(k, frame, 60); /* cut inside UDP */
	TEST(src_rx(h, &p, 1, &err) == 1 && p.len == 100);
	TEST(src_rx(h, &p, 1, &err) == 1 && p.len == 60);
	net_nothing_before(s, k, PORT, 1);
	net_nothing_before(h, k, 9, 2);
	TEST(!snk_close(k));
	src_close(s);
	src_close(h);
}

/* An expression divides what the ports let in. */
static void test_filter(void)
{
	static const struct live_options o = {
		.kind = LIVE_XDP, .port = {7, PORT}, .filter = "len < 200"};
	struct src *s = net_source("vb", &o);
	struct snk *k = net_sink("va");

	net_send(k, 300, 0, PORT, 1);
	net_send(k, 100, 0, 9, 2);
	net_nothing_before(s, k, 7, 3);
	TEST(!snk_close(k));
	src_close(s);
}

/* Automatically: in the driver, if it is said what may be taken; else, and
 * where somebody has it already, AF_PACKET. */
static void test_auto(void)
{
	static const struct live_options o[] = {
		{.port = {PORT}},
		{.kind = LIVE_AUTO},
		{.port = {PORT}, .filter = "udp"},
	};
	struct error err = {0};
	struct src *s, *t;

	s = net_source("vb", &o[0]);
	TEST(!strcmp(src_kind(s), "AF_XDP copy"));
	TEST(src_open_live(&t, "vb", &ours, &err) == -EBUSY);
	TEST(!!strstr(err.text, "vb: another XDP program or AF_XDP socket"));
	t = net_source("vb", &o[0]);
	TEST(!strcmp(src_kind(t), "AF_PACKET"));
	src_close(t);
	src_close(s);
	for (int i = 1; i < 3; i++) {
		t = net_source("vb", &o[i]);
		TEST(!strcmp(src_kind(t), "AF_PACKET"));
		src_close(t);
	}
	t = net_source("lo", &o[0]); /* no XDP in the driver */
	TEST(!strcmp(src_kind(t), "AF_PACKET"));
	src_close(t);
	t = net_source("vb", &all); /* free again */
	src_close(t);
}

static void test_down_and_up(void)
{
	struct src *s = net_source("vb", &ours);
	struct snk *k = net_sink("va");
	struct error err = {0};
	struct pkt p;

	for (int i = 0; i < 2; i++) {
		uint64_t before = snk_drops(k);

		net_nothing_before(s, k, PORT, 1);
		net_run(i ? "ip link set va down" : "ip link set vb down");
		net_send(k, 100, 0, PORT, 2);
		TEST(snk_drops(k) == before + 1);
		src_wait(s, 0);
		TEST(src_rx(s, &p, 1, &err) == -EAGAIN);
		src_wait(s, PATIENCE_MS);
		net_run(i ? "ip link set va up" : "ip link set vb up");
		net_run("until ip link show va | grep -q LOWER_UP &&"
			" ip link show vb | grep -q LOWER_UP;"
			" do sleep 0.01; done");
		net_nothing_before(s, k, PORT, 4);
	}
	TEST(!snk_close(k));
	src_close(s);
}

/* Each processor's packets come by a queue of their own; all are read. */
static void test_queues(void)
{
	struct src *s = net_source("qb", &ours);
	struct snk *k = net_sink("qa");
	struct error err = {0};
	unsigned seen = 0;
	struct pkt p;
	cpu_set_t cpu;

	for (int i = 0; i < 100; i++) {
		CPU_ZERO(&cpu);
		CPU_SET(i & 1, &cpu);
		sched_setaffinity(0, sizeof(cpu), &cpu); /* if there are two */
		net_send(k, 100, 0, PORT, (uint32_t)i);
	}
	while (seen < 100 && TEST(src_rx(s, &p, 1, &err) == 1))
		seen++;
	TEST(seen == 100);
	/* one descriptor stands for all */
	src_wait(s, 0);
	TEST(src_rx(s, &p, 1, &err) == -EAGAIN && src_fd(s) >= 0);
	TEST(!snk_close(k));
	src_close(s);
}

static void test_removed(void)
{
	struct src *s = net_source("vb", &ours);
	struct error err = {0};
	struct pkt p;

	net_run("ip link del va");
	TEST(src_rx(s, &p, 1, &err) == -ENODEV);
	TEST(!strcmp(err.text, "vb: the interface was removed"));
	src_close(s);
}

static void check_permission(void)
{
	static const struct live_options o = {.port = {PORT}};
	struct error err = {0};
	struct src *s;

	TEST(!setuid(65534));
	TEST(src_open_live(&s, "vb", &ours, &err) == -EPERM);
	TEST(!!strstr(err.text, "CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF and "
				"CAP_PERFMON"));
	TEST(src_open_live(&s, "vb", &o, &err) == -EPERM);
	TEST(!!strstr(err.text, "cap_net_raw+ep"));
}

/* What the message says is enough, is. */
static void check_cure(void)
{
	static const struct {
		const char *name;
		unsigned bit;
	} named[] = {
		{"cap_net_raw", CAP_NET_RAW},
		{"cap_net_admin", CAP_NET_ADMIN},
		{"cap_bpf", CAP_BPF},
		{"cap_perfmon", CAP_PERFMON},
	};
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct c[_LINUX_CAPABILITY_U32S_3];
	uint64_t bits = 1 << CAP_IPC_LOCK; /* what check_memlock() is about */
	struct error err = {0};
	struct src *s;

	TEST(!syscall(SYS_capget, &h, c));
	c[0].effective = c[1].effective = 0;
	TEST(!syscall(SYS_capset, &h, c));
	TEST(src_open_live(&s, "vb", &ours, &err) == -EPERM);
	for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strstr(err.text, named[i].name))
			bits |= UINT64_C(1) << named[i].bit;
	c[0].effective = (uint32_t)bits;
	c[1].effective = (uint32_t)(bits >> 32);
	TEST(!syscall(SYS_capset, &h, c));
	if (TEST(!src_open_live(&s, "vb", &ours, &err)))
		src_close(s);
}

/* All capabilities but the one to lock memory without limit. */
static void check_memlock(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct c[_LINUX_CAPABILITY_U32S_3];
	struct rlimit l = {1 << 20, 1 << 20};
	struct error err = {0};
	struct src *s;

	TEST(!syscall(SYS_capget, &h, c));
	c[0].effective &= ~(1u << CAP_IPC_LOCK);
	c[0].permitted &= ~(1u << CAP_IPC_LOCK);
	TEST(!syscall(SYS_capset, &h, c) && !setrlimit(RLIMIT_MEMLOCK, &l));
	TEST(src_open_live(&s, "vb", &ours, &err) == -ENOBUFS);
	TEST(!!strstr(err.text, "the limit is 1024 KB"));
	TEST(!!strstr(err.text, "ulimit -l") &&
	     !!strstr(err.text, "CAP_IPC_LOCK"));
}

static void test_jumbo(void)
{
	struct error err = {0};
	struct src *s;

	net_run("ip link set vb mtu 9000");
	TEST(src_open_live(&s, "vb", &ours, &err) == -ENOTSUP);
	TEST(!!strstr(err.text, "vb: AF_XDP: the MTU is 9000"));
	net_run("ip link set vb mtu 1500");
}

int main(void)
{
	struct live_options o = {.kind = LIVE_XDP};
	struct error err = {0};
	struct src *s;

	net_start("ip link add va type veth peer name vb &&"
		  " ip link add qa numtxqueues 2 numrxqueues 2 type veth"
		  " peer name qb numtxqueues 2 numrxqueues 2 &&"
		  " ip link set qa up && ip link set qb up &&"
		  " ip link set lo mtu 1500");
	if (src_open_live(&s, "va", &o, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return TEST_SKIP; /* not built in, or no such kernel */
	}
	src_close(s);
	test_frames("va", "vb", "AF_XDP copy");
	TEST(src_open_live(&s, "lo", &o, &err) == -EOPNOTSUPP);
	TEST(!!strstr(err.text, "lo: AF_XDP: its driver has none"));
	test_drops();
	test_ports();
	test_ip6();
	test_filter();
	test_auto();
	test_down_and_up();
	test_queues();
	net_promiscuous(ours);
	net_child(check_permission);
	net_child(check_cure);
	net_child(check_memlock);
	test_jumbo();
	test_removed();
	return test_end();
}
