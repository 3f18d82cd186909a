/* SPDX-License-Identifier: BSD-2-Clause */
/* parser.p4 - ingress: DTA reports, answers of the collector, flushes. */
#ifndef DTA_TRANSLATOR_PARSER
#define DTA_TRANSLATOR_PARSER

#include "headers.p4"
#include "sums.p4"

/* UDP's length, of reports with keys of flows and of lists, by words. */
#define FLOW_WORDS(n) (NET_UDP_LEN + DTA_HEADER_LEN + KEY_FLOW4_LEN + 4 * n)
#define LIST_WORDS(n) (NET_UDP_LEN + DTA_HEADER_LEN + 4 + 4 * n)

/* What is not set here, begin() does. */
@noWarn("uninitialized_out_param")
parser TranslatorIngressParser(packet_in packet, out ingress_headers_t hdr,
			       out ingress_meta_t meta,
			       out ingress_intrinsic_metadata_t ingress) {
	Checksum() ip_sum;

	state start {
		packet.extract(ingress);
		meta.again = 0;
		meta.sort = SWITCH_IS_FOREIGN;
		meta.bad_sum = false;
		hdr.bridge.setValid();
		hdr.bridge.op = SWITCH_PASS;
		hdr.bridge.lane = 0;
		hdr.bridge.form = 0;
		hdr.bridge.copies = 0;
		hdr.bridge.held = 0;
		hdr.bridge.immediate = 0;
		hdr.bridge.table_id = 0;
		hdr.bridge.sequence = 0;
		hdr.bridge.count_high = 0;
		hdr.bridge.count = 0;
		hdr.bridge.list_row = 0;
		meta.list_no = 0;
		hdr.bridge.psn = 0;
		meta.known = 0;
		meta.kind = 0;
		meta.kind_differs = 0;
		meta.key_differs = 0;
		meta.len_differs = 0;
		meta.list_known = 0;
		meta.path_fits = 0;
		meta.question = 0;
		meta.decoded = 0;
		meta.answer = 0;
		meta.direct = 0;
		meta.color = 0;
		meta.acquainted = 0;
		meta.ahead = 0;
		meta.behind = 0;
		meta.missed = 0;
		meta.far = 0;
		meta.gone = 0;
		meta.resubmit = 0;
		meta.put = 0;
		meta.gap = 0;
		meta.gap_was = 1;
		meta.unheeded = 0;
		meta.access = 0;
		meta.same = 0;
		meta.lacked = 0;
		meta.full = 0;
		meta.own_hop = 0;
		meta.own_rest = 0;
		meta.pad = 0;
		meta.sequence_check = 0;
		meta.ledger = 0;
		transition select(ingress.resubmit_flag) {
			1: resubmitted;
			default: arrived;
		}
	}
	state resubmitted {
		packet.advance(PORT_METADATA_SIZE);
		meta.again = 1;
		transition frame;
	}
	state arrived {
		packet.advance(PORT_METADATA_SIZE);
		transition frame;
	}
	state frame {
		packet.extract(hdr.ethernet);
		transition select(hdr.ethernet.type) {
			NET_ETHERTYPE_IP4: ipv4;
			SWITCH_ETHERTYPE_FLUSH: flush;
			default: accept;
		}
	}
	state flush {
		packet.extract(hdr.flush);
		hdr.bridge.table_id = hdr.flush.table_id;
		meta.list_no = hdr.flush.first;
		meta.sort = SWITCH_IS_FLUSH;
		transition accept;
	}
	state ipv4 {
		packet.extract(hdr.ipv4);
		ip_sum.add(hdr.ipv4);
		meta.bad_sum = ip_sum.verify();
		transition select(hdr.ipv4.plain, hdr.ipv4.fragment,
				  hdr.ipv4.proto) {
			(NET_IP4_PLAIN, 0 &&& NET_IP4_FRAGMENT, NET_PROTO_UDP):
				udp;
			default: accept;
		}
	}
	state udp {
		packet.extract(hdr.udp);
		transition select(hdr.udp.dst_port) {
			DTA_PORT: dta;
			ROCE_PORT: answer;
			default: accept;
		}
	}
	state answer {
		meta.sort = SWITCH_IS_ANSWER;
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
	/* One that ends before its header or key does is known by the parser's
	 * error; one of another length than its table's goes no further. */
	state dta {
		meta.sort = SWITCH_IS_REPORT;
		packet.extract(hdr.dta);
		hdr.bridge.table_id = hdr.dta.table_id;
		hdr.bridge.sequence = hdr.dta.sequence;
		transition select(hdr.dta.opcode, hdr.dta.key_len) {
			(DTA_APPEND, 4): list_no;
			(DTA_KEYWRITE, (bit<8>)KEY_FLOW4_LEN): flow;
			(DTA_KEYINC, (bit<8>)KEY_FLOW4_LEN): flow;
			(DTA_POSTCARD, (bit<8>)KEY_FLOW4_LEN): flow;
			default: accept;
		}
	}
	state list_no {
		packet.extract(hdr.list_no);
		meta.list_no = hdr.list_no.list_no;
		transition select(hdr.udp.len) {
			LIST_WORDS(1): short_list;
			LIST_WORDS(2): words_2;
			LIST_WORDS(3): words_3;
			LIST_WORDS(4): words_4;
			default: accept;
		}
	}
	state short_list {
		packet.extract(hdr.w1);
		packet.extract(hdr.padding);
		transition accept;
	}
	state flow {
		packet.extract(hdr.flow);
		transition select(hdr.udp.len) {
			FLOW_WORDS(1): words_1;
			FLOW_WORDS(2): words_2;
			FLOW_WORDS(3): words_3;
			FLOW_WORDS(4): words_4;
			FLOW_WORDS(5): words_5;
			FLOW_WORDS(6): words_6;
			FLOW_WORDS(7): words_7;
			default: accept;
		}
	}
	state words_1 {
		packet.extract(hdr.w1);
		transition accept;
	}
	state words_2 {
		packet.extract(hdr.w1);
		packet.extract(hdr.w2);
		transition accept;
	}
	state words_3 {
		packet.extract(hdr.w1);
		packet.extract(hdr.w2);
		packet.extract(hdr.w3);
		transition accept;
	}
	state words_4 {
		packet.extract(hdr.w1);
		packet.extract(hdr.w2);
		packet.extract(hdr.w3);
		packet.extract(hdr.w4);
		transition accept;
	}
	state words_5 {
		packet.extract(hdr.w1);
		packet.extract(hdr.w2);
		packet.extract(hdr.w3);
		packet.extract(hdr.w4);
		packet.extract(hdr.w5);
		transition accept;
	}
	state words_6 {
		packet.extract(hdr.w1);
		packet.extract(hdr.w2);
		packet.extract(hdr.w3);
		packet.extract(hdr.w4);
		packet.extract(hdr.w5);
		packet.extract(hdr.w6);
		transition accept;
	}
	state words_7 {
		packet.extract(hdr.w1);
		packet.extract(hdr.w2);
		packet.extract(hdr.w3);
		packet.extract(hdr.w4);
		packet.extract(hdr.w5);
		packet.extract(hdr.w6);
		packet.extract(hdr.w7);
		transition accept;
	}
}

control TranslatorIngressDeparser(packet_out packet,
				  inout ingress_headers_t hdr,
				  in ingress_meta_t meta,
				  in ingress_intrinsic_metadata_for_deparser_t
					  deparser) {
	Checksum() ip_sum;
	Resubmit() resubmit;

	apply {
		if (deparser.resubmit_type == SWITCH_RESUBMIT)
			resubmit.emit();
		if (meta.answer == 1)
			hdr.ipv4.sum = ip_sum.update({ IP4_FIELDS(hdr.ipv4) });
		packet.emit(hdr.bridge);
		packet.emit(hdr.flow);
		packet.emit(hdr.low);
		packet.emit(hdr.high);
		packet.emit(hdr.w1);
		packet.emit(hdr.w2);
		packet.emit(hdr.w3);
		packet.emit(hdr.w4);
		packet.emit(hdr.w5);
		packet.emit(hdr.w6);
		packet.emit(hdr.w7);
		packet.emit(hdr.ethernet);
		packet.emit(hdr.flush);
		packet.emit(hdr.ipv4);
		packet.emit(hdr.udp);
		packet.emit(hdr.dta);
	}
}

/*
 * Egress: what ingress says. A flush stands behind what it makes, and goes on
 * alone; behind an operation it is behind the IP packet's length.
 */
@noWarn("uninitialized_out_param")
parser TranslatorEgressParser(packet_in packet, out egress_headers_t hdr,
			      out egress_meta_t meta,
			      out egress_intrinsic_metadata_t egress) {
	state start {
		meta.offset = 0;
		meta.form = 0;
		packet.extract(egress);
		transition select(egress.egress_port) {
			SWITCH_RECIRCULATE: flush;
			default: operation;
		}
	}
	state flush {
		packet.extract(hdr.bridge);
		transition select(hdr.bridge.op, hdr.bridge.form) {
			(SWITCH_ENTRIES, _): skip_entries;
			(SWITCH_BATCH, TOFINO_FORM_64): skip_long_batch;
			(SWITCH_BATCH, _): skip_batch;
			default: accept;
		}
	}
	state skip_entries {
		packet.advance(8 * ((bit<32>)KEY_FLOW4_LEN + 32));
		transition accept;
	}
	state skip_batch {
		packet.advance(8 * 32);
		transition accept;
	}
	state skip_long_batch {
		packet.advance(8 * 64);
		transition accept;
	}
	/* The words of an operation's form, and none that it has not. What goes
	 * by the packet's end is behind all words that came. */
	state operation {
		packet.extract(hdr.bridge);
		transition select(hdr.bridge.op) {
			SWITCH_PASS: accept;
			SWITCH_ADD: add;
			default: write;
		}
	}
	state write {
		hdr.dma_len.setValid();
		transition select(hdr.bridge.op, hdr.bridge.form,
				  egress.egress_rid[7:0]) {
			(SWITCH_SLOT, _, _): slot;
			(SWITCH_CHUNK, TOFINO_FORM_4, _): chunk_4;
			(SWITCH_CHUNK, TOFINO_FORM_8, _): chunk_8;
			(SWITCH_CHUNK, TOFINO_FORM_16, _): chunk_16;
			(SWITCH_CHUNK, _, _): chunk_32;
			(SWITCH_ENTRIES, _, 0 &&& 7): entry_0;
			(SWITCH_ENTRIES, _, 1 &&& 7): entry_1;
			(SWITCH_ENTRIES, _, 2 &&& 7): entry_2;
			(SWITCH_ENTRIES, _, 3 &&& 7): entry_3;
			(SWITCH_ENTRIES, _, 4 &&& 7): entry_4;
			(SWITCH_ENTRIES, _, 5 &&& 7): entry_5;
			(SWITCH_ENTRIES, _, 6 &&& 7): entry_6;
			(SWITCH_ENTRIES, _, 7 &&& 7): entry_7;
			(SWITCH_BATCH, TOFINO_FORM_64, 8): skip_long_batch;
			(SWITCH_BATCH, TOFINO_FORM_64, _): long_batch;
			(SWITCH_BATCH, _, 8): skip_batch;
			(SWITCH_BATCH, TOFINO_FORM_4, _): words_4;
			(SWITCH_BATCH, TOFINO_FORM_8, _): words_8;
			(SWITCH_BATCH, TOFINO_FORM_16, _): words_16;
			(SWITCH_BATCH, _, _): words_32;
			default: accept;
		}
	}
	state slot {
		packet.extract(hdr.flow);
		hdr.d0.setValid(); /* the checksum */
		packet.extract(hdr.d1);
		transition select(hdr.bridge.form) {
			TOFINO_FORM_8: accept;
			TOFINO_FORM_16: slot_16;
			default: slot_32;
		}
	}
	state slot_16 {
		packet.extract(hdr.d2);
		packet.extract(hdr.d3);
		transition accept;
	}
	state slot_32 {
		packet.extract(hdr.d2);
		packet.extract(hdr.d3);
		packet.extract(hdr.d4);
		packet.extract(hdr.d5);
		packet.extract(hdr.d6);
		packet.extract(hdr.d7);
		transition accept;
	}
	/* AtomicETH has no length, and what its value is compared with, though
	 * it is not: 0. */
	state add {
		packet.extract(hdr.flow);
		packet.extract(hdr.d1);
		packet.extract(hdr.d2);
		hdr.d3.setValid();
		hdr.d3.v = 0;
		hdr.d4.setValid();
		hdr.d4.v = 0;
		transition accept;
	}
#define CHUNK(n) \
	state chunk_##n { \
		packet.extract(hdr.flow); \
		transition words_##n; \
	}
	CHUNK(4)
	CHUNK(8)
	CHUNK(16)
	CHUNK(32)
	state words_4 {
		packet.extract(hdr.d0);
		packet.advance(8 * 28);
		transition accept;
	}
	state words_8 {
		packet.extract(hdr.d0);
		packet.extract(hdr.d1);
		packet.advance(8 * 24);
		transition accept;
	}
	state words_16 {
		packet.extract(hdr.d0);
		packet.extract(hdr.d1);
		packet.extract(hdr.d2);
		packet.extract(hdr.d3);
		packet.advance(8 * 16);
		transition accept;
	}
	state words_32 {
		packet.extract(hdr.d0);
		packet.extract(hdr.d1);
		packet.extract(hdr.d2);
		packet.extract(hdr.d3);
		packet.extract(hdr.d4);
		packet.extract(hdr.d5);
		packet.extract(hdr.d6);
		packet.extract(hdr.d7);
		transition accept;
	}
	state long_batch {
		packet.extract(hdr.d0);
		packet.extract(hdr.d1);
		packet.extract(hdr.d2);
		packet.extract(hdr.d3);
		packet.extract(hdr.d4);
		packet.extract(hdr.d5);
		packet.extract(hdr.d6);
		packet.extract(hdr.d7);
		packet.extract(hdr.d8);
		transition accept;
	}
	/* One entry of a row: the replica's. */
#define ONE_ENTRY(i) \
	state entry_##i { \
		packet.extract(hdr.flow); \
		packet.advance(8 * 4 * i); \
		packet.extract(hdr.d0); \
		packet.advance(8 * 4 * (7 - i)); \
		transition accept; \
	}
	ONE_ENTRY(0)
	ONE_ENTRY(1)
	ONE_ENTRY(2)
	ONE_ENTRY(3)
	ONE_ENTRY(4)
	ONE_ENTRY(5)
	ONE_ENTRY(6)
	ONE_ENTRY(7)
}

control TranslatorEgressDeparser(packet_out packet, inout egress_headers_t hdr,
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
		packet.emit(hdr.imm);
		packet.emit(hdr.d0);
		packet.emit(hdr.d1);
		packet.emit(hdr.d2);
		packet.emit(hdr.d3);
		packet.emit(hdr.d4);
		packet.emit(hdr.d5);
		packet.emit(hdr.d6);
		packet.emit(hdr.d7);
		packet.emit(hdr.d8);
		packet.emit(hdr.icrc);
	}
}

#endif
