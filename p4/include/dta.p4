/* SPDX-License-Identifier: BSD-2-Clause */
/* dta.p4 - DTA reports and NACKs: dta(7), REPORTS, Flow control. */
#ifndef P4_DTA
#define P4_DTA

const bit<16> DTA_PORT = 40040;      /* UDP destination of reports */
const bit<16> DTA_NACK_PORT = 40044; /* of NACKs, to the reporter */
const bit<16> DTA_HEADER_LEN = 8;
const bit<4> DTA_VERSION_1 = 1;
const bit<4> DTA_MAX_COPIES = 4;
const bit<16> DTA_COUNTER_LEN = 8; /* what Key-Increment adds */
const bit<16> KEY_FLOW4_LEN = 13;
const bit<16> KEY_MAX = 64;

const bit<4> DTA_KEYWRITE = 1; /* opcodes */
const bit<4> DTA_APPEND = 2;
const bit<4> DTA_KEYINC = 3;
const bit<4> DTA_POSTCARD = 4;
const bit<4> DTA_NACK = 15;

const bit<8> DTA_NACK_STATE = 0; /* reasons of a NACK */
const bit<8> DTA_NACK_GAP = 1;
const bit<8> DTA_NACK_RATE = 2;
const bit<8> DTA_NACK_GONE = 4;

const bit<2> TABLE_SEQ_COUNT = 0; /* what numbers mean to a table */
const bit<2> TABLE_SEQ_STRICT = 1;
const bit<2> TABLE_SEQ_OFF = 2;

header dta_h {
	bit<4> version;
	bit<4> opcode;
	bit<1> immediate;
	bit<1> tracked;
	bit<2> reserved;
	bit<4> copies;
	bit<8> key_len;
	bit<4> hop; /* of a NACK, both: the reason */
	bit<4> path_len;
	bit<16> table_id;
	bit<16> sequence;
}

/* A flow's key: dta(7), Keys. */
header flow4_h {
	bit<32> src;
	bit<32> dst;
	bit<16> src_port;
	bit<16> dst_port;
	bit<8> proto;
}

#endif
