/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cards.p4 - INT-XD as DTA: what a node has to say of a packet, as a postcard
 * for a translator, which gathers those of a path (DTA 5.2; dta(7), MEMORY).
 * Commands: dta-switch int_xd. The including program has headers_t and
 * meta_t.
 */
#ifndef INT_NODE_CARDS
#define INT_NODE_CARDS

const bit<16> SWITCH_REPORT_PORT = 49374; /* UDP source */
/* what a card says; 0: there is none */
const bit<8> SWITCH_CARD_NODE = 1;
const bit<8> SWITCH_CARD_LATENCY = 2;	  /* us, */
const bit<8> SWITCH_CARD_QUEUE = 3;	  /* packets: 65535 at most */
const bit<32> SWITCH_CARD_ROWS = 1024;

#define FLOW { hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port, \
	       hdr.ipv4.proto }

/* Which packets: those of these flows, by a hash of what does not change on the
 * way one of so many, a power of two, less one. Each node picks the same. */
control Cards(inout headers_t hdr, inout meta_t meta) {
	bit<32> sample;
	bit<32> mask;

	action card(bit<4> hop, bit<4> path_len, bit<8> what,
		    bit<32> less_one) {
		meta.hop = hop;
		meta.path_len = path_len;
		meta.what = what;
		mask = less_one;
	}
	table flows {
		key = {
			hdr.ipv4.src: ternary;
			hdr.ipv4.dst: ternary;
			hdr.ipv4.proto: ternary;
			meta.src_port: ternary;
			meta.dst_port: ternary;
		}
		actions = { card; }
		default_action = card(0, 0, 0, 0);
		size = 1024;
	}

	apply {
		flows.apply();
		hash(sample, HashAlgorithm.crc32, 32w0,
		     { hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port,
		       hdr.ipv4.proto, hdr.ipv4.id }, 64w0x100000000);
		if (sample & mask != 0)
			meta.what = 0;
	}
}

/* The packet leaves: what is to be said is known. Mirror session 2 leads to the
 * translator. */
control Say(in headers_t hdr, inout meta_t meta, in bit<32> node,
	    in standard_metadata_t standard) {
	/* What was said last of a flow, by its CRC-32: for those who want to
	 * compare. */
	register<bit<32>>(SWITCH_CARD_ROWS) said;
	bit<48> us;
	bit<32> row;

	apply {
		us = standard.egress_global_timestamp -
		     standard.ingress_global_timestamp;
		if (meta.what == SWITCH_CARD_NODE)
			meta.value = node;
		else if (meta.what == SWITCH_CARD_LATENCY)
			meta.value = us > 0xffff ? 32w0xffff : (bit<32>)us;
		else if (standard.deq_qdepth > 0xffff)
			meta.value = 0xffff;
		else
			meta.value = (bit<32>)standard.deq_qdepth;
		hash(row, HashAlgorithm.crc32, 32w0, FLOW,
		     (bit<64>)SWITCH_CARD_ROWS);
		said.write(row, meta.value);
		clone_preserving_field_list(CloneType.E2E, 2, 2);
	}
}

/* What is made of the copy, which has no headers but ipv4 and those behind it.
 * */
control Postcard(inout headers_t hdr, inout meta_t meta) {
	register<bit<16>>(1) sequence; /* of the next one */

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
	}
	action headers() {
		hdr.out_ethernet.setValid();
		hdr.out_ipv4.setValid();
		hdr.out_udp.setValid();
		hdr.dta.setValid();
		hdr.flow.setValid();
		hdr.value.setValid();
		hdr.out_ethernet.type = NET_ETHERTYPE_IP4;
		hdr.out_ipv4.plain = NET_IP4_PLAIN;
		hdr.out_ipv4.tos = 0;
		hdr.out_ipv4.id = 0;
		hdr.out_ipv4.fragment = NET_IP4_DF;
		hdr.out_ipv4.ttl = SWITCH_TTL;
		hdr.out_ipv4.proto = NET_PROTO_UDP;
		hdr.out_udp.src_port = SWITCH_REPORT_PORT;
		hdr.out_udp.dst_port = DTA_PORT;
		hdr.out_udp.len = NET_UDP_LEN + DTA_HEADER_LEN + KEY_FLOW4_LEN +
			4;
		hdr.out_udp.sum = 0;
		hdr.out_ipv4.len = NET_IP4_LEN + hdr.out_udp.len;
		truncate((bit<32>)(NET_ETH_LEN + hdr.out_ipv4.len));
	}
	action card() {
		hdr.dta.version = DTA_VERSION_1;
		hdr.dta.opcode = DTA_POSTCARD;
		hdr.dta.immediate = 0;
		hdr.dta.reserved = 0;
		hdr.dta.copies = 0; /* as the table has them */
		hdr.dta.key_len = (bit<8>)KEY_FLOW4_LEN;
		hdr.dta.hop = meta.hop;
		hdr.dta.path_len = meta.path_len;
		sequence.read(hdr.dta.sequence, 0);
		sequence.write(0, hdr.dta.sequence + 1);
		hdr.flow.src = hdr.ipv4.src;
		hdr.flow.dst = hdr.ipv4.dst;
		hdr.flow.src_port = meta.src_port;
		hdr.flow.dst_port = meta.dst_port;
		hdr.flow.proto = hdr.ipv4.proto;
		hdr.value.v = meta.value;
		hdr.ipv4.setInvalid();
		hdr.udp.setInvalid();
		hdr.tcp.setInvalid();
	}

	apply {
		headers();
		card();
		reporter.apply();
	}
}

#endif
