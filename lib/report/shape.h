/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shape.h - frames of one shape: Ethernet, IPv4 without options or fragments,
 * UDP without a checksum to one port, of one length.
 *
 * Whether a frame is of a shape is asked of all headers at once: net.h tells
 * why one is not.
 */
#ifndef REPORT_SHAPE_H
#define REPORT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "wire/proto.h"

enum {
	SHAPE_AT = NET_ETH_AT_TYPE, /* what comes before it may be anything */
	SHAPE_LEN = 32,
	SHAPE_AT_IP = NET_ETH_LEN,
	SHAPE_AT_UDP = SHAPE_AT_IP + NET_IP4_LEN,
	SHAPE_AT_PAYLOAD = SHAPE_AT_UDP + NET_UDP_LEN,
	SHAPE_READ = SHAPE_AT + SHAPE_LEN, /* bytes that a frame must have */
};

struct shape {
	uint8_t bytes[SHAPE_LEN]; /* from SHAPE_AT on; 0 where frames differ */
};

extern const uint8_t shape_mask[SHAPE_LEN]; /* 0 there, too */

void shape_init(struct shape *s, uint16_t dst_port, size_t payload_len);

/* Whether a frame is of a shape, but for the sum of its IPv4 header. */
typedef bool shape_fn(const struct shape *s, const uint8_t *frame);

static inline uint64_t shape_word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t shape_differs(const struct shape *s,
				     const uint8_t *frame, unsigned at)
{
	return (shape_word(frame + SHAPE_AT + at) ^ shape_word(s->bytes + at)) &
	       shape_word(shape_mask + at);
}

/* Of the four words one has addresses alone. */
static inline __attribute__((always_inline)) bool
shape_is(const struct shape *s, const uint8_t *frame)
{
	return !(shape_differs(s, frame, 0) | shape_differs(s, frame, 8) |
		 shape_differs(s, frame, 24));
}

#ifdef __x86_64__
#define SHAPE_WIDE __attribute__((target("avx2")))

/* The same in one comparison. */
SHAPE_WIDE static inline __attribute__((always_inline)) bool
shape_is_wide(const struct shape *s, const uint8_t *frame)
{
	__m256i here = _mm256_loadu_si256((const void *)(frame + SHAPE_AT));
	__m256i there = _mm256_loadu_si256((const void *)s->bytes);

	return _mm256_testz_si256(_mm256_xor_si256(here, there),
				  _mm256_load_si256((const void *)shape_mask));
}
#endif

/* An odd number's multiples, times what it has for an inverse modulo 2^64, are
 * small; nothing else is. */
static inline bool shape_divides(uint64_t sum)
{
	return sum * UINT64_C(0xfffefffefffeffff) <= UINT64_MAX / 0xffff;
}

/*
 * Whether that sum is right: the 20 bytes add up to 0xffff in one's complement
 * (RFC 791, RFC 1071), that is they are, as one long number in either byte
 * order, a multiple of 0xffff. That holds for the sum of its parts, too, with
 * the carry brought round. The first part is too small for a carry: of this
 * shape it begins with 0x45, and ends with a fragment offset of 0.
 */
static inline bool shape_sum_right(const uint8_t *frame)
{
	const uint8_t *ip = frame + SHAPE_AT_IP;
	uint64_t sum = shape_word(ip), part = shape_word(ip + 8);
	uint32_t last;

	memcpy(&last, ip + 16, sizeof(last));
	sum += last;
	sum += part;
	sum += sum < part;
	return shape_divides(sum);
}

#endif
