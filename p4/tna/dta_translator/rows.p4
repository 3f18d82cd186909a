/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.p4 - what waits for more of its kind: postcards of a packet (DTA 4.2,
 * 5.2.3), entries of a list (4.3, 5.2.2). A row is 16 words, each in a register
 * of its own: those of a list's batch, or of a chunk one for each hop.
 *
 * A row of postcards has its flow, too: what makes room is written to its own
 * chunk. That a chunk is complete is seen when its last postcard has come, and
 * its row is free from then on, though not cleared.
 */
#ifndef DTA_TRANSLATOR_ROWS
#define DTA_TRANSLATOR_ROWS

#include "headers.p4"
#include "row_field.p4"

typedef bit<15> row_t;
typedef bit<12> list_t;

/* A word: put takes the report's and gives it back, swap gives the one that was
 * there. */
#define ROW_WORD(i, x, word_of) \
	Register<bit<32>, row_t>(TOFINO_ROWS) word##i; \
	RegisterAction<bit<32>, row_t, bit<32>>(word##i) put_##i = { \
		void apply(inout bit<32> w, out bit<32> now) { \
			w = x; \
			now = w; \
		} \
	}; \
	RegisterAction<bit<32>, row_t, bit<32>>(word##i) swap_##i = { \
		void apply(inout bit<32> w, out bit<32> was) { \
			was = w; \
			w = x; \
		} \
	}; \
	RegisterAction<bit<32>, row_t, bit<32>>(word##i) read_##i = { \
		void apply(inout bit<32> w, out bit<32> was) { \
			was = w; \
		} \
	}; \
	action put_word##i() { \
		word_of = put_##i.execute(meta.row[14:0]); \
	} \
	action swap_word##i() { \
		word_of = swap_##i.execute(meta.row[14:0]); \
	} \
	action read_word##i() { \
		word_of = read_##i.execute(meta.row[14:0]); \
	} \
	table words##i { \
		key = { \
			meta.kind: exact; \
			meta.put[i:i]: exact; \
			meta.same: ternary; \
		} \
		actions = { \
			put_word##i; \
			swap_word##i; \
			read_word##i; \
			NoAction; \
		} \
		const default_action = NoAction(); \
		const entries = { \
			(DTA_APPEND, 1, _): put_word##i(); \
			(DTA_APPEND, 0, _): read_word##i(); \
			(DTA_POSTCARD, 1, 1): put_word##i(); \
			(DTA_POSTCARD, 1, 0): swap_word##i(); \
			(DTA_POSTCARD, 0, _): read_word##i(); \
		} \
		size = 8; \
	}

control Words(inout ingress_headers_t hdr, in ingress_meta_t meta) {
	ROW_WORD(0, hdr.w1.v, hdr.low.w0)
	ROW_WORD(1, hdr.w2.v, hdr.low.w1)
	ROW_WORD(2, hdr.w3.v, hdr.low.w2)
	ROW_WORD(3, hdr.w4.v, hdr.low.w3)
	ROW_WORD(4, hdr.w1.v, hdr.low.w4)
	ROW_WORD(5, hdr.w2.v, hdr.low.w5)
	ROW_WORD(6, hdr.w3.v, hdr.low.w6)
	ROW_WORD(7, hdr.w4.v, hdr.low.w7)
	ROW_WORD(8, hdr.w1.v, hdr.high.w0)
	ROW_WORD(9, hdr.w2.v, hdr.high.w1)
	ROW_WORD(10, hdr.w3.v, hdr.high.w2)
	ROW_WORD(11, hdr.w4.v, hdr.high.w3)
	ROW_WORD(12, hdr.w1.v, hdr.high.w4)
	ROW_WORD(13, hdr.w2.v, hdr.high.w5)
	ROW_WORD(14, hdr.w3.v, hdr.high.w6)
	ROW_WORD(15, hdr.w4.v, hdr.high.w7)

	apply {
		words0.apply();
		words1.apply();
		words2.apply();
		words3.apply();
		words4.apply();
		words5.apply();
		words6.apply();
		words7.apply();
		words8.apply();
		words9.apply();
		words10.apply();
		words11.apply();
		words12.apply();
		words13.apply();
		words14.apply();
		words15.apply();
	}
}

/* A postcard's row: what it held and what it holds now. */
control Postcards(inout ingress_headers_t hdr, inout ingress_meta_t meta) {
	ROW_FIELD(src, 32, hdr.flow.src, meta.old_src, meta.row[14:0], row_t,
		  TOFINO_ROWS)
	ROW_FIELD(dst, 32, hdr.flow.dst, meta.old_dst, meta.row[14:0], row_t,
		  TOFINO_ROWS)
	ROW_FIELD(ports, 32, meta.ports, meta.old_ports, meta.row[14:0], row_t,
		  TOFINO_ROWS)
	ROW_FIELD(proto, 8, hdr.flow.proto, meta.old_proto, meta.row[14:0],
		  row_t, TOFINO_ROWS)
	ROW_FIELD_READ(src, 32, meta.old_src, meta.row[14:0], row_t)
	ROW_FIELD_READ(dst, 32, meta.old_dst, meta.row[14:0], row_t)
	ROW_FIELD_READ(ports, 32, meta.old_ports, meta.row[14:0], row_t)
	ROW_FIELD_READ(proto, 8, meta.old_proto, meta.row[14:0], row_t)
	/* Hops that are to come; those that the path has not, and 0x100: an
	 * immediate one. */
	Register<bit<8>, row_t>(TOFINO_ROWS) lacking;
	Register<bit<16>, row_t>(TOFINO_ROWS) blanks;

	RegisterAction<bit<8>, row_t, bit<8>>(lacking) add_hop = {
		void apply(inout bit<8> hops, out bit<8> were) {
			were = hops;
			if (hops == 0)
				hops = meta.own_rest;
			else
				hops = hops & meta.own_rest;
		}
	};
	RegisterAction<bit<8>, row_t, bit<8>>(lacking) first_hop = {
		void apply(inout bit<8> hops, out bit<8> were) {
			were = hops;
			hops = meta.own_rest;
		}
	};
	RegisterAction<bit<8>, row_t, bit<8>>(lacking) clear = {
		void apply(inout bit<8> hops, out bit<8> were) {
			were = hops;
			hops = 0;
		}
	};
	RegisterAction<bit<16>, row_t, bit<16>>(blanks) add_blanks = {
		void apply(inout bit<16> b, out bit<16> now) {
			b = b | meta.own_blank;
			now = b;
		}
	};
	RegisterAction<bit<16>, row_t, bit<16>>(blanks) first_blanks = {
		void apply(inout bit<16> b, out bit<16> was) {
			was = b;
			b = meta.own_blank;
		}
	};

	action differ() {
		meta.old_src = meta.old_src ^ hdr.flow.src;
		meta.old_dst = meta.old_dst ^ hdr.flow.dst;
		meta.old_ports = meta.old_ports ^ meta.ports;
		meta.old_proto = meta.old_proto ^ hdr.flow.proto;
	}
	action is_same() {
		meta.same = 1;
	}
	table same_key {
		key = {
			meta.old_src: exact;
			meta.old_dst: exact;
			meta.old_ports: exact;
			meta.old_proto: exact;
		}
		actions = { is_same; NoAction; }
		const default_action = NoAction();
		const entries = {
			(0, 0, 0, 0): is_same();
		}
		size = 1;
	}
	action add() {
		meta.lacked = add_hop.execute(meta.row[14:0]);
	}
	action begin() {
		meta.lacked = first_hop.execute(meta.row[14:0]);
	}
	action flush() {
		meta.lacked = clear.execute(meta.row[14:0]);
	}
	table holdings {
		key = {
			meta.flush: exact;
			meta.same: exact;
		}
		actions = { add; begin; flush; NoAction; }
		const default_action = NoAction();
		const entries = {
			(0, 1): add();
			(0, 0): begin();
			(1, 0): flush();
			(1, 1): flush();
		}
		size = 4;
	}
	action compare() {
		meta.now_lacks = meta.lacked & meta.own_rest;
		hdr.bridge.held = meta.lacked ^ meta.all;
		meta.repeats = ~meta.lacked & meta.own_hop;
	}
	action go_on() {
		meta.blank = add_blanks.execute(meta.row[14:0]);
	}
	action start() {
		meta.blank = first_blanks.execute(meta.row[14:0]);
	}
	/* A flow goes on where its chunk was not complete. */
	table blankings {
		key = {
			meta.flush: ternary;
			meta.same: ternary;
			meta.lacked: ternary;
		}
		actions = { go_on; start; NoAction; }
		const default_action = NoAction();
		const entries = {
			(0, 1, 0): start();
			(0, 1, _): go_on();
			(_, _, _): start();
		}
		size = 4;
	}
	action whole() {
		hdr.bridge.op = SWITCH_CHUNK;
		hdr.bridge.blank = meta.blank;
		hdr.w1.setInvalid();
	}
	action early() {
		hdr.bridge.op = SWITCH_ENTRIES;
		hdr.bridge.blank = meta.blank;
		hdr.flow.setValid();
		hdr.flow.src = hdr.flow.src ^ meta.old_src;
		hdr.flow.dst = hdr.flow.dst ^ meta.old_dst;
		hdr.flow.src_port = hdr.flow.src_port ^ meta.old_ports[31:16];
		hdr.flow.dst_port = hdr.flow.dst_port ^ meta.old_ports[15:0];
		hdr.flow.proto = hdr.flow.proto ^ meta.old_proto;
		hdr.w1.setInvalid();
	}
	table outcomes {
		key = {
			meta.flush: ternary;
			meta.same: ternary;
			meta.lacked: ternary;
			meta.now_lacks: ternary;
		}
		actions = { whole; early; NoAction; }
		const default_action = NoAction();
		const entries = {
			(_, _, 0, _): NoAction(); /* was free */
			(0, 1, _, 0): whole();
			(0, 1, _, _): NoAction();
			(_, _, _, _): early();
		}
		size = 4;
	}
	action nothing_twice() {
		meta.repeats = 0;
	}

	apply {
		if (meta.flush == 1) {
			read_row_src();
			read_row_dst();
			read_row_ports();
			read_row_proto();
		} else {
			swap_row_src();
			swap_row_dst();
			swap_row_ports();
			swap_row_proto();
		}
		differ();
		same_key.apply();
		holdings.apply();
		compare();
		blankings.apply();
		outcomes.apply();
		if (meta.same == 0 || meta.lacked == 0)
			nothing_twice();
	}
}

/* A list's entry: its place in the batch, and whether that is written. */
control Append(inout ingress_headers_t hdr, inout ingress_meta_t meta) {
	Register<bit<8>, list_t>(TOFINO_LISTS) waiting; /* entries */
	/* Entries of full batches, ever: the lower half, and both. */
	Register<bit<32>, list_t>(TOFINO_LISTS) counts;
	Register<count_t, list_t>(TOFINO_LISTS) high_counts;

	RegisterAction<bit<8>, list_t, bit<8>>(waiting) one_more = {
		void apply(inout bit<8> n, out bit<8> was) {
			was = n;
			if (n == meta.last_entry)
				n = 0;
			else
				n = n + 1;
		}
	};
	RegisterAction<bit<8>, list_t, bit<8>>(waiting) read_waiting = {
		void apply(inout bit<8> n, out bit<8> was) {
			was = n;
		}
	};
	RegisterAction<bit<32>, list_t, bit<32>>(counts) add_batch = {
		void apply(inout bit<32> n, out bit<32> now) {
			n = n + meta.batch;
			now = n;
		}
	};
	RegisterAction<bit<32>, list_t, bit<32>>(counts) read_count = {
		void apply(inout bit<32> n, out bit<32> now) {
			now = n + meta.entries;
		}
	};
	RegisterAction<count_t, list_t, bit<32>>(high_counts) add_high = {
		void apply(inout count_t n, out bit<32> was) {
			was = n.high;
			if (n.low + meta.batch == 0)
				n.high = n.high + 1;
			n.low = n.low + meta.batch;
		}
	};
	RegisterAction<count_t, list_t, bit<32>>(high_counts) read_high = {
		void apply(inout count_t n, out bit<32> was) {
			was = n.high;
		}
	};

	action wait_one() {
		meta.waiting = one_more.execute(hdr.bridge.list_row[11:0]);
	}
	action wait_none() {
		meta.waiting = read_waiting.execute(hdr.bridge.list_row[11:0]);
	}
	/* Of entries of 1, 2 or 4 words: the words of number n, and where it is
	 * written, if it is. */
	action at(bit<16> words) {
		meta.put = words;
	}
	table places {
		key = {
			meta.entry_words: exact;
			meta.waiting: exact;
		}
		actions = { at; }
		const default_action = at(0);
		const entries = {
			(1, 0): at(0x0001);
			(1, 1): at(0x0002);
			(1, 2): at(0x0004);
			(1, 3): at(0x0008);
			(1, 4): at(0x0010);
			(1, 5): at(0x0020);
			(1, 6): at(0x0040);
			(1, 7): at(0x0080);
			(1, 8): at(0x0100);
			(1, 9): at(0x0200);
			(1, 10): at(0x0400);
			(1, 11): at(0x0800);
			(1, 12): at(0x1000);
			(1, 13): at(0x2000);
			(1, 14): at(0x4000);
			(1, 15): at(0x8000);
			(2, 0): at(0x0003);
			(2, 1): at(0x000c);
			(2, 2): at(0x0030);
			(2, 3): at(0x00c0);
			(2, 4): at(0x0300);
			(2, 5): at(0x0c00);
			(2, 6): at(0x3000);
			(2, 7): at(0xc000);
			(4, 0): at(0x000f);
			(4, 1): at(0x00f0);
			(4, 2): at(0x0f00);
			(4, 3): at(0xf000);
		}
		size = 32;
	}
	action add_to_counts() {
		hdr.bridge.count = add_batch.execute(hdr.bridge.list_row[11:0]);
	}
	action read_counts() {
		hdr.bridge.count = read_count.execute(hdr.bridge.list_row[11:0]);
	}
	action add_to_high() {
		hdr.bridge.count_high = add_high.execute(hdr.bridge.list_row[11:0]);
	}
	action read_highs() {
		hdr.bridge.count_high = read_high.execute(hdr.bridge.list_row[11:0]);
	}
	action compare() {
		meta.entries_lack = meta.waiting ^ meta.last_entry;
		meta.entries = meta.entries + 1;
	}
	action compare_flush() {
		meta.entries_lack = 1;
	}
	/* A batch goes to the place that it has when it is full, also before:
	 * what is behind its entries is not counted, and comes again. */
	action write_batch() {
		hdr.bridge.op = SWITCH_BATCH;
		hdr.w1.setInvalid();
		hdr.w2.setInvalid();
		hdr.w3.setInvalid();
		hdr.w4.setInvalid();
	}
	table outcomes {
		key = {
			meta.flush: exact;
			meta.entries_lack: ternary;
			meta.waiting: ternary;
			hdr.bridge.immediate: ternary;
		}
		actions = { write_batch; NoAction; }
		const default_action = NoAction();
		const entries = {
			(0, 0, _, _): write_batch();
			(0, _, _, 1): write_batch();
			(1, _, 0, _): NoAction();
			(1, _, _, _): write_batch();
		}
		size = 4;
	}

	apply {
		meta.entries = 0;
		if (meta.flush == 1) {
			wait_none();
			meta.entries[7:0] = meta.waiting;
			compare_flush();
		} else {
			wait_one();
			meta.entries[7:0] = meta.waiting;
			compare();
			places.apply();
		}
		if (meta.entries_lack == 0) {
			add_to_counts();
			add_to_high();
		} else {
			read_counts();
			read_highs();
		}
		outcomes.apply();
	}
}

#endif
