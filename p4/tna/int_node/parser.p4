/* SPDX-License-Identifier: BSD-2-Clause */
/* parser.p4 - INT in packets, and checksums: of what may change they have the
 * rest when it is parsed, and what it is then when it is deparsed. */
#ifndef INT_NODE_PARSER
#define INT_NODE_PARSER

/* Ethernet to TCP and UDP, which go on with these states. Lengths count in the
 * pseudo header, too. */
#define PACKET_STATES(after_udp, after_tcp) \
	state frame { \
		packet.extract(hdr.ethernet); \
		transition select(hdr.ethernet.type) { \
			NET_ETHERTYPE_IP4: ipv4; \
			default: accept; \
		} \
	} \
	state ipv4 { \
		packet.extract(hdr.ipv4); \
		ip_sum.subtract({ hdr.ipv4.plain, hdr.ipv4.tos, hdr.ipv4.len, \
				  hdr.ipv4.sum }); \
		meta.ip_rest = ip_sum.get(); \
		tcp_sum.subtract({ hdr.ipv4.len }); \
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
		udp_sum.subtract({ hdr.udp.len, hdr.udp.len, hdr.udp.sum }); \
		transition select(hdr.udp.sum) { \
			0: udp_without_sum; \
			default: udp_with_sum; \
		} \
	} \
	state udp_without_sum { \
		meta.udp_sum = 0; \
		transition after_udp; \
	} \
	state udp_with_sum { \
		meta.udp_sum = 1; \
		transition after_udp; \
	} \
	state tcp { \
		packet.extract(hdr.tcp); \
		tcp_sum.subtract({ hdr.tcp.sum }); \
		transition after_tcp; \
	}

@noWarn("uninitialized_out_param")
parser NodeIngressParser(packet_in packet, out ingress_headers_t hdr,
			 out ingress_meta_t meta,
			 out ingress_intrinsic_metadata_t ingress) {
	Checksum() ip_sum;
	Checksum() tcp_sum;
	Checksum() udp_sum;

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
	PACKET_STATES(udp_flow, tcp_flow)
	state udp_flow {
		meta.flow = 1;
		meta.src_port = hdr.udp.src_port;
		meta.dst_port = hdr.udp.dst_port;
		meta.udp_rest = udp_sum.get();
		transition int_or_not;
	}
	state tcp_flow {
		meta.flow = 1;
		meta.src_port = hdr.tcp.src_port;
		meta.dst_port = hdr.tcp.dst_port;
		meta.tcp_rest = tcp_sum.get();
		transition int_or_not;
	}
	state int_or_not {
		transition select(hdr.ipv4.tos) {
			(bit<8>)INT_DSCP << 2 &&& 0xfc: shim;
			default: accept;
		}
	}
	/* A stack that can be taken out, of 3 to 67 words; what is else passes
	 * as it is. */
	state shim {
		packet.extract(hdr.shim);
		packet.extract(hdr.md);
		transition select(hdr.shim.type, hdr.shim.words,
				  hdr.md.version) {
			(INT_TYPE_MD, 0 &&& 0xfc, 2): short_stack;
			(INT_TYPE_MD, 0 &&& 0xc0, 2): has_int;
			(INT_TYPE_MD, 0x40 &&& 0xfc, 2): has_int;
			default: accept;
		}
	}
	state short_stack {
		transition select(hdr.shim.words) {
			3: has_int;
			default: accept;
		}
	}
	state has_int {
		meta.has_int = 1;
		transition accept;
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
		if (meta.began == 1) {
			PACKET_SUMS;
			hdr.tcp.sum = tcp_sum.update(
				{ hdr.ipv4.len, hdr.shim, hdr.md,
				  meta.tcp_rest });
		}
		if (meta.began == 1 && meta.udp_sum == 1)
			hdr.udp.sum = udp_sum.update(
				{ hdr.udp.len, hdr.udp.len, hdr.shim, hdr.md,
				  meta.udp_rest }, true);
		packet.emit(hdr);
	}
}

@noWarn("uninitialized_out_param")
parser NodeEgressParser(packet_in packet, out egress_headers_t hdr,
			out egress_meta_t meta,
			out egress_intrinsic_metadata_t egress) {
	Checksum() ip_sum;
	Checksum() tcp_sum;
	Checksum() udp_sum;
	ParserCounter() words; /* of the stack, that are to be taken out */

	state start {
		packet.extract(egress);
		meta.has_int = 0;
		meta.udp_sum = 0;
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
	PACKET_STATES(shim_or_not, shim_or_not)
	state shim_or_not {
		transition select(hdr.bridge.what) {
			SWITCH_PASS: accept;
			default: shim;
		}
	}
	state shim {
		packet.extract(hdr.shim);
		packet.extract(hdr.md);
		tcp_sum.subtract({ hdr.shim, hdr.md });
		udp_sum.subtract({ hdr.shim, hdr.md });
		meta.has_int = 1;
		words.set(hdr.shim.words, 255, 0, 7, 253); /* less 3 */
		transition select(hdr.bridge.what) {
			SWITCH_SINK: stack;
			default: rest;
		}
	}
	state stack {
		transition select(words.is_zero()) {
			false: take_out;
			default: rest;
		}
	}
	state take_out {
		packet.extract(hdr.stack.next);
		tcp_sum.subtract({ hdr.stack.last.v });
		udp_sum.subtract({ hdr.stack.last.v });
		words.decrement(1);
		transition select(words.is_zero()) {
			false: take_out;
			default: rest;
		}
	}
	state rest {
		meta.tcp_rest = tcp_sum.get();
		meta.udp_rest = udp_sum.get();
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
				{ hdr.ipv4.len, METADATA, meta.tcp_rest });
		}
		if (meta.has_int == 1 && meta.udp_sum == 1)
			hdr.udp.sum = udp_sum.update(
				{ hdr.udp.len, hdr.udp.len, METADATA,
				  meta.udp_rest }, true);
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
