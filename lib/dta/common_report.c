/* SPDX-License-Identifier: BSD-2-Clause */
#include "dta/common_report.h"

#include "net/net.h"

enum {
	AT_TYPE = NET_ETH_AT_TYPE - SHAPE_AT,
	AT_IP = SHAPE_AT_IP - SHAPE_AT,
	AT_IP_LEN = AT_IP + NET_IP4_AT_LEN,
	AT_FRAGMENT = AT_IP + NET_IP4_AT_FRAGMENT,
	AT_PROTO = AT_IP + NET_IP4_AT_PROTO,
	AT_UDP = SHAPE_AT_UDP - SHAPE_AT,
	AT_PORT = AT_UDP + NET_UDP_AT_DST,
	AT_UDP_LEN = AT_UDP + NET_UDP_AT_LEN,
	AT_UDP_SUM = AT_UDP + NET_UDP_AT_SUM,
};

const uint8_t shape_mask[SHAPE_LEN] __attribute__((aligned(SHAPE_LEN))) = {
	[AT_TYPE] = 0xff,	  [AT_TYPE + 1] = 0xff,
	[AT_IP] = 0xff, /* version, header length */
	[AT_IP_LEN] = 0xff,	  [AT_IP_LEN + 1] = 0xff,
	[AT_FRAGMENT] = 0xbf, /* DF or not */
	[AT_FRAGMENT + 1] = 0xff, [AT_PROTO] = 0xff,
	[AT_PORT] = 0xff,	  [AT_PORT + 1] = 0xff,
	[AT_UDP_LEN] = 0xff,	  [AT_UDP_LEN + 1] = 0xff,
	[AT_UDP_SUM] = 0xff,	  [AT_UDP_SUM + 1] = 0xff,
};

static void shape_init(struct shape *s, uint16_t dst_port, size_t payload_len)
{
	const struct net_udp4 h = {.dst_port = dst_port};
	uint8_t frame[SHAPE_READ] = {0};

	net_udp4_encode(frame, sizeof(frame), &h, payload_len);
	for (unsigned i = 0; i < SHAPE_LEN; i++)
		s->bytes[i] = frame[SHAPE_AT + i] & shape_mask[i];
}

_Static_assert(sizeof(struct common_report) == 64, "a cache line");

void common_report_init(struct common_report *c, const struct table *t,
			unsigned state, uint16_t data_len, bool strict)
{
	uint16_t len = (uint16_t)(DTA_HEADER_LEN + t->key_len + data_len);
	uint64_t version = DTA_VERSION_1 << 4 | t->kind;
	bool lists = t->kind == TABLE_APPEND;

	shape_init(&c->shape, DTA_PORT, len);
	c->header = version << 56 | (uint64_t)t->key_len << 40;
	c->mask = UINT64_C(0xff00ff) << 40 | (uint64_t)strict << HEADER_TRACKED;
	c->desc = (uint64_t)state << DESC_TABLE |
		  (uint64_t)(t->immediate != 0) << DESC_IMMEDIATE |
		  (uint64_t)data_len << DESC_DATA_LEN;
	c->limit = lists ? t->lists : t->hops;
	c->frame_len = (uint16_t)(SHAPE_AT_PAYLOAD + len);
	c->copies = t->copies;
	c->checked = lists || t->kind == TABLE_POSTCARD ? t->kind : 0;
}

void common_report_clear(struct common_report *c)
{
	/* The mask is 0, so no header is equal under it. */
	*c = (struct common_report){.header = UINT64_MAX};
}
