/* SPDX-License-Identifier: BSD-2-Clause */
/* parser.p4 - INT in packets, and checksums: of what may change they have the
 * rest when it is parsed, and what it is then when it is deparsed. */
#ifndef INT_NODE_PARSER
#define INT_NODE_PARSER

/* Lengths count in the pseudo header, too. */
#define EXTRACT_IPV4 \
	packet.extract(hdr.ipv4); \
	ip_sum.subtract({ hdr.ipv4.plain, hdr.ipv4.tos, hdr.ipv4.len, \
			  hdr.ipv4.sum }); \
	meta.ip_rest = ip_sum.get(); \
	sum.subtract({ hdr.ipv4.len });

#define EXTRACT_UDP \
	packet.extract(hdr.udp); \
	meta.src_port = hdr.udp.src_port; \
	meta.dst_port = hdr.udp.dst_port; \
	sum.subtract({ hdr.udp.len, hdr.udp.sum });

#define EXTRACT_TCP \
	packet.extract(hdr.tcp); \
	meta.src_port = hdr.tcp.src_port; \
	meta.dst_port = hdr.tcp.dst_port; \
	sum.subtract({ hdr.tcp.sum });

@noWarn("uninitialized_out_param")
parser NodeIngressParser(packet_in packet, out ingress_headers_t hdr,
			 out ingress_meta_t meta,
			 out ingress_intrinsic_metadata_t ingress) {
	Checksum() ip_sum;
	Checksum() sum;

	state start {
		packet.extract(ingress);
		packet.advance(PORT_METADATA_SIZE);
		meta.flow = 0;
		meta.has_int = 0;
		meta.udp_sum = 0;
		meta.src_port = 0;
		meta.dst_port = 0;
		transition frame;
	}
	/* What is looked at of an IPv4 header is more than the four bytes that a
	 * state can keep for the next one; and a header of which a checksum is
	 * taken must not be split. So its first byte is looked at here. */
	state frame {
		packet.extract(hdr.ethernet);
		transition select(hdr.ethernet.type,
				  packet.lookahead<bit<8>>()) {
			(NET_ETHERTYPE_IP4, NET_IP4_PLAIN): ipv4;
			(NET_ETHERTYPE_IP4, _): ipv4_not_plain;
			default: accept;
		}
	}
	state ipv4_not_plain {
		packet.extract(hdr.ipv4);
		transition accept;
	}
	state ipv4 {
		EXTRACT_IPV4
		transition select(hdr.ipv4.fragment, hdr.ipv4.proto,
				  hdr.ipv4.tos) {
			(0 &&& NET_IP4_FRAGMENT, NET_PROTO_UDP,
			 (bit<8>)INT_DSCP << 2 &&& 0xfc): udp_with_int;
			(0 &&& NET_IP4_FRAGMENT, NET_PROTO_TCP,
			 (bit<8>)INT_DSCP << 2 &&& 0xfc): tcp_with_int;
			(0 &&& NET_IP4_FRAGMENT, NET_PROTO_UDP, _): udp;
			(0 &&& NET_IP4_FRAGMENT, NET_PROTO_TCP, _): tcp;
			default: accept;
		}
	}
	state udp {
		EXTRACT_UDP
		meta.flow = 1;
		meta.rest = sum.get();
		transition select(hdr.udp.sum) {
			0: accept;
			default: udp_sum;
		}
	}
	state udp_sum {
		meta.udp_sum = 1;
		transition accept;
	}
	state tcp {
		EXTRACT_TCP
		meta.flow = 1;
		meta.rest = sum.get();
		transition accept;
	}
	state udp_with_int {
		EXTRACT_UDP
		meta.flow = 1;
		transition select(hdr.udp.sum) {
			0: shim;
			default: shim_udp_sum;
		}
	}
	state shim_udp_sum {
		meta.udp_sum = 1;
		transition shim;
	}
	state tcp_with_int {
		EXTRACT_TCP
		meta.flow = 1;
		transition shim;
	}
	/* A stack that can be taken out, of up to 31 words; what is else passes
	 * as it is. */
	state shim {
		packet.extract(hdr.shim);
		sum.subtract({ hdr.shim });
		transition select(hdr.shim.type, packet.lookahead<bit<4>>()) {
			(INT_TYPE_MD, 2): words;
			default: accept;
		}
	}
	/* Behind the header's 3 words, a remainder of up to 7, and eights. */
#define STACK(remainder, eights, words) words: take_##remainder##_##eights;
#define STACKS(eights) \
	STACK(0, eights, 3 + 8 * eights) \
	STACK(1, eights, 4 + 8 * eights) \
	STACK(2, eights, 5 + 8 * eights) \
	STACK(3, eights, 6 + 8 * eights) \
	STACK(4, eights, 7 + 8 * eights) \
	STACK(5, eights, 8 + 8 * eights) \
	STACK(6, eights, 9 + 8 * eights) \
	STACK(7, eights, 10 + 8 * eights)
	state words {
		transition select(hdr.shim.words) {
			STACKS(0)
			STACKS(1)
			STACKS(2)
			STACKS(3)
			default: accept;
		}
	}
#define TAKE(header) \
	packet.extract(hdr.header); \
	sum.subtract({ hdr.header });
#define TAKE_STATES(eights, then) \
	state take_0_##eights { \
		TAKE(md) \
		then \
	} \
	state take_1_##eights { \
		TAKE(md) \
		TAKE(one) \
		then \
	} \
	state take_2_##eights { \
		TAKE(md) \
		TAKE(two) \
		then \
	} \
	state take_3_##eights { \
		TAKE(md) \
		TAKE(one) \
		TAKE(two) \
		then \
	} \
	state take_4_##eights { \
		TAKE(md) \
		TAKE(four) \
		then \
	} \
	state take_5_##eights { \
		TAKE(md) \
		TAKE(one) \
		TAKE(four) \
		then \
	} \
	state take_6_##eights { \
		TAKE(md) \
		TAKE(two) \
		TAKE(four) \
		then \
	} \
	state take_7_##eights { \
		TAKE(md) \
		TAKE(one) \
		TAKE(two) \
		TAKE(four) \
		then \
	}
/* The state that is the last: one that takes something. */
#define LAST \
	meta.has_int = 1; \
	meta.rest = sum.get(); \
	transition accept;
	TAKE_STATES(0, LAST)
	TAKE_STATES(1, transition eight_1;)
	TAKE_STATES(2, transition eight_2;)
	TAKE_STATES(3, transition eight_3;)
	state eight_3 {
		TAKE(eight_3)
		transition eight_2;
	}
	state eight_2 {
		TAKE(eight_2)
		transition eight_1;
	}
	state eight_1 {
		TAKE(eight_1)
		LAST
	}
}

#define PACKET_SUMS \
	hdr.ipv4.sum = ip_sum.update({ hdr.ipv4.plain, hdr.ipv4.tos, \
				       hdr.ipv4.len, meta.ip_rest })

control NodeIngressDeparser(packet_out packet, inout ingress_headers_t hdr,
			    in ingress_meta_t meta,
			    in ingress_intrinsic_metadata_for_deparser_t
				    deparser) {
	Checksum() ip_sum;
	Checksum() tcp_sum;
	Checksum() udp_sum;
	Mirror() mirror;

	apply {
		if (deparser.mirror_type == SWITCH_MIRROR)
			mirror.emit<bridge_h>(meta.session,
					      { meta.what, meta.says,
						meta.hop, meta.path_len,
						hdr.bridge.from, hdr.bridge.to,
						hdr.bridge.ingress_time });
		if (meta.changed == 1) {
			PACKET_SUMS;
			hdr.tcp.sum = tcp_sum.update({ hdr.ipv4.len, hdr.shim,
						       hdr.md, meta.rest });
		}
		if (meta.udp_sum == 1)
			hdr.udp.sum = udp_sum.update(
				{ hdr.ipv4.len, hdr.udp.len, hdr.shim, hdr.md,
				  meta.rest }, true);
		packet.emit(hdr);
	}
}

@noWarn("uninitialized_out_param")
parser NodeEgressParser(packet_in packet, out egress_headers_t hdr,
			out egress_meta_t meta,
			out egress_intrinsic_metadata_t egress) {
	Checksum() ip_sum;
	Checksum() sum;

	state start {
		packet.extract(egress);
		meta.has_int = 0;
		meta.udp_sum = 0;
		meta.adds = 0;
		transition select(packet.lookahead<bit<8>>()) {
			SWITCH_CARD: card;
			default: bridge;
		}
	}
	state card {
		packet.extract(hdr.card);
		transition accept;
	}
	/* Of one that passes, its flow is needed for a postcard. */
	state bridge {
		packet.extract(hdr.bridge);
		transition select(hdr.bridge.what, hdr.bridge.says) {
			(SWITCH_PASS, 0): accept;
			default: frame;
		}
	}
	/* Ingress has seen that it is a flow's. */
	state frame {
		packet.extract(hdr.ethernet);
		EXTRACT_IPV4
		transition select(hdr.ipv4.proto) {
			NET_PROTO_UDP: udp;
			default: tcp;
		}
	}
	state udp {
		EXTRACT_UDP
		transition select(hdr.bridge.what, hdr.udp.sum) {
			(SWITCH_PASS, _): accept;
			(_, 0): shim;
			default: udp_sum;
		}
	}
	state udp_sum {
		meta.udp_sum = 1;
		transition shim;
	}
	state tcp {
		EXTRACT_TCP
		transition select(hdr.bridge.what) {
			SWITCH_PASS: accept;
			default: shim;
		}
	}
	state shim {
		packet.extract(hdr.shim);
		packet.extract(hdr.md);
		sum.subtract({ hdr.shim, hdr.md });
		meta.has_int = 1;
		meta.rest = sum.get();
		transition accept;
	}
}

/* What is not there does not count. */
#define METADATA \
	hdr.shim, hdr.md, hdr.node, hdr.ports, hdr.latency, hdr.queue, \
	hdr.ingress_time, hdr.egress_time

control NodeEgressDeparser(packet_out packet, inout egress_headers_t hdr,
			   in egress_meta_t meta,
			   in egress_intrinsic_metadata_for_deparser_t
				   deparser) {
	Checksum() ip_sum;
	Checksum() tcp_sum;
	Checksum() udp_sum;
	Checksum() out_sum;
	Mirror() mirror;

	apply {
		if (deparser.mirror_type == SWITCH_MIRROR_CARD)
			mirror.emit<card_h>(meta.session,
					    { hdr.card.what, hdr.card.hop,
					      hdr.card.path_len, hdr.card.src,
					      hdr.card.dst, hdr.card.src_port,
					      hdr.card.dst_port, hdr.card.proto,
					      hdr.card.value });
		if (meta.has_int == 1) {
			PACKET_SUMS;
			hdr.tcp.sum = tcp_sum.update(
				{ hdr.ipv4.len, METADATA, meta.rest });
		}
		if (meta.udp_sum == 1)
			hdr.udp.sum = udp_sum.update(
				{ hdr.ipv4.len, hdr.udp.len, METADATA,
				  meta.rest }, true);
		if (hdr.out_ipv4.isValid())
			hdr.out_ipv4.sum =
				out_sum.update({ IP4_FIELDS(hdr.out_ipv4) });
		packet.emit(hdr.out_ethernet);
		packet.emit(hdr.out_ipv4);
		packet.emit(hdr.out_udp);
		packet.emit(hdr.group);
		packet.emit(hdr.report);
		packet.emit(hdr.dta);
		packet.emit(hdr.flow);
		packet.emit(hdr.value);
		packet.emit(hdr.ethernet);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.udp);
		packet.emit(hdr.tcp);
		packet.emit(hdr.shim);
		packet.emit(hdr.md);
		packet.emit(hdr.node);
		packet.emit(hdr.ports);
		packet.emit(hdr.latency);
		packet.emit(hdr.queue);
		packet.emit(hdr.ingress_time);
		packet.emit(hdr.egress_time);
		packet.emit(hdr.ports2);
		packet.emit(hdr.utilization);
		packet.emit(hdr.buffer);
		packet.emit(hdr.complement);
	}
}

#endif
