/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows.p4 - traffic that a switch looks at: packets of IPv4 flows, TCP or UDP.
 *
 * The program's headers_t has ethernet, ipv4, udp and tcp, its meta_t src_port,
 * dst_port and flow: whether there is one.
 */
#ifndef P4_FLOWS
#define P4_FLOWS

#include "net.p4"

parser FlowParser(packet_in packet, out headers_t hdr, inout meta_t meta,
		  inout standard_metadata_t standard) {
	state start {
		packet.extract(hdr.ethernet);
		transition select(hdr.ethernet.type) {
			NET_ETHERTYPE_IP4: ipv4;
			default: accept;
		}
	}
	state ipv4 {
		packet.extract(hdr.ipv4);
		transition select(hdr.ipv4.plain,
				  hdr.ipv4.fragment & NET_IP4_FRAGMENT,
				  hdr.ipv4.proto) {
			(NET_IP4_PLAIN, 0, NET_PROTO_UDP): udp;
			(NET_IP4_PLAIN, 0, NET_PROTO_TCP): tcp;
			default: accept;
		}
	}
	state udp {
		packet.extract(hdr.udp);
		meta.src_port = hdr.udp.src_port;
		meta.dst_port = hdr.udp.dst_port;
		meta.flow = 1;
		transition accept;
	}
	state tcp {
		packet.extract(hdr.tcp);
		meta.src_port = hdr.tcp.src_port;
		meta.dst_port = hdr.tcp.dst_port;
		meta.flow = 1;
		transition accept;
	}
}

/* Copies of packets: what is made of them has its own checksum. */
control NoVerify(inout headers_t hdr, inout meta_t meta) {
	apply {
	}
}

const bit<32> SWITCH_FLOWS = 4096; /* rows of state by a flow's hash */

/*
 * Change detection, DTA 5.1: whether what is known of a flow is not what was
 * last seen in its row. Rows have the flow's checksum, not its key.
 */
control Changes(in bit<32> row, in bit<32> tag, in bit<32> value,
		out bit<1> changed) {
	register<bit<64>>(SWITCH_FLOWS) seen;
	bit<64> was;
	bit<64> now;

	apply {
		seen.read(was, row);
		now = tag ++ value;
		seen.write(row, now);
		changed = was != now ? 1w1 : 1w0;
	}
}

#endif
