/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/shape.h"

#include "wire/net.h"

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

void shape_init(struct shape *s, uint16_t dst_port, size_t payload_len)
{
	const struct net_udp4 h = {.dst_port = dst_port};
	uint8_t like[SHAPE_READ] = {0};

	net_udp4_encode(like, sizeof(like), &h, payload_len);
	for (unsigned i = 0; i < SHAPE_LEN; i++)
		s->bytes[i] = like[SHAPE_AT + i] & shape_mask[i];
}
