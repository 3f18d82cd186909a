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

/* The replica's copy (of a slot), its role, and where that is. */
control Place(inout egress_headers_t hdr, inout egress_meta_t meta,
	      in egress_intrinsic_metadata_t egress,
	      inout egress_intrinsic_metadata_for_deparser_t deparser) {
	KEY_HASH(slot0, CRC_SLOT0);
	KEY_HASH(slot1, CRC_SLOT1);
	KEY_HASH(slot2, CRC_SLOT2);
	KEY_HASH(slot3, CRC_SLOT3);

	action hash0() {
		meta.offset[31:0] = slot0.get(KEY);
	}
	action hash1() {
		meta.offset[31:0] = slot1.get(KEY);
	}
	action hash2() {
		meta.offset[31:0] = slot2.get(KEY);
	}
	action hash3() {
		meta.offset[31:0] = slot3.get(KEY);
	}
	/* A batch is where its last entry is: the mask leaves the entries
	 * of a batch out. */
	action from_count() {
		meta.offset[31:0] = hdr.bridge.count - 1;
	}
	/* Slots are powers of two, and so are their lengths. */
	action geometry(bit<8> shift) {
		meta.shift = shift;
	}
	table geometries {
		key = { hdr.bridge.lane: exact; }
		actions = { geometry; NoAction; }
		const default_action = NoAction();
		size = 64;
	}
	action mask(bit<32> slots) {
		meta.offset[31:0] = meta.offset[31:0] & slots;
	}
	table masks {
		key = { hdr.bridge.lane: exact; }
		actions = { mask; NoAction; }
		const default_action = NoAction();
		size = 64;
	}
	/* Where a list's ring begins, and (replica 8) its count is. */
	action ring(bit<64> at) {
		hdr.place.address = hdr.place.address + at;
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

	/* Of other operations, the replica's last bits are the hop. */
	action hop(bit<64> at) {
		hdr.place.address = hdr.place.address + at;
	}
	table hops {
		key = { egress.egress_rid[2:0]: exact; }
		actions = { hop; NoAction; }
		const default_action = NoAction();
		const entries = {
			1: hop(4);
			2: hop(8);
			3: hop(12);
			4: hop(16);
			5: hop(20);
			6: hop(24);
			7: hop(28);
		}
		size = 8;
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
	action entry() {
		meta.form = TOFINO_FORM_4;
	}
	action count() {
		meta.form = TOFINO_FORM_8;
	}
	action count_immediate() {
		meta.form = TOFINO_FORM_8 | TOFINO_FORM_IMM;
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
			(SWITCH_SLOT, 8 * (n - 1), n, 1, _): \
				whole_immediate(); \
			(SWITCH_CHUNK, 8 * (n - 1), n, 1, _): \
				whole_immediate();
			LAST_OF(1)
			LAST_OF(2)
			LAST_OF(3)
			LAST_OF(4)
			(SWITCH_SLOT, _, _, _, _): whole();
			(SWITCH_CHUNK, _, _, _, _): whole();
			(SWITCH_ADD, _, _, _, _): counter();
#define HOP(i) \
			(SWITCH_ENTRIES, i &&& 7, _, _, 1 << i &&& 1 << i): \
				entry();
			HOP(0)
			HOP(1)
			HOP(2)
			HOP(3)
			HOP(4)
			HOP(5)
			HOP(6)
			HOP(7)
			(SWITCH_BATCH, 0, _, _, _): whole();
			(SWITCH_BATCH, 8, _, 1, _): count_immediate();
			(SWITCH_BATCH, 8, _, _, _): count();
		}
		size = 32;
	}

	action by_4() {
		meta.offset[31:0] = meta.offset[31:0] << 2;
	}
	action by_8() {
		meta.offset[31:0] = meta.offset[31:0] << 3;
	}
	action by_16() {
		meta.offset[31:0] = meta.offset[31:0] << 4;
	}
	action by_32() {
		meta.offset[31:0] = meta.offset[31:0] << 5;
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
	apply {
		/* A table takes one hash of 32 bits; the count of a list
		 * (replica 8) is where its place says. */
		if (hdr.bridge.op == SWITCH_BATCH) {
			if (egress.egress_rid == 0)
				from_count();
		} else if (egress.egress_rid[4:3] == 0)
			hash0();
		else if (egress.egress_rid[4:3] == 1)
			hash1();
		else if (egress.egress_rid[4:3] == 2)
			hash2();
		else
			hash3();
		geometries.apply();
		roles.apply();
		masks.apply();
		shifts.apply();
		if (hdr.bridge.op == SWITCH_BATCH)
			rings.apply();
		else
			hops.apply();
	}
}

/* The iCRC's part of a form. */
#define ICRC_AHEAD hdr.bth.psn, hdr.place.address
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
		/* Three in a stage, long and short ones. */
		if (meta.form == TOFINO_FORM_64)
			icrc_64();
		else if (meta.form == TOFINO_FORM_4)
			icrc_4();
		else if (meta.form == TOFINO_FORM_8)
			icrc_8();
		else if (meta.form == TOFINO_FORM_32)
			icrc_32();
		else if (meta.form == TOFINO_FORM_16)
			icrc_16();
		else if (meta.form == (TOFINO_FORM_8 | TOFINO_FORM_IMM))
			icrc_imm_8();
		else if (meta.form == (TOFINO_FORM_32 | TOFINO_FORM_IMM))
			icrc_imm_32();
		else if (meta.form == (TOFINO_FORM_16 | TOFINO_FORM_IMM))
			icrc_imm_16();
		else if (meta.form == TOFINO_FORM_ADD)
			icrc_add();
		join.apply(hdr, meta);
	}
}

control Operation(inout egress_headers_t hdr, inout egress_meta_t meta,
		  in egress_intrinsic_metadata_t egress,
		  inout egress_intrinsic_metadata_for_deparser_t deparser) {
	KEY_HASH(checksum, CRC_CHECKSUM);
	Pair() pair;
	Place() place;
	Frame() frame;
	Lost() lost;
	Icrc() icrc;

	action hash_checksum() {
		hdr.d0.v = checksum.get(KEY);
	}
	action write_count() {
		hdr.d0.setValid();
		hdr.d1.setValid();
		hdr.d0.v = hdr.bridge.count_high;
		hdr.d1.v = hdr.bridge.count;
	}
	action immediate() {
		hdr.imm.setValid();
		hdr.imm.value = hdr.bridge.table_id ++ hdr.bridge.sequence;
	}
	apply {
		pair.apply(hdr, meta);
		place.apply(hdr, meta, egress, deparser);
		frame.apply(hdr, meta);
		lost.apply(hdr, meta);
		if (hdr.bridge.op == SWITCH_SLOT)
			hash_checksum();
		if (hdr.bridge.op == SWITCH_BATCH && egress.egress_rid == 8)
			write_count();
		if (meta.form[0:0] == 1)
			immediate();
		icrc.apply(hdr, meta);
	}
}

#endif
