/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cards.p4 - INT-XD as DTA: what a node has to say of a packet, as a postcard
 * for a translator (DTA 5.2), as v1model/int_node/cards.p4 does. The
 * postcard is made of a mirror of which nothing but what is in front is used.
 */
#ifndef INT_NODE_CARDS
#define INT_NODE_CARDS

#include "crc.p4"

const bit<16> SWITCH_REPORT_PORT = 49374; /* UDP source */
const bit<8> SWITCH_CARD_NODE = 1; /* what a card says; 0: there is none */
const bit<8> SWITCH_CARD_LATENCY = 2; /* us, */
const bit<8> SWITCH_CARD_QUEUE = 3;   /* cells: 65535 at most */

/* Which packets: those of these flows, by a hash of what does not change on the
 * way one of so many, a power of two, less one. Each node picks the same. */
control Cards(inout ingress_headers_t hdr, in ingress_meta_t meta) {
	KEY_HASH(of_sample, CRC_SLOT0);
	bit<32> sample;
	bit<32> mask;

	action card(bit<4> hop, bit<4> path_len, bit<8> what,
		    bit<32> less_one) {
		hdr.bridge.hop = hop;
		hdr.bridge.path_len = path_len;
		hdr.bridge.says = what;
		mask = less_one;
	}
	table flows {
		key = {
			hdr.ipv4.src: ternary;
			hdr.ipv4.dst: ternary;
			hdr.ipv4.proto: ternary;
			meta.src_port: ternary @name("src_port");
			meta.dst_port: ternary @name("dst_port");
		}
		actions = { card; }
		default_action = card(0, 0, 0, 0);
		size = 1024;
	}
	action pick() {
		sample = of_sample.get(
			{ hdr.ipv4.src, hdr.ipv4.dst, meta.src_port,
			  meta.dst_port, hdr.ipv4.proto, hdr.ipv4.id });
	}
	action mask_sample() {
		sample = sample & mask;
	}
	action say_nothing() {
		hdr.bridge.says = 0;
	}

	apply {
		flows.apply();
		pick();
		mask_sample();
		if (sample != 0)
			say_nothing();
	}
}

/* The packet leaves: what is to be said is known. Mirror session 2 leads to the
 * translator. */
control Say(inout egress_headers_t hdr, inout egress_meta_t meta,
	    in egress_intrinsic_metadata_t egress,
	    inout egress_intrinsic_metadata_for_deparser_t deparser) {
	bit<32> a; /* parts of the latency, ns */
	bit<32> b;
	bit<32> c;
	bit<32> d;
	bit<32> us;

	/* ns / 1000 = ns * 1.024 / 1024; 0.024 = 1/64 + 1/128 + 1/2048 +
	 * 1/16384 + 1.3e-5. */
	action parts() {
		a = meta.latency >> 6;
		b = meta.latency >> 7;
		c = meta.latency >> 11;
		d = meta.latency >> 14;
	}
	action add_parts() {
		a = a + b;
		c = c + d;
	}
	action add_sums() {
		a = a + c;
	}
	action add_all() {
		us = meta.latency + a;
	}
	action divide() {
		us = us >> 10;
	}
	action say_node() {
		hdr.card.value = meta.node;
	}
	action say_latency() {
		hdr.card.value = min(us, 0xffff);
	}
	action say_queue() {
		hdr.card.value = min(13w0 ++ egress.deq_qdepth, 0xffff);
	}
	table values {
		key = { hdr.bridge.says: exact; }
		actions = { say_node; say_latency; say_queue; NoAction; }
		const default_action = NoAction();
		const entries = {
			SWITCH_CARD_NODE: say_node();
			SWITCH_CARD_LATENCY: say_latency();
			SWITCH_CARD_QUEUE: say_queue();
		}
		size = 4;
	}
	action mirror() {
		hdr.card.what = SWITCH_CARD;
		hdr.card.hop = hdr.bridge.hop;
		hdr.card.path_len = hdr.bridge.path_len;
		hdr.card.src = hdr.ipv4.src;
		hdr.card.dst = hdr.ipv4.dst;
		hdr.card.src_port = meta.src_port;
		hdr.card.dst_port = meta.dst_port;
		hdr.card.proto = hdr.ipv4.proto;
		meta.session = 2;
		deparser.mirror_type = SWITCH_MIRROR_CARD;
	}
	apply {
		parts();
		add_parts();
		add_sums();
		add_all();
		divide();
		values.apply();
		if (hdr.bridge.says != 0)
			mirror();
	}
}

/* What is made of the mirror. */
control Postcard(inout egress_headers_t hdr) {
	Register<bit<16>, bit<1>>(1) sequence; /* of the next one */
	RegisterAction<bit<16>, bit<1>, bit<16>>(sequence) next = {
		void apply(inout bit<16> n, out bit<16> now) {
			now = n;
			n = n + 1;
		}
	};

	action translator(bit<48> dst_mac, bit<48> src_mac, bit<32> src,
			  bit<32> dst, bit<16> table_id, bit<1> tracked) {
		hdr.out_ethernet.dst = dst_mac;
		hdr.out_ethernet.src = src_mac;
		hdr.out_ipv4.src = src;
		hdr.out_ipv4.dst = dst;
		hdr.dta.table_id = table_id;
		hdr.dta.tracked = tracked;
	}
	table reporter {
		actions = { translator; }
		default_action = translator(0, 0, 0, 0, 0, 0);
		size = 1;
	}
	action headers() {
		hdr.out_ethernet.setValid();
		hdr.out_ethernet.type = NET_ETHERTYPE_IP4;
		hdr.out_ipv4.setValid();
		hdr.out_ipv4.plain = NET_IP4_PLAIN;
		hdr.out_ipv4.tos = 0;
		hdr.out_ipv4.len = NET_IP4_LEN + NET_UDP_LEN + DTA_HEADER_LEN +
				   KEY_FLOW4_LEN + 4;
		hdr.out_ipv4.id = 0;
		hdr.out_ipv4.fragment = NET_IP4_DF;
		hdr.out_ipv4.ttl = SWITCH_TTL;
		hdr.out_ipv4.proto = NET_PROTO_UDP;
		hdr.out_udp.setValid();
		hdr.out_udp.src_port = SWITCH_REPORT_PORT;
		hdr.out_udp.dst_port = DTA_PORT;
		hdr.out_udp.len = NET_UDP_LEN + DTA_HEADER_LEN + KEY_FLOW4_LEN +
				  4;
		hdr.out_udp.sum = 0;
	}
	action card() {
		hdr.dta.setValid();
		hdr.dta.version = DTA_VERSION_1;
		hdr.dta.opcode = DTA_POSTCARD;
		hdr.dta.immediate = 0;
		hdr.dta.reserved = 0;
		hdr.dta.copies = 0; /* as the table has them */
		hdr.dta.key_len = (bit<8>)KEY_FLOW4_LEN;
		hdr.dta.hop = hdr.card.hop;
		hdr.dta.path_len = hdr.card.path_len;
		hdr.flow.setValid();
		hdr.flow.src = hdr.card.src;
		hdr.flow.dst = hdr.card.dst;
		hdr.flow.src_port = hdr.card.src_port;
		hdr.flow.dst_port = hdr.card.dst_port;
		hdr.flow.proto = hdr.card.proto;
		hdr.value.setValid();
		hdr.value.v = hdr.card.value;
	}
	action number() {
		hdr.dta.sequence = next.execute(0);
	}

	apply {
		headers();
		card();
		reporter.apply();
		number();
	}
}

#endif
