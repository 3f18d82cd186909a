/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes.p4 - bytes, up to 256, whose number is known when the packet is there:
 * on the wire as headers whose lengths are powers of two (of 13 bytes b8, b4
 * and b1 are valid), to work with as one number, the last byte on the right.
 *
 * CRCs of them. A hash has fields of fixed lengths; but a CRC that begins with
 * 0 stays 0 over leading zeros, so the CRC of the whole number is that of the
 * bytes. A CRC that begins with another value c is one that begins with 0, of
 * bytes of which the first four have been changed by exclusive or with c, the
 * least significant byte first (polynomials here are reflected).
 */
#ifndef P4_BYTES
#define P4_BYTES

header bytes256_h { bit<2048> v; }
header bytes128_h { bit<1024> v; }
header bytes64_h { bit<512> v; }
header bytes32_h { bit<256> v; }
header bytes16_h { bit<128> v; }
header bytes8_h { bit<64> v; }
header bytes4_h { bit<32> v; }
header bytes2_h { bit<16> v; }
header bytes1_h { bit<8> v; }

struct bytes_t {
	bytes256_h b256;
	bytes128_h b128;
	bytes64_h b64;
	bytes32_h b32;
	bytes16_h b16;
	bytes8_h b8;
	bytes4_h b4;
	bytes2_h b2;
	bytes1_h b1;
}

#define PARSE_BYTES_STEP(name, at, len, n, bit_n, next) \
	state name##_##n { \
		transition select(len[bit_n:bit_n]) { \
			1: name##_take_##n; \
			default: next; \
		} \
	} \
	state name##_take_##n { \
		packet.extract(at.b##n); \
		transition next; \
	}

/* The states from name_256 to name_1, which extract len bytes to at. */
#define PARSE_BYTES(name, at, len, next) \
	PARSE_BYTES_STEP(name, at, len, 256, 8, name##_128) \
	PARSE_BYTES_STEP(name, at, len, 128, 7, name##_64) \
	PARSE_BYTES64(name, at, len, next)
/* The states from name_64 on. */
#define PARSE_BYTES64(name, at, len, next) \
	PARSE_BYTES_STEP(name, at, len, 64, 6, name##_32) \
	PARSE_BYTES_STEP(name, at, len, 32, 5, name##_16) \
	PARSE_BYTES_STEP(name, at, len, 16, 4, name##_8) \
	PARSE_BYTES_STEP(name, at, len, 8, 3, name##_4) \
	PARSE_BYTES_STEP(name, at, len, 4, 2, name##_2) \
	PARSE_BYTES_STEP(name, at, len, 2, 1, name##_1) \
	PARSE_BYTES_STEP(name, at, len, 1, 0, next)

/* BMv2 shifts by 255 bits at most: the bytes of a number so many (0 to 255) to
 * the left, or to the right. */
bit<2048> left(in bit<2048> v, in bit<16> n) {
	bit<2048> a = v << ((bit<8>)(n & 31) << 3);
	bit<2048> b = n[5:5] == 1 ? a[1791:0] ++ 256w0 : a;
	bit<2048> c = n[6:6] == 1 ? b[1535:0] ++ 512w0 : b;

	return n[7:7] == 1 ? c[1023:0] ++ 1024w0 : c;
}

bit<2048> right(in bit<2048> v, in bit<16> n) {
	bit<2048> a = v >> ((bit<8>)(n & 31) << 3);
	bit<2048> b = n[5:5] == 1 ? 256w0 ++ a[2047:256] : a;
	bit<2048> c = n[6:6] == 1 ? 512w0 ++ b[2047:512] : b;

	return n[7:7] == 1 ? 1024w0 ++ c[2047:1024] : c;
}

/* What the first four of len bytes are changed by for a CRC to begin with c. */
bit<2048> crc_begin(in bit<32> c, in bit<16> len) {
	bit<32> first = c[7:0] ++ c[15:8] ++ c[23:16] ++ c[31:24];

	return left((bit<2048>)first, len - 4);
}

/* Bytes to a number: those that are valid, one after the other. */
control BytesToNumber(in bytes_t from, out bit<2048> to) {
	apply {
		to = 0;
		if (from.b256.isValid())
			to = from.b256.v;
		if (from.b128.isValid())
			to = (bit<2048>)from.b128.v;
		if (from.b64.isValid())
			to = to[1535:0] ++ from.b64.v;
		if (from.b32.isValid())
			to = to[1791:0] ++ from.b32.v;
		if (from.b16.isValid())
			to = to[1919:0] ++ from.b16.v;
		if (from.b8.isValid())
			to = to[1983:0] ++ from.b8.v;
		if (from.b4.isValid())
			to = to[2015:0] ++ from.b4.v;
		if (from.b2.isValid())
			to = to[2031:0] ++ from.b2.v;
		if (from.b1.isValid())
			to = to[2039:0] ++ from.b1.v;
	}
}

/* And back: the lowest len bytes of a number, at most 256. */
control NumberToBytes(in bit<2048> from, in bit<16> len, inout bytes_t to) {
	apply {
		bit<16> n = len; /* still to come */

		if (len[8:8] == 1) {
			to.b256.setValid();
			to.b256.v = from;
		}
		if (len[7:7] == 1) {
			to.b128.setValid();
			n = n - 128;
			to.b128.v = (bit<1024>)right(from, n);
		}
		if (len[6:6] == 1) {
			to.b64.setValid();
			n = n - 64;
			to.b64.v = (bit<512>)right(from, n);
		}
		if (len[5:5] == 1) {
			to.b32.setValid();
			n = n - 32;
			to.b32.v = (bit<256>)right(from, n);
		}
		if (len[4:4] == 1) {
			to.b16.setValid();
			n = n - 16;
			to.b16.v = (bit<128>)right(from, n);
		}
		if (len[3:3] == 1) {
			to.b8.setValid();
			n = n - 8;
			to.b8.v = (bit<64>)right(from, n);
		}
		if (len[2:2] == 1) {
			to.b4.setValid();
			n = n - 4;
			to.b4.v = (bit<32>)right(from, n);
		}
		if (len[1:1] == 1) {
			to.b2.setValid();
			n = n - 2;
			to.b2.v = (bit<16>)right(from, n);
		}
		if (len[0:0] == 1) {
			to.b1.setValid();
			to.b1.v = (bit<8>)from;
		}
	}
}

#endif
