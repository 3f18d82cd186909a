/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AF_PACKET for workers that take batches in turn, in a network namespace: a
 * ring each; what must stay in order stays in one, whatever else differs.
 */
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <sys/socket.h>

#include "rings_rig.h"

/* Every one of them sends frames of all its forms. */
static void check_order(struct snk *k, const struct form *form, unsigned forms,
			const struct live_options *o)
{
	for (unsigned workers = 1; workers <= WORKERS; workers++) {
		static struct rig r;
		uint32_t sent = 0;

		rig_open(&r, workers, o);
		for (uint32_t i = 0; i < 400; i++) {
			for (uint32_t w = 0; w < WHO; w++, sent++)
				put(k, &form[(w + i) % forms],
				    (struct mark){w, i});
			TEST(!snk_flush(k));
			if (i % 40 == 39)
				until(&r, sent, PKT_BATCH);
		}
		TEST(src_drops(r.s) == 0);
		if (!TEST(r.bad == 0) || !TEST(apart(&r) == workers))
			fprintf(stderr,
				"%u workers: %u of %u out of order, %u sets\n",
				workers, r.bad, r.got, apart(&r));
		src_close(r.s);
	}
}

static void test_order(struct snk *k)
{
	static const struct form four[] = {
		{0, 0, false},
		{1, 0, false},
		{2, 0, false},
		{0, 3, false},
	};
	static const struct form six[] = {
		{0, 0, true},
		{1, 0, true},
		{2, 0, true},
	};
	const struct live_options all = {0}, ports = {.port = {PORT}},
				  text = {.filter = "not vlan 4095"};

	check_order(k, four, 4, &all);
	check_order(k, four, 4, &ports);
	check_order(k, four, 4, &text);
	check_order(k, six, 3, &all);
}

/* A worker's batches are out of its own ring as long as that has some. */
static void test_shares(struct snk *k)
{
	static const struct form form = {0, 0, false};
	static struct rig r;
	uint32_t own = 0, all = 0;

	rig_open(&r, WORKERS, &(struct live_options){0});
	for (uint32_t i = 0; i < 200; i++)
		for (uint32_t w = 0; w < WHO; w++)
			put(k, &form, (struct mark){w, i});
	TEST(!snk_flush(k));
	for (int i = 0; i < 100; i++)
		turn(&r, 16);
	for (unsigned who = 0; who < WHO; who++) {
		uint32_t most = 0;

		for (unsigned w = 0; w < WORKERS; w++) {
			all += r.calls[w][who];
			if (r.calls[w][who] > most)
				most = r.calls[w][who];
		}
		own += most;
	}
	if (!TEST(all >= 200 && own >= all - all / 8))
		fprintf(stderr, "%u of %u batches were the worker's own\n", own,
			all);
	until(&r, 200 * WHO, PKT_BATCH);
	TEST(r.bad == 0 && apart(&r) == WORKERS);
	src_close(r.s);
}

/* One source alone: the others help. */
static void test_alone(struct snk *k)
{
	static const struct form form = {0, 0, false};
	static struct rig r;
	uint32_t by = 0;

	rig_open(&r, WORKERS, &(struct live_options){0});
	for (uint32_t i = 0; i < 5000; i++)
		put(k, &form, (struct mark){1, i});
	TEST(!snk_flush(k));
	until(&r, 5000, 100);
	TEST(r.bad == 0);
	for (unsigned w = 0; w < WORKERS; w++)
		by += r.calls[w][1] > 10;
	TEST(by == WORKERS);
	src_close(r.s);
}

/* What workers have in hand stays as it is, whatever comes. */
static void test_keep(struct snk *k)
{
	static const struct form form = {0, 0, false};
	static struct rig r;
	struct fault f = {0};

	rig_open(&r, WORKERS, &(struct live_options){0});
	for (uint32_t i = 0; i < 100; i++)
		for (uint32_t w = 0; w < WHO; w++)
			put(k, &form, (struct mark){w, i});
	TEST(!snk_flush(k));
	usleep(100000); /* all blocks are handed over */
	for (unsigned w = 0; w < WORKERS; w++) {
		r.n[w] = w ? src_rx_now(r.s, r.pkts[w], PKT_BATCH, &f)
			   : src_rx(r.s, r.pkts[w], PKT_BATCH, &f);
		TEST(r.n[w] > 0);
	}
	while (src_drops(r.s) == 0)
		for (uint32_t i = 0; i < 10000; i++)
			put(k, &form, (struct mark){i % WHO, UINT32_MAX});
	for (unsigned w = 0; w < WORKERS; w++)
		look(&r, w);
	TEST(r.bad == 0);
	src_close(r.s);
}

/* n long frames of so many sources. */
static void put_long(struct snk *k, uint32_t n, uint32_t who)
{
	static const struct form form = {0, 0, false};
	static uint8_t frame[LONG];

	for (uint32_t i = 0; i < n; i++) {
		make(frame, &form, (struct mark){i % who, i});
		memcpy(snk_room(k, LONG), frame, LONG);
		snk_done(k, LONG, 0);
	}
	TEST(!snk_flush(k));
}

/* However much one takes, there is room for what comes. */
static void test_room(struct snk *k)
{
	enum { MANY = 4 * PKT_BATCH, RING = 16 << 20 };
	static struct pkt pkts[MANY];
	static struct rig r;
	struct fault f = {0};
	int n;

	rig_open(&r, 2, &(struct live_options){0});
	put_long(k, MANY, 1);
	usleep(100000);
	n = src_rx(r.s, pkts, MANY, &f);
	TEST(n > 0 && n < RING / 2 / 2 / LONG);
	src_close(r.s);
}

/* Nobody reads, one ring fills quickly and the others slowly, or speak once
 * after a long silence: time does not seem to be set back when they are read;
 * but that a machine may stand still for so long, once. */
static bool keeps_time(struct snk *k, bool silence)
{
	static const struct form form = {0, 0, false};
	uint32_t number[WHO] = {0};
	static struct rig r;
	bool speaks;

	rig_open(&r, WORKERS, &(struct live_options){0});
	for (unsigned i = 0; i < 400; i++) {
		put(k, &form, (struct mark){0, number[0]++});
		speaks = silence ? i == 399 : i % 10 == 0;
		for (unsigned w = 1; speaks && w < WHO; w++)
			put(k, &form, (struct mark){w, number[w]++});
		TEST(!snk_flush(k));
		usleep(1000);
	}
	go(&r, UINT32_MAX, PKT_BATCH, 5);
	TEST(r.got > 100); /* a ring has few blocks for such packets */
	src_close(r.s);
	return !r.set;
}

static void test_time(struct snk *k)
{
	for (int silence = 0; silence < 2; silence++) {
		bool kept = false;

		for (int i = 0; i < 5 && !kept; i++)
			kept = keeps_time(k, silence);
		TEST(kept);
	}
}

/* More than all rings hold: what is read and what was dropped are what was
 * sent. */
static void test_drops(struct snk *k)
{
	static struct rig r;
	uint32_t sent = 48000, got = 0;
	struct fault f = {0};
	int idle = 0, n;

	rig_open(&r, 2, &(struct live_options){0});
	put_long(k, sent, WHO);
	while (idle < 10) {
		n = src_rx(r.s, r.pkts[0], PKT_BATCH, &f);
		got += n > 0 ? (uint32_t)n : 0;
		idle = n > 0 ? 0 : idle + 1;
	}
	if (!TEST(got + src_drops(r.s) == sent) || !TEST(got < sent / 4 * 3))
		fprintf(stderr, "received %u, dropped %ju\n", got,
			(uintmax_t)src_drops(r.s));
	src_close(r.s);
}

/* A source hears its peer, not what its host sends. */
static void test_own(struct snk *k)
{
	static const struct form form = {0, 0, false};
	const struct live_options o = {.kind = LIVE_PACKET, .workers = 2},
				  port = {.kind = LIVE_PACKET,
					  .workers = 2,
					  .port = {PORT}};
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_ifindex = (int)if_nametoindex("vb")};
	struct src *s[2] = {net_source("vb", &o), net_source("vb", &port)};
	int own = socket(AF_PACKET, SOCK_RAW, 0);
	uint8_t frame[HEAD + BTH + sizeof(struct mark)];
	struct fault f = {0};
	struct pkt p;

	for (uint32_t i = 0; i < 100; i++) {
		size_t len = make(frame, &form, (struct mark){i % WHO, i});

		TEST(sendto(own, frame, len, 0, (struct sockaddr *)&to,
			    sizeof(to)) == (ssize_t)len);
	}
	close(own);
	net_send(k, 100, 0, PORT, 7);
	for (int i = 0; i < 2; i++) {
		net_expect(s[i], 100, 0, PORT, 7);
		src_wait(s[i], 50);
		TEST(src_rx(s[i], &p, 1, &f) == -EAGAIN);
		src_close(s[i]);
	}
}

/* Until its parent is gone, at most. */
static _Noreturn void send_all(struct snk *k)
{
	static const struct form form = {0, 0, false};

	for (uint32_t i = 0; getppid() != 1 && !snk_flush(k); i++)
		for (uint32_t w = 0; w < WHO; w++)
			put(k, &form, (struct mark){w, i});
	_exit(1);
}

/* While others send: what comes first is nothing twice, and in order. */
static void test_opening(void)
{
	static struct rig r;
	uint32_t got = 0, back = 0;
	struct fault f = {0};
	pid_t pid = fork();

	if (!pid)
		send_all(net_sink("va"));
	usleep(20000);
	rig_open(&r, WORKERS, &(struct live_options){.port = {PORT}});
	while (got < 20000) {
		int n = src_rx_now(r.s, r.pkts[0], PKT_BATCH, &f);

		for (int i = 0; i < n; i++, got++) {
			const struct pkt *p = &r.pkts[0][i];
			struct mark m;

			memcpy(&m, p->data + p->len - sizeof(m), sizeof(m));
			back += m.number < r.next[m.who];
			r.next[m.who] = m.number + 1;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!TEST(back == 0))
		fprintf(stderr, "%u of %u came twice or late\n", back, got);
	src_close(r.s);
}

static void test_down_and_up(struct snk *k)
{
	static const struct form form = {0, 0, false};
	static struct rig r;
	uint32_t sent = 0;

	rig_open(&r, WORKERS, &(struct live_options){.port = {PORT}});
	for (int i = 0; i < 2; i++) {
		for (uint32_t w = 0; w < WHO; w++, sent++)
			put(k, &form, (struct mark){w, (uint32_t)i});
		TEST(!snk_flush(k));
		until(&r, sent, PKT_BATCH);
		if (i)
			break;
		net_run("ip link set vb down");
		turn(&r, PKT_BATCH);
		turn(&r, PKT_BATCH);
		net_run("ip link set vb up");
		net_run("until ip link show va | grep -q LOWER_UP &&"
			" ip link show vb | grep -q LOWER_UP;"
			" do sleep 0.01; done");
	}
	TEST(r.bad == 0);
	src_close(r.s);
}

static void test_removed(void)
{
	const struct live_options o = {.kind = LIVE_PACKET, .workers = 2};
	struct src *s = net_source("vb", &o);
	struct fault f = {0};
	struct pkt p;

	net_run("ip link del va");
	TEST(src_rx(s, &p, 1, &f) == -ENODEV);
	TEST(!strcmp(f.text, "vb: the interface was removed"));
	src_close(s);
}

int main(void)
{
	struct snk *k;

	net_start("ip link add va type veth peer name vb");
	k = net_sink("va");
	test_order(k);
	test_shares(k);
	test_alone(k);
	test_keep(k);
	test_room(k);
	test_time(k);
	test_drops(k);
	test_own(k);
	test_opening();
	test_down_and_up(k);
	TEST(!snk_close(k));
	test_removed();
	return test_end();
}
