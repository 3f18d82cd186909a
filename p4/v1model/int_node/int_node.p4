/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_node.p4 - INT-MD 2.1: source, transit and sink, for v1model (BMv2).
 *
 * Over TCP and UDP, by DSCP (int.p4). A source puts INT into the packets of the
 * flows in `watchlist`; each node on the way adds its metadata on top of the
 * stack; a sink takes INT out, so that the receiver gets what the sender sent,
 * and reports it: a clone, with the sink's own metadata, in a telemetry report
 * 2.0 to the collector. INT-XD: a node tells of a packet by itself, as a
 * postcard to a translator (cards.p4). What a node is, tables say;
 * p4/README.md.
 *
 * Checksums are changed by what comes and goes (INT 2.1, 5.8; RFC 1624), so
 * that a wrong one stays wrong; UDP's 0 stays 0.
 */
#include <core.p4>
#include <v1model.p4>

#include "net.p4"
#include "bytes.p4"
#include "int.p4"
#include "dta.p4"

const bit<32> SWITCH_EGRESS_COPY = 2; /* instance_type */
const bit<8> SWITCH_TTL = 64;
const bit<16> SWITCH_STACK_MAX = 256; /* bytes that can be taken out */

/* A hop's metadata, in the order of the instructions. */
header md4_h {
	bit<32> v;
}

header md8_h {
	bit<64> v;
}

struct headers_t {
	/* of a report */
	ethernet_h out_ethernet;
	ipv4_h out_ipv4;
	udp_h out_udp;
	treport_group_h group;
	treport_h report;
	dta_h dta;
	flow4_h flow;
	md4_h value;

	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	tcp_h tcp;
	int_shim_h shim;
	int_md_h md;
	md4_h node;
	md4_h ports;
	md4_h latency;
	md4_h queue;
	md8_h ingress_time;
	md8_h egress_time;
	md8_h ports2;
	md4_h utilization;
	md4_h buffer;
	md4_h complement;
	bytes_t stack;
}

struct meta_t {
	/* the port of the packet cloned */
	@field_list(1) bit<9> to;
	@field_list(1) bit<9> from;
	@field_list(1) bit<48> ingress_us;
	@field_list(2) bit<16> src_port;
	@field_list(2) bit<16> dst_port;
	/* of a postcard */
	@field_list(2) bit<4> hop;
	@field_list(2) bit<4> path_len;
	@field_list(2) bit<32> value;
	bit<8> what; /* it says */
	bit<16> stack_len;
	bit<1> has_int;
	bit<1> began; /* INT, here */
	bit<1> sink;
}

parser NodeParser(packet_in packet, out headers_t hdr, inout meta_t meta,
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
		transition int_or_not;
	}
	state tcp {
		packet.extract(hdr.tcp);
		meta.src_port = hdr.tcp.src_port;
		meta.dst_port = hdr.tcp.dst_port;
		transition int_or_not;
	}
	state int_or_not {
		transition select(hdr.ipv4.tos[7:2]) {
			INT_DSCP: shim;
			default: accept;
		}
	}
	state shim {
		packet.extract(hdr.shim);
		packet.extract(hdr.md);
		meta.stack_len =
			((bit<16>)hdr.shim.words << 2) - INT_HEADER2_LEN;
		transition select(hdr.shim.type == INT_TYPE_MD &&
				  hdr.shim.words >= 3 &&
				  meta.stack_len <= SWITCH_STACK_MAX &&
				  hdr.md.version == 2) {
			true: stack_256;
			default: accept; /* it passes as it is */
		}
	}
	PARSE_BYTES(stack, hdr.stack, meta.stack_len, whole)
	state whole {
		meta.has_int = 1;
		transition accept;
	}
}

#include "forward.p4"
#include "cards.p4"

control NodeVerify(inout headers_t hdr, inout meta_t meta) {
	apply {
	}
}

control NodeIngress(inout headers_t hdr, inout meta_t meta,
		    inout standard_metadata_t standard) {
	counter(4, CounterType.packets) counts; /* 0: source, 1: sink */
	Forward() forward;
	Cards() cards;

	/* A flow begins to carry INT here: header and instructions. */
	action source(bit<16> bitmap, bit<5> hop_words, bit<8> hops) {
		hdr.shim.setValid();
		hdr.shim.type = INT_TYPE_MD;
		hdr.shim.npt = 0;
		hdr.shim.reserved = 0;
		hdr.shim.words = 3;
		hdr.shim.reserved2 = 0;
		hdr.shim.dscp = hdr.ipv4.tos[7:2];
		hdr.shim.reserved3 = 0;
		hdr.md.setValid();
		hdr.md.version = 2;
		hdr.md.discard = 0;
		hdr.md.exceeded = 0;
		hdr.md.mtu = 0;
		hdr.md.reserved = 0;
		hdr.md.hop_words = hop_words;
		hdr.md.remaining = hops;
		hdr.md.bitmap = bitmap;
		hdr.md.domain = 0;
		hdr.md.domain_bits = 0;
		hdr.md.domain_flags = 0;
		meta.has_int = 1;
		meta.began = 1;
		counts.count(0);
	}
	table watchlist {
		key = {
			hdr.ipv4.src: ternary;
			hdr.ipv4.dst: ternary;
			hdr.ipv4.proto: ternary;
			meta.src_port: ternary;
			meta.dst_port: ternary;
		}
		actions = { source; NoAction; }
		default_action = NoAction();
		size = 1024;
	}
	/* Packets that leave there leave INT behind; mirror session 1 leads to
	 * the collector. */
	action sink() {
		meta.sink = 1;
		meta.to = standard.egress_spec;
		meta.from = standard.ingress_port;
		meta.ingress_us = standard.ingress_global_timestamp;
		counts.count(1);
		clone_preserving_field_list(CloneType.I2E, 1, 1);
	}
	table sinks {
		key = { standard.egress_spec: exact; }
		actions = { sink; NoAction; }
		default_action = NoAction();
		size = 512;
	}

	apply {
		forward.apply(hdr, standard);
		if (standard.parser_error != error.NoError)
			return;
		if (hdr.udp.isValid() || hdr.tcp.isValid()) {
			if (!hdr.shim.isValid())
				watchlist.apply();
			if (meta.has_int == 1)
				sinks.apply();
			cards.apply(hdr, meta);
		}
	}
}

#include "metadata.p4"

control NodeEgress(inout headers_t hdr, inout meta_t meta,
		   inout standard_metadata_t standard) {
	register<bit<22>>(1) reports; /* the next one's number */
	Metadata() metadata;
	BytesToNumber() stack_number;
	Change() begin;
	Change() push;
	Change() exceed;
	Change() strip;
	Say() say;
	Postcard() postcard;
	bit<32> node;
	bit<9> from;
	bit<9> to;
	bit<48> ingress_us;
	bit<5> words;
	bit<384> added;
	bit<2048> stack;
	bit<16> sum;
	bit<16> n;
	bit<16> inner;
	bit<16> word_was;
	bit<16> left_was;

	/* Who this is. */
	action identity(bit<32> id) {
		node = id;
	}
	table self {
		actions = { identity; }
		default_action = identity(0);
	}
	/* Where reports go. */
	action collector(bit<48> dst_mac, bit<48> src_mac, bit<32> src,
			 bit<32> dst) {
		hdr.out_ethernet.dst = dst_mac;
		hdr.out_ethernet.src = src_mac;
		hdr.out_ipv4.src = src;
		hdr.out_ipv4.dst = dst;
	}
	table reports_to {
		actions = { collector; }
		default_action = collector(0, 0, 0, 0);
	}

	/* Sums, not their complements. */
	action sum_begun() {
		hash(sum, HashAlgorithm.csum16, 16w0, { SHIM_AND_HEADER },
		     32w0x10000);
		sum = ~sum;
	}
	action sum_pushed() {
		hash(sum, HashAlgorithm.csum16, 16w0,
		     { added, ~word_was, hdr.shim.type, hdr.shim.npt,
		       hdr.shim.reserved, hdr.shim.words, ~left_was,
		       hdr.md.reserved[2:0], hdr.md.hop_words,
		       hdr.md.remaining }, 32w0x10000);
		sum = ~sum;
	}
	/* Of what goes, the complement. */
	action sum_stripped() {
		hash(sum, HashAlgorithm.csum16, 16w0,
		     { stack, SHIM_AND_HEADER }, 32w0x10000);
	}
	action set_dscp(bit<6> dscp) {
		word_was = hdr.ipv4.plain ++ hdr.ipv4.tos;
		hdr.ipv4.tos = dscp ++ hdr.ipv4.tos[1:0];
		hash(hdr.ipv4.sum, HashAlgorithm.csum16, 16w0,
		     { ~hdr.ipv4.sum, ~word_was, hdr.ipv4.plain, hdr.ipv4.tos },
		     32w0x10000);
	}
	action take_out() {
		hdr.shim.setInvalid();
		hdr.md.setInvalid();
		hdr.node.setInvalid();
		hdr.ports.setInvalid();
		hdr.latency.setInvalid();
		hdr.queue.setInvalid();
		hdr.ingress_time.setInvalid();
		hdr.egress_time.setInvalid();
		hdr.ports2.setInvalid();
		hdr.utilization.setInvalid();
		hdr.buffer.setInvalid();
		hdr.complement.setInvalid();
		hdr.stack.b256.setInvalid();
		hdr.stack.b128.setInvalid();
		hdr.stack.b64.setInvalid();
		hdr.stack.b32.setInvalid();
		hdr.stack.b16.setInvalid();
		hdr.stack.b8.setInvalid();
		hdr.stack.b4.setInvalid();
	}
	action report() {
		hdr.ethernet.setInvalid();
		hdr.out_ethernet.setValid();
		hdr.out_ipv4.setValid();
		hdr.out_udp.setValid();
		hdr.group.setValid();
		hdr.report.setValid();
		hdr.out_ethernet.type = NET_ETHERTYPE_IP4;
		hdr.out_udp.src_port = INT_REPORT_PORT;
		hdr.out_udp.dst_port = INT_REPORT_PORT;
		hdr.out_udp.len = NET_UDP_LEN + TREPORT_V2_GROUP_LEN +
				  TREPORT_V2_LEN + inner;
		hdr.out_udp.sum = 0;
		hdr.out_ipv4.plain = NET_IP4_PLAIN;
		hdr.out_ipv4.tos = 0;
		hdr.out_ipv4.len = NET_IP4_LEN + hdr.out_udp.len;
		hdr.out_ipv4.id = 0;
		hdr.out_ipv4.fragment = NET_IP4_DF;
		hdr.out_ipv4.ttl = SWITCH_TTL;
		hdr.out_ipv4.proto = NET_PROTO_UDP;
		hdr.group.version = 2;
		hdr.group.hw_id = 0;
		hdr.group.node = node;
		reports.read(hdr.group.sequence, 0);
		reports.write(0, hdr.group.sequence + 1);
		hdr.report.type = TREPORT_INNER_ONLY;
		hdr.report.inner = TREPORT_IP4;
		hdr.report.words = (bit<8>)(inner >> 2);
		hdr.report.md_words = 0;
		hdr.report.dropped = 0;
		hdr.report.congested = 0;
		hdr.report.tracked = 1;
		hdr.report.intermediate = 0;
		hdr.report.reserved = 0;
		truncate((bit<32>)(NET_ETH_LEN + hdr.out_ipv4.len));
	}

	apply {
		self.apply();
		if (meta.what != 0 && standard.instance_type == 0)
			say.apply(hdr, meta, node, standard);
		from = standard.ingress_port;
		to = standard.egress_port;
		ingress_us = standard.ingress_global_timestamp;
		if (standard.instance_type != 0) {
			from = meta.from;
			to = meta.to;
			ingress_us = meta.ingress_us;
		}
		if (meta.began == 1) {
			set_dscp(INT_DSCP);
			sum_begun();
			begin.apply(hdr, INT_SHIM_LEN + INT_HEADER2_LEN, 0,
				    sum);
		}
		if (standard.instance_type == SWITCH_EGRESS_COPY) {
			hdr.ethernet.setInvalid();
			take_out();
			postcard.apply(hdr, meta);
		} else if (meta.sink == 1 && standard.instance_type == 0) {
			stack_number.apply(hdr.stack, stack);
			sum_stripped();
			n = INT_SHIM_LEN + ((bit<16>)hdr.shim.words << 2);
			strip.apply(hdr, 0, n, sum);
			set_dscp(hdr.shim.dscp);
			take_out();
		} else if (hdr.shim.isValid() &&
			   (meta.has_int == 1 || standard.instance_type != 0)) {
			words = words_of(hdr.md.bitmap);
			word_was = hdr.shim.type ++ hdr.shim.npt ++
				   hdr.shim.reserved ++ hdr.shim.words;
			left_was = hdr.md.reserved[2:0] ++ hdr.md.hop_words ++
				   hdr.md.remaining;
			n = (bit<16>)words << 2;
			if (words == 0 || words != hdr.md.hop_words ||
			    (bit<9>)hdr.shim.words + (bit<9>)words > 255) {
				n = 0; /* not for us, or no room */
			} else if (hdr.md.remaining == 0) {
				n = 0;
				/* E: 0x0400 comes to the first word. */
				if (hdr.md.exceeded == 0)
					exceed.apply(hdr, 0, 0, 0x0400);
				hdr.md.exceeded = 1;
			} else {
				metadata.apply(hdr, node, from, to, ingress_us,
					       standard, added);
				hdr.md.remaining = hdr.md.remaining - 1;
				hdr.shim.words = hdr.shim.words + (bit<8>)words;
				sum_pushed();
				push.apply(hdr, n, 0, sum);
			}
			if (standard.instance_type != 0) {
				inner = NET_IP4_LEN + INT_SHIM_LEN +
					((bit<16>)hdr.shim.words << 2);
				if (hdr.udp.isValid())
					inner = inner + NET_UDP_LEN;
				else
					inner = inner + NET_TCP_LEN;
				report();
				reports_to.apply();
			}
		} else if (standard.instance_type != 0) {
			mark_to_drop(standard); /* INT began and ended here */
		}
	}
}

control NodeChecksums(inout headers_t hdr, inout meta_t meta) {
	apply {
		update_checksum(hdr.out_ipv4.isValid(),
				{ hdr.out_ipv4.plain, hdr.out_ipv4.tos,
				  hdr.out_ipv4.len, hdr.out_ipv4.id,
				  hdr.out_ipv4.fragment, hdr.out_ipv4.ttl,
				  hdr.out_ipv4.proto, hdr.out_ipv4.src,
				  hdr.out_ipv4.dst },
				hdr.out_ipv4.sum, HashAlgorithm.csum16);
	}
}

control NodeDeparser(packet_out packet, in headers_t hdr) {
	apply {
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
		packet.emit(hdr.stack);
	}
}

V1Switch(NodeParser(), NodeVerify(), NodeIngress(), NodeEgress(),
	 NodeChecksums(), NodeDeparser()) main;
