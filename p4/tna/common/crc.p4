/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc.p4 - hashes for Tofino, where an engine has its polynomial when the
 * program is compiled. Reflected CRC-32s, as all of hash.p4.
 */
#ifndef TNA_CRC
#define TNA_CRC

#include "hash.p4"

/* Of hash family dta1: hash of a key. */
#define KEY_HASH(name, poly) \
	CRCPolynomial<bit<32>>(poly, true, false, false, 0xffffffff, \
			       0xffffffff) name##_poly; \
	Hash<bit<32>>(HashAlgorithm_t.CUSTOM, name##_poly) name

/* The same for a register's index: the lowest bits. */
#define ROW_HASH(name, poly, bits) \
	CRCPolynomial<bit<32>>(poly, true, false, false, 0xffffffff, \
			       0xffffffff) name##_poly; \
	Hash<bit<bits>>(HashAlgorithm_t.CUSTOM, name##_poly) name

/*
 * Part of an iCRC: of a packet in which all that is not given is 0. As a CRC is
 * linear, the iCRC is the exclusive or of this and of the iCRC of the packet in
 * which all that is given here is 0; the control plane knows that one.
 */
#define ICRC_PART(name) \
	CRCPolynomial<bit<32>>(CRC_SLOT0, true, false, false, 0, 0) \
		name##_poly; \
	Hash<bit<32>>(HashAlgorithm_t.CUSTOM, name##_poly) name

#endif
