/* SPDX-License-Identifier: BSD-2-Clause */
/* Any frame: what is handed out must lie inside it. */
#include <stdlib.h>

#include "net/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(const uint8_t *p, size_t n, const uint8_t *data, size_t size)
{
	if (p < data || n > size || (size_t)(p - data) > size - n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct net_packet p;
	struct net_udp u;
	uint8_t key[KEY_MAX];

	if (!net_udp_decode(&u, data, size)) {
		inside(u.payload, u.len, data, size);
		inside(u.src, u.version == 4 ? 4 : 16, data, size);
		inside(u.dst, u.version == 4 ? 4 : 16, data, size);
		/* what a datagram is, a packet is too */
		if (net_packet_decode(&p, data, size) || p.protocol != 17 ||
		    p.src_port != u.src_port || p.dst_port != u.dst_port)
			abort();
	}
	if (!net_packet_decode(&p, data, size)) {
		inside(p.src, p.version == 4 ? 4 : 16, data, size);
		if (key_of_packet(key, &p) != (p.version == 4 ? 13 : 37))
			abort();
		if (p.tcp_payload > p.ip_len)
			abort();
	}
	return 0;
}
