/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequence.p4 - the numbers of reporters, and NACKs: dta(7), Flow control, DTA
 * 5.2.4; lib/dta/sequence.c tells the rules.
 *
 * A reporter is known by its source address. Two that have the same place here
 * push each other out, and each begins anew with the number that it sends.
 */
#ifndef DTA_TRANSLATOR_SEQUENCE
#define DTA_TRANSLATOR_SEQUENCE

#include "headers.p4"
#include "ledger.p4"
#include "rdma.p4"

const bit<16> SWITCH_FAR = 16384; /* a gap as wide is given up */
const bit<8> SWITCH_NACK_EVERY = 64;

control Sequence(in headers_t hdr, inout meta_t meta) {
	register<bit<32>>(SWITCH_REPORTERS) addresses;
	/* known, a gap is open, reports dropped since it was told, last number
	 * in order */
	register<bit<26>>(SWITCH_REPORTERS) states;
	register<bit<64>>(1) missing; /* numbers: of gaps, where they count, */
	register<bit<64>>(1) lost;    /* and given up, where order is strict */
	meter(1, MeterType.packets) rate; /* of reports that are carried out */
	bit<32> at;
	bit<32> address;
	bit<26> state;
	bit<1> known;
	bit<1> gap;
	bit<8> unheeded;
	bit<16> last;
	bit<16> step; /* from last: 0x8000 and above is behind */
	bit<2> color;
	bit<64> n;

	action find_reporter() {
		hash(at, HashAlgorithm.crc32, 32w0, { hdr.ipv4.src },
		     (bit<64>)SWITCH_REPORTERS);
		addresses.read(address, at);
		states.read(state, at);
		addresses.write(at, hdr.ipv4.src);
		known = address == hdr.ipv4.src ? state[25:25] : 1w0;
		gap = state[24:24] & known;
		unheeded = known == 1 ? state[23:16] : 8w0;
		last = state[15:0];
	}
	action give_up(bit<16> up_to) {
		lost.read(n, 0);
		lost.write(0, n + (bit<64>)(up_to - last));
		last = up_to;
	}
	action nack(bit<8> reason) {
		meta.nack = 1;
		meta.nack_reason = reason;
		unheeded = 0;
	}
	action charge() {
		rate.execute_meter<bit<2>>(32w0, color);
	}

	apply {
		find_reporter();
		step = hdr.dta.sequence - last;
		color = V1MODEL_METER_COLOR_GREEN;
		if (meta.question == 1) {
			if (known == 0)
				last = hdr.dta.sequence;
			else if (meta.reason == DTA_NACK_GONE && step != 0 &&
				 step < 0x8000) {
				give_up(hdr.dta.sequence);
				gap = 0;
			}
			nack(DTA_NACK_STATE);
		} else if (meta.sequence_check == TABLE_SEQ_STRICT &&
			   hdr.dta.tracked == 1) {
			if (known == 0)
				step = 1;
			if (step > SWITCH_FAR && step < 0x8000) {
				give_up(hdr.dta.sequence - 1);
				step = 1;
			}
			if (step == 1) {
				if (meta.ledger == LEDGER_STORED)
					charge();
				gap = 0;
				if (color == V1MODEL_METER_COLOR_RED) {
					meta.ledger = LEDGER_RATE_LIMITED;
					last = hdr.dta.sequence - 1;
					gap = 1;
					nack(DTA_NACK_RATE);
				} else {
					last = hdr.dta.sequence;
				}
				unheeded = 0;
			} else {
				unheeded = unheeded + 1;
				meta.ledger = LEDGER_REPEATED;
				if (step != 0 && step < 0x8000) {
					meta.ledger = LEDGER_OUT_OF_ORDER;
					meta.gap = ~gap;
					gap = 1;
				}
				if (meta.gap == 1 ||
				    unheeded >= SWITCH_NACK_EVERY)
					nack(DTA_NACK_GAP);
			}
		} else {
			if (meta.ledger == LEDGER_STORED)
				charge();
			if (color == V1MODEL_METER_COLOR_RED)
				meta.ledger = LEDGER_RATE_LIMITED;
			if (known == 0)
				step = 1;
			if (meta.sequence_check == TABLE_SEQ_COUNT &&
			    step > 1 &&
			    step < 0x8000) {
				meta.gap = 1;
				missing.read(n, 0);
				missing.write(0, n + (bit<64>)step - 1);
			}
			if (step < 0x8000)
				last = hdr.dta.sequence;
		}
		meta.nack_last = last;
		states.write(at, 1w1 ++ gap ++ unheeded ++ last);
	}
}

/* In egress: the report becomes the answer to it. */
control Nack(inout headers_t hdr, in meta_t meta) {
	bit<48> mac;
	bit<32> ip;

	action back() {
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
	}
	action answer() {
		hdr.dta.opcode = DTA_NACK;
		hdr.dta.immediate = 0;
		hdr.dta.tracked = 0;
		hdr.dta.reserved = 0;
		hdr.dta.copies = 0;
		hdr.dta.key_len = 0;
		hdr.dta.hop = meta.nack_reason[7:4];
		hdr.dta.path_len = meta.nack_reason[3:0];
		hdr.dta.sequence = meta.nack_last;
		truncate((bit<32>)(NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN +
				   DTA_HEADER_LEN));
	}
	apply {
		back();
		answer();
	}
}

#endif
