/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AF_PACKET with a ring for each worker: what a kernel may refuse when they are
 * opened, and what is seldom in a ring: blocks without packets, or with none
 * that is wanted, and stamps of a clock that was set back.
 */
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "rings_rig.h"

enum {
	RING_BLOCK = 1 << 17, /* as in ring_src.c */
};

static int refused, why; /* an option of packet sockets, or 0 */

/* In the place of the C library's: the kernel may refuse one. */
int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (level == SOL_PACKET && refused && name == refused) {
		errno = why;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

static const struct form plain = {0, 0, false}, tagged = {1, 0, false};

/* Blocks of all rings that were handed over; change: what becomes of them, or
 * NULL. */
static unsigned handed_over(void (*change)(struct tpacket_block_desc *b))
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned blocks = 0;
	char line[512];

	while (TEST(maps != NULL) && fgets(line, sizeof(line), maps)) {
		uintptr_t from, to;

		if (!strstr(line, "socket:") ||
		    sscanf(line, "%jx-%jx", &from, &to) != 2)
			continue;
		for (; from < to; from += RING_BLOCK) {
			struct tpacket_block_desc *b = (void *)from;

			if (!(b->hdr.bh1.block_status & TP_STATUS_USER))
				continue;
			if (change)
				change(b);
			blocks++;
		}
	}
	fclose(maps);
	return blocks;
}

/* In a block of its own. */
static void send_one(struct snk *k, const struct form *form, struct mark m)
{
	unsigned before = handed_over(NULL), ms = 0;

	put(k, form, m);
	TEST(!snk_flush(k));
	while (handed_over(NULL) == before && ms++ < PATIENCE_MS)
		usleep(1000);
	TEST(handed_over(NULL) > before);
}

static struct snk *sending; /* while a source waits, or NULL */

/* In the place of the C library's: while it waits, two blocks come. */
int epoll_wait(int fd, struct epoll_event *e, int max, int ms)
{
	struct snk *k = sending;

	sending = NULL;
	if (k) {
		send_one(k, &tagged, (struct mark){0, 5});
		send_one(k, &plain, (struct mark){0, 1});
	}
	return (int)syscall(SYS_epoll_pwait, fd, e, max, ms, NULL, 0);
}

static const struct live_options two = {.kind = LIVE_PACKET, .workers = 2};

/* One ring is there for all, and waits for the interface. */
static void test_down(struct snk *k)
{
	struct src *s;

	for (int i = 0; i < 2; i++) {
		net_run("ip link set vb down");
		refused = i ? PACKET_FANOUT : 0;
		why = EINVAL; /* Linux before 6.2, 6.13 */
		s = net_source("vb", &two);
		refused = 0;
		if (i) {
			TEST(!strcmp(src_kind(s), "AF_PACKET"));
			TEST(!src_keep(s, 2));
		}
		net_run("ip link set vb up");
		net_run("until ip link show va | grep -q LOWER_UP &&"
			" ip link show vb | grep -q LOWER_UP;"
			" do sleep 0.01; done");
		net_row(s, k, PORT, 1000);
		src_close(s);
	}
}

static void expect_refused(const struct live_options *o, int rc,
			   const char *text)
{
	struct fault f = {0};
	struct src *s;

	if (!TEST(src_open_live(&s, "vb", o, &f) == rc) ||
	    !TEST(!strcmp(f.text, text)))
		fprintf(stderr, "%s\n", f.text);
}

/* What is wrong, and what helps. */
static void test_refused(void)
{
	struct live_options o = {.kind = LIVE_PACKET, .workers = 3};
	static char text[2048] = "host ::";

	while (strlen(text) + sizeof("||host ::") <= sizeof(text))
		strcat(text, "||host ::");
	refused = PACKET_RX_RING;
	why = ENOMEM;
	expect_refused(&o, -ENOMEM,
		       "vb: no memory for 3 rings of 16 MB: have fewer cores "
		       "(-j)");
	refused = PACKET_FANOUT;
	why = ENOSPC;
	expect_refused(&o, -ENOSPC,
		       "vb: PACKET_FANOUT: No space left on device");
	refused = 0;
	o.filter = text;
	for (o.workers = 1; o.workers <= 2; o.workers++)
		expect_refused(&o, -ENOMEM,
			       "vb: filter: longer than the kernel takes "
			       "(sysctl net.core.optmem_max): make it shorter");
}

/* Who comes by another of two rings than 0 does. */
static uint32_t other_than_0(struct snk *k)
{
	static struct rig r;
	uint32_t who = 1;

	rig_open(&r, 2, &two);
	for (uint32_t i = 0; i < 400; i++)
		for (uint32_t w = 0; w < WHO; w++)
			put(k, &plain, (struct mark){w, i});
	TEST(!snk_flush(k));
	until(&r, 400 * WHO, PKT_BATCH);
	src_close(r.s);
	while (who < WHO - 1 && chain_end(&r, who) == chain_end(&r, 0))
		who++;
	return who;
}

/* Whose batch is the first, if one spoke ms before the other. */
static uint32_t first_of(struct snk *k, uint32_t a, uint32_t b, unsigned ms)
{
	struct fault f = {0};
	struct pkt p[2];
	struct mark m;
	struct src *s = net_source("vb", &two);

	send_one(k, &plain, (struct mark){a, 0});
	usleep(ms * 1000);
	send_one(k, &plain, (struct mark){b, 0});
	if (!TEST(src_rx(s, p, 2, &f) == 1))
		exit(test_end());
	memcpy(&m, p->data + p->len - sizeof(m), sizeof(m));
	src_close(s);
	return m.who;
}

/* The older comes first, whichever ring is due. */
static void test_time(struct snk *k, uint32_t other)
{
	for (unsigned ms = 200; ms <= 1500; ms += 1300) {
		TEST(first_of(k, 0, other, ms) == 0);
		TEST(first_of(k, other, 0, ms) == other);
	}
}

/* The clock was set back since, by less than a second. */
static void came_later(struct tpacket_block_desc *b)
{
	struct tpacket3_hdr *h = (void *)((uint8_t *)b +
					  b->hdr.bh1.offset_to_first_pkt);

	h->tp_nsec += 700000000;
	h->tp_sec += h->tp_nsec / 1000000000;
	h->tp_nsec %= 1000000000;
}

/* What one sent before the clock was set back comes when its ring is due,
 * however much another one has by now. */
static void test_set_back(struct snk *k, uint32_t one, uint32_t another)
{
	static struct rig r;
	bool came = false;

	rig_open(&r, 2, &two);
	send_one(k, &plain, (struct mark){one, 0});
	TEST(handed_over(came_later) == 1);
	for (uint32_t i = 0; i < 5; i++)
		send_one(k, &plain, (struct mark){another, i});
	for (unsigned w = 0; w < 2; w++) {
		struct fault f = {0};
		struct mark m;

		r.n[w] = w ? src_rx_now(r.s, r.pkts[w], 1, &f)
			   : src_rx(r.s, r.pkts[w], 1, &f);
		if (!TEST(r.n[w] == 1))
			exit(test_end());
		memcpy(&m, r.pkts[w]->data + r.pkts[w]->len - sizeof(m),
		       sizeof(m));
		came |= m.who == one;
	}
	TEST(came);
	for (unsigned w = 0; w < 2; w++)
		look(&r, w);
	until(&r, 6, PKT_BATCH);
	TEST(r.bad == 0);
	src_close(r.s);
}

static void make_empty(struct tpacket_block_desc *b)
{
	b->hdr.bh1.num_pkts = 0;
}

/* Blocks of no packets go back to the ring that they are of. */
static void test_empty(struct snk *k, uint32_t other)
{
	static struct rig r;

	rig_open(&r, 2, &two);
	for (uint32_t i = 0; i < 6; i++)
		send_one(k, &plain, (struct mark){i % 2 ? other : 0, 0});
	TEST(handed_over(make_empty) == 6);
	turn(&r, PKT_BATCH);
	for (uint32_t i = 0; i < 20; i++) {
		put(k, &plain, (struct mark){0, i});
		send_one(k, &plain, (struct mark){other, i});
	}
	until(&r, 40, PKT_BATCH);
	TEST(r.bad == 0);
	src_close(r.s);
}

/* What one has in hand stays as it is while another looks at what is behind it
 * and wants nothing of that. */
static void test_unwanted(struct snk *k)
{
	static struct rig r;
	struct fault f = {0};

	rig_open(&r, 2, &(struct live_options){.filter = "not vlan 5"});
	send_one(k, &plain, (struct mark){0, 0});
	r.n[0] = src_rx(r.s, r.pkts[0], PKT_BATCH, &f);
	TEST(r.n[0] == 1);
	for (int i = 0; i < 20; i++)
		send_one(k, &tagged, (struct mark){0, 5});
	TEST(src_rx_now(r.s, r.pkts[1], PKT_BATCH, &f) == -EAGAIN);
	while (src_drops(r.s) < 10000)
		for (uint32_t i = 0; i < 10000; i++)
			put(k, &plain, (struct mark){0, UINT32_MAX});
	TEST(!snk_flush(k));
	look(&r, 0);
	TEST(r.got == 1 && r.bad == 0);
	src_close(r.s);
}

/* Of two blocks that came while one was in hand a worker wants nothing of the
 * first: then there is something to do still, for who waits for that. */
static void test_behind(struct snk *k)
{
	static struct rig r;
	struct pollfd p = {.events = POLLIN};
	struct fault f = {0};

	rig_open(&r, 2, &(struct live_options){.filter = "not vlan 5"});
	p.fd = src_fd(r.s);
	send_one(k, &plain, (struct mark){0, 0});
	r.n[0] = src_rx(r.s, r.pkts[0], 1, &f);
	TEST(r.n[0] == 1);
	sending = k;
	TEST(src_rx(r.s, r.pkts[1], 1, &f) == -EAGAIN);
	TEST(!sending);
	look(&r, 0);
	TEST(poll(&p, 1, 0) == 1);
	r.n[0] = src_rx(r.s, r.pkts[0], 1, &f);
	TEST(r.n[0] == 1);
	look(&r, 0);
	TEST(r.got == 2 && r.bad == 0);
	src_close(r.s);
}

int main(void)
{
	uint32_t other;
	struct snk *k;

	net_start("ip link add va type veth peer name vb");
	k = net_sink("va");
	test_down(k);
	test_refused();
	other = other_than_0(k);
	test_time(k, other);
	test_set_back(k, 0, other);
	test_set_back(k, other, 0);
	test_empty(k, other);
	test_unwanted(k);
	test_behind(k);
	TEST(!snk_close(k));
	return test_end();
}
