/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta_translator.p4 - DTA reports in, RDMA operations out: the translator of
 * DTA section 5, for Tofino (TNA).
 *
 * What it does with a report is what lib/dta and v1model/dta_translator
 * do, and they leave the same memory; p4/README.md tells where it has less
 * room. Ingress judges a report and keeps what must wait for others; egress
 * makes an operation of each replica (operation.p4, rdma.p4).
 *
 * Registers and tables are filled by what dta-collect --ticket FILE -o tofino
 * writes.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "ledger.p4"
#include "parser.p4"
#include "judge.p4"
#include "sequence.p4"
#include "rows.p4"
#include "operation.p4"

/* Half words, for what is moved as it is: words are rare, and what a hash is
 * added to has to be one. */
@pa_container_size("ingress", "hdr.high.w0", 16)
@pa_container_size("ingress", "hdr.high.w1", 16)
@pa_container_size("ingress", "hdr.high.w2", 16)
@pa_container_size("ingress", "hdr.high.w3", 16)
@pa_container_size("ingress", "hdr.high.w4", 16)
@pa_container_size("ingress", "hdr.high.w5", 16)
@pa_container_size("ingress", "hdr.high.w6", 16)
@pa_container_size("ingress", "hdr.high.w7", 16)
@pa_container_size("ingress", "hdr.w5.v", 16)
@pa_container_size("ingress", "hdr.w6.v", 16)
@pa_container_size("ingress", "hdr.w7.v", 16)
control TranslatorIngress(inout ingress_headers_t hdr,
			  inout ingress_meta_t meta,
			  in ingress_intrinsic_metadata_t ingress,
			  in ingress_intrinsic_metadata_from_parser_t parsed,
			  inout ingress_intrinsic_metadata_for_deparser_t
				  deparser,
			  inout ingress_intrinsic_metadata_for_tm_t tm) {
	/* Of ledger.p4: what became of packets; NACKs and gaps; what is
	 * written. */
	Counter<bit<32>, bit<8>>(32, CounterType_t.PACKETS) ledger;
	Counter<bit<32>, bit<8>>(32, CounterType_t.PACKETS) nacks;
	Counter<bit<32>, bit<8>>(32, CounterType_t.PACKETS) gaps;
	Counter<bit<32>, bit<8>>(32, CounterType_t.PACKETS) written;
	Meter<bit<1>>(1, MeterType_t.PACKETS) rate;
	ROW_HASH(checksum, CRC_CHECKSUM, 16);
	Judge() judge;
	Sequence() sequence;
	Chunk() chunk;
	Owners() owners;
	Postcards() postcards;
	Append() append;
	Words() words;
	bit<48> mac;
	bit<32> ip;

	action to_port(PortId_t port) {
		tm.ucast_egress_port = port;
	}
	action drop() {
		deparser.drop_ctl = 1;
	}
	/* Where packets go that are no reports. */
	table ports {
		key = { ingress.ingress_port: exact; }
		actions = { to_port; drop; }
		const default_action = drop();
		size = 512;
	}

	/*
	 * What a table takes: of its reports the key's and the datagram's
	 * lengths; how it is written; the words that are to be added to its
	 * values as zeros (bit i: word i); the hops of its chunks; its part of
	 * the rows; of its lists, an entry's words, and the number of a batch's
	 * last entry. One table, as fields of two are not put into one
	 * container in one stage.
	 */
	action lane(bit<8> n, bit<4> kind, bit<8> key_len, bit<16> udp_len,
		    bit<8> copies, bit<8> immediate, bit<2> sequence_check,
		    bit<8> form, bit<8> pad, bit<8> hops, bit<16> row_mask,
		    bit<16> row_first, bit<8> entry_words,
		    bit<8> last_entry) {
		hdr.bridge.lane = n;
		meta.kind = kind;
		meta.kind_differs = hdr.dta.opcode ^ kind;
		meta.key_differs = hdr.dta.key_len ^ key_len;
		meta.len_differs = hdr.udp.len ^ udp_len;
		hdr.bridge.copies = copies;
		hdr.bridge.immediate = immediate;
		meta.sequence_check = sequence_check;
		hdr.bridge.form = form;
		meta.known = 1;
		meta.pad = pad;
		meta.all = hops;
		meta.row_mask = row_mask;
		meta.row_first = row_first;
		meta.entry_words = entry_words;
		meta.last_entry = last_entry;
	}
	table lanes {
		key = { hdr.bridge.table_id: exact; }
		actions = { lane; NoAction; }
		const default_action = NoAction();
		size = 64; /* TOFINO_TABLES */
	}
	/* The queue pair that an answer is about. */
	action answer(bit<8> n) {
		hdr.bridge.lane = n;
		hdr.bridge.op = SWITCH_RESYNC;
		hdr.bridge.psn[31:8] = hdr.bth.psn;
		/* to where its PSN is */
		tm.ucast_egress_port = ingress.ingress_port;
		deparser.drop_ctl = 0;
	}
	table answers {
		key = {
			hdr.bth.dest_qp: exact;
			hdr.aeth.syndrome: exact;
		}
		actions = { answer; NoAction; }
		const default_action = NoAction();
		size = 64;
	}

	action see_report() {
		meta.rest = hdr.ipv4.len - hdr.udp.len;
		meta.ports = hdr.flow.src_port ++ hdr.flow.dst_port;
	}
	/* Reports of all kinds are charged: what goes wrong, too. */
	action charge() {
		meta.color = rate.execute(0);
	}
	action hash_key() {
		meta.checksum = checksum.get(
			{ hdr.flow.src, hdr.flow.dst, hdr.flow.src_port,
			  hdr.flow.dst_port, hdr.flow.proto });
	}
	action take_list() {
		meta.checksum = meta.list_no[15:0];
	}
	action own_copies() {
		hdr.bridge.copies[3:0] = hdr.dta.copies;
	}
	action tell_at_once() {
		hdr.bridge.immediate = 1;
	}
	action mask_row() {
		meta.row = meta.checksum & meta.row_mask;
	}
	action place_row() {
		meta.row = meta.row + meta.row_first;
	}
	/* A hop's value is its word of the row; of four words, entries are one,
	 * two or all. Slots have what came. */
	action one_word() {
		hdr.w2.v = hdr.w1.v;
		hdr.w3.v = hdr.w1.v;
		hdr.w4.v = hdr.w1.v;
	}
	action two_words() {
		hdr.w3.v = hdr.w1.v;
		hdr.w4.v = hdr.w2.v;
	}
	table spread {
		key = { meta.entry_words: exact; }
		actions = { one_word; two_words; NoAction; }
		const default_action = NoAction();
		const entries = {
			1: one_word();
			2: two_words();
		}
		size = 4;
	}
	action put_hop() {
		meta.put[7:0] = meta.own_hop;
	}

	action write_slot() {
		hdr.bridge.op = SWITCH_SLOT;
	}
	action add_to_slot() {
		hdr.bridge.op = SWITCH_ADD;
	}
	/* A postcard that is all of its path. */
	action write_direct() {
		hdr.bridge.op = SWITCH_CHUNK;
		hdr.low.setValid();
		hdr.w1.setInvalid();
	}
	action go_to_row(bit<8> access) {
		meta.access = access;
	}
	/* What is stored at once; and what waits in a row, with what it does
	 * there. */
	table works {
		key = { ROW_KEYS }
		actions = {
			write_slot;
			add_to_slot;
			write_direct;
			go_to_row;
			NoAction;
		}
		const default_action = NoAction();
		const entries = {
			(LEDGER_STORED, DTA_KEYWRITE, _, _): write_slot();
			(LEDGER_STORED, DTA_KEYINC, _, _): add_to_slot();
			(LEDGER_STORED, DTA_POSTCARD, 1, _): write_direct();
			(OF_POSTCARD): go_to_row(SWITCH_ROW_POSTCARD);
			(OF_ENTRY): go_to_row(SWITCH_ROW_ENTRY);
			(OF_FLUSH_ROW): go_to_row(SWITCH_FLUSH_ROW);
			(OF_FLUSH_LIST): go_to_row(SWITCH_FLUSH_LIST);
		}
		size = 8;
	}
	/* Of the report, nothing is left but its key and data. */
	action no_frame() {
		hdr.ethernet.setInvalid();
		hdr.ipv4.setInvalid();
		hdr.udp.setInvalid();
		hdr.dta.setInvalid();
	}
	action to_group(bit<16> group) {
		tm.mcast_grp_a = group;
		deparser.drop_ctl = 0;
	}
	table groups {
		key = {
			hdr.bridge.op: exact;
			hdr.bridge.copies: ternary;
		}
		actions = { to_group; NoAction; }
		const default_action = NoAction();
		const entries = {
#define TO_COPIES(op, first) \
			(op, 1): to_group(first + 1); \
			(op, 2): to_group(first + 2); \
			(op, 3): to_group(first + 3); \
			(op, 4): to_group(first + 4);
			TO_COPIES(SWITCH_SLOT, 0)
			TO_COPIES(SWITCH_ADD, 0)
			TO_COPIES(SWITCH_CHUNK, 0)
			TO_COPIES(SWITCH_ENTRIES, TOFINO_GROUP_ENTRIES)
			(SWITCH_BATCH, _): to_group(TOFINO_GROUP_BATCH);
		}
		size = 32;
	}
	action count_written(bit<8> what) {
		written.count(what);
	}
	table writings {
		key = {
			hdr.bridge.op: exact;
			meta.full: ternary;
		}
		actions = { count_written; NoAction; }
		const default_action = NoAction();
		const entries = {
			(SWITCH_CHUNK, _): count_written(LEDGER_CHUNKS);
			(SWITCH_ENTRIES, _): count_written(LEDGER_EARLY);
			(SWITCH_BATCH, 1): count_written(LEDGER_BATCHES);
			(SWITCH_BATCH, _):
				count_written(LEDGER_PARTIAL_BATCHES);
		}
		size = 4;
	}

	/* The report becomes the answer to it. */
	action send_back() {
		mac = hdr.ethernet.dst;
		hdr.ethernet.dst = hdr.ethernet.src;
		hdr.ethernet.src = mac;
		ip = hdr.ipv4.dst;
		hdr.ipv4.dst = hdr.ipv4.src;
		hdr.ipv4.src = ip;
		hdr.ipv4.tos = 0;
		hdr.ipv4.len = NET_IP4_LEN + NET_UDP_LEN + DTA_HEADER_LEN;
		hdr.ipv4.id = 0;
		hdr.ipv4.fragment = NET_IP4_DF;
		hdr.ipv4.ttl = SWITCH_TTL;
		hdr.udp.src_port = DTA_PORT;
		hdr.udp.dst_port = DTA_NACK_PORT;
		hdr.udp.len = NET_UDP_LEN + DTA_HEADER_LEN;
		hdr.udp.sum = 0;
		tm.ucast_egress_port = ingress.ingress_port;
		deparser.drop_ctl = 0;
	}
	action fill_nack() {
		hdr.dta.opcode = DTA_NACK;
		hdr.dta.immediate = 0;
		hdr.dta.tracked = 0;
		hdr.dta.reserved = 0;
		hdr.dta.copies = 0;
		hdr.dta.key_len = 0;
		hdr.dta.hop = 0; /* with path_len, which is there, the reason */
		hdr.flow.setInvalid();
		hdr.list_no.setInvalid();
	}
	/* What was last taken in order. */
	action tell_last() {
		hdr.dta.sequence = hdr.dta.sequence - meta.step;
	}
	action no_words() {
		hdr.w1.setInvalid();
		hdr.w2.setInvalid();
		hdr.w3.setInvalid();
		hdr.w4.setInvalid();
		hdr.w5.setInvalid();
		hdr.w6.setInvalid();
		hdr.w7.setInvalid();
	}
	action go_round() {
		hdr.flush.first = hdr.flush.first + 1;
		hdr.flush.rows = hdr.flush.rows - 1;
		tm.ucast_egress_port = SWITCH_RECIRCULATE;
		deparser.drop_ctl = 0;
	}

	/*
	 * Conditions are tables' keys, or of one action: what is under a
	 * condition together is done before or behind all the rest, and takes
	 * stages of its own.
	 */
	apply {
		if (meta.sort == SWITCH_IS_FOREIGN)
			ports.apply();
		else
			drop();
		lanes.apply();
		if (hdr.aeth.isValid())
			answers.apply();
		if (meta.sort == SWITCH_IS_FLUSH || hdr.dta.opcode == DTA_APPEND)
			take_list();
		else
			hash_key();
		see_report();
		if (meta.sort == SWITCH_IS_REPORT && meta.again == 0)
			charge();
		if (meta.sort == SWITCH_IS_REPORT && hdr.dta.copies != 0)
			own_copies();
		if (meta.sort == SWITCH_IS_REPORT && hdr.dta.immediate == 1)
			tell_at_once();
		/* A flush goes on with the next row, until it has been to all. */
		if (meta.sort == SWITCH_IS_FLUSH && hdr.flush.rows != 0 &&
		    hdr.flush.rows != 1)
			go_round();
		judge.apply(hdr, meta, parsed);
		mask_row();
		place_row();
		put_hop();
		/* bits to be added as zeros */
#define PAD(i) \
		if (meta.sort == SWITCH_IS_REPORT && meta.pad[i:i] == 1) { \
			hdr.w##i.setValid(); \
			hdr.w##i.v = 0; \
		}
		PAD(2)
		PAD(3)
		PAD(4)
		PAD(5)
		PAD(6)
		PAD(7)
		spread.apply();
		chunk.apply(hdr, meta);
		sequence.apply(hdr, meta, parsed, deparser);
		works.apply();
		owners.apply(hdr, meta);
		postcards.apply(hdr, meta);
		append.apply(hdr, meta);
		words.apply(hdr, meta);
		groups.apply();
		writings.apply();
		if (meta.gap == 1)
			gaps.count(LEDGER_GAPS);
		if (meta.answer == 1)
			nacks.count(LEDGER_NACKS_SENT);
		if (meta.answer == 1)
			send_back();
		if (meta.answer == 1)
			tell_last();
		if (meta.answer == 1)
			fill_nack();
		if (meta.answer == 1)
			no_words();
		if (meta.sort == SWITCH_IS_REPORT && meta.answer == 0)
			no_frame();
		if (meta.resubmit == 0)
			ledger.count(meta.ledger);
	}
}

control TranslatorEgress(inout egress_headers_t hdr, inout egress_meta_t meta,
			 in egress_intrinsic_metadata_t egress,
			 in egress_intrinsic_metadata_from_parser_t parsed,
			 inout egress_intrinsic_metadata_for_deparser_t
				 deparser,
			 inout egress_intrinsic_metadata_for_output_port_t
				 output) {
	Operation() operation;
	apply {
		if (egress.egress_port != SWITCH_RECIRCULATE &&
		    hdr.bridge.op != SWITCH_PASS)
			operation.apply(hdr, meta, egress, deparser);
	}
}

Pipeline(TranslatorIngressParser(), TranslatorIngress(),
	 TranslatorIngressDeparser(), TranslatorEgressParser(),
	 TranslatorEgress(), TranslatorEgressDeparser()) pipe;
Switch(pipe) main;
