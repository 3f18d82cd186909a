/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.p4 - what its table has to say about a report. */
#ifndef DTA_TRANSLATOR_JUDGE
#define DTA_TRANSLATOR_JUDGE

#include "headers.p4"
#include "ledger.p4"

control Judge(inout ingress_headers_t hdr, inout ingress_meta_t meta,
	      in ingress_intrinsic_metadata_from_parser_t parsed) {
	/* The lists that there are, numbered through all tables. */
	action row_of(bit<16> list_row) {
		hdr.bridge.list_row = list_row;
		meta.place_is_right = 1;
	}
	table lists {
		key = {
			hdr.bridge.table_id: exact;
			meta.list_no: exact;
		}
		actions = { row_of; NoAction; }
		const default_action = NoAction();
		size = 4096; /* TOFINO_LISTS */
	}
	/* The hops of the paths that fit into a table's chunks, as bits: the
	 * hop; the others that the path has; those that it has not; whether
	 * the hop is all. */
	action path(bit<8> own_hop, bit<8> rest, bit<16> blank, bit<1> direct) {
		meta.own_hop = own_hop;
		meta.own_rest = rest;
		meta.own_blank = blank;
		meta.direct = direct;
		meta.place_is_right = 1;
	}
	table paths {
		key = {
			hdr.bridge.table_id: exact;
			hdr.dta.path_len: exact;
			hdr.dta.hop: exact;
		}
		actions = { path; NoAction; }
		const default_action = NoAction();
		size = 2048;
	}

	action question() {
		meta.ledger = LEDGER_QUESTIONS;
		meta.question = 1;
		meta.decoded = 1;
	}
	action decoded(bit<8> ledger) {
		meta.ledger = ledger;
		meta.decoded = 1;
	}
	action broken(bit<8> ledger) {
		meta.ledger = ledger;
	}
	table judgements {
		key = {
			parsed.parser_err: ternary;
			meta.bad_sum: ternary;
			meta.rest: ternary;
			hdr.dta.version: ternary;
			hdr.dta.opcode: ternary;
			hdr.dta.hop: ternary;
			hdr.dta.path_len: ternary;
			hdr.dta.copies: ternary;
			meta.known: ternary;
			meta.kind_differs: ternary;
			meta.key_differs: ternary;
			meta.len_differs: ternary;
			meta.place_is_right: ternary;
			hdr.w1.v: ternary;
		}
		actions = { question; decoded; broken; }
		const default_action = broken(LEDGER_MALFORMED);
		const entries = {
#define ANY3 _, _, _
#define ANY4 _, _, _, _
#define WELL 0, false, (bit<16>)NET_IP4_LEN, DTA_VERSION_1
			(WELL, DTA_NACK, 0, (bit<4>)DTA_NACK_STATE, ANY4, _, _,
			 _): question();
			(WELL, DTA_NACK, 0, (bit<4>)DTA_NACK_GONE, ANY4, _, _,
			 _): question();
			(WELL, DTA_NACK, _, _, ANY4, _, _, _):
				broken(LEDGER_FOREIGN);
			(WELL, 0, _, _, ANY4, _, _, _):
				broken(LEDGER_BAD_OPCODE);
			(WELL, 4w8 &&& 4w8, _, _, ANY4, _, _, _):
				broken(LEDGER_BAD_OPCODE);
			(WELL, 5, _, _, ANY4, _, _, _):
				broken(LEDGER_BAD_OPCODE);
			(WELL, 6 &&& 6, _, _, ANY4, _, _, _):
				broken(LEDGER_BAD_OPCODE);
			(WELL, ANY3, 8 &&& 8, _, _, _, _, _, _):
				broken(LEDGER_BAD_COPIES);
			(WELL, ANY3, 5, _, _, _, _, _, _):
				broken(LEDGER_BAD_COPIES);
			(WELL, ANY3, 6 &&& 6, _, _, _, _, _, _):
				broken(LEDGER_BAD_COPIES);
			(WELL, ANY3, _, 0, _, _, _, _, _):
				decoded(LEDGER_BAD_TABLE);
			(WELL, DTA_APPEND, _, _, _, 1, 0, 0, 0, 0, _):
				decoded(LEDGER_BAD_LIST);
			(WELL, DTA_POSTCARD, _, _, _, 1, 0, 0, 0, 0, _):
				decoded(LEDGER_BAD_HOP);
			(WELL, DTA_POSTCARD, _, _, _, 1, 0, 0, 0, 1,
			 0xffffffff): decoded(LEDGER_BAD_VALUE);
			(WELL, ANY3, _, 1, 0, 0, 0, _, _):
				decoded(LEDGER_STORED);
			(WELL, ANY3, _, 1, 0, 0, _, _, _):
				decoded(LEDGER_BAD_DATA);
			(WELL, ANY3, _, 1, 0, _, _, _, _):
				decoded(LEDGER_BAD_KEY);
			(WELL, ANY3, _, 1, _, _, _, _, _):
				decoded(LEDGER_BAD_OPCODE);
			(0, false, (bit<16>)NET_IP4_LEN, _, ANY3, ANY4, _, _,
			 _): broken(LEDGER_BAD_VERSION);
		}
		size = 32;
	}

	apply {
		lists.apply(); /* a flush asks for one, too */
		if (meta.flush == 0) {
			paths.apply();
			judgements.apply();
		}
	}
}

#endif
