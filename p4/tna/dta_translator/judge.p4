/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.p4 - what its table has to say about a report. */
#ifndef DTA_TRANSLATOR_JUDGE
#define DTA_TRANSLATOR_JUDGE

#include "headers.p4"
#include "ledger.p4"

control Judge(inout ingress_headers_t hdr, inout ingress_meta_t meta,
	      in ingress_intrinsic_metadata_from_parser_t parsed) {
	action right_kind() {
		meta.kind_is_right = 1;
	}
	table kinds {
		key = {
			hdr.dta.opcode: exact;
			meta.kind: exact;
		}
		actions = { right_kind; NoAction; }
		const default_action = NoAction();
		const entries = {
			(DTA_KEYWRITE, DTA_KEYWRITE): right_kind();
			(DTA_APPEND, DTA_APPEND): right_kind();
			(DTA_KEYINC, DTA_KEYINC): right_kind();
			(DTA_POSTCARD, DTA_POSTCARD): right_kind();
		}
		size = 4;
	}
	/* The lists that there are: their rows. */
	action row_of(bit<32> row, bit<32> list_row) {
		meta.row = row;
		meta.list_row = list_row;
		meta.place_is_right = 1;
	}
	table lists {
		key = {
			hdr.bridge.lane: exact;
			hdr.bridge.list_no: exact;
		}
		actions = { row_of; NoAction; }
		const default_action = NoAction();
		size = 4096; /* TOFINO_LISTS */
	}
	/* The hops of the paths that fit into a table's chunks: the hop as a
	 * bit, with it the hops that the path has not, these alone; whether
	 * that is all. */
	action path(bit<8> hop, bit<8> held, bit<16> blank, bit<1> direct) {
		meta.own_hop = hop;
		meta.own_held = held;
		meta.own_blank = blank;
		meta.direct = direct;
		meta.place_is_right = 1;
	}
	table paths {
		key = {
			hdr.bridge.lane: exact;
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
			meta.reason: ternary;
			hdr.dta.copies: ternary;
			meta.known: ternary;
			meta.kind_is_right: ternary;
			meta.key_differs: ternary;
			meta.len_differs: ternary;
			meta.place_is_right: ternary;
			hdr.w1.v: ternary;
		}
		actions = { question; decoded; broken; }
		const default_action = broken(LEDGER_MALFORMED);
		const entries = {
#define ANY4 _, _, _, _
#define WELL 0, false, (bit<16>)NET_IP4_LEN, DTA_VERSION_1
			(0, false, (bit<16>)NET_IP4_LEN, DTA_VERSION_1,
			 DTA_NACK,
			 DTA_NACK_STATE, ANY4, _, _, _): question();
			(0, false, (bit<16>)NET_IP4_LEN, DTA_VERSION_1,
			 DTA_NACK,
			 DTA_NACK_GONE, ANY4, _, _, _): question();
			(WELL, DTA_NACK, _, ANY4, _, _, _):
				broken(LEDGER_FOREIGN);
			(WELL, 0, _, ANY4, _, _, _): broken(LEDGER_BAD_OPCODE);
			(WELL, 4w8 &&& 4w8, _, ANY4, _, _, _):
				broken(LEDGER_BAD_OPCODE);
			(WELL, 5, _, ANY4, _, _, _): broken(LEDGER_BAD_OPCODE);
			(WELL, 6 &&& 6, _, ANY4, _, _, _):
				broken(LEDGER_BAD_OPCODE);
			(WELL, _, _, 8 &&& 8, _, _, _, _, _, _):
				broken(LEDGER_BAD_COPIES);
			(WELL, _, _, 5, _, _, _, _, _, _):
				broken(LEDGER_BAD_COPIES);
			(WELL, _, _, 6 &&& 6, _, _, _, _, _, _):
				broken(LEDGER_BAD_COPIES);
			(WELL, _, _, _, 0, _, _, _, _, _):
				decoded(LEDGER_BAD_TABLE);
			(WELL, _, _, _, 1, 0, _, _, _, _):
				decoded(LEDGER_BAD_OPCODE);
			(WELL, DTA_APPEND, _, _, 1, 1, 0, 0, 0, _):
				decoded(LEDGER_BAD_LIST);
			(WELL, DTA_POSTCARD, _, _, 1, 1, 0, 0, 0, _):
				decoded(LEDGER_BAD_HOP);
			(WELL, DTA_POSTCARD, _, _, 1, 1, 0, 0, 1, 0xffffffff):
				decoded(LEDGER_BAD_VALUE);
			(WELL, _, _, _, 1, 1, 0, 0, _, _):
				decoded(LEDGER_STORED);
			(WELL, _, _, _, 1, 1, 0, _, _, _):
				decoded(LEDGER_BAD_DATA);
			(WELL, _, _, _, 1, 1, _, _, _, _):
				decoded(LEDGER_BAD_KEY);
			(0, false, (bit<16>)NET_IP4_LEN, _, _, _, ANY4, _, _,
			 _):
				broken(LEDGER_BAD_VERSION);
		}
		size = 32;
	}

	apply {
		if (meta.kind == DTA_APPEND)
			lists.apply(); /* a flush asks for one, too */
		else if (meta.kind == DTA_POSTCARD && meta.flush == 0)
			paths.apply();
		if (meta.flush == 0) {
			kinds.apply();
			judgements.apply();
		}
	}
}

#endif
