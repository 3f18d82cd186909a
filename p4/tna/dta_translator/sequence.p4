/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequence.p4 - the numbers of reporters, and NACKs: dta(7), Flow control, DTA
 * 5.2.4; v1model/dta_translator/sequence.p4 does the same.
 *
 * A reporter is known by its source address. Two that have the same place here
 * push each other out, and each begins anew with the number that it sends.
 *
 * Stages: whether the reporter is known, its number, what becomes of the report,
 * and then, beside what is done with it, what is told.
 */
#ifndef DTA_TRANSLATOR_SEQUENCE
#define DTA_TRANSLATOR_SEQUENCE

#include "headers.p4"
#include "ledger.p4"
#include "crc.p4"
#include "judge.p4"

const bit<8> SWITCH_NACK_EVERY = 64;
const bit<8> SWITCH_RED = 3; /* MeterColor_t.RED */

/* Steps from the last number to a report's: the next; far, where a gap is given
 * up (above 16384); behind; and all others are ahead. */
#define NEXT 1
#define NOT_FAR 0x4000
#define FAR 0x4000 &&& 0xc000
#define SAME 0
#define BEHIND 0x8000 &&& 0x8000

control Sequence(inout ingress_headers_t hdr, inout ingress_meta_t meta,
		 in ingress_intrinsic_metadata_from_parser_t parsed,
		 inout ingress_intrinsic_metadata_for_deparser_t deparser) {
	ROW_HASH(of_address, CRC_SLOT0, 12);
	ROW_HASH(of_number, CRC_SLOT0, 12);
	ROW_HASH(of_gap, CRC_SLOT0, 12);
	ROW_HASH(of_unheeded, CRC_SLOT0, 12);
	Register<bit<32>, bit<12>>(SWITCH_REPORTERS) addresses;
	Register<bit<16>, bit<12>>(SWITCH_REPORTERS) lasts; /* numbers */
	Register<bit<8>, bit<12>>(SWITCH_REPORTERS) gaps;     /* open */
	Register<bit<8>, bit<12>>(SWITCH_REPORTERS) unheeded; /* since a NACK */
	/* Numbers: 0: of gaps, where they count; 1: given up, where order is
	 * strict. */
	Register<bit<32>, bit<1>>(2) lost;

	RegisterAction<bit<32>, bit<12>, bit<8>>(addresses) meet = {
		void apply(inout bit<32> a, out bit<8> known) {
			known = 0;
			if (a == hdr.ipv4.src)
				known = 1;
			a = hdr.ipv4.src;
		}
	};
	action find_reporter() {
		meta.decoded = 1;
		meta.acquainted =
			meet.execute(of_address.get({ hdr.ipv4.src }));
	}
	action find_asking() {
		meta.question = 1;
		find_reporter();
	}
	/* Reports whose number is looked at: if one of a table that there is
	 * not, too; and questions. */
	table meetings {
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
		}
		actions = { find_reporter; find_asking; NoAction; }
		const default_action = NoAction();
		const entries = {
			(WELL, DTA_NACK, 0, (bit<4>)DTA_NACK_STATE, _):
				find_asking();
			(WELL, DTA_NACK, 0, (bit<4>)DTA_NACK_GONE, _):
				find_asking();
#define DECODED(opcode) \
			(WELL, opcode, _, _, 0 &&& 0xc): find_reporter(); \
			(WELL, opcode, _, _, DTA_MAX_COPIES): find_reporter();
			DECODED(DTA_KEYWRITE)
			DECODED(DTA_APPEND)
			DECODED(DTA_KEYINC)
			DECODED(DTA_POSTCARD)
		}
		size = 16;
	}

	/* The next in order. */
	RegisterAction<bit<16>, bit<12>, bit<16>>(lasts) take = {
		void apply(inout bit<16> last, out bit<16> step) {
			step = hdr.dta.sequence - last;
			if (hdr.dta.sequence - last == 1)
				last = hdr.dta.sequence;
		}
	};
	/* Any that is ahead. */
	RegisterAction<bit<16>, bit<12>, bit<16>>(lasts) jump = {
		void apply(inout bit<16> last, out bit<16> step) {
			step = hdr.dta.sequence - last;
			if ((int<16>)(hdr.dta.sequence - last) > 0)
				last = hdr.dta.sequence;
		}
	};
	RegisterAction<bit<16>, bit<12>, bit<16>>(lasts) look = {
		void apply(inout bit<16> last, out bit<16> step) {
			step = hdr.dta.sequence - last;
		}
	};
	RegisterAction<bit<16>, bit<12>, bit<16>>(lasts) begin = {
		void apply(inout bit<16> last, out bit<16> step) {
			step = 0;
			last = hdr.dta.sequence;
		}
	};
	action take_number() {
		meta.step = take.execute(of_number.get({ hdr.ipv4.src }));
	}
	action jump_to_number() {
		meta.step = jump.execute(of_number.get({ hdr.ipv4.src }));
	}
	action look_at_number() {
		meta.step = look.execute(of_number.get({ hdr.ipv4.src }));
	}
	action begin_numbers() {
		meta.step =
			begin.execute(of_number.get({ hdr.ipv4.src }));
	}
	/* A report that goes too fast is not taken: it comes again. */
	table numbers {
		key = {
			meta.decoded: ternary;
			meta.acquainted: ternary;
			meta.question: ternary;
			hdr.dta.path_len: ternary;
			meta.sequence_check: ternary;
			hdr.dta.tracked: ternary;
			meta.again: ternary;
			meta.color: ternary;
		}
		actions = {
			take_number;
			jump_to_number;
			look_at_number;
			begin_numbers;
			NoAction;
		}
		const default_action = NoAction();
		const entries = {
			(0, _, _, _, _, _, _, _): NoAction();
			(_, 1, 1, (bit<4>)DTA_NACK_GONE, _, _, _, _):
				jump_to_number();
			(_, 1, 1, _, _, _, _, _): look_at_number();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 1, _): jump_to_number();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, SWITCH_RED):
				look_at_number();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, _): take_number();
			(_, 1, 0, _, _, _, _, _): jump_to_number();
			(_, 0, _, _, _, _, _, _): begin_numbers();
		}
		size = 8;
	}

	/* Numbers passed over: up to a notice, or before a report. */
	action pass_over() {
		meta.passed = meta.step - 1;
	}

	RegisterAction<bit<8>, bit<12>, bit<8>>(gaps) open_gap = {
		void apply(inout bit<8> open, out bit<8> was) {
			was = open;
			open = 1;
		}
	};
	RegisterAction<bit<8>, bit<12>, bit<8>>(gaps) close_gap = {
		void apply(inout bit<8> open, out bit<8> was) {
			was = 1;
			open = 0;
		}
	};
	RegisterAction<bit<8>, bit<12>, bit<8>>(unheeded) one_more = {
		void apply(inout bit<8> n, out bit<8> was) {
			was = n;
			if (n >= SWITCH_NACK_EVERY - 1)
				n = 0;
			else
				n = n + 1;
		}
	};
	RegisterAction<bit<8>, bit<12>, bit<8>>(unheeded) none = {
		void apply(inout bit<8> n, out bit<8> was) {
			was = 0;
			n = 0;
		}
	};
	RegisterAction<bit<32>, bit<1>, bit<32>>(lost) add_passed = {
		void apply(inout bit<32> n) {
			n = n + (bit<32>)meta.passed;
		}
	};
	RegisterAction<bit<32>, bit<1>, bit<32>>(lost) add_step = {
		void apply(inout bit<32> n) {
			n = n + (bit<32>)meta.step;
		}
	};
	action miss() {
		add_passed.execute(0);
	}
	action lose() {
		add_passed.execute(1);
	}
	action lose_all() {
		add_step.execute(1);
	}
	table losses {
		key = {
			meta.missed: exact;
			meta.far: exact;
			meta.gone: exact;
		}
		actions = { miss; lose; lose_all; NoAction; }
		const default_action = NoAction();
		const entries = {
			(1, 0, 0): miss();
			(0, 1, 0): lose();
			(0, 0, 1): lose_all();
		}
		size = 4;
	}

	/* What becomes of it, and of a gap: it opens, stays, or is closed. */
	action close() {
		close_gap.execute(of_gap.get({ hdr.ipv4.src }));
		meta.gap_was = 1;
	}
	action open() {
		meta.gap_was = open_gap.execute(of_gap.get({ hdr.ipv4.src }));
	}
	action limited() {
		meta.ledger = LEDGER_RATE_LIMITED;
		meta.answer = 1;
		hdr.dta.path_len = (bit<4>)DTA_NACK_RATE;
		open();
	}
	action ahead() {
		meta.ledger = LEDGER_OUT_OF_ORDER;
		meta.ahead = 1;
		open();
	}
	action behind() {
		meta.ledger = LEDGER_REPEATED;
		meta.behind = 1;
	}
	/* It comes again, and is not to be stored twice. What is dropped is not
	 * resubmitted. */
	action give_up() {
		deparser.resubmit_type = SWITCH_RESUBMIT;
		deparser.drop_ctl = 0;
		meta.ledger = LEDGER_OUT_OF_ORDER;
		meta.resubmit = 1;
	}
	action given_up() {
		close();
		meta.far = 1;
	}
	action missed() {
		meta.missed = 1;
		meta.gap = 1;
	}
	action drop_loose() {
		meta.ledger = LEDGER_RATE_LIMITED;
	}
	action drop_and_miss() {
		meta.ledger = LEDGER_RATE_LIMITED;
		meta.missed = 1;
		meta.gap = 1;
	}
	action answer() {
		meta.answer = 1;
		hdr.dta.path_len = (bit<4>)DTA_NACK_STATE;
	}
	action answer_gone() {
		answer();
		close();
		meta.gone = 1;
	}
	table verdicts {
		key = {
			meta.decoded: ternary;
			meta.acquainted: ternary;
			meta.question: ternary;
			hdr.dta.path_len: ternary;
			meta.sequence_check: ternary;
			hdr.dta.tracked: ternary;
			meta.again: ternary;
			meta.step: ternary;
			meta.color: ternary;
			meta.ledger: ternary;
		}
		actions = {
			close;
			limited;
			ahead;
			behind;
			give_up;
			given_up;
			missed;
			drop_loose;
			drop_and_miss;
			answer;
			answer_gone;
			NoAction;
		}
		const default_action = NoAction();
		const entries = {
			(0, _, _, _, _, _, _, _, _, _): NoAction();
			(_, _, 1, _, _, _, _, SAME, _, _): answer();
			(_, _, 1, _, _, _, _, BEHIND, _, _): answer();
			(_, _, 1, (bit<4>)DTA_NACK_GONE, _, _, _, _, _, _): answer_gone();
			(_, _, 1, _, _, _, _, _, _, _): answer();
			(_, 0, 0, _, TABLE_SEQ_STRICT, 1, _, _, _, _): close();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 1, NOT_FAR, _, _):
				close();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 1, FAR, _, _):
				given_up();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 1, _, _, _): close();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, NEXT, SWITCH_RED, _):
				limited();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, NEXT, _, _): close();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, SAME, _, _): behind();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, BEHIND, _, _):
				behind();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, NOT_FAR, _, _):
				ahead();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, FAR, _, _): give_up();
			(_, 1, 0, _, TABLE_SEQ_STRICT, 1, 0, _, _, _): ahead();
			(_, 0, 0, _, _, _, _, _, SWITCH_RED, LEDGER_STORED):
				drop_loose();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, NEXT, SWITCH_RED,
			 LEDGER_STORED): drop_loose();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, SAME, SWITCH_RED,
			 LEDGER_STORED): drop_loose();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, BEHIND, SWITCH_RED,
			 LEDGER_STORED): drop_loose();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, _, SWITCH_RED,
			 LEDGER_STORED): drop_and_miss();
			(_, 1, 0, _, _, _, _, _, SWITCH_RED, LEDGER_STORED):
				drop_loose();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, NEXT, _, _):
				NoAction();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, SAME, _, _):
				NoAction();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, BEHIND, _, _):
				NoAction();
			(_, 1, 0, _, TABLE_SEQ_COUNT, _, _, _, _, _): missed();
		}
		size = 32;
	}
	action heed() {
		none.execute(of_unheeded.get({ hdr.ipv4.src }));
	}
	action count_unheeded() {
		meta.unheeded =
			one_more.execute(of_unheeded.get({ hdr.ipv4.src }));
	}
	/* A gap is told when it opens, then with every 64th report that is not
	 * heeded for it. */
	table tellings {
		key = {
			meta.decoded: ternary;
			meta.resubmit: ternary;
			meta.ahead: ternary;
			meta.behind: ternary;
			meta.gap_was: ternary;
		}
		actions = { heed; count_unheeded; NoAction; }
		const default_action = NoAction();
		const entries = {
			(1, 0, 1, 0, 0): heed();
			(1, 0, 1, 0, _): count_unheeded();
			(1, 0, 0, 1, _): count_unheeded();
			(1, 0, _, _, _): heed();
		}
		size = 4;
	}
	action tell() {
		meta.answer = 1;
		hdr.dta.path_len = (bit<4>)DTA_NACK_GAP;
	}
	action tell_first() {
		meta.gap = 1;
		tell();
	}
	table gaps_told {
		key = {
			meta.ahead: exact;
			meta.gap_was: ternary;
			meta.unheeded: ternary;
		}
		actions = { tell; tell_first; NoAction; }
		const default_action = NoAction();
		const entries = {
			(1, 0, _): tell_first();
			(1, _, SWITCH_NACK_EVERY - 1): tell();
			(0, _, SWITCH_NACK_EVERY - 1): tell();
		}
		size = 4;
	}

	apply {
		meetings.apply();
		numbers.apply();
		pass_over();
		verdicts.apply();
		losses.apply();
		tellings.apply();
		gaps_told.apply();
	}
}

#endif
