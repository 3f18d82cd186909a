/* SPDX-License-Identifier: BSD-2-Clause */
/* roce.p4 - RoCEv2: InfiniBand Architecture 9.2 to 9.3, annex A17. */
#ifndef P4_ROCE
#define P4_ROCE

const bit<16> ROCE_PORT = 4791; /* UDP */
const bit<16> ROCE_BTH_LEN = 12;
const bit<16> ROCE_RETH_LEN = 16;
const bit<16> ROCE_ATOMIC_LEN = 28;
const bit<16> ROCE_IMM_LEN = 4;
const bit<16> ROCE_ICRC_LEN = 4;
const bit<8> ROCE_BTH_MIGREQ = 0x40;

const bit<8> ROCE_RC_WRITE_ONLY = 0x0a; /* opcodes */
const bit<8> ROCE_RC_WRITE_ONLY_IMM = 0x0b;
const bit<8> ROCE_RC_ACK = 0x11;
const bit<8> ROCE_RC_FETCH_ADD = 0x14;
const bit<8> ROCE_UC_WRITE_ONLY = 0x2a;
const bit<8> ROCE_UC_WRITE_ONLY_IMM = 0x2b;

const bit<8> ROCE_NAK_PSN = 0x60; /* AETH syndrome */

header bth_h {
	bit<8> opcode;
	bit<8> flags; /* solicited, MigReq, PadCount 2, TVer 4 */
	bit<16> pkey;
	bit<8> reserved; /* FECN, BECN */
	bit<24> dest_qp;
	bit<8> ack_req;
	bit<24> psn;
}

header reth_h {
	bit<64> address;
	bit<32> rkey;
	bit<32> len;
}

header atomic_h {
	bit<64> address;
	bit<32> rkey;
	bit<64> swap_add;
	bit<64> compare;
}

header imm_h {
	bit<32> value;
}

header aeth_h {
	bit<8> syndrome;
	bit<24> msn;
}

/* Least significant byte first. */
header icrc_h {
	bit<32> value;
}

#endif
