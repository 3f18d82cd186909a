/* SPDX-License-Identifier: BSD-2-Clause */
#include "frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "net/be.h"
#include "net/dta.h"
#include "net/net.h"

enum {
	FRAME = 80, /* bytes from one frame to the next */
	HEADERS = 42,
	KEY_AT = HEADERS + DTA_HEADER_LEN,
	LENGTH = KEY_AT + PEER_KEY + 4,
	TABLE = 1,
};

static void *must(void *p)
{
	if (!p)
		peer_fail("frames", "out of memory");
	return p;
}

void frames_open(struct frames *f, uint64_t flows, size_t max)
{
	*f = (struct frames){
		.flows = flows,
		.max = max,
		.block = must(calloc(max + 1, FRAME)),
		.pkt = must(calloc(max, sizeof(*f->pkt))),
		.room = must(calloc(max, PEER_KEY_ROOM)),
		.key = must(calloc(max, sizeof(*f->key))),
		.asked = must(calloc(max, sizeof(*f->asked))),
	};
	for (size_t i = 0; i < max; i++)
		f->key[i] = f->room + i * PEER_KEY_ROOM + PEER_HEADROOM;
}

void frames_close(struct frames *f)
{
	free(f->block);
	free(f->pkt);
	free(f->room);
	free(f->key);
	free(f->asked);
}

/* The mix is a bijection: keys differ. */
static void make_key(uint8_t *key, uint64_t flow)
{
	be64_store(key, rng_mix(flow + 1));
	be32_store(key + 8, (uint32_t)rng_mix(~flow));
	key[12] = NET_PROTO_TCP;
}

static void put_report(struct frames *f, size_t i, uint64_t flow,
		       uint32_t value)
{
	uint8_t *p = f->block + (i + 1) * FRAME, data[4];
	struct net_udp4 h = {.src = {10, 0, 1, 1},
			     .dst = {10, 0, 0, 51},
			     .src_port = 50000,
			     .dst_port = DTA_PORT,
			     .ttl = 64};
	uint8_t key[PEER_KEY];
	struct dta_report r = {.opcode = DTA_KEYWRITE,
			       .table = TABLE,
			       .key_len = PEER_KEY,
			       .data_len = 4,
			       .sequence = (uint16_t)f->drawn,
			       .key = key,
			       .data = data};

	make_key(key, flow);
	be32_store(data, value);
	if (dta_encode(p + HEADERS, FRAME - HEADERS, DTA_FORMAT_1, &r) !=
		    LENGTH - HEADERS ||
	    net_udp4_encode(p, HEADERS, &h, LENGTH - HEADERS) < 0)
		peer_fail("frames", "a report that does not fit");
	f->pkt[i] = (struct pkt){p, LENGTH, LENGTH, f->drawn * 100};
}

static uint32_t next_value(struct frames *f)
{
	return (uint32_t)rng_mix(++f->drawn);
}

void frames_fill(struct frames *f, uint64_t from, size_t n,
		 uint32_t *const latest[2])
{
	for (size_t i = 0; i < n; i++) {
		uint32_t value = next_value(f);

		latest[0][from + i] = latest[1][from + i] = value;
		put_report(f, i, from + i, value);
	}
}

/* A random flow, another stream of numbers than the values'. */
static uint64_t next_flow(struct frames *f)
{
	return rng_below(&(struct rng){~f->drawn}, f->flows);
}

void frames_draw(struct frames *f, size_t n, const size_t part[2],
		 uint32_t *const latest[2])
{
	for (size_t i = 0; i < n; i++) {
		uint32_t value = next_value(f);
		uint64_t flow = next_flow(f);

		for (unsigned k = 0; k < 2; k++)
			if (i < part[k])
				latest[k][flow] = value;
		put_report(f, i, flow, value);
	}
}

void frames_ask(struct frames *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		f->drawn++;
		f->asked[i] = (uint32_t)next_flow(f);
		make_key(f->room + i * PEER_KEY_ROOM + PEER_HEADROOM,
			 f->asked[i]);
	}
}

/* Whether a frame is a Key-Write report of the table, by its fields; not a
 * fragment, lengths and the sum of the IPv4 header right, no UDP checksum. */
static bool is_report(const uint8_t *p, uint32_t len)
{
	unsigned __int128 sum = (unsigned __int128)be64_load(p + 14) +
				be64_load(p + 22) + be32_load(p + 30);

	return len >= LENGTH && be16_load(p + 12) == 0x0800 && p[14] == 0x45 &&
	       p[23] == NET_PROTO_UDP && be16_load(p + 36) == DTA_PORT &&
	       be16_load(p + 38) == LENGTH - 34 &&
	       p[42] == (DTA_VERSION_1 << 4 | DTA_KEYWRITE) &&
	       p[44] == PEER_KEY && be16_load(p + 46) == TABLE &&
	       !(be16_load(p + 20) & 0xbfff) &&
	       be16_load(p + 16) == LENGTH - 14 && !be16_load(p + 40) &&
	       (p[43] & 15) <= DTA_MAX_COPIES &&
	       ((uint64_t)sum + (uint64_t)(sum >> 64)) % 0xffff == 0;
}

size_t frames_parse(const struct pkt *pkts, size_t n, const uint8_t **keys,
		    uint32_t *values)
{
	size_t reports = 0;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = pkts[i].data;

		if (!is_report(p, pkts[i].len))
			continue;
		keys[reports] = p + KEY_AT;
		values[reports++] = be32_load(p + KEY_AT + PEER_KEY);
	}
	return reports;
}
