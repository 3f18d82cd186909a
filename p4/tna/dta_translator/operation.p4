/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operation.p4 - egress: a replica's operation. Its place in the table, its
 * data, and the part of its iCRC that is hashed (crc.p4, rdma.p4).
 */
#ifndef DTA_TRANSLATOR_OPERATION
#define DTA_TRANSLATOR_OPERATION

#include "headers.p4"
#include "crc.p4"
#include "rdma.p4"

#define KEY \
	{ hdr.flow.src, hdr.flow.dst, hdr.flow.src_port, hdr.flow.dst_port, \
	  hdr.flow.proto }

/* The replica's copy (of a slot), its role, and where that is. */
control Place(inout egress_headers_t hdr, inout egress_meta_t meta,
	      in egress_intrinsic_metadata_t egress,
	      inout egress_intrinsic_metadata_for_deparser_t deparser) {
	KEY_HASH(slot0, CRC_SLOT0);
	KEY_HASH(slot1, CRC_SLOT1);
	KEY_HASH(slot2, CRC_SLOT2);
	KEY_HASH(slot3, CRC_SLOT3);

	action hash0() {
		meta.offset = slot0.get(KEY);
	}
	action hash1() {
		meta.offset = slot1.get(KEY);
	}
	action hash2() {
		meta.offset = slot2.get(KEY);
	}
	action hash3() {
		meta.offset = slot3.get(KEY);
	}
	/* A batch is where its last entry is: the mask leaves the entries
	 * of a batch out. */
	action from_count() {
		meta.offset = hdr.bridge.count - 1;
	}
	/* Slots are powers of two, and so are their lengths. */
	action geometry(bit<32> mask, bit<8> shift, bit<8> hops) {
		meta.slot_mask = mask;
		meta.shift = shift;
		meta.all = hops;
	}
	table geometries {
		key = { hdr.bridge.lane: exact; }
		actions = { geometry; NoAction; }
		const default_action = NoAction();
		size = 64;
	}
	/* Where a list's ring begins, and (replica 8) its count is. */
	action ring(bit<32> at) {
		meta.add = at;
	}
	table rings {
		key = {
			hdr.bridge.list_row: exact;
			egress.egress_rid: exact;
		}
		actions = { ring; NoAction; }
		const default_action = NoAction();
		size = 8192; /* 2 * TOFINO_LISTS */
	}

	action whole() {
		meta.form = hdr.bridge.form;
	}
	/* The last operation of a report says that it is. */
	action whole_immediate() {
		meta.form = hdr.bridge.form | TOFINO_FORM_IMM;
	}
	action counter() {
		meta.form = TOFINO_FORM_ADD;
	}
	action entry(bit<8> hop, bit<32> at) {
		meta.form = TOFINO_FORM_4;
		meta.hop = hop;
		meta.add = at;
	}
	action count() {
		meta.form = TOFINO_FORM_8;
		meta.slot_mask = 0;
	}
	action count_immediate() {
		meta.form = TOFINO_FORM_8 | TOFINO_FORM_IMM;
		meta.slot_mask = 0;
	}
	action drop() {
		meta.form = 0;
		deparser.drop_ctl = 1;
	}
	table roles {
		key = {
			hdr.bridge.op: exact;
			egress.egress_rid[4:0]: ternary;
			hdr.bridge.copies: ternary;
			hdr.bridge.immediate: ternary;
			hdr.bridge.blank: ternary;
			hdr.bridge.held: ternary;
		}
		actions = {
			whole;
			whole_immediate;
			counter;
			entry;
			count;
			count_immediate;
			drop;
		}
		const default_action = drop();
		const entries = {
#define LAST_OF(n) \
			(SWITCH_SLOT, 8 * (n - 1), n, 1, _, _): \
				whole_immediate(); \
			(SWITCH_CHUNK, 8 * (n - 1), n, _, 0x100 &&& 0x100, _): \
				whole_immediate();
			LAST_OF(1)
			LAST_OF(2)
			LAST_OF(3)
			LAST_OF(4)
			(SWITCH_SLOT, _, _, _, _, _): whole();
			(SWITCH_CHUNK, _, _, _, _, _): whole();
			(SWITCH_ADD, _, _, _, _, _): counter();
#define HOP(i) \
			(SWITCH_ENTRIES, i &&& 7, _, _, _, 1 << i &&& 1 << i): \
				entry(i, 4 * i);
			HOP(0)
			HOP(1)
			HOP(2)
			HOP(3)
			HOP(4)
			HOP(5)
			HOP(6)
			HOP(7)
			(SWITCH_BATCH, 0, _, _, _, _): whole();
			(SWITCH_BATCH, 8, _, 1, _, _): count_immediate();
			(SWITCH_BATCH, 8, _, _, _, _): count();
		}
		size = 32;
	}

	action mask() {
		meta.offset = meta.offset & meta.slot_mask;
	}
	action by_4() {
		meta.offset = meta.offset << 2;
	}
	action by_8() {
		meta.offset = meta.offset << 3;
	}
	action by_16() {
		meta.offset = meta.offset << 4;
	}
	action by_32() {
		meta.offset = meta.offset << 5;
	}
	table shifts {
		key = { meta.shift: exact; }
		actions = { by_4; by_8; by_16; by_32; }
		const default_action = by_4();
		const entries = {
			3: by_8();
			4: by_16();
			5: by_32();
		}
		size = 4;
	}
	/* What is added to the slot's place, and so takes of the room. */
	action add_rest() {
		hdr.place.low = hdr.place.low + meta.add;
		meta.room = meta.room - meta.add;
	}

	apply {
		/* A table takes one hash of 32 bits. */
		if (hdr.bridge.op == SWITCH_BATCH)
			from_count();
		else if (egress.egress_rid[4:3] == 0)
			hash0();
		else if (egress.egress_rid[4:3] == 1)
			hash1();
		else if (egress.egress_rid[4:3] == 2)
			hash2();
		else
			hash3();
		geometries.apply();
		if (hdr.bridge.op == SWITCH_BATCH)
			rings.apply();
		roles.apply();
		add_rest();
		mask();
		shifts.apply();
	}
}

/*
 * An entry of a chunk, dta.md section 3: csum_i of the key, with the value; or
 * with ones, where the path has no such hop; 0 behind the table's hops.
 */
#define ENTRY(i) \
	KEY_HASH(hop##i, CRC_HOP##i); \
	action blank_##i() { \
		hdr.d##i.v = 0xffffffff; \
	} \
	action sum_##i() { \
		hdr.d##i.v = hdr.d##i.v ^ hop##i.get(KEY); \
	} \
	action clear_##i() { \
		hdr.d##i.v = 0; \
	}
#define PICK(i) \
	action pick_##i() { \
		hdr.d0.v = hdr.d##i.v; \
	}
#define BLANK(i) \
	if (hdr.bridge.blank[i:i] == 1) \
		blank_##i();
#define SUM(i) \
	if (meta.all[i:i] == 1) \
		sum_##i(); \
	else \
		clear_##i();

control Chunk(inout egress_headers_t hdr, inout egress_meta_t meta) {
	ENTRY(0)
	ENTRY(1)
	ENTRY(2)
	ENTRY(3)
	ENTRY(4)
	ENTRY(5)
	ENTRY(6)
	ENTRY(7)
	PICK(1)
	PICK(2)
	PICK(3)
	PICK(4)
	PICK(5)
	PICK(6)
	PICK(7)
	/* One entry of a chunk that is not complete. */
	table picks {
		key = { meta.hop: exact; }
		actions = {
			pick_1;
			pick_2;
			pick_3;
			pick_4;
			pick_5;
			pick_6;
			pick_7;
			NoAction;
		}
		const default_action = NoAction();
		const entries = {
			1: pick_1();
			2: pick_2();
			3: pick_3();
			4: pick_4();
			5: pick_5();
			6: pick_6();
			7: pick_7();
		}
		size = 8;
	}
	apply {
		BLANK(0)
		BLANK(1)
		BLANK(2)
		BLANK(3)
		BLANK(4)
		BLANK(5)
		BLANK(6)
		BLANK(7)
		SUM(0)
		SUM(1)
		SUM(2)
		SUM(3)
		SUM(4)
		SUM(5)
		SUM(6)
		SUM(7)
		if (hdr.bridge.op == SWITCH_ENTRIES)
			picks.apply();
	}
}

/* The iCRC's part of a form. */
#define ICRC_AHEAD hdr.bth.psn, hdr.place.high, hdr.place.low
#define DATA_4 hdr.d0.v
#define DATA_8 DATA_4, hdr.d1.v
#define DATA_16 DATA_8, hdr.d2.v, hdr.d3.v
#define DATA_32 DATA_16, hdr.d4.v, hdr.d5.v, hdr.d6.v, hdr.d7.v
#define DATA_64 \
	DATA_32, hdr.d8.w0, hdr.d8.w1, hdr.d8.w2, hdr.d8.w3, hdr.d8.w4, \
	hdr.d8.w5, hdr.d8.w6, hdr.d8.w7
#define ICRC_WRITE(n) \
	ICRC_PART(write_##n); \
	action icrc_##n() { \
		meta.sum = write_##n.get({ ICRC_AHEAD, 64w0, DATA_##n }); \
	}
#define ICRC_WRITE_IMM(n) \
	ICRC_PART(write_imm_##n); \
	action icrc_imm_##n() { \
		meta.sum = write_imm_##n.get( \
			{ ICRC_AHEAD, 64w0, hdr.imm.value, DATA_##n }); \
	}

control Icrc(inout egress_headers_t hdr, inout egress_meta_t meta) {
	Join() join;
	ICRC_WRITE(4)
	ICRC_WRITE(8)
	ICRC_WRITE(16)
	ICRC_WRITE(32)
	ICRC_WRITE(64)
	ICRC_WRITE_IMM(8)
	ICRC_WRITE_IMM(16)
	ICRC_WRITE_IMM(32)
	ICRC_PART(fetch_add);
	action icrc_add() {
		meta.sum = fetch_add.get(
			{ ICRC_AHEAD, 32w0, hdr.d1.v, hdr.d2.v, 64w0 });
	}
	apply {
		if (meta.form == TOFINO_FORM_4)
			icrc_4();
		else if (meta.form == TOFINO_FORM_8)
			icrc_8();
		else if (meta.form == (TOFINO_FORM_8 | TOFINO_FORM_IMM))
			icrc_imm_8();
		else if (meta.form == TOFINO_FORM_16)
			icrc_16();
		else if (meta.form == (TOFINO_FORM_16 | TOFINO_FORM_IMM))
			icrc_imm_16();
		else if (meta.form == TOFINO_FORM_ADD)
			icrc_add();
		else if (meta.form == TOFINO_FORM_32)
			icrc_32();
		else if (meta.form == (TOFINO_FORM_32 | TOFINO_FORM_IMM))
			icrc_imm_32();
		else if (meta.form == TOFINO_FORM_64)
			icrc_64();
		join.apply(hdr, meta);
	}
}

control Operation(inout egress_headers_t hdr, inout egress_meta_t meta,
		  in egress_intrinsic_metadata_t egress,
		  inout egress_intrinsic_metadata_for_deparser_t deparser) {
	KEY_HASH(checksum, CRC_CHECKSUM);
	Pair() pair;
	Place() place;
	Chunk() chunk;
	Frame() frame;
	Lost() lost;
	Icrc() icrc;

	action hash_checksum() {
		hdr.d0.setValid();
		hdr.d0.v = checksum.get(KEY);
	}
	action carry() {
		hdr.bridge.count_high = hdr.bridge.count_high + 1;
	}
	action write_count() {
		hdr.d0.v = hdr.bridge.count_high;
		hdr.d1.v = hdr.bridge.count;
	}
	/* Of the words that came, those of the form. */
	action keep_0() {
		hdr.d3.setValid(); /* what it is compared with, though it is not */
		hdr.d3.v = 0;
		hdr.d4.setValid();
		hdr.d4.v = 0;
	}
	action keep_1() {
		hdr.d1.setInvalid();
		hdr.d2.setInvalid();
		hdr.d3.setInvalid();
		hdr.d4.setInvalid();
		hdr.d5.setInvalid();
		hdr.d6.setInvalid();
		hdr.d7.setInvalid();
	}
	action keep_2() {
		hdr.d2.setInvalid();
		hdr.d3.setInvalid();
		hdr.d4.setInvalid();
		hdr.d5.setInvalid();
		hdr.d6.setInvalid();
		hdr.d7.setInvalid();
		hdr.d8.setInvalid();
	}
	action keep_4() {
		hdr.d4.setInvalid();
		hdr.d5.setInvalid();
		hdr.d6.setInvalid();
		hdr.d7.setInvalid();
	}
	table shapes {
		key = { meta.form: exact; }
		actions = { keep_0; keep_1; keep_2; keep_4; NoAction; }
		const default_action = NoAction();
		const entries = {
			2: keep_0();
			4: keep_1();
			8: keep_2();
			9: keep_2();
			16: keep_4();
			17: keep_4();
		}
		size = 8;
	}
	action immediate() {
		hdr.imm.setValid();
		hdr.imm.value = hdr.bridge.table_id ++ hdr.bridge.sequence;
	}
	action tell_length() {
		hdr.dma_len.setValid();
	}

	/* Frame goes before the data, which take longer to be made. */
	apply {
		pair.apply(hdr, meta);
		place.apply(hdr, meta, egress, deparser);
		frame.apply(hdr, meta);
		if (hdr.bridge.op == SWITCH_RESYNC) {
			lost.apply(hdr, meta);
		} else {
			if (hdr.bridge.op == SWITCH_SLOT) {
				hash_checksum();
			} else if (hdr.bridge.op == SWITCH_BATCH) {
				if (hdr.bridge.count == 0)
					carry();
				if (egress.egress_rid == 8)
					write_count();
			} else if (hdr.bridge.op != SWITCH_ADD) {
				chunk.apply(hdr, meta);
			}
			shapes.apply();
			if (meta.form[0:0] == 1)
				immediate();
			if (meta.form != TOFINO_FORM_ADD)
				tell_length();
			icrc.apply(hdr, meta);
		}
	}
}

#endif
