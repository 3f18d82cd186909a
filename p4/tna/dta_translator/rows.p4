/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.p4 - what waits for more of its kind: postcards of a packet (DTA 4.2,
 * 5.2.3), entries of a list (4.3, 5.2.2). A row is 16 words, each in a register
 * of its own: those of a list's batch, or of a chunk one for each hop.
 *
 * A row of postcards has its flow, too: what makes room is written to its own
 * chunk. That a chunk is complete is seen when its last postcard has come, and
 * its row is free from then on, though not cleared.
 *
 * Stages, from that on in which it is known that the report is stored (of which
 * each has four stateful ALUs): what the row is of, or the list's count; hops
 * that lack, or the batch's place; words, four in each.
 */
#ifndef DTA_TRANSLATOR_ROWS
#define DTA_TRANSLATOR_ROWS

#include "headers.p4"
#include "ledger.p4"
#include "crc.p4"

typedef bit<15> row_t;

/* What is done with a row: meta.access. */
const bit<8> SWITCH_ROW_NONE = 0;
const bit<8> SWITCH_ROW_POSTCARD = 1;
const bit<8> SWITCH_ROW_ENTRY = 2;
const bit<8> SWITCH_FLUSH_ROW = 3;
const bit<8> SWITCH_FLUSH_LIST = 4;

/* The same, where meta.access is not known yet. */
#define ROW_KEYS \
	meta.ledger: ternary; \
	meta.kind: ternary; \
	meta.direct: ternary; \
	meta.list_known: ternary;
#define OF_POSTCARD LEDGER_STORED, DTA_POSTCARD, 0, _
#define OF_ENTRY LEDGER_STORED, DTA_APPEND, _, _
#define OF_FLUSH_ROW LEDGER_FLUSHES, DTA_POSTCARD, _, _
#define OF_FLUSH_LIST LEDGER_FLUSHES, DTA_APPEND, _, 1

/*
 * A field of the flow that a row belongs to. A report puts its own there, and
 * learns by which bits that differs from what was.
 */
#define FLOW_FIELD(name, bits, own, old) \
	RegisterAction<bit<bits>, row_t, bit<bits>>(name) swap_##name = { \
		void apply(inout bit<bits> v, out bit<bits> differs) { \
			differs = v ^ own; \
			v = own; \
		} \
	}; \
	RegisterAction<bit<bits>, row_t, bit<bits>>(name) read_##name = { \
		void apply(inout bit<bits> v, out bit<bits> was) { \
			was = v; \
		} \
	}; \
	action swap_row_##name() { \
		old = swap_##name.execute(meta.row[14:0]); \
	} \
	action read_row_##name() { \
		old = read_##name.execute(meta.row[14:0]); \
	}
#define FLOW_TABLE(name) \
	table name##s { \
		key = { ROW_KEYS } \
		actions = { swap_row_##name; read_row_##name; NoAction; } \
		const default_action = NoAction(); \
		const entries = { \
			(OF_POSTCARD): swap_row_##name(); \
			(OF_FLUSH_ROW): read_row_##name(); \
		} \
		size = 4; \
	}

/* Whose a row is. Of a list, how many entries it ever had: the lower half, in
 * the register that has the ports of a flow. */
control Owners(inout ingress_headers_t hdr, inout ingress_meta_t meta) {
	Register<bit<32>, row_t>(TOFINO_ROWS) source;
	Register<bit<32>, row_t>(TOFINO_ROWS) destination;
	Register<bit<32>, row_t>(TOFINO_ROWS) port;
	Register<bit<8>, row_t>(TOFINO_ROWS) protocol;
	FLOW_FIELD(source, 32, hdr.flow.src, meta.old_src)
	FLOW_FIELD(destination, 32, hdr.flow.dst, meta.old_dst)
	FLOW_FIELD(port, 32, meta.ports, meta.old_ports)
	FLOW_FIELD(protocol, 8, hdr.flow.proto, meta.old_proto)
	FLOW_TABLE(source)
	FLOW_TABLE(destination)
	FLOW_TABLE(protocol)

	RegisterAction<bit<32>, row_t, bit<32>>(port) add_entry = {
		void apply(inout bit<32> n, out bit<32> now) {
			n = n + 1;
			now = n;
		}
	};
	action count_entry() {
		hdr.bridge.count = add_entry.execute(meta.row[14:0]);
	}
	action read_count() {
		hdr.bridge.count = read_port.execute(meta.row[14:0]);
	}
	table ports {
		key = { ROW_KEYS }
		actions = {
			swap_row_port;
			read_row_port;
			count_entry;
			read_count;
			NoAction;
		}
		const default_action = NoAction();
		const entries = {
			(OF_POSTCARD): swap_row_port();
			(OF_FLUSH_ROW): read_row_port();
			(OF_ENTRY): count_entry();
			(OF_FLUSH_LIST): read_count();
		}
		size = 4;
	}

	apply {
		sources.apply();
		destinations.apply();
		ports.apply();
		protocols.apply();
	}
}

/*
 * What a postcard puts into its row, dta(7), MEMORY: at its hop csum_i of the
 * key, with the value; at others csum_i with ones, as if the path had no such
 * hop, until one comes; 0 behind the table's hops. That is a chunk, of a path
 * that has no other hop.
 */
#define ENTRY(i) \
	KEY_HASH(hop##i, CRC_HOP##i); \
	action sum_##i() { \
		hdr.low.w##i = hdr.w1.v ^ hop##i.get(KEY); \
	} \
	action blank_##i() { \
		hdr.low.w##i = ~hop##i.get(KEY); \
	} \
	action clear_##i() { \
		hdr.low.w##i = 0; \
	} \
	table entry_##i { \
		key = { \
			meta.kind: ternary; \
			meta.all[i:i]: ternary; \
			meta.own_hop[i:i]: ternary; \
		} \
		actions = { sum_##i; blank_##i; clear_##i; NoAction; } \
		const default_action = NoAction(); \
		const entries = { \
			(DTA_POSTCARD, 0, _): clear_##i(); \
			(DTA_POSTCARD, 1, 1): sum_##i(); \
			(DTA_POSTCARD, 1, 0): blank_##i(); \
		} \
		size = 4; \
	}

control Chunk(inout ingress_headers_t hdr, in ingress_meta_t meta) {
	ENTRY(0)
	ENTRY(1)
	ENTRY(2)
	ENTRY(3)
	ENTRY(4)
	ENTRY(5)
	ENTRY(6)
	ENTRY(7)

	apply {
		entry_0.apply();
		entry_1.apply();
		entry_2.apply();
		entry_3.apply();
		entry_4.apply();
		entry_5.apply();
		entry_6.apply();
		entry_7.apply();
	}
}

/* Hops that lack, and whether a postcard was immediate: as there is one access
 * to a register a packet, and of that one result, the first are kept twice. */
struct immediates_t {
	bit<8> lacking;
	bit<8> immediate;
}

#define OWNER_KEYS \
	meta.access: ternary; \
	meta.old_src: ternary; \
	meta.old_dst: ternary; \
	meta.old_ports: ternary; \
	meta.old_proto: ternary;
#define SAME_OWNER SWITCH_ROW_POSTCARD, 0, 0, 0, 0
#define OTHER_OWNER SWITCH_ROW_POSTCARD, _, _, _, _
#define FLUSHED_OWNER SWITCH_FLUSH_ROW, _, _, _, _

/* A postcard's row: what it held and what it holds now. */
control Postcards(inout ingress_headers_t hdr, inout ingress_meta_t meta) {
	/* Of postcards that came twice. */
	Counter<bit<32>, bit<8>>(32, CounterType_t.PACKETS) duplicates;
	Register<bit<8>, row_t>(TOFINO_ROWS) lacking; /* hops */
	Register<immediates_t, row_t>(TOFINO_ROWS) immediates;

	/* None lacks where a row is free. */
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
	RegisterAction<bit<8>, row_t, bit<8>>(lacking) no_hop = {
		void apply(inout bit<8> hops, out bit<8> were) {
			were = hops;
			hops = 0;
		}
	};
	RegisterAction<immediates_t, row_t, bit<8>>(immediates) add_one = {
		void apply(inout immediates_t m, out bit<8> now) {
			if (m.lacking == 0) {
				m.lacking = meta.own_rest;
				m.immediate = hdr.bridge.immediate;
			} else {
				m.lacking = m.lacking & meta.own_rest;
				m.immediate =
					m.immediate | hdr.bridge.immediate;
			}
			now = m.immediate;
		}
	};
	RegisterAction<immediates_t, row_t, bit<8>>(immediates) first_one = {
		void apply(inout immediates_t m) {
			m.lacking = meta.own_rest;
			m.immediate = hdr.bridge.immediate;
		}
	};
	RegisterAction<immediates_t, row_t, bit<8>>(immediates) none = {
		void apply(inout immediates_t m) {
			m.lacking = 0;
		}
	};

	action add() {
		meta.same = 1;
		meta.lacked = add_hop.execute(meta.row[14:0]);
	}
	action begin() {
		meta.lacked = first_hop.execute(meta.row[14:0]);
	}
	action flush() {
		meta.lacked = no_hop.execute(meta.row[14:0]);
	}
	table holdings {
		key = { OWNER_KEYS }
		actions = { add; begin; flush; NoAction; }
		const default_action = NoAction();
		const entries = {
			(SAME_OWNER): add();
			(OTHER_OWNER): begin();
			(FLUSHED_OWNER): flush();
		}
		size = 4;
	}
	action go_on() {
		hdr.bridge.immediate = add_one.execute(meta.row[14:0]);
	}
	action start() {
		first_one.execute(meta.row[14:0]);
	}
	action end() {
		none.execute(meta.row[14:0]);
	}
	table tellings {
		key = { OWNER_KEYS }
		actions = { go_on; start; end; NoAction; }
		const default_action = NoAction();
		const entries = {
			(SAME_OWNER): go_on();
			(OTHER_OWNER): start();
			(FLUSHED_OWNER): end();
		}
		size = 4;
	}

	/* Of a chunk that is not complete: the hops that it has. */
	action hold() {
		hdr.bridge.held = meta.lacked ^ meta.all;
	}
	action whole() {
		hdr.bridge.op = SWITCH_CHUNK;
		hdr.low.setValid();
		hdr.w1.setInvalid();
	}
	action early() {
		hdr.bridge.op = SWITCH_ENTRIES;
		hdr.low.setValid();
		hdr.flow.src = hdr.flow.src ^ meta.old_src;
		hdr.flow.dst = hdr.flow.dst ^ meta.old_dst;
		hdr.flow.src_port = hdr.flow.src_port ^ meta.old_ports[31:16];
		hdr.flow.dst_port = hdr.flow.dst_port ^ meta.old_ports[15:0];
		hdr.flow.proto = hdr.flow.proto ^ meta.old_proto;
		hdr.w1.setInvalid();
	}
	action early_flush() {
		hdr.bridge.op = SWITCH_ENTRIES;
		hdr.low.setValid();
		hdr.flow.setValid();
		hdr.flow.src = meta.old_src;
		hdr.flow.dst = meta.old_dst;
		hdr.flow.src_port = meta.old_ports[31:16];
		hdr.flow.dst_port = meta.old_ports[15:0];
		hdr.flow.proto = meta.old_proto;
	}
	/* A chunk is complete when the rest of none of its postcards lacks. */
	table outcomes {
		key = {
			meta.access: ternary;
			meta.same: ternary;
			meta.lacked: ternary;
			meta.own_rest: ternary;
		}
		actions = { whole; early; early_flush; NoAction; }
		const default_action = NoAction();
		const entries = {
			(_, _, 0, _): NoAction(); /* was free */
			(SWITCH_FLUSH_ROW, _, _, _): early_flush();
			(SWITCH_ROW_POSTCARD, 0, _, _): early();
#define LACKS(i) \
			(SWITCH_ROW_POSTCARD, 1, 1 << i &&& 1 << i, \
			 1 << i &&& 1 << i): NoAction();
			LACKS(0)
			LACKS(1)
			LACKS(2)
			LACKS(3)
			LACKS(4)
			LACKS(5)
			LACKS(6)
			LACKS(7)
			(SWITCH_ROW_POSTCARD, 1, _, _): whole();
		}
		size = 16;
	}
	action count_duplicate() {
		duplicates.count(LEDGER_DUPLICATES);
	}
	table repetitions {
		key = {
			meta.access: ternary;
			meta.same: ternary;
			meta.lacked: ternary;
			meta.own_hop: ternary;
		}
		actions = { count_duplicate; NoAction; }
		const default_action = NoAction();
		const entries = {
			(_, _, 0, _): NoAction();
			LACKS(0)
			LACKS(1)
			LACKS(2)
			LACKS(3)
			LACKS(4)
			LACKS(5)
			LACKS(6)
			LACKS(7)
			(SWITCH_ROW_POSTCARD, 1, _, _): count_duplicate();
		}
		size = 16;
	}

	apply {
		holdings.apply();
		tellings.apply();
		hold();
		outcomes.apply();
		repetitions.apply();
	}
}

/* A list's entry: its place in the batch, and whether that is written. A batch
 * is a power of two of entries: the count has its place. */
control Append(inout ingress_headers_t hdr, inout ingress_meta_t meta) {
	Register<bit<32>, row_t>(TOFINO_ROWS) high_counts;

	RegisterAction<bit<32>, row_t, bit<32>>(high_counts) add_high = {
		void apply(inout bit<32> n, out bit<32> now) {
			n = n + 1;
			now = n;
		}
	};
	RegisterAction<bit<32>, row_t, bit<32>>(high_counts) read_high = {
		void apply(inout bit<32> n, out bit<32> now) {
			now = n;
		}
	};

	/* The count's upper half, when the lower one has come round. */
	action carry() {
		hdr.bridge.count_high = add_high.execute(meta.row[14:0]);
	}
	action keep() {
		hdr.bridge.count_high = read_high.execute(meta.row[14:0]);
	}
	table highs {
		key = {
			meta.access: ternary;
			hdr.bridge.count: ternary;
		}
		actions = { carry; keep; NoAction; }
		const default_action = NoAction();
		const entries = {
			(SWITCH_ROW_ENTRY, 0): carry();
			(SWITCH_ROW_ENTRY, _): keep();
			(SWITCH_FLUSH_LIST, _): keep();
		}
		size = 4;
	}
	action at(bit<16> words) {
		meta.put = words;
	}
	/* Of entries of 1, 2 or 4 words, in batches with that last one: the
	 * words of the one that was counted. */
	table places {
		key = {
			meta.access: ternary;
			meta.entry_words: ternary;
			meta.last_entry: ternary;
			hdr.bridge.count[3:0]: ternary;
		}
		actions = { at; NoAction; }
		const default_action = NoAction();
		const entries = {
#define ENTRY_AT(words, last, n) \
			(SWITCH_ROW_ENTRY, words, last, \
			 ((n) + 1) & last &&& last): \
				at(((1 << words) - 1) << ((n) * words));
#define ENTRIES_1(words, last, n) \
			ENTRY_AT(words, last, n)
#define ENTRIES_2(words, last, n) \
			ENTRIES_1(words, last, n) \
			ENTRIES_1(words, last, n + 1)
#define ENTRIES_4(words, last, n) \
			ENTRIES_2(words, last, n) \
			ENTRIES_2(words, last, n + 2)
#define ENTRIES_8(words, last, n) \
			ENTRIES_4(words, last, n) \
			ENTRIES_4(words, last, n + 4)
			ENTRIES_1(1, 0, 0)
			ENTRIES_2(1, 1, 0)
			ENTRIES_4(1, 3, 0)
			ENTRIES_8(1, 7, 0)
			ENTRIES_8(1, 15, 0)
			ENTRIES_8(1, 15, 8)
			ENTRIES_1(2, 0, 0)
			ENTRIES_2(2, 1, 0)
			ENTRIES_4(2, 3, 0)
			ENTRIES_8(2, 7, 0)
			ENTRIES_1(4, 0, 0)
			ENTRIES_2(4, 1, 0)
			ENTRIES_4(4, 3, 0)
		}
		size = 64;
	}
	/* A batch goes to the place that it has when it is full, also before:
	 * what is behind its entries is not counted, and comes again. */
	action write_batch() {
		hdr.bridge.op = SWITCH_BATCH;
		hdr.low.setValid();
		hdr.w1.setInvalid();
		hdr.w2.setInvalid();
		hdr.w3.setInvalid();
		hdr.w4.setInvalid();
	}
	action write_full() {
		write_batch();
		meta.full = 1;
	}
	table outcomes {
		key = {
			meta.access: ternary;
			meta.last_entry: ternary;
			hdr.bridge.count[3:0]: ternary;
			hdr.bridge.immediate: ternary;
		}
		actions = { write_full; write_batch; NoAction; }
		const default_action = NoAction();
		const entries = {
#define BATCH_OF(last) \
			(SWITCH_ROW_ENTRY, last, 0 &&& last, _): write_full(); \
			(SWITCH_FLUSH_LIST, last, 0 &&& last, _): NoAction();
			BATCH_OF(0)
			BATCH_OF(1)
			BATCH_OF(3)
			BATCH_OF(7)
			BATCH_OF(15)
			(SWITCH_ROW_ENTRY, _, _, 1): write_batch();
			(SWITCH_FLUSH_LIST, _, _, _): write_batch();
		}
		size = 16;
	}
	action write_long() {
		hdr.high.setValid();
	}

	apply {
		highs.apply();
		places.apply();
		outcomes.apply();
		if (hdr.bridge.op == SWITCH_BATCH &&
		    hdr.bridge.form == TOFINO_FORM_64)
			write_long();
	}
}

/*
 * A word: put takes the report's and gives it back, swap gives the one that was
 * there. That of a postcard is word_of, as well as what is given. A row that
 * was another's, or free, is taken whole.
 */
#define ROW_WORD(i, x, word_of) \
	Register<bit<32>, row_t>(TOFINO_ROWS) word##i; \
	RegisterAction<bit<32>, row_t, bit<32>>(word##i) put_##i = { \
		void apply(inout bit<32> w, out bit<32> now) { \
			w = x; \
			now = w; \
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
	action read_word##i() { \
		word_of = read_##i.execute(meta.row[14:0]); \
	}
#define LOW_WORD(i, x, word_of) \
	ROW_WORD(i, x, word_of) \
	RegisterAction<bit<32>, row_t, bit<32>>(word##i) swap_##i = { \
		void apply(inout bit<32> w, out bit<32> was) { \
			was = w; \
			w = word_of; \
		} \
	}; \
	RegisterAction<bit<32>, row_t, bit<32>>(word##i) keep_##i = { \
		void apply(inout bit<32> w) { \
			w = word_of; \
		} \
	}; \
	action swap_word##i() { \
		word_of = swap_##i.execute(meta.row[14:0]); \
	} \
	action keep_word##i() { \
		keep_##i.execute(meta.row[14:0]); \
	} \
	table words##i { \
		key = { \
			meta.access: ternary; \
			meta.put[i:i]: ternary; \
			meta.same: ternary; \
			meta.lacked: ternary; \
		} \
		actions = { \
			put_word##i; \
			read_word##i; \
			swap_word##i; \
			keep_word##i; \
			NoAction; \
		} \
		const default_action = NoAction(); \
		const entries = { \
			(SWITCH_ROW_NONE, _, _, _): NoAction(); \
			(SWITCH_ROW_ENTRY, 1, _, _): put_word##i(); \
			(SWITCH_ROW_POSTCARD, _, 0, _): swap_word##i(); \
			(SWITCH_ROW_POSTCARD, _, _, 0): swap_word##i(); \
			(SWITCH_ROW_POSTCARD, 1, _, _): keep_word##i(); \
			(_, _, _, _): read_word##i(); \
		} \
		size = 8; \
	}
#define HIGH_WORD(i, x, word_of) \
	ROW_WORD(i, x, word_of) \
	table words##i { \
		key = { \
			meta.access: ternary; \
			meta.put[i:i]: ternary; \
		} \
		actions = { put_word##i; read_word##i; NoAction; } \
		const default_action = NoAction(); \
		const entries = { \
			(SWITCH_ROW_ENTRY, 1): put_word##i(); \
			(SWITCH_ROW_ENTRY, 0): read_word##i(); \
			(SWITCH_FLUSH_LIST, _): read_word##i(); \
		} \
		size = 4; \
	}

control Words(inout ingress_headers_t hdr, in ingress_meta_t meta) {
	LOW_WORD(0, hdr.w1.v, hdr.low.w0)
	LOW_WORD(1, hdr.w2.v, hdr.low.w1)
	LOW_WORD(2, hdr.w3.v, hdr.low.w2)
	LOW_WORD(3, hdr.w4.v, hdr.low.w3)
	LOW_WORD(4, hdr.w1.v, hdr.low.w4)
	LOW_WORD(5, hdr.w2.v, hdr.low.w5)
	LOW_WORD(6, hdr.w3.v, hdr.low.w6)
	LOW_WORD(7, hdr.w4.v, hdr.low.w7)
	HIGH_WORD(8, hdr.w1.v, hdr.high.w0)
	HIGH_WORD(9, hdr.w2.v, hdr.high.w1)
	HIGH_WORD(10, hdr.w3.v, hdr.high.w2)
	HIGH_WORD(11, hdr.w4.v, hdr.high.w3)
	HIGH_WORD(12, hdr.w1.v, hdr.high.w4)
	HIGH_WORD(13, hdr.w2.v, hdr.high.w5)
	HIGH_WORD(14, hdr.w3.v, hdr.high.w6)
	HIGH_WORD(15, hdr.w4.v, hdr.high.w7)

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

#endif
