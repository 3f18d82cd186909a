/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.p4 - the hashes of a key: hash family dta1, dta(7), HASHING.
 *
 * The polynomials are told to BMv2 at run time, by the calculations' numbers,
 * which are in the order of these calls: dta-switch writes them so.
 */
#ifndef DTA_TRANSLATOR_KEYS
#define DTA_TRANSLATOR_KEYS

#include "headers.p4"

/* All 32 bits: modulo 2^32. */
#define HASH_KEY(to) \
	hash(to, HashAlgorithm.crc32_custom, 32w0, { key }, 64w0x100000000)

/* The key as a number whose CRCs begin with 0: bytes.p4. */
bit<512> key_of(in bit<2048> bytes, in bit<16> len) {
	return (bit<512>)(bytes ^ crc_begin(0xffffffff, len));
}

control HashSlots(in bit<512> key, inout meta_t meta) {
	apply {
		HASH_KEY(meta.slot0);
		HASH_KEY(meta.slot1);
		HASH_KEY(meta.slot2);
		HASH_KEY(meta.slot3);
		HASH_KEY(meta.checksum);
	}
}

/* csum_i of a postcard's key, entry 0 on the left. */
control HashHops(in bit<512> key, out bit<256> sums) {
	bit<32> h0;
	bit<32> h1;
	bit<32> h2;
	bit<32> h3;
	bit<32> h4;
	bit<32> h5;
	bit<32> h6;
	bit<32> h7;

	apply {
		HASH_KEY(h0);
		HASH_KEY(h1);
		HASH_KEY(h2);
		HASH_KEY(h3);
		HASH_KEY(h4);
		HASH_KEY(h5);
		HASH_KEY(h6);
		HASH_KEY(h7);
		sums = h0 ++ h1 ++ h2 ++ h3 ++ h4 ++ h5 ++ h6 ++ h7;
	}
}

#endif
