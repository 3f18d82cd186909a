/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dta_translator.p4 - DTA reports in, RDMA operations out: the translator of
 * DTA section 5, for v1model (BMv2).
 *
 * What it does with a report is what lib/dta does, so that both leave the
 * same memory. Ingress judges a report, hashes its key and decides how many
 * operations it becomes: it is multicast to as many replicas, to group number
 * n for n of them, and egress makes the operation of each (rdma.p4).
 *
 * Tables and registers are filled by what dta-switch makes of a ticket:
 * p4/README.md.
 */
#include <core.p4>
#include <v1model.p4>

#include "headers.p4"
#include "ledger.p4"
#include "parser.p4"
#include "keys.p4"
#include "rdma.p4"
#include "postcard.p4"
#include "append.p4"
#include "sequence.p4"

/* What its table has to say about a report. */
control Judge(in headers_t hdr, inout meta_t meta, in bool known,
	      in bit<16> key_len, in bit<16> data_len) {
	apply {
		meta.decoded = 1;
		if (!known)
			meta.ledger = LEDGER_BAD_TABLE;
		else if (hdr.dta.opcode != meta.kind)
			meta.ledger = LEDGER_BAD_OPCODE;
		else if (meta.key_len != key_len)
			meta.ledger = LEDGER_BAD_KEY;
		else if (meta.data_len != data_len)
			meta.ledger = LEDGER_BAD_DATA;
		else if (meta.kind == DTA_APPEND && hdr.key.b4.v >= meta.lists)
			meta.ledger = LEDGER_BAD_LIST;
		else if (meta.kind == DTA_POSTCARD) {
			/* A path cut short would be answered as whole. */
			if (hdr.dta.hop >= meta.hops ||
			    hdr.dta.path_len > meta.hops ||
			    (hdr.dta.path_len != 0 &&
			     hdr.dta.hop >= hdr.dta.path_len))
				meta.ledger = LEDGER_BAD_HOP;
			else if (hdr.data.b4.v == 0xffffffff)
				meta.ledger = LEDGER_BAD_VALUE;
		}
	}
}

control TranslatorIngress(inout headers_t hdr, inout meta_t meta,
		inout standard_metadata_t standard) {
	counter(LEDGER_COUNTERS, CounterType.packets) ledger;
	Sequence() sequence;
	Judge() judge;
	HashSlots() hash_slots;
	Postcards() postcards;
	Append() append;
	BytesToNumber() get_key;
	BytesToNumber() get_data;
	bit<16> want_key;
	bit<16> want_data;

	action to_port(bit<9> port) {
		standard.egress_spec = port;
	}
	action drop() {
		mark_to_drop(standard);
	}
	/* Where packets go that are no reports. */
	table ports {
		key = { standard.ingress_port: exact; }
		actions = { to_port; drop; }
		default_action = drop();
		size = 512;
	}

	/* What a table takes; its copies by default, its geometry. */
	action lane(bit<8> n, bit<4> kind, bit<16> key_len, bit<16> data_len,
		    bit<4> copies, bit<1> immediate, bit<2> sequence_check,
		    bit<64> units, bit<16> stride, bit<16> write_len,
		    bit<4> hops, bit<32> lists) {
		meta.lane = n;
		meta.kind = kind;
		want_key = key_len;
		want_data = data_len;
		meta.copies = hdr.dta.copies == 0 ? copies : hdr.dta.copies;
		meta.immediate = immediate | hdr.dta.immediate;
		meta.sequence_check = sequence_check;
		meta.units = units;
		meta.stride = stride;
		meta.write_len = write_len;
		meta.hops = hops;
		meta.lists = lists;
	}
	table lanes {
		key = { meta.table_id: exact; }
		actions = { lane; NoAction; }
		default_action = NoAction();
		size = TABLE_MAX;
	}

	/* The queue pair that an answer is about. */
	action answer(bit<8> n) {
		meta.lane = n;
	}
	table answers {
		key = { hdr.bth.dest_qp: exact; }
		actions = { answer; NoAction; }
		default_action = NoAction();
		size = 64;
	}

	apply {
		if (hdr.bth.isValid()) {
			ledger.count((bit<32>)LEDGER_ANSWERS);
			mark_to_drop(standard);
			if (hdr.aeth.isValid() &&
			    hdr.aeth.syndrome == ROCE_NAK_PSN &&
			    answers.apply().hit) {
				/* to where its PSN is */
				meta.to_pair = 1;
				standard.egress_spec = standard.ingress_port;
			}
			return;
		}
		if (meta.report == 0 && !hdr.flush.isValid()) {
			ledger.count((bit<32>)LEDGER_RECEIVED);
			ledger.count((bit<32>)LEDGER_FOREIGN);
			ports.apply();
			return;
		}
		mark_to_drop(standard);
		want_key = 0;
		want_data = 0;
		bool known = lanes.apply().hit;

		if (hdr.flush.isValid()) {
			ledger.count((bit<32>)LEDGER_FLUSHES);
			if (!known)
				return;
			meta.walk = 1;
		} else {
			ledger.count((bit<32>)LEDGER_RECEIVED);
			meta.ledger = LEDGER_STORED;
			if (meta.malformed == 1 ||
			    standard.checksum_error == 1 ||
			    standard.parser_error != error.NoError ||
			    hdr.ipv4.len < NET_IP4_LEN + hdr.udp.len)
				meta.ledger = LEDGER_MALFORMED;
			else if (hdr.dta.version != DTA_VERSION_1)
				meta.ledger = LEDGER_BAD_VERSION;
			else if (hdr.dta.opcode == DTA_NACK &&
				 (meta.reason == DTA_NACK_STATE ||
				  meta.reason == DTA_NACK_GONE))
				meta.question = 1;
			else if (hdr.dta.opcode == DTA_NACK)
				meta.ledger = LEDGER_FOREIGN;
			else if (hdr.dta.opcode == 0 ||
				 hdr.dta.opcode > DTA_POSTCARD)
				meta.ledger = LEDGER_BAD_OPCODE;
			else if (hdr.dta.copies > DTA_MAX_COPIES)
				meta.ledger = LEDGER_BAD_COPIES;
			else
				judge.apply(hdr, meta, known, want_key,
					    want_data);
			if (meta.question == 1)
				meta.ledger = LEDGER_QUESTIONS;
			/* A report that was sent in order is not asked for
			 * again, whatever is in it. */
			if (meta.question == 1 || meta.decoded == 1)
				sequence.apply(hdr, meta);
			ledger.count((bit<32>)meta.ledger);
			if (meta.gap == 1)
				ledger.count((bit<32>)LEDGER_GAPS);
			if (meta.nack == 1) {
				ledger.count((bit<32>)LEDGER_NACKS_SENT);
				standard.egress_spec = standard.ingress_port;
			}
			if (meta.ledger != LEDGER_STORED)
				return;
			get_key.apply(hdr.key, meta.key);
			get_data.apply(hdr.data, meta.data);
			hash_slots.apply(key_of(meta.key, meta.key_len), meta);
		}
		if (meta.kind == DTA_POSTCARD)
			postcards.apply(hdr, meta);
		else if (meta.kind == DTA_APPEND)
			append.apply(hdr, meta);
		else if (meta.walk == 0)
			meta.slot_writes = (bit<8>)meta.copies;
		if (meta.duplicate == 1)
			ledger.count((bit<32>)LEDGER_DUPLICATES);
		if (meta.early_writes != 0)
			ledger.count((bit<32>)LEDGER_EARLY);
		if (meta.own_writes != 0)
			ledger.count((bit<32>)LEDGER_CHUNKS);
		if (meta.append_writes != 0)
			ledger.count((bit<32>)LEDGER_BATCHES);
		if (meta.partial == 1)
			ledger.count((bit<32>)LEDGER_PARTIAL_BATCHES);
		meta.replicas = meta.slot_writes + meta.early_writes +
				meta.own_writes + meta.append_writes +
				(bit<8>)meta.walk;
		standard.mcast_grp = (bit<16>)meta.replicas;
	}
}

control TranslatorEgress(inout headers_t hdr, inout meta_t meta,
	       inout standard_metadata_t standard) {
	Rdma() rdma;
	Nack() nack;
	PostcardOperation() postcard;
	AppendOperation() append;
	operation_t op;
	bit<8> replica;
	bit<64> slot;

	action begin() {
		replica = (bit<8>)standard.egress_rid;
		op.pair = meta.lane;
		op.resync = meta.to_pair;
		op.atomic = 0;
		op.immediate = 0;
		op.add = 0;
		op.imm = meta.table_id ++ hdr.dta.sequence;
		op.len = 0;
		op.data = 0;
		op.offset = 0;
	}
	/* hash mod units: BMv2 has % in its hashes alone. */
	action slot_of(bit<32> hash_value) {
		hash(slot, HashAlgorithm.identity, 64w0, { hash_value },
		     meta.units);
		op.offset = slot * (bit<64>)meta.stride;
	}
	/* Key-Write, DTA 4.1: checksum, value, zeros. */
	action write_slot() {
		bit<16> behind = meta.write_len - 4; /* the checksum */

		op.data = left((bit<2048>)meta.checksum, behind) |
			  left(meta.data, behind - meta.data_len);
		op.len = meta.write_len;
		op.immediate = replica + 1 == meta.replicas ? meta.immediate
							    : 1w0;
	}
	action add_to_slot() {
		op.atomic = 1;
		op.add = (bit<64>)meta.data;
	}

	/* A flush goes on with the next row, until it has been to all. */
	action flush_next() {
		hdr.flush.first = hdr.flush.first + 1;
		hdr.flush.rows = hdr.flush.rows - 1;
		recirculate_preserving_field_list(0);
	}
	action flushed() {
		mark_to_drop(standard);
	}

	apply {
		begin();
		if (meta.nack == 1) {
			nack.apply(hdr, meta);
		} else if (meta.replicas == 0) {
			/* passed on as it is */
		} else if (meta.walk == 1 && replica + 1 == meta.replicas) {
			if (hdr.flush.rows > 1)
				flush_next();
			else
				flushed();
		} else if (meta.kind == DTA_POSTCARD) {
			postcard.apply(meta, replica, op);
		} else if (meta.kind == DTA_APPEND) {
			append.apply(meta, replica, op);
		} else {
			if (replica == 0)
				slot_of(meta.slot0);
			else if (replica == 1)
				slot_of(meta.slot1);
			else if (replica == 2)
				slot_of(meta.slot2);
			else
				slot_of(meta.slot3);
			if (meta.kind == DTA_KEYWRITE)
				write_slot();
			else
				add_to_slot();
		}
		if (op.len != 0 || op.atomic == 1) {
			hdr.flush.setInvalid();
			hdr.dta.setInvalid();
			hdr.key.b64.setInvalid();
			hdr.key.b32.setInvalid();
			hdr.key.b16.setInvalid();
			hdr.key.b8.setInvalid();
			hdr.key.b4.setInvalid();
			hdr.key.b2.setInvalid();
			hdr.key.b1.setInvalid();
		}
		if (op.len != 0 || op.atomic == 1 || op.resync == 1)
			rdma.apply(hdr, op, standard);
	}
}

V1Switch(TranslatorParser(), VerifyChecksums(), TranslatorIngress(),
	 TranslatorEgress(), ComputeChecksums(), TranslatorDeparser()) main;
