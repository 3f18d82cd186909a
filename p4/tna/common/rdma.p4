/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma.p4 - an operation to a RoCEv2 packet: DTA 5.2, DART 6.
 *
 * The program's egress_headers_t has ethernet, ipv4, udp, bth, place, dma_len and icrc, its
 * egress_meta_t what is named here. The iCRC (annex A17.3) is the exclusive or
 * of two parts (crc.p4): that of the packet with PSN, address, immediate and
 * data 0, which are the same for all packets of a queue pair and a form and are
 * in the table frames, with the masked fields as ones; and that of those
 * fields, which the program hashes.
 */
#ifndef TNA_RDMA
#define TNA_RDMA

#include "net.p4"
#include "roce.p4"

const bit<32> SWITCH_PAIRS = 64;
const bit<8> SWITCH_TTL = 64; /* of packets made here */
const bit<8> SWITCH_RESYNC = 6; /* bridge.op: a NAK, for its PSN */

/* Before the operation is known: who is written to, and where its PSN is. */
control Pair(inout egress_headers_t hdr, inout egress_meta_t meta) {
	/* The queue pair of a table, as the ticket says. */
	action pair(bit<48> eth_dst, bit<48> eth_src, bit<32> ip_src,
		    bit<32> ip_dst, bit<16> src_port, bit<24> qpn, bit<32> key,
		    bit<64> address) {
		hdr.ethernet.dst = eth_dst;
		hdr.ethernet.src = eth_src;
		hdr.ipv4.src = ip_src;
		hdr.ipv4.dst = ip_dst;
		hdr.udp.src_port = src_port;
		hdr.bth.dest_qp = qpn;
		hdr.place.rkey = key;
		hdr.place.address = address;
	}
	table pairs {
		key = { hdr.bridge.lane: exact; }
		actions = { pair; NoAction; }
		const default_action = NoAction();
		size = 64; /* SWITCH_PAIRS */
	}
	apply {
		pairs.apply();
	}
}

/* The headers in front of the data, but for the iCRC. */
control Frame(inout egress_headers_t hdr, inout egress_meta_t meta) {
	/* The next PSN, in the upper 24 bits: it wraps as the register does. */
	Register<bit<32>, bit<6>>(SWITCH_PAIRS) psn;
	RegisterAction<bit<32>, bit<6>, bit<32>>(psn) next_psn = {
		void apply(inout bit<32> next, out bit<32> now) {
			now = next;
			next = next + 0x100;
		}
	};

	/*
	 * A NAK tells the PSN with which the responder goes on. What was sent
	 * from there on is lost, as there is no room here to keep it (DTA
	 * 5.2.4).
	 */
	RegisterAction<bit<32>, bit<6>, bit<32>>(psn) set_psn = {
		void apply(inout bit<32> next, out bit<32> was) {
			was = next;
			next = hdr.bridge.psn;
		}
	};
	action number() {
		hdr.bth.psn = next_psn.execute(hdr.bridge.lane[5:0])[31:8];
	}
	action go_back() {
		meta.passed = set_psn.execute(hdr.bridge.lane[5:0]);
	}
	/* A default action reaches no register by a field. */
	table numbers {
		key = {
			hdr.bridge.op: ternary;
			meta.form: ternary;
		}
		actions = { number; go_back; NoAction; }
		const default_action = NoAction();
		const entries = {
			(SWITCH_RESYNC, _): go_back();
			(_, 0): NoAction(); /* nothing is written */
			(_, _): number();
		}
		size = 4;
	}
	/* What is the same for all packets of a queue pair and a form. */
	action frame(bit<8> opcode, bit<16> ip_len, bit<16> udp_len,
		     bit<32> dma_len, bit<32> icrc) {
		hdr.bth.opcode = opcode;
		hdr.ipv4.len = ip_len;
		hdr.udp.len = udp_len;
		hdr.dma_len.v = dma_len;
		meta.fixed = icrc;
	}
	table frames {
		key = {
			hdr.bridge.lane: exact;
			meta.form: exact;
		}
		actions = { frame; NoAction; }
		const default_action = NoAction();
		size = 512;
	}
	action headers() {
		hdr.ethernet.setValid();
		hdr.ethernet.type = NET_ETHERTYPE_IP4;
		hdr.ipv4.setValid();
		hdr.ipv4.plain = NET_IP4_PLAIN;
		hdr.ipv4.tos = 0;
		hdr.ipv4.id = 0;
		hdr.ipv4.fragment = NET_IP4_DF;
		hdr.ipv4.ttl = SWITCH_TTL;
		hdr.ipv4.proto = NET_PROTO_UDP;
		hdr.udp.setValid();
		hdr.udp.dst_port = ROCE_PORT;
		hdr.udp.sum = 0;
		hdr.bth.setValid();
		hdr.bth.flags = ROCE_BTH_MIGREQ;
		hdr.bth.pkey = 0xffff;
		hdr.bth.reserved = 0;
		hdr.bth.ack_req = 0;
		hdr.place.setValid();
		hdr.icrc.setValid();
	}
	action place() {
		hdr.place.address = hdr.place.address + meta.offset;
	}

	apply {
		numbers.apply();
		frames.apply();
		headers();
		place();
	}
}

/* Behind Frame, of a NAK: what it costs. Under no condition as long as it does
 * no harm: a block under one takes stages of its own. */
control Lost(inout egress_headers_t hdr, inout egress_meta_t meta) {
	Register<bit<32>, bit<6>>(SWITCH_PAIRS) lost; /* operations */
	RegisterAction<bit<32>, bit<6>, bit<32>>(lost) add_lost = {
		void apply(inout bit<32> n) {
			n = n + meta.passed;
		}
	};

	action pass_over() {
		meta.passed = meta.passed - hdr.bridge.psn;
	}
	action count_passed() {
		meta.passed = meta.passed >> 8;
	}
	action add_passed() {
		add_lost.execute(hdr.bridge.lane[5:0]);
	}

	apply {
		pass_over();
		count_passed();
		if (hdr.bridge.op == SWITCH_RESYNC)
			add_passed();
	}
}

/* Both parts of the iCRC; least significant byte first. */
control Join(inout egress_headers_t hdr, inout egress_meta_t meta) {
	action join() {
		hdr.icrc.value[31:24] = meta.sum[7:0] ^ meta.fixed[7:0];
		hdr.icrc.value[23:16] = meta.sum[15:8] ^ meta.fixed[15:8];
		hdr.icrc.value[15:8] = meta.sum[23:16] ^ meta.fixed[23:16];
		hdr.icrc.value[7:0] = meta.sum[31:24] ^ meta.fixed[31:24];
	}
	apply {
		join();
	}
}

#endif
