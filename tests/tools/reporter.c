/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reporter IN OUT NODE HOP PATH_LEN SAMPLE [TABLE]: the reports that
 * p4/v1model/dta_reporter makes of a capture's packets, if they come in by port
 * 0. Tables are 1 (Key-Write), 2 (Append), 3 (Key-Increment) and 4 (Postcard).
 * With TABLE: the postcards for it that int_node makes, which tell its id.
 */
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "packet/pkt.h"
#include "net/be.h"
#include "net/dta.h"
#include "net/net.h"
#include "net/proto.h"

enum {
	FLOWS = 4096,
	HEADERS = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
	REPORT_MAX = HEADERS + DTA_HEADER_LEN + 64,
};

struct flow {
	uint8_t key[KEY_FLOW4_LEN];
	uint32_t packets;
};

static struct snk *out;
static uint16_t sequence;
static uint64_t seen[FLOWS];
static struct flow counted[FLOWS];
static unsigned node, hop, path_len, sample;
static unsigned cards_table; /* 0: dta_reporter */

static void report(uint8_t opcode, const void *key, size_t key_len,
		   const void *data, size_t data_len, uint64_t ts_ns)
{
	uint8_t own = (uint8_t)(cards_table ? 1 + hop : 1);
	struct dta_report r = {
		.opcode = opcode,
		/* As the test has numbered them. */
		.table = (uint16_t)(cards_table ? cards_table : opcode),
		.tracked = true,
		.sequence = sequence++,
		.key = key,
		.key_len = (uint16_t)key_len,
		.data = data,
		.data_len = (uint16_t)data_len,
		.hop = opcode == DTA_POSTCARD ? (uint8_t)hop : 0,
		.path_len = opcode == DTA_POSTCARD ? (uint8_t)path_len : 0,
	};
	struct net_udp4 h = {
		.eth_dst = {2, 0, 0, 0, 0, 1},
		.eth_src = {2, 0, 0, 1, 0, own},
		.src = {10, 1, 0, own},
		.dst = {10, 0, 0, 51},
		.src_port = 49374,
		.dst_port = DTA_PORT,
		.ttl = 64,
	};
	uint8_t *frame = snk_room(out, REPORT_MAX);
	int len = dta_encode(frame + HEADERS, REPORT_MAX - HEADERS,
			     DTA_FORMAT_1, &r);

	if (len < 0 || net_udp4_encode(frame, REPORT_MAX, &h, (size_t)len) < 0)
		exit(1);
	snk_done(out, HEADERS + (size_t)len, ts_ns);
}

static void look_for_change(const uint8_t *ip, const uint8_t *key, uint32_t row,
			    uint64_t ts_ns)
{
	uint32_t value = (uint32_t)ip[NET_IP4_AT_TTL] << 8 | ip[NET_IP4_AT_TOS];
	uint64_t now = (uint64_t)crc(CRC_CHECKSUM, key, KEY_FLOW4_LEN) << 32 |
		       value;
	uint32_t value_be = htobe32(value);

	if (seen[row] != now)
		report(DTA_KEYWRITE, key, KEY_FLOW4_LEN, &value_be, 4, ts_ns);
	seen[row] = now;
}

static void look_for_event(const uint8_t *ip, const uint8_t *key, uint8_t flags,
			   uint64_t ts_ns)
{
	bool begins = (flags & (NET_TCP_SYN | NET_TCP_ACK)) == NET_TCP_SYN;
	bool ends = flags & (NET_TCP_FIN | NET_TCP_RST);
	uint8_t list[4] = {0, 0, 0, ends}, entry[KEY_FLOW4_LEN + 3];

	if (!begins && !ends)
		return;
	memcpy(entry, key, KEY_FLOW4_LEN);
	entry[KEY_FLOW4_LEN] = flags;
	memcpy(entry + KEY_FLOW4_LEN + 1, ip + NET_IP4_AT_LEN, 2);
	report(DTA_APPEND, list, 4, entry, sizeof(entry), ts_ns);
}

static void count(const uint8_t *key, uint32_t row, uint64_t ts_ns)
{
	struct flow *f = &counted[row];
	uint8_t packets[8];
	bool same = !memcmp(f->key, key, KEY_FLOW4_LEN);

	be64_store(packets, f->packets);
	if (f->packets && !same)
		report(DTA_KEYINC, f->key, KEY_FLOW4_LEN, packets, 8, ts_ns);
	memcpy(f->key, key, KEY_FLOW4_LEN);
	f->packets = same ? f->packets + 1 : 1;
}

static void look_for_sample(const uint8_t *ip, const uint8_t *key,
			    uint64_t ts_ns)
{
	uint8_t packet[KEY_FLOW4_LEN + 2], value[4];

	memcpy(packet, key, KEY_FLOW4_LEN);
	memcpy(packet + KEY_FLOW4_LEN, ip + NET_IP4_AT_ID, 2);
	be32_store(value, node);
	if (!(crc(cards_table ? CRC_SLOT0 : CRC_COLLECTOR, packet,
		  sizeof(packet)) &
	      sample))
		report(DTA_POSTCARD, key, KEY_FLOW4_LEN, value, 4, ts_ns);
}

/* The IP header of a packet of a flow that the switch knows, or NULL. */
static const uint8_t *ip_of(const struct pkt *p)
{
	const uint8_t *ip = p->data + NET_ETH_LEN;
	size_t behind;

	if (p->len < HEADERS ||
	    be16_load(p->data + NET_ETH_AT_TYPE) != NET_ETHERTYPE_IP4 ||
	    ip[0] != NET_IP4_PLAIN ||
	    be16_load(ip + NET_IP4_AT_FRAGMENT) & NET_IP4_FRAGMENT)
		return NULL;
	behind = p->len - NET_ETH_LEN - NET_IP4_LEN;
	if (ip[NET_IP4_AT_PROTO] == NET_PROTO_UDP)
		return ip;
	return ip[NET_IP4_AT_PROTO] == NET_PROTO_TCP && behind >= NET_TCP_LEN
		       ? ip
		       : NULL;
}

static void packet(const struct pkt *p)
{
	const uint8_t *ip = ip_of(p);
	uint8_t key[KEY_FLOW4_LEN], flags = 0;
	uint32_t row;

	if (!ip)
		return;
	memcpy(key, ip + NET_IP4_AT_SRC, 8);
	memcpy(key + 8, ip + NET_IP4_LEN, 4);
	key[12] = ip[NET_IP4_AT_PROTO];
	if (key[12] == NET_PROTO_TCP)
		flags = ip[NET_IP4_LEN + NET_TCP_AT_FLAGS];
	row = crc(CRC_SLOT0, key, sizeof(key)) % FLOWS;
	if (cards_table) {
		look_for_sample(ip, key, p->ts_ns);
		return;
	}
	look_for_change(ip, key, row, p->ts_ns);
	look_for_event(ip, key, flags, p->ts_ns);
	count(key, row, p->ts_ns);
	look_for_sample(ip, key, p->ts_ns);
}

int main(int argc, char **argv)
{
	static struct pkt pkts[PKT_BATCH];
	struct error err = {0};
	struct src *s;
	int n;

	if (argc != 7 && argc != 8)
		return 2;
	node = (unsigned)strtoul(argv[3], NULL, 0);
	hop = (unsigned)strtoul(argv[4], NULL, 0);
	path_len = (unsigned)strtoul(argv[5], NULL, 0);
	sample = (unsigned)strtoul(argv[6], NULL, 0);
	cards_table = argc > 7 ? (unsigned)strtoul(argv[7], NULL, 0) : 0;
	if (src_open(&s, argv[1], &err) < 0 ||
	    snk_open(&out, argv[2], &err) < 0) {
		fprintf(stderr, "reporter: %s\n", err.text);
		return 1;
	}
	while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++)
			packet(&pkts[i]);
	src_close(s);
	return snk_close(out) < 0 || n < 0;
}
