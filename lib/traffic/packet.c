/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/packet.h"

#include "hash/bytes.h"
#include "wire/be.h"
#include "wire/net.h"

int traffic_decode(struct traffic_packet *out, const struct pkt *pkt)
{
	struct net_packet n;
	uint8_t same[16];
	int rc = net_packet_decode(&n, pkt->data, pkt->len);

	if (rc < 0)
		return rc;
	*out = (struct traffic_packet){
		.ts_ns = pkt->ts_ns,
		.v6 = n.version == 6,
		.fragment = n.fragment,
		.protocol = n.protocol,
		.ttl = n.ttl,
		.tcp_flags = n.tcp_flags,
		.src_port = n.src_port,
		.dst_port = n.dst_port,
		.ip_id = n.ip_id,
		.ip_len = n.ip_len,
		.seq = n.tcp_seq,
		.payload = n.tcp_payload,
	};
	out->key_len = (uint8_t)key_of_packet(out->key, &n);
	be64_store(same, (uint64_t)n.ip_len << 32 | n.tcp_seq);
	be64_store(same + 8, n.ip_id);
	out->id = hash_bytes(hash_bytes(0, out->key, out->key_len), same, 16);
	return 0;
}
