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
		meta.list_known = 1;
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
	 * hop; the others that the path has; whether the hop is all. */
	action path(bit<8> own_hop, bit<8> rest, bit<1> direct) {
		meta.own_hop = own_hop;
		meta.own_rest = rest;
		meta.direct = direct;
		meta.path_fits = 1;
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

	action is(bit<8> ledger) {
		meta.ledger = ledger;
	}
	/* Where it is counted, unless its number says something else. */
	table judgements {
		key = {
			meta.sort: ternary;
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
			meta.list_known: ternary;
			meta.path_fits: ternary;
			hdr.w1.v: ternary;
		}
		actions = { is; }
		const default_action = is(LEDGER_MALFORMED);
		const entries = {
#define ANY3 _, _, _
#define ANY4 _, _, _, _
#define ANY7 ANY3, ANY4
#define WHOLE SWITCH_IS_REPORT, 0, false, (bit<16>)NET_IP4_LEN
#define WELL WHOLE, DTA_VERSION_1
			(SWITCH_IS_FLUSH, ANY3, ANY4, ANY4, ANY4):
				is(LEDGER_FLUSHES);
			(SWITCH_IS_ANSWER, ANY3, ANY4, ANY4, ANY4):
				is(LEDGER_ANSWERS);
			(SWITCH_IS_FOREIGN, ANY3, ANY4, ANY4, ANY4):
				is(LEDGER_FOREIGN);
			(WELL, DTA_NACK, 0, (bit<4>)DTA_NACK_STATE, _, ANY7):
				is(LEDGER_QUESTIONS);
			(WELL, DTA_NACK, 0, (bit<4>)DTA_NACK_GONE, _, ANY7):
				is(LEDGER_QUESTIONS);
			(WELL, DTA_NACK, ANY3, ANY7): is(LEDGER_FOREIGN);
			(WELL, 0, ANY3, ANY7): is(LEDGER_BAD_OPCODE);
			(WELL, 8 &&& 8, ANY3, ANY7): is(LEDGER_BAD_OPCODE);
			(WELL, 5, ANY3, ANY7): is(LEDGER_BAD_OPCODE);
			(WELL, 6 &&& 6, ANY3, ANY7): is(LEDGER_BAD_OPCODE);
			(WELL, ANY3, 8 &&& 8, ANY7): is(LEDGER_BAD_COPIES);
			(WELL, ANY3, 5, ANY7): is(LEDGER_BAD_COPIES);
			(WELL, ANY3, 6 &&& 6, ANY7): is(LEDGER_BAD_COPIES);
			(WELL, ANY4, 0, ANY3, ANY3): is(LEDGER_BAD_TABLE);
			(WELL, DTA_APPEND, ANY3, 1, 0, 0, 0, 0, _, _):
				is(LEDGER_BAD_LIST);
			(WELL, DTA_POSTCARD, ANY3, 1, 0, 0, 0, _, 0, _):
				is(LEDGER_BAD_HOP);
			(WELL, DTA_POSTCARD, ANY3, 1, 0, 0, 0, _, 1,
			 0xffffffff): is(LEDGER_BAD_VALUE);
			(WELL, ANY4, 1, 0, 0, 0, ANY3): is(LEDGER_STORED);
			(WELL, ANY4, 1, 0, 0, _, ANY3): is(LEDGER_BAD_DATA);
			(WELL, ANY4, 1, 0, ANY3, _, _): is(LEDGER_BAD_KEY);
			(WELL, ANY4, 1, ANY4, _, _): is(LEDGER_BAD_OPCODE);
			(WHOLE, ANY4, ANY4, ANY4): is(LEDGER_BAD_VERSION);
		}
		size = 32;
	}

	apply {
		lists.apply();
		paths.apply();
		judgements.apply();
	}
}

#endif
