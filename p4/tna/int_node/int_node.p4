/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_node.p4 - INT-MD 2.1: source, transit and sink, for Tofino (TNA).
 *
 * As v1model/int_node: over TCP and UDP, by DSCP. Ingress begins INT in the
 * flows of `watchlist`, and takes it out of what leaves by a port of `sinks`, of
 * which it makes a mirror; egress adds this node's metadata, and makes a
 * telemetry report 2.0 of the mirror, with the sink's own metadata.
 *
 * INT-XD: a node tells of a packet by itself, as a postcard to a translator
 * (cards.p4).
 *
 * Checksums are changed by what comes and goes (INT 2.1, 5.8; RFC 1624), so
 * that a wrong one stays wrong; UDP's 0 stays 0. The parser takes what may
 * change out of them, the deparser adds what is there then; what INT is taken
 * out of is taken out of the checksum as the parser passes it.
 */
#include <core.p4>
#include <tna.p4>

#include "net.p4"
#include "int.p4"
#include "dta.p4"
#include "sums.p4"

const bit<8> SWITCH_TTL = 64;
const bit<3> SWITCH_MIRROR = 1;
const bit<3> SWITCH_MIRROR_CARD = 2;
const bit<8> SWITCH_PASS = 0; /* what egress does with a packet: nothing, */
const bit<8> SWITCH_TRANSIT = 1; /* add metadata, */
const bit<8> SWITCH_REPORT = 2;	 /* report it; */
const bit<8> SWITCH_CARD = 3;	 /* it is a postcard */
const bit<8> SWITCH_UNKNOWN = 32; /* words of an unknown instruction */

header bridge_h {
	bit<8> what;
	bit<8> says; /* SWITCH_CARD_...: a postcard, from this */
	bit<4> hop;
	bit<4> path_len;
	bit<16> from; /* ports */
	bit<16> to;
	bit<48> ingress_time; /* ns */
}

/* In front of a mirror that becomes a postcard. */
header card_h {
	bit<8> what;
	bit<4> hop;
	bit<4> path_len;
	bit<32> src;
	bit<32> dst;
	bit<16> src_port;
	bit<16> dst_port;
	bit<8> proto;
	bit<32> value;
}

/* A hop's metadata, in the order of the instructions. */
header md4_h {
	bit<32> v;
}

header md8_h {
	bit<64> v;
}

header md16_h {
	bit<128> v;
}

header md32_h {
	bit<256> v;
}

struct ingress_headers_t {
	bridge_h bridge;
	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	tcp_h tcp;
	int_shim_h shim;
	int_md_h md;
	/* the stack, as its length has it */
	md4_h one;
	md8_h two;
	md16_h four;
	md32_h eight_3;
	md32_h eight_2;
	md32_h eight_1;
}

struct ingress_meta_t {
	bit<16> src_port;
	bit<16> dst_port;
	bit<1> flow;
	bit<1> has_int;
	bit<1> began; /* here */
	bit<1> sunk; /* INT goes here */
	bit<1> changed; /* either */
	bit<1> udp_sum; /* there is one, that changes */
	bit<16> ip_rest; /* of checksums */
	bit<16> rest;
	bit<16> len; /* of what goes */
	MirrorId_t session; /* of the mirror, which begins with */
	bit<8> what;
	bit<8> says;
	bit<4> hop;
	bit<4> path_len;
}

struct egress_headers_t {
	bridge_h bridge;
	/* of a report */
	ethernet_h out_ethernet;
	ipv4_h out_ipv4;
	udp_h out_udp;
	treport_group_h group;
	treport_h report;
	card_h card;
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
}

struct egress_meta_t {
	bit<16> src_port;
	bit<16> dst_port;
	bit<1> has_int;
	bit<1> udp_sum;
	bit<16> ip_rest;
	bit<16> rest;
	bit<32> node;
	bit<32> latency;
	bit<8> words_1;
	bit<8> words_2;
	bit<8> words_3;
	bit<8> words; /* that the instructions ask for */
	bit<1> adds; /* this hop does */
	bit<16> len; /* of header and stack */
	MirrorId_t session;
}

#include "parser.p4"
#include "cards.p4"
#include "forward.p4"

control NodeIngress(inout ingress_headers_t hdr, inout ingress_meta_t meta,
		    in ingress_intrinsic_metadata_t ingress,
		    in ingress_intrinsic_metadata_from_parser_t parsed,
		    inout ingress_intrinsic_metadata_for_deparser_t deparser,
		    inout ingress_intrinsic_metadata_for_tm_t tm) {
	/* 0: source */
	Counter<bit<32>, bit<2>>(4, CounterType_t.PACKETS) counts;
	Counter<bit<32>, bit<2>>(4, CounterType_t.PACKETS) sunk;   /* 1: sink */

	Forward() forward;
	Cards() cards;
	/* A field of 8 bits in one of 16, four times as much. */
	Hash<bit<16>>(HashAlgorithm_t.IDENTITY) len_of;

	action leave() {
		hdr.bridge.to = (bit<16>)tm.ucast_egress_port;
	}
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
		meta.began = 1;
		counts.count(0);
	}
	table watchlist {
		key = {
			hdr.ipv4.src: ternary;
			hdr.ipv4.dst: ternary;
			hdr.ipv4.proto: ternary;
			meta.src_port: ternary @name("src_port");
			meta.dst_port: ternary @name("dst_port");
		}
		actions = { source; NoAction; }
		const default_action = NoAction();
		size = 1024;
	}
	/* Packets that leave there leave INT behind; mirror session 1 leads to
	 * the collector. */
	action sink() {
		meta.sunk = 1;
	}
	table sinks {
		key = { tm.ucast_egress_port: exact; }
		actions = { sink; NoAction; }
		const default_action = NoAction();
		size = 512;
	}
	action begin() {
		hdr.bridge.setValid();
		hdr.bridge.what = SWITCH_PASS;
		hdr.bridge.says = 0;
		hdr.bridge.hop = 0;
		hdr.bridge.path_len = 0;
		hdr.bridge.from = 7w0 ++ ingress.ingress_port;
		hdr.bridge.to = 0;
		hdr.bridge.ingress_time = parsed.global_tstamp;
		meta.began = 0;
		meta.sunk = 0;
		meta.changed = 0;
	}
	action begin_int() {
		hdr.bridge.what = SWITCH_TRANSIT;
		meta.changed = 1;
		hdr.ipv4.tos[7:2] = INT_DSCP;
		hdr.ipv4.len = hdr.ipv4.len + INT_SHIM_LEN + INT_HEADER2_LEN;
	}
	action lengthen_udp() {
		hdr.udp.len = hdr.udp.len + INT_SHIM_LEN + INT_HEADER2_LEN;
	}
	action go_on() {
		hdr.bridge.what = SWITCH_TRANSIT;
	}
	action keep_sum() {
		meta.udp_sum = 0;
	}
	/* INT goes: the shim, header and stack. */
	action bytes_of_stack() {
		meta.len = len_of.get({ 6w0, hdr.shim.words, 2w0 });
	}
	action add_shim() {
		meta.len = meta.len + INT_SHIM_LEN;
	}
	action take_out() {
		meta.changed = 1;
		hdr.ipv4.len = hdr.ipv4.len - meta.len;
		hdr.udp.len = hdr.udp.len - meta.len;
		hdr.ipv4.tos[7:2] = hdr.shim.dscp;
		hdr.shim.setInvalid();
		hdr.md.setInvalid();
		hdr.one.setInvalid();
		hdr.two.setInvalid();
		hdr.four.setInvalid();
		hdr.eight_3.setInvalid();
		hdr.eight_2.setInvalid();
		hdr.eight_1.setInvalid();
	}
	action mirror() {
		meta.session = 1;
		meta.what = SWITCH_REPORT;
		meta.says = 0;
		meta.hop = 0;
		meta.path_len = 0;
		deparser.mirror_type = SWITCH_MIRROR;
		sunk.count(1);
	}

	apply {
		begin();
		forward.apply(hdr, ingress, deparser, tm);
		leave();
		sinks.apply();
		if (meta.has_int == 1) {
			if (meta.sunk == 1) {
				mirror();
				bytes_of_stack();
				add_shim();
				take_out();
			} else {
				go_on();
			}
		} else if (meta.flow == 1 && !hdr.shim.isValid() &&
			   parsed.parser_err == 0) {
			/* What would begin and end here does not begin. */
			if (meta.sunk == 0)
				watchlist.apply();
			if (meta.began == 1) {
				begin_int();
				if (hdr.udp.isValid())
					lengthen_udp();
			}
		}
		if (meta.changed == 0)
			keep_sum();
		if (meta.flow == 1 && parsed.parser_err == 0)
			cards.apply(hdr, meta);
	}
}

/* This hop's metadata on top of the stack, as the instructions ask for it. */
control Metadata(inout egress_headers_t hdr, inout egress_meta_t meta,
		 in egress_intrinsic_metadata_t egress,
		 in egress_intrinsic_metadata_from_parser_t parsed) {
	action push_node() {
		hdr.node.setValid();
		hdr.node.v = meta.node;
	}
	action push_ports() {
		hdr.ports.setValid();
		hdr.ports.v = hdr.bridge.from ++ hdr.bridge.to;
	}
	action push_latency() {
		hdr.latency.setValid();
		hdr.latency.v = meta.latency;
	}
	action push_queue() {
		hdr.queue.setValid();
		hdr.queue.v = 13w0 ++ egress.deq_qdepth;
	}
	action push_ingress_time() {
		hdr.ingress_time.setValid();
		hdr.ingress_time.v = 16w0 ++ hdr.bridge.ingress_time;
	}
	action push_egress_time() {
		hdr.egress_time.setValid();
		hdr.egress_time.v = 16w0 ++ parsed.global_tstamp;
	}
	action push_ports2() {
		hdr.ports2.setValid();
		hdr.ports2.v = 0xffffffffffffffff;
	}
	action push_utilization() {
		hdr.utilization.setValid();
		hdr.utilization.v = 0xffffffff;
	}
	action push_buffer() {
		hdr.buffer.setValid();
		hdr.buffer.v = 0xffffffff;
	}
	action push_complement() {
		hdr.complement.setValid();
		hdr.complement.v = 0xffffffff;
	}

	apply {
		/* All ones: this switch has no such thing (INT 2.1, 5.8), or
		 * changes checksums itself. They do not change a sum. */
		if (hdr.md.bitmap[15:15] == 1)
			push_node();
		if (hdr.md.bitmap[14:14] == 1)
			push_ports();
		if (hdr.md.bitmap[13:13] == 1)
			push_latency();
		if (hdr.md.bitmap[12:12] == 1)
			push_queue();
		if (hdr.md.bitmap[11:11] == 1)
			push_ingress_time();
		if (hdr.md.bitmap[10:10] == 1)
			push_egress_time();
		if (hdr.md.bitmap[9:9] == 1)
			push_ports2();
		if (hdr.md.bitmap[8:8] == 1)
			push_utilization();
		if (hdr.md.bitmap[7:7] == 1)
			push_buffer();
		if (hdr.md.bitmap[0:0] == 1)
			push_complement();
	}
}

control NodeEgress(inout egress_headers_t hdr, inout egress_meta_t meta,
		   in egress_intrinsic_metadata_t egress,
		   in egress_intrinsic_metadata_from_parser_t parsed,
		   inout egress_intrinsic_metadata_for_deparser_t deparser,
		   inout egress_intrinsic_metadata_for_output_port_t output) {
	Metadata() metadata;
	Say() say;
	Postcard() postcard;
	/* A field of 8 bits in one of 16, four times as much. */
	Hash<bit<16>>(HashAlgorithm_t.IDENTITY) len_of;
	Register<bit<32>, bit<1>>(1) reports; /* the next one's number */
	RegisterAction<bit<32>, bit<1>, bit<32>>(reports) next_report = {
		void apply(inout bit<32> n, out bit<32> now) {
			now = n;
			n = n + 1;
		}
	};

	/* Who this is. */
	action identity(bit<32> id) {
		meta.node = id;
		hdr.group.node = id;
	}
	table self {
		actions = { identity; }
		default_action = identity(0);
		size = 1;
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
		size = 1;
	}

	/* Words that the instructions ask for: more than a hop can have, where
	 * one is not known. */
	action words_1(bit<8> n) {
		meta.words_1 = n;
	}
	table words_of_15_12 {
		key = { hdr.md.bitmap[15:12]: exact @name("bits"); }
		actions = { words_1; }
		const default_action = words_1(0);
		const entries = {
			0: words_1(0);
			1: words_1(1);
			2: words_1(1);
			3: words_1(2);
			4: words_1(1);
			5: words_1(2);
			6: words_1(2);
			7: words_1(3);
			8: words_1(1);
			9: words_1(2);
			10: words_1(2);
			11: words_1(3);
			12: words_1(2);
			13: words_1(3);
			14: words_1(3);
			15: words_1(4);
		}
		size = 16;
	}
	action words_2(bit<8> n) {
		meta.words_2 = n;
	}
	table words_of_11_8 {
		key = { hdr.md.bitmap[11:8]: exact @name("bits"); }
		actions = { words_2; }
		const default_action = words_2(0);
		const entries = {
			0: words_2(0);
			1: words_2(1);
			2: words_2(2);
			3: words_2(3);
			4: words_2(2);
			5: words_2(3);
			6: words_2(4);
			7: words_2(5);
			8: words_2(2);
			9: words_2(3);
			10: words_2(4);
			11: words_2(5);
			12: words_2(4);
			13: words_2(5);
			14: words_2(6);
			15: words_2(7);
		}
		size = 16;
	}
	action words_3(bit<8> n) {
		meta.words_3 = n;
	}
	table words_of_7_0 {
		key = { hdr.md.bitmap[7:0]: exact @name("bits"); }
		actions = { words_3; }
		const default_action = words_3(SWITCH_UNKNOWN);
		const entries = {
			0x00: words_3(0);
			0x01: words_3(1);
			0x80: words_3(1);
			0x81: words_3(2);
		}
		size = 4;
	}
	action add_words_2() {
		meta.words = meta.words_1 + meta.words_2;
	}
	action add_words_3() {
		meta.words = meta.words + meta.words_3;
	}
	action exceed() {
		hdr.md.exceeded = 1;
	}
	action add(bit<8> words, bit<16> bytes) {
		hdr.md.remaining = hdr.md.remaining - 1;
		hdr.shim.words = hdr.shim.words + words;
		hdr.ipv4.len = hdr.ipv4.len + bytes;
		hdr.udp.len = hdr.udp.len + bytes;
		meta.adds = 1;
	}
	/* Whether these words are those that each hop adds: else it is not for
	 * us. There is always room, as ingress takes stacks of 31 words at
	 * most. */
#define HOP_WORDS(n) \
	(n, n, 0): exceed(); \
	(n, n, _): add(n, 4 * n);
	table hop {
		key = {
			meta.words: exact;
			hdr.md.hop_words: exact;
			hdr.md.remaining: ternary;
		}
		actions = { add; exceed; NoAction; }
		const default_action = NoAction();
		const entries = {
			(0, 0, 0): exceed();
			HOP_WORDS(1)
			HOP_WORDS(2)
			HOP_WORDS(3)
			HOP_WORDS(4)
			HOP_WORDS(5)
			HOP_WORDS(6)
			HOP_WORDS(7)
			HOP_WORDS(8)
			HOP_WORDS(9)
			HOP_WORDS(10)
			HOP_WORDS(11)
			HOP_WORDS(12)
			HOP_WORDS(13)
		}
		size = 27;
	}
	action measure() {
		meta.latency = parsed.global_tstamp[31:0] -
			       hdr.bridge.ingress_time[31:0];
	}
	action bytes_of_stack() {
		meta.len = len_of.get({ 6w0, hdr.shim.words, 2w0 });
	}
	/* What is in a report: the headers up to the shim, and the stack. */
#define LENGTHS(inner) \
	hdr.report.words = hdr.shim.words + (bit<8>)((inner) >> 2); \
	hdr.out_udp.len = meta.len + (inner + NET_UDP_LEN + \
				      TREPORT_V2_GROUP_LEN + TREPORT_V2_LEN); \
	hdr.out_ipv4.len = meta.len + (inner + NET_IP4_LEN + NET_UDP_LEN + \
				       TREPORT_V2_GROUP_LEN + TREPORT_V2_LEN);
	action lengths_udp() {
		LENGTHS(NET_IP4_LEN + NET_UDP_LEN + INT_SHIM_LEN)
	}
	action lengths_tcp() {
		LENGTHS(NET_IP4_LEN + NET_TCP_LEN + INT_SHIM_LEN)
	}
	action number() {
		hdr.group.sequence = next_report.execute(0)[21:0];
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
		hdr.out_udp.sum = 0;
		hdr.out_ipv4.plain = NET_IP4_PLAIN;
		hdr.out_ipv4.tos = 0;
		hdr.out_ipv4.id = 0;
		hdr.out_ipv4.fragment = NET_IP4_DF;
		hdr.out_ipv4.ttl = SWITCH_TTL;
		hdr.out_ipv4.proto = NET_PROTO_UDP;
		hdr.group.version = 2;
		hdr.group.hw_id = 0;
		hdr.report.type = TREPORT_INNER_ONLY;
		hdr.report.inner = TREPORT_IP4;
		hdr.report.md_words = 0;
		hdr.report.dropped = 0;
		hdr.report.congested = 0;
		hdr.report.tracked = 1;
		hdr.report.intermediate = 0;
		hdr.report.reserved = 0;
	}

	/* Stages go one after another through what hangs on one condition: what
	 * takes several of them has none where it can do without. */
	apply {
		self.apply();
		if (!hdr.bridge.isValid()) {
			postcard.apply(hdr);
		} else {
			measure();
			say.apply(hdr, meta, egress, deparser);
			words_of_15_12.apply();
			words_of_11_8.apply();
			words_of_7_0.apply();
			add_words_2();
			add_words_3();
			if (hdr.bridge.what != SWITCH_PASS)
				hop.apply();
			if (meta.adds == 1)
				metadata.apply(hdr, meta, egress, parsed);
			if (hdr.bridge.what == SWITCH_REPORT) {
				reports_to.apply();
				number();
				report();
				bytes_of_stack();
				if (hdr.udp.isValid())
					lengths_udp();
				else
					lengths_tcp();
			}
		}
	}
}

Pipeline(NodeIngressParser(), NodeIngress(), NodeIngressDeparser(),
	 NodeEgressParser(), NodeEgress(), NodeEgressDeparser()) pipe;
Switch(pipe) main;
