/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash.p4 - the hash family dta1, dta(7), HASHING: reflected CRC-32s, initial
 * value and final XOR 0xffffffff, a polynomial (in normal form) per purpose.
 *
 * Tofino has them compiled in (tna/common/crc.p4); BMv2 is told them when it
 * runs: set_crc32_parameters, p4/README.md.
 */
#ifndef P4_HASH
#define P4_HASH

const bit<32> CRC_SLOT0 = 0x04c11db7; /* also zlib's CRC-32: the iCRC */
const bit<32> CRC_SLOT1 = 0xf5d8e6b9;
const bit<32> CRC_SLOT2 = 0x38d956c9;
const bit<32> CRC_SLOT3 = 0xbe1bc3bb;
const bit<32> CRC_CHECKSUM = 0x1edc6f41;
const bit<32> CRC_COLLECTOR = 0x8c2bfecf;
const bit<32> CRC_HOP0 = 0x1e671611;
const bit<32> CRC_HOP1 = 0x42ba8535;
const bit<32> CRC_HOP2 = 0x9459dbbf;
const bit<32> CRC_HOP3 = 0x617c6a11;
const bit<32> CRC_HOP4 = 0x7076ce85;
const bit<32> CRC_HOP5 = 0x101cecef;
const bit<32> CRC_HOP6 = 0x5b8ea50b;
const bit<32> CRC_HOP7 = 0x676bdd11;

#endif
