/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * common_report.h - a fast check for a table's common reports (DTA/1, one
 * value, a frame of one shape), and the descriptor of a valid report.
 *
 * The shape: Ethernet, IPv4 without options or fragments, UDP without a
 * checksum to one port, of one length. All headers are compared at once; why a
 * frame differs is found by net/net.h.
 */
#ifndef DTA_COMMON_REPORT_H
#define DTA_COMMON_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "packet/pkt.h"
#include "region/table.h"
#include "net/be.h"
#include "net/proto.h"

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

extern const uint8_t shape_mask[SHAPE_LEN]; /* 0 where frames may differ */

/* Whether a frame is of a shape; the IPv4 header checksum is not looked at. */
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

/* The third of the four words has nothing but addresses and a port. */
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
	__m256i found = _mm256_loadu_si256((const void *)(frame + SHAPE_AT));
	__m256i wanted = _mm256_loadu_si256((const void *)s->bytes);

	return _mm256_testz_si256(_mm256_xor_si256(found, wanted),
				  _mm256_load_si256((const void *)shape_mask));
}
#endif

/* Whether a number is a multiple of 0xffff: times the inverse of 0xffff modulo
 * 2^64, multiples alone give at most 2^64 / 0xffff. */
static inline bool shape_is_multiple(uint64_t sum)
{
	return sum * UINT64_C(0xfffefffefffeffff) <= UINT64_MAX / 0xffff;
}

/*
 * Whether the IPv4 header checksum is right: the 20 bytes add up to 0xffff in
 * one's complement (RFC 791, RFC 1071). So they are, as one long number in
 * either byte order, a multiple of 0xffff; and so is the sum of their words,
 * the carry added again, as 2^64 is 1 modulo 0xffff. Adding the last 4 bytes to
 * the first word has no carry: that word begins with 0x45, and ends with a
 * fragment offset of 0.
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
	return shape_is_multiple(sum);
}

/* clang-format off */
/*
 * The descriptor of a valid report.
 *
 * All fields have been checked against the table. What is passed on is a
 * pointer to the key in the packet, behind which the data lies, and the
 * descriptor. It is DTA/1's header with the fields replaced that are no longer
 * needed:
 *
 *	bits	DTA/1			descriptor
 *	56-63	version, opcode		table
 *	55	immediate		the report's flag or the table's
 *	54	tracked			it goes to its collector's mirror
 *	52-53	reserved		0
 *	48-51	N			1..4, the table's default filled in
 *	40-47	key length		bytes from the key to the data
 *	32-39	hop, path length	the same
 *	16-31	table			data length
 *	0-15	sequence		the same
 */
/* clang-format on */
enum {
	DESC_TABLE = 56,
	DESC_IMMEDIATE = 55,
	DESC_MIRRORED = 54,
	DESC_COPIES = 48,
	DESC_DATA_AT = 40,
	DESC_HOP = 36,
	DESC_PATH_LEN = 32,
	DESC_DATA_LEN = 16,
	HEADER_TRACKED = 54, /* of DTA/1 */
};

static inline unsigned desc_table(uint64_t desc)
{
	return (unsigned)(desc >> DESC_TABLE);
}

static inline bool desc_immediate(uint64_t desc)
{
	return desc >> DESC_IMMEDIATE & 1;
}

static inline bool desc_mirrored(uint64_t desc)
{
	return desc >> DESC_MIRRORED & 1;
}

static inline unsigned desc_copies(uint64_t desc)
{
	return desc >> DESC_COPIES & 15;
}

static inline unsigned desc_data_at(uint64_t desc)
{
	return desc >> DESC_DATA_AT & 0xff;
}

static inline unsigned desc_hop(uint64_t desc)
{
	return desc >> DESC_HOP & 15;
}

static inline unsigned desc_path_len(uint64_t desc)
{
	return desc >> DESC_PATH_LEN & 15;
}

static inline uint16_t desc_data_len(uint64_t desc)
{
	return (uint16_t)(desc >> DESC_DATA_LEN);
}

static inline uint16_t desc_sequence(uint64_t desc)
{
	return (uint16_t)desc;
}

enum {
	COMMON_AT_TABLE = SHAPE_AT_PAYLOAD + 4,
	COMMON_AT_KEY = SHAPE_AT_PAYLOAD + DTA_HEADER_LEN,
};

_Static_assert((int)COMMON_AT_KEY >= (int)SHAPE_READ, "a report has them");

/* A table's common report and its descriptor; a cache line. */
struct common_report {
	struct shape shape;
	uint64_t header, mask; /* DTA header's fixed fields; their bits */
	uint64_t desc;	       /* table, its immediate, data length */
	uint32_t limit;	       /* how many lists, or hops */
	uint16_t frame_len;    /* to the end of the value */
	uint8_t copies;	       /* the default N */
	uint8_t checked;       /* kind, if common_report_check() is needed */
} __attribute__((aligned(64)));

/* For a table with values of data_len bytes. Tracked reports are common only if
 * no table is strict. */
void common_report_init(struct common_report *c, const struct table *t,
			unsigned state, uint16_t data_len, bool strict);
void common_report_clear(struct common_report *c); /* matches no report */

/* Checks the list, or hop and value, of a report of the right lengths. */
static inline __attribute__((always_inline)) bool
common_report_check(const struct common_report *c, const uint8_t *key,
		    uint64_t desc)
{
	unsigned hop = desc_hop(desc), path_len = desc_path_len(desc);

	if (c->checked == TABLE_APPEND)
		return be32_load(key) < c->limit;
	return hop < c->limit && path_len <= c->limit &&
	       (!path_len || hop < path_len) &&
	       be32_load(key + desc_data_at(desc)) != TABLE_BLANK;
}

/* The descriptor of a packet that is a valid common report of one of the
 * tables; else 0. by_id: the table of an id as it is in the packet. */
static inline __attribute__((always_inline)) uint64_t
common_report_desc(const struct common_report *tables, const uint8_t *by_id,
		   const struct pkt *p, shape_fn *matches)
{
	const uint64_t kept = 0x008fffff0000ffff; /* of DTA/1's header */
	const uint8_t *f = p->data;
	const struct common_report *c;
	uint64_t header, desc;
	uint16_t table;
	unsigned copies;

	if (p->len < COMMON_AT_KEY)
		return 0;
	memcpy(&table, f + COMMON_AT_TABLE, sizeof(table));
	c = &tables[by_id[table]];
	header = be64_load(f + SHAPE_AT_PAYLOAD);
	if ((header & c->mask) != c->header || !matches(&c->shape, f) ||
	    p->len < c->frame_len || !shape_sum_right(f))
		return 0;
	desc = (header & kept) | c->desc;
	copies = desc_copies(desc);
	if (copies - 1 >= DTA_MAX_COPIES) {
		if (copies)
			return 0;
		desc |= (uint64_t)c->copies << DESC_COPIES;
	}
	if (c->checked && !common_report_check(c, f + COMMON_AT_KEY, desc))
		return 0;
	return desc;
}

#endif
