/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int.p4 - INT-MD 2.1 over TCP and UDP, known by its DSCP, and the telemetry
 * report 2.0 that has such a packet in it: INT 2.1, sections 5.7 and 5.8;
 * Telemetry Report 2.0.
 */
#ifndef P4_INT
#define P4_INT

const bit<6> INT_DSCP = 0x17;
const bit<16> INT_REPORT_PORT = 54321; /* of int-collect; none is assigned */
const bit<4> INT_TYPE_MD = 1;
const bit<16> INT_SHIM_LEN = 4;
const bit<16> INT_HEADER2_LEN = 12;
const bit<16> INT_COMPLEMENT = 0x0001; /* the instruction, bit 15 */

const bit<16> TREPORT_V2_GROUP_LEN = 8;
const bit<16> TREPORT_V2_LEN = 4;
const bit<4> TREPORT_INNER_ONLY = 0;
const bit<4> TREPORT_IP4 = 4;

header int_shim_h {
	bit<4> type;
	bit<2> npt;
	bit<2> reserved;
	bit<8> words; /* header and stack */
	bit<8> reserved2;
	bit<6> dscp; /* the packet's own */
	bit<2> reserved3;
}

header int_md_h {
	bit<4> version;
	bit<1> discard;
	bit<1> exceeded; /* E: hops */
	bit<1> mtu;	 /* M: the packet would be too long */
	bit<12> reserved;
	bit<5> hop_words;
	bit<8> remaining;
	bit<16> bitmap;
	bit<16> domain;
	bit<16> domain_bits;
	bit<16> domain_flags;
}

header treport_group_h {
	bit<4> version;
	bit<6> hw_id;
	bit<22> sequence;
	bit<32> node;
}

header treport_h {
	bit<4> type;
	bit<4> inner;
	bit<8> words; /* behind this one */
	bit<8> md_words;
	bit<1> dropped;
	bit<1> congested;
	bit<1> tracked;
	bit<1> intermediate;
	bit<4> reserved;
}

#endif
