/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dart_reporter.p4 - a switch that forwards, and writes what it knows of flows
 * straight into collectors' memory: DART section 6, for v1model (BMv2).
 *
 * A report (the flow, new or changed: its port, TTL, TOS) is one RDMA WRITE of
 * a Key-Write slot: of a copy that is drawn at random, at the collector that a
 * hash of the key names. What is kept of a collector is in the table
 * rdma.pairs, and its PSN; there is no translator. Commands:
 * dta-switch.
 */
#include <core.p4>
#include <v1model.p4>

#include "net.p4"
#include "dta.p4"
#include "roce.p4"
#include "bytes.p4"

struct headers_t {
	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	tcp_h tcp;
	bth_h bth;
	reth_h reth;
	atomic_h atomic;
	aeth_h aeth;
	imm_h imm;
	bytes_t data;
	icrc_h icrc;
}

struct meta_t {
	/* what the clone needs */
	@field_list(1) bit<8> collector;
	@field_list(1) bit<32> checksum;
	@field_list(1) bit<32> value;
	@field_list(1) bit<64> offset; /* of the slot */
	@field_list(1) bit<16> write_len;
	bit<1> to_pair;
	bit<16> src_port;
	bit<16> dst_port;
	bit<1> flow;
}

#include "flows.p4"
#include "forward.p4"
#include "rdma.p4"

parser DartParser(packet_in packet, out headers_t hdr, inout meta_t meta,
		  inout standard_metadata_t standard) {
	FlowParser() flow;

	state start {
		flow.apply(packet, hdr, meta, standard);
		transition select(hdr.udp.isValid(), hdr.udp.dst_port) {
			(true, ROCE_PORT): answer;
			default: accept;
		}
	}
	state answer {
		packet.extract(hdr.bth);
		transition select(hdr.bth.opcode) {
			ROCE_RC_ACK: aeth;
			default: accept;
		}
	}
	state aeth {
		packet.extract(hdr.aeth);
		transition accept;
	}
}

control DartIngress(inout headers_t hdr, inout meta_t meta,
		    inout standard_metadata_t standard) {
	counter(2, CounterType.packets) reports; /* 0: made, 1: answers */
	Forward() forward;
	Changes() changes;
	bit<32> slot0;
	bit<32> slot1;
	bit<32> slot2;
	bit<32> slot3;
	bit<32> of_collector;
	bit<32> row;
	bit<64> slot;
	bit<8> last; /* copy */
	bit<8> copy;
	bit<64> units;
	bit<64> n;
	bit<16> stride;
	bit<1> changed;

	/* The table, and how many collectors have it: 0 until there is one. */
	action geometry(bit<8> copies, bit<64> slots, bit<16> slot_len,
			bit<16> write_len, bit<64> collectors) {
		last = copies - 1;
		units = slots;
		stride = slot_len;
		meta.write_len = write_len;
		n = collectors;
	}
	table table_of_flows {
		actions = { geometry; }
		default_action = geometry(1, 1, 8, 8, 0);
	}
	action answer(bit<8> collector) {
		meta.collector = collector;
	}
	table answers {
		key = { hdr.ipv4.src: exact; hdr.bth.dest_qp: exact; }
		actions = { answer; NoAction; }
		default_action = NoAction();
		size = 64;
	}
#define HASH_FLOW(to) \
	hash(to, HashAlgorithm.crc32_custom, 32w0, \
	     { hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port, \
	       hdr.ipv4.proto }, 64w0x100000000)
	/* dta(7), HASHING: the polynomials are told by number, in this order. */
	action hash_flow() {
		HASH_FLOW(slot0);
		HASH_FLOW(slot1);
		HASH_FLOW(slot2);
		HASH_FLOW(slot3);
		HASH_FLOW(meta.checksum);
		HASH_FLOW(of_collector);
		row = slot0 & (SWITCH_FLOWS - 1);
	}
	action pick() {
		random(copy, 8w0, last);
		hash(slot, HashAlgorithm.identity, 64w0, { of_collector }, n);
		meta.collector = (bit<8>)slot;
	}
	action slot_of(bit<32> hash_value) {
		hash(slot, HashAlgorithm.identity, 64w0, { hash_value }, units);
		meta.offset = slot * (bit<64>)stride;
	}

	apply {
		if (hdr.bth.isValid()) {
			reports.count(1);
			mark_to_drop(standard);
			if (hdr.aeth.isValid() &&
			    hdr.aeth.syndrome == ROCE_NAK_PSN &&
			    answers.apply().hit) {
				meta.to_pair = 1;
				standard.egress_spec = standard.ingress_port;
			}
			return;
		}
		forward.apply(hdr, standard);
		table_of_flows.apply();
		if (meta.flow == 0 || standard.parser_error != error.NoError ||
		    n == 0)
			return;
		hash_flow();
		meta.value = (bit<16>)standard.ingress_port ++ hdr.ipv4.ttl ++
			     hdr.ipv4.tos;
		changes.apply(row, meta.checksum, meta.value, changed);
		if (changed == 0)
			return;
		reports.count(0);
		pick();
		if (copy == 0)
			slot_of(slot0);
		else if (copy == 1)
			slot_of(slot1);
		else if (copy == 2)
			slot_of(slot2);
		else
			slot_of(slot3);
		/* Mirror session 1 leads to collector 0. */
		clone_preserving_field_list(CloneType.I2E,
					    (bit<32>)meta.collector + 1, 1);
	}
}

control DartEgress(inout headers_t hdr, inout meta_t meta,
		   inout standard_metadata_t standard) {
	Rdma() rdma;
	operation_t op;

	action write_slot() {
		op.pair = meta.collector;
		op.resync = meta.to_pair;
		op.atomic = 0;
		op.immediate = 0;
		op.offset = meta.offset;
		op.add = 0;
		op.len = meta.write_len;
		op.data = left((bit<2048>)(meta.checksum ++ meta.value),
			       meta.write_len - 8);
		op.imm = 0;
	}

	apply {
		write_slot();
		if (standard.instance_type != 0)
			hdr.tcp.setInvalid();
		if (standard.instance_type != 0 || meta.to_pair == 1)
			rdma.apply(hdr, op, standard);
	}
}

control DartChecksums(inout headers_t hdr, inout meta_t meta) {
	apply {
		update_checksum(hdr.icrc.isValid(),
				{ hdr.ipv4.plain, hdr.ipv4.tos, hdr.ipv4.len,
				  hdr.ipv4.id, hdr.ipv4.fragment, hdr.ipv4.ttl,
				  hdr.ipv4.proto, hdr.ipv4.src, hdr.ipv4.dst },
				hdr.ipv4.sum, HashAlgorithm.csum16);
	}
}

control DartDeparser(packet_out packet, in headers_t hdr) {
	apply {
		packet.emit(hdr.ethernet);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.udp);
		packet.emit(hdr.tcp);
		packet.emit(hdr.bth);
		packet.emit(hdr.reth);
		packet.emit(hdr.data);
		packet.emit(hdr.icrc);
	}
}

V1Switch(DartParser(), NoVerify(), DartIngress(), DartEgress(), DartChecksums(),
	 DartDeparser()) main;
