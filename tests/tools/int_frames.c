/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_frames PLAIN WITH BACK: three captures of the same packets: as hosts send
 * them, with INT and some hops over every encapsulation, and with INT taken out
 * again.
 */
#include "../unit/int_packets.h"
#include "inband/int_md.h"
#include "inband/int_source.h"
#include "packet/pkt.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	PACKETS = 3000,
};

static const struct {
	uint8_t over, version;
	enum packet_kind kind;
} ways[] = {
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
	struct fault f;
	struct snk *s;

	if (snk_open(&s, path, &f))
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

/* With INT and two hops, of which the second may use its complement. */
static int with_int(uint8_t *frame, size_t cap, const struct packet *p,
		    const struct int_profile *profile, uint64_t nr)
{
	static const uint8_t md[8] = {0, 0, 0, 1, 5, 0, 0, 10};
	struct int_source s = {
		.version = ways[nr % 10].version,
		.type = INT_TYPE_MD,
		.over = ways[nr % 10].over,
		.by = INT_BY_DSCP,
		.bitmap = ways[nr % 10].version == INT_V0_5 ? 0x9000 : 0x8001,
		.hops_max = 8,
		.tunnel = true,
		.outer_version = nr / 10 % 2 ? 6 : 4,
		.around_frame = nr / 20 % 2,
	};
	struct int_transit t = {.md = md, .md_len = sizeof(md)};
	int len = int_insert(frame, cap, profile, &s, p->data, p->len);

	for (int hop = 0; len > 0 && hop < 2; hop++) {
		t.complement = hop;
		len = int_push(frame, (size_t)len, cap, profile, &t);
	}
	return len;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"0.5", "1.0", "2.0", "2.1"};
	static uint8_t frame[8192], back[8192];
	static struct packet p;
	struct rng r = {1};
	struct snk *out[3];

	if (argc != 4)
		die("usage: int_frames PLAIN WITH BACK");
	for (int i = 0; i < 3; i++)
		out[i] = open_capture(argv[1 + i]);
	for (uint64_t i = 0; i < PACKETS; i++) {
		const struct int_profile *profile = int_profile_named(
			names[ways[i % 10].version]);
		struct int_place at;
		int len;

		packet_make(&p, &r, ways[i % 10].kind);
		put_frame(out[0], p.data, (int)p.len, i);
		len = with_int(frame, sizeof(frame), &p, profile, i);
		put_frame(out[1], frame, len, i);
		if (int_find(&at, profile, NET_ETHERTYPE_ETH, frame,
			     (size_t)len))
			die("INT is not found");
		len = int_strip(back, sizeof(back), profile, &at, frame,
				(size_t)len);
		put_frame(out[2], back, len, i);
	}
	for (int i = 0; i < 3; i++)
		if (snk_close(out[i]))
			die("cannot write");
	return 0;
}
