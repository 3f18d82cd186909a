/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flows.p4 - traffic that a switch looks at: packets of IPv4 flows, TCP or UDP.
 *
 * The program's ingress_headers_t has ethernet, ipv4, udp and tcp, its
 * ingress_meta_t src_port, dst_port and flow: whether there is one.
 */
#ifndef TNA_FLOWS
#define TNA_FLOWS

#include "net.p4"
#include "crc.p4"

/* The states from frame on, in the ingress parser; UDP goes on with the state
 * after_udp. */
#define FLOW_STATES(after_udp) \
	state frame { \
		packet.extract(hdr.ethernet); \
		transition select(hdr.ethernet.type) { \
			NET_ETHERTYPE_IP4: ipv4; \
			default: accept; \
		} \
	} \
	state ipv4 { \
		packet.extract(hdr.ipv4); \
		transition select(hdr.ipv4.plain, hdr.ipv4.fragment, \
				  hdr.ipv4.proto) { \
			(NET_IP4_PLAIN, 0 &&& NET_IP4_FRAGMENT, \
			 NET_PROTO_UDP): udp; \
			(NET_IP4_PLAIN, 0 &&& NET_IP4_FRAGMENT, \
			 NET_PROTO_TCP): tcp; \
			default: accept; \
		} \
	} \
	state udp { \
		packet.extract(hdr.udp); \
		meta.src_port = hdr.udp.src_port; \
		meta.dst_port = hdr.udp.dst_port; \
		meta.flow = 1; \
		transition after_udp; \
	} \
	state tcp { \
		packet.extract(hdr.tcp); \
		meta.src_port = hdr.tcp.src_port; \
		meta.dst_port = hdr.tcp.dst_port; \
		meta.flow = 1; \
		transition accept; \
	}

const bit<32> SWITCH_FLOWS = 4096; /* rows of state by a flow's hash */
typedef bit<12> flow_row_t;

/* A hash of the flow. */
#define FLOW_FIELDS \
	hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port, hdr.ipv4.proto

struct seen_t {
	bit<32> tag;
	bit<32> value;
}

/*
 * Change detection, DTA 5.1: whether what is known of a flow is not what was
 * last seen in its row. Rows have the flow's checksum, not its key.
 */
control Changes(in bit<32> row, in bit<32> tag, in bit<32> value,
		inout bit<8> changed) {
	Register<seen_t, flow_row_t>(SWITCH_FLOWS) seen;
	RegisterAction<seen_t, flow_row_t, bit<8>>(seen) compare = {
		void apply(inout seen_t s, out bit<8> differs) {
			differs = 0;
			if (s.tag != tag || s.value != value)
				differs = 1;
			s.tag = tag;
			s.value = value;
		}
	};
	action look() {
		changed = compare.execute(row[11:0]);
	}
	apply {
		look();
	}
}

#endif
