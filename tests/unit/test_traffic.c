/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream of packets: of the model, of a capture laid out here. */
#include "sim/traffic.h"

#include "capture.h"
#include "net/be.h"
#include "net/net.h"

static struct traffic_counters ctr;
static unsigned rounds, waits, refused;

static bool again(void *ctx)
{
	(void)ctx;
	return rounds && rounds--;
}

static void before_wait(void *ctx)
{
	(void)ctx;
	waits++;
}

static bool not_port_7(void *ctx, const struct traffic_packet *p)
{
	(void)ctx;
	refused += p->dst_port == 7;
	return p->dst_port != 7;
}

static struct traffic_options model(enum traffic_item item)
{
	memset(&ctr, 0, sizeof(ctr));
	refused = waits = 0;
	return (struct traffic_options){
		.model =
			{
				.seed = 5,
				.flows = 100,
				.rate = 3,
				.start_ns = 1000,
			},
		.item = item,
		.max_flows = 1000,
		.ctr = &ctr,
		.again = again,
		.before_wait = before_wait,
	};
}

static struct traffic *opened(const struct traffic_options *o)
{
	struct traffic *t;
	struct error err = {""};

	if (!TEST(traffic_open(&t, o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return t;
}

/* One packet per flow, three a second, twice round. */
static void of_flows(enum traffic_item item)
{
	struct traffic_options o = model(item);
	struct traffic *t = opened(&o);
	struct traffic_packet p, q;
	struct synth_flows flows;
	struct error err;

	rounds = 1;
	synth_flows_init(&flows, &o.model);
	for (uint64_t i = 0; i < 200; i++) {
		TEST(traffic_next(t, &p, &err) == 1);
		TEST(p.ts_ns == 1000 + i * 1000000000 / 3);
		if (item == TRAFFIC_NUMBERS) {
			TEST(p.id == i % 100);
			continue;
		}
		synth_flow(&flows, &q, i % 100);
		TEST(p.id == q.id && !memcmp(p.key, q.key, q.key_len));
	}
	TEST(traffic_next(t, &p, &err) == 0 && traffic_next(t, &p, &err) == 0);
	TEST(ctr.packets == 200 && !ctr.not_ip && !ctr.malformed);
	traffic_close(t);
}

/* All packets: those of synth_next(); two rounds are two of them. */
static void of_packets(void)
{
	struct traffic_options o = model(TRAFFIC_PACKETS);
	struct traffic *t = opened(&o);
	struct traffic_packet p, q;
	struct synth *s;
	struct error err;
	uint64_t n = 0;

	rounds = 1;
	if (synth_open(&s, &o.model))
		exit(1);
	for (int round = 0; round < 2; round++) {
		for (; synth_next(s, &q); n++) {
			TEST(traffic_next(t, &p, &err) == 1);
			TEST(p.ts_ns == q.ts_ns && p.id == q.id);
		}
		synth_restart(s);
	}
	TEST(traffic_next(t, &p, &err) == 0);
	TEST(ctr.packets == n && n > 200);
	synth_close(s);
	traffic_close(t);
}

/* Those that are not wanted are left out, and time is heard of. */
static void unwanted(void)
{
	struct traffic_options o = model(TRAFFIC_PACKETS);
	unsigned got = 0, none = 0;
	struct traffic_packet p;
	struct traffic *t;
	struct error err;
	int rc;

	o.wanted = not_port_7;
	o.again = NULL;
	rounds = 1;
	t = opened(&o);
	while ((rc = traffic_next(t, &p, &err))) {
		got += rc == 1;
		none += rc == -EINTR;
	}
	TEST(got && none == refused && got + none == ctr.packets);
	TEST(rounds == 1); /* nobody was asked */
	traffic_close(t);
}

/* A frame of IPv4 and UDP from 10.0.0.last to a port. */
static void datagram(uint32_t ms, uint8_t last, uint16_t port)
{
	struct net_udp4 h = {
		.src = {10, 0, 0, last},
		.dst = {10, 0, 0, 200},
		.src_port = 1000,
		.dst_port = port,
		.ip_id = (uint16_t)ms,
		.ttl = 64,
	};
	uint8_t frame[64];
	int n = net_udp4_encode(frame, sizeof(frame), &h, 0);

	add(ms / 1000, 4);
	add(ms % 1000 * 1000000, 4);
	add((uint64_t)n, 4);
	add((uint64_t)n, 4);
	add_bytes(frame, (size_t)n);
}

static void frame(const char *hex)
{
	uint8_t bytes[64];
	size_t n = unhex(bytes, sizeof(bytes), hex);

	add(0, 8);
	add(n, 4);
	add(n, 4);
	add_bytes(bytes, n);
}

static void lay_out(void)
{
	begin(false);
	pcap_header(0xa1b23c4d, 1);
	datagram(1, 1, 53);
	frame("020000000001 020000000002 0806 0001"); /* ARP */
	datagram(1002, 2, 53);
	frame("020000000001 020000000002 0800 45000020"); /* cut */
	datagram(1003, 1, 53);
	datagram(1004, 3, 7);
	datagram(1005, 3, 53);
	datagram(1006, 2, 53);
	save(image.len);
}

/* What comes of the capture: the milliseconds of the packets, as ip_id. */
static void read_capture(struct traffic_options *o, const char *expected)
{
	struct traffic *t;
	struct traffic_packet p;
	char got[128] = "";
	struct error err;
	int rc;

	o->capture = path;
	t = opened(o);
	while ((rc = traffic_next(t, &p, &err)) == 1 || rc == -EINTR) {
		if (rc < 0)
			continue; /* a batch has come to its end */
		TEST(p.ts_ns == (uint64_t)p.ip_id * 1000000);
		TEST(p.key_len == KEY_FLOW4_LEN && !p.v6 && p.ip_len == 28);
		TEST(traffic_addr_len(&p) == 4);
		TEST(be32_load(traffic_dst(&p)) == (10u << 24 | 200));
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u ",
			 p.ip_id);
	}
	TEST(rc == 0 && waits > 0);
	TEST(ctr.packets == 8 && ctr.not_ip == 1 && ctr.malformed == 1);
	if (!TEST(!strcmp(got, expected)))
		fprintf(stderr, "%s\n", got);
	traffic_close(t);
}

static void of_capture(void)
{
	struct traffic_options o = model(TRAFFIC_PACKETS);

	lay_out();
	read_capture(&o, "1 1002 1003 1004 1005 1006 ");
	o = model(TRAFFIC_FLOWS);
	read_capture(&o, "1 1002 1004 1005 ");
	TEST(ctr.evicted == 0);
	/* forgotten: 2 by 1, 1 by 3, so 2 is new again */
	o = model(TRAFFIC_FLOWS);
	o.max_flows = 1;
	read_capture(&o, "1 1002 1003 1004 1005 1006 ");
	TEST(ctr.evicted == 5);
	/* what is not wanted is not remembered either */
	o = model(TRAFFIC_FLOWS);
	o.max_flows = 2;
	o.wanted = not_port_7;
	read_capture(&o, "1 1002 1005 1006 ");
	TEST(refused == 1 && ctr.evicted == 2);
}

static void ends_badly(void)
{
	struct traffic_options o = model(TRAFFIC_PACKETS);
	struct traffic_packet p;
	struct error err = {""};
	struct traffic *t;
	int n = 0, rc;

	o.capture = path;
	save(image.len - 1);
	t = opened(&o);
	while ((rc = traffic_next(t, &p, &err)) == 1)
		n++;
	TEST(n == 5 && rc == -EBADMSG && err.text[0]);
	traffic_close(t);
	o.capture = "/no/such/capture";
	TEST(traffic_open(&t, &o, &err) == -ENOENT && err.text[0]);
	o.capture = path;
	o.item = TRAFFIC_FLOWS;
	o.max_flows = 0;
	TEST(traffic_open(&t, &o, &err) == -EINVAL);
	traffic_close(NULL);
}

int main(void)
{
	capture_init();
	of_flows(TRAFFIC_FLOWS);
	of_flows(TRAFFIC_NUMBERS);
	of_packets();
	unwanted();
	of_capture();
	ends_badly();
	return capture_end();
}
