/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_frames PLAIN WITH BACK [CAPTURE]: three captures of the same packets: as
 * hosts send them, with INT and some hops over every encapsulation, and with
 * INT taken out again. The packets are made up, or those of the capture that
 * INT goes over in one way or another.
 */
#include "../unit/int_packets.h"
#include "int/int_md.h"
#include "int/int_md.h"
#include "packet/pkt.h"
#include "int_push.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	PACKETS = 3000,
	FRAME_MAX = 65536 + 256,
	WAYS = 10,
};

static const struct {
	uint8_t over, version;
	enum packet_kind kind;
} ways[WAYS] = {
	{INT_OVER_L4, INT_V0_5, PACKET_TCP},
	{INT_OVER_L4, INT_V1_0, PACKET_UDP},
	{INT_OVER_L4, INT_V2_1, PACKET_TCP},
	{INT_OVER_UDP, INT_V2_1, PACKET_UDP},
	{INT_OVER_NEW_UDP, INT_V2_1, PACKET_TCP},
	{INT_OVER_NEW_UDP, INT_V2_1, PACKET_ICMP},
	{INT_OVER_VXLAN, INT_V2_1, PACKET_VXLAN},
	{INT_OVER_VXLAN, INT_V2_1, PACKET_VXLAN_GPE},
	{INT_OVER_GENEVE, INT_V2_1, PACKET_GENEVE},
	{INT_OVER_GRE, INT_V2_1, PACKET_TCP},
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "int_frames: %s\n", what);
	exit(1);
}

static struct snk *open_capture(const char *path)
{
	struct error err;
	struct snk *s;

	if (snk_open(&s, path, &err))
		die(path);
	return s;
}

static void put_frame(struct snk *s, const uint8_t *frame, int len, uint64_t nr)
{
	const struct pkt p = {.data = frame,
			      .len = (uint32_t)len,
			      .wire_len = (uint32_t)len,
			      .ts_ns = nr * 1000};

	if (len < 0 || snk_tx(s, &p, 1))
		die("a packet did not come out");
}

static uint8_t frame[FRAME_MAX], back[FRAME_MAX];
static struct snk *out[3];
static uint64_t made;

static const struct int_profile *profile_of(unsigned way)
{
	static const char *const names[] = {"0.5", "1.0", "2.0", "2.1"};

	return int_profile_named(names[ways[way].version]);
}

/* With INT and two hops, of which the second may use its complement. */
static int with_int(unsigned way, const uint8_t *data, size_t n)
{
	static const uint8_t md[8] = {0, 0, 0, 1, 5, 0, 0, 10};
	const struct int_profile *profile = profile_of(way);
	struct int_source s = {
		.version = ways[way].version,
		.type = INT_TYPE_MD,
		.over = ways[way].over,
		.by = INT_BY_DSCP,
		.bitmap = ways[way].version == INT_V0_5 ? 0x9000 : 0x8001,
		.hops_max = 8,
	};
	struct int_transit t = {.md = md, .md_len = sizeof(md)};
	int len = int_insert(frame, sizeof(frame), profile, &s, data, n);

	for (int hop = 0; len > 0 && hop < 2; hop++) {
		t.complement = hop;
		len = int_push(frame, (size_t)len, sizeof(frame), profile, &t);
	}
	return len;
}

static void put_all(unsigned way, const uint8_t *data, size_t n, int len)
{
	const struct int_profile *profile = profile_of(way);
	struct int_place at;

	if (int_find(&at, profile, NET_ETHERTYPE_ETH, frame, (size_t)len))
		die("INT is not found");
	put_frame(out[0], data, (int)n, made);
	put_frame(out[1], frame, len, made);
	len = int_strip(back, sizeof(back), profile, &at, frame, (size_t)len);
	put_frame(out[2], back, len, made++);
}

static void make_up(void)
{
	static struct packet p;
	struct rng r = {1};

	for (uint64_t i = 0; i < PACKETS; i++) {
		unsigned way = i % WAYS;

		packet_make(&p, &r, ways[way].kind);
		put_all(way, p.data, p.len, with_int(way, p.data, p.len));
	}
}

static void take(const struct pkt *p, uint64_t nr)
{
	for (unsigned i = 0; i < WAYS; i++) {
		unsigned way = (unsigned)(nr + i) % WAYS;
		int len = with_int(way, p->data, p->len);

		if (len > 0) {
			put_all(way, p->data, p->len, len);
			return;
		}
	}
}

static void take_capture(const char *path)
{
	static struct pkt p[PKT_BATCH];
	struct src *src;
	struct error err;
	uint64_t nr = 0;
	int n;

	if (src_open(&src, path, &err))
		die(path);
	while ((n = src_rx(src, p, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++)
			take(&p[i], nr++);
	src_close(src);
	if (n < 0)
		die(path);
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		die("usage: int_frames PLAIN WITH BACK [CAPTURE]");
	for (int i = 0; i < 3; i++)
		out[i] = open_capture(argv[1 + i]);
	if (argc == 5)
		take_capture(argv[4]);
	else
		make_up();
	for (int i = 0; i < 3; i++)
		if (snk_close(out[i]))
			die("cannot write");
	return 0;
}
