/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dart_reporter.p4 - a switch that forwards, and writes what it knows of flows
 * straight into collectors' memory: DART section 6, for Tofino (TNA).
 *
 * A report (the flow, new or changed: its port, TTL, TOS) is one RDMA WRITE of
 * a Key-Write slot: of a copy that is drawn at random, at the collector that a
 * hash of the key names. What is kept of a collector is in the table pairs, and
 * its PSN; there is no translator. The WRITE is made of a mirror of the packet,
 * of which egress leaves nothing. Commands: dta-collect -o tofino-dart.
 */
#include <core.p4>
#include <tna.p4>

#include "net.p4"
#include "dta.p4"
#include "roce.p4"
#include "place.p4"
#include "sums.p4"

const bit<3> SWITCH_MIRROR = 1;
const bit<8> SWITCH_PASS = 0; /* bridge.op */
const bit<8> SWITCH_SLOT = 1;
const bit<8> TOFINO_FORM_8 = 8; /* bytes of a slot */

/* In front of a packet, for egress; and of its mirror. */
header bridge_h {
	bit<8> op;
	bit<8> lane; /* the collector */
	bit<32> psn; /* of a NAK, in the upper 24 bits */
	bit<32> slot;
	bit<32> checksum;
	bit<32> value;
}

/* A slot. */
header value_h {
	bit<32> checksum;
	bit<32> value;
}

struct ingress_headers_t {
	bridge_h bridge;
	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	tcp_h tcp;
	bth_h bth;
	aeth_h aeth;
}

struct ingress_meta_t {
	bit<16> src_port;
	bit<16> dst_port;
	bit<1> flow; /* the packet is of one */
	bit<1> active; /* there are collectors */
	bit<8> changed;
	bit<16> draw;
	bit<8> copy;
	bit<32> row;
	bit<32> slot;
	bit<32> slot_mask;
	bit<32> checksum;
	bit<32> value;
	bit<32> collector;
	bit<32> collector_mask;
	bit<8> lane;
	MirrorId_t session; /* of the mirror, which begins with */
	bit<8> op;
	bit<32> psn;
}

struct egress_headers_t {
	bridge_h bridge;
	ethernet_h ethernet;
	ipv4_h ipv4;
	udp_h udp;
	bth_h bth;
	place_h place;
	dma_len_h dma_len;
	value_h data;
	icrc_h icrc;
}

/* rdma.p4 */
struct egress_meta_t {
	bit<8> form;
	bit<64> offset;
	bit<32> passed;
	bit<32> fixed;
	bit<32> sum;
}

#include "flows.p4"
#include "forward.p4"
#include "rdma.p4"

@noWarn("uninitialized_out_param")
parser DartIngressParser(packet_in packet, out ingress_headers_t hdr,
			 out ingress_meta_t meta,
			 out ingress_intrinsic_metadata_t ingress) {
	state start {
		packet.extract(ingress);
		packet.advance(PORT_METADATA_SIZE);
		meta.src_port = 0;
		meta.dst_port = 0;
		meta.flow = 0;
		transition frame;
	}
	FLOW_STATES(answer_or_not)
	state answer_or_not {
		transition select(hdr.udp.dst_port) {
			ROCE_PORT: answer;
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

control DartIngress(inout ingress_headers_t hdr, inout ingress_meta_t meta,
		    in ingress_intrinsic_metadata_t ingress,
		    in ingress_intrinsic_metadata_from_parser_t parsed,
		    inout ingress_intrinsic_metadata_for_deparser_t deparser,
		    inout ingress_intrinsic_metadata_for_tm_t tm) {
	/* 0: made, 1: answers */
	Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) reports;
	Forward() forward;
	Changes() changes;
	Random<bit<16>>() random;
	KEY_HASH(slot0, CRC_SLOT0);
	KEY_HASH(slot1, CRC_SLOT1);
	KEY_HASH(slot2, CRC_SLOT2);
	KEY_HASH(slot3, CRC_SLOT3);
	KEY_HASH(of_row, CRC_SLOT0);
	KEY_HASH(of_checksum, CRC_CHECKSUM);
	KEY_HASH(of_collector, CRC_COLLECTOR);

	/* The table's slots and the collectors, powers of two, less one:
	 * nothing until there are some. */
	action geometry(bit<32> slot_mask, bit<32> collector_mask) {
		meta.slot_mask = slot_mask;
		meta.collector_mask = collector_mask;
		meta.active = 1;
	}
	table table_of_flows {
		actions = { geometry; NoAction; }
		default_action = NoAction();
		size = 1;
	}
	/* A collector's NAK, to where its PSN is. */
	action answer(bit<8> collector) {
		hdr.bridge.op = SWITCH_RESYNC;
		hdr.bridge.lane = collector;
		hdr.bridge.psn[31:8] = hdr.bth.psn;
		tm.ucast_egress_port = ingress.ingress_port;
		deparser.drop_ctl = 0;
	}
	table answers {
		key = {
			hdr.ipv4.src: exact;
			hdr.bth.dest_qp: exact;
			hdr.aeth.syndrome: exact;
		}
		actions = { answer; NoAction; }
		const default_action = NoAction();
		size = 64; /* SWITCH_PAIRS */
	}
	/* Of 65536 numbers, those that mean a copy. */
	action draw(bit<8> copy) {
		meta.copy = copy;
	}
	table draws {
		key = { meta.draw: range; }
		actions = { draw; }
		default_action = draw(0);
		size = 4;
	}
	action hash0() {
		meta.slot = slot0.get({ FLOW_FIELDS });
	}
	action hash1() {
		meta.slot = slot1.get({ FLOW_FIELDS });
	}
	action hash2() {
		meta.slot = slot2.get({ FLOW_FIELDS });
	}
	action hash3() {
		meta.slot = slot3.get({ FLOW_FIELDS });
	}
	action report(bit<8> number, MirrorId_t session) {
		meta.lane = number;
		meta.session = session;
		meta.op = SWITCH_SLOT;
		meta.psn = 0;
		deparser.mirror_type = SWITCH_MIRROR;
		reports.count(0);
	}
	table collectors {
		key = { meta.collector: exact; }
		actions = { report; NoAction; }
		const default_action = NoAction();
		size = 64;
	}

	action begin() {
		hdr.bridge.setValid();
		hdr.bridge.op = SWITCH_PASS;
		hdr.bridge.lane = 0;
		hdr.bridge.psn = 0;
		hdr.bridge.slot = 0;
		hdr.bridge.checksum = 0;
		hdr.bridge.value = 0;
		meta.active = 0;
		meta.changed = 0;
		meta.draw = random.get();
	}
	action hash_row() {
		meta.row = of_row.get({ FLOW_FIELDS });
	}
	action hash_checksum() {
		meta.checksum = of_checksum.get({ FLOW_FIELDS });
	}
	action hash_collector() {
		meta.collector = of_collector.get({ FLOW_FIELDS });
	}
	action see() {
		meta.value = 7w0 ++ ingress.ingress_port ++ hdr.ipv4.ttl ++
			     hdr.ipv4.tos;
	}
	action mask() {
		meta.slot = meta.slot & meta.slot_mask;
		meta.collector = meta.collector & meta.collector_mask;
	}
	action drop() {
		deparser.drop_ctl = 1;
		reports.count(1);
	}

	apply {
		begin();
		table_of_flows.apply();
		if (hdr.bth.isValid()) {
			drop();
			if (hdr.aeth.isValid())
				answers.apply();
		} else {
			forward.apply(hdr, ingress, deparser, tm);
			if (meta.flow == 1 && meta.active == 1 &&
			    parsed.parser_err == 0) {
				hash_row();
				hash_checksum();
				hash_collector();
				see();
				draws.apply();
				/* A table takes one hash of 32 bits. */
				if (meta.copy == 0)
					hash0();
				else if (meta.copy == 1)
					hash1();
				else if (meta.copy == 2)
					hash2();
				else if (meta.copy == 3)
					hash3();
				mask();
				changes.apply(meta.row, meta.checksum,
					      meta.value, meta.changed);
				if (meta.changed == 1)
					collectors.apply();
			}
		}
	}
}

control DartIngressDeparser(packet_out packet, inout ingress_headers_t hdr,
			    in ingress_meta_t meta,
			    in ingress_intrinsic_metadata_for_deparser_t
				    deparser) {
	Mirror() mirror;

	apply {
		if (deparser.mirror_type == SWITCH_MIRROR)
			mirror.emit<bridge_h>(meta.session,
					      { meta.op, meta.lane, meta.psn,
						meta.slot, meta.checksum,
						meta.value });
		packet.emit(hdr);
	}
}

@noWarn("uninitialized_out_param")
parser DartEgressParser(packet_in packet, out egress_headers_t hdr,
			out egress_meta_t meta,
			out egress_intrinsic_metadata_t egress) {
	state start {
		meta.offset = 0;
		packet.extract(egress);
		packet.extract(hdr.bridge);
		transition select(hdr.bridge.op) {
			SWITCH_SLOT: mirrored;
			default: accept;
		}
	}
	/* As much as the session leaves of the packet: frames are that long. */
	state mirrored {
		packet.advance(8 * (bit<32>)(NET_ETH_LEN + NET_IP4_LEN +
					     NET_TCP_LEN));
		transition accept;
	}
}

control DartEgress(inout egress_headers_t hdr, inout egress_meta_t meta,
		   in egress_intrinsic_metadata_t egress,
		   in egress_intrinsic_metadata_from_parser_t parsed,
		   inout egress_intrinsic_metadata_for_deparser_t deparser,
		   inout egress_intrinsic_metadata_for_output_port_t output) {
	Pair() pair;
	Frame() frame;
	Join() join;
	Lost() lost;
	ICRC_PART(write_8);

	action write_slot() {
		meta.form = TOFINO_FORM_8;
		meta.offset[31:0] = hdr.bridge.slot << 3;
		hdr.data.setValid();
		hdr.data.checksum = hdr.bridge.checksum;
		hdr.data.value = hdr.bridge.value;
	}
	action icrc_8() {
		meta.sum = write_8.get({ hdr.bth.psn, hdr.place.address, 64w0,
					 hdr.data.checksum, hdr.data.value });
	}
	action drop() {
		deparser.drop_ctl = 1;
	}

	apply {
		if (hdr.bridge.op != SWITCH_PASS) {
			write_slot();
			pair.apply(hdr, meta);
			frame.apply(hdr, meta);
			hdr.dma_len.setValid();
			icrc_8();
			join.apply(hdr, meta);
		}
		lost.apply(hdr, meta);
		if (hdr.bridge.op == SWITCH_RESYNC)
			drop();
	}
}

control DartEgressDeparser(packet_out packet, inout egress_headers_t hdr,
			   in egress_meta_t meta,
			   in egress_intrinsic_metadata_for_deparser_t
				   deparser) {
	Checksum() ip_sum;

	apply {
		if (hdr.ipv4.isValid())
			hdr.ipv4.sum = ip_sum.update({ IP4_FIELDS(hdr.ipv4) });
		packet.emit(hdr.ethernet);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.udp);
		packet.emit(hdr.bth);
		packet.emit(hdr.place);
		packet.emit(hdr.dma_len);
		packet.emit(hdr.data);
		packet.emit(hdr.icrc);
	}
}

Pipeline(DartIngressParser(), DartIngress(), DartIngressDeparser(),
	 DartEgressParser(), DartEgress(), DartEgressDeparser()) pipe;
Switch(pipe) main;
