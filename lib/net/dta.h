/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * dta.h - DTA reports: DTA/1 (dta(7), REPORTS) and the two DTA/0 formats of the
 * published system.
 *
 *     0                   1                   2                   3
 *     0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *    +-------+-------+-+-+---+-------+---------------+-------+-------+
 *    |Ver = 1| Opcode|I|T|Rsv|   N   |    KeyLen     |  Hop  |PathLen|
 *    +-------+-------+-+-+---+-------+---------------+-------+-------+
 *    |             Table             |           Sequence            |
 *    +-------------------------------+-------------------------------+
 *    |   Key, KeyLen bytes           |   Data, to the end of the UDP payload
 *    +---------------
 *
 * DTA/0 has no table field: decoded reports carry DTA_NO_TABLE, and the
 * translator takes its first table of that kind with 4-byte keys.
 */
/* clang-format on */
#ifndef NET_DTA_H
#define NET_DTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/proto.h"

enum dta_format {
	DTA_FORMAT_1,
	DTA_FORMAT_0A, /* 2-byte base header: opcode, immediate */
	DTA_FORMAT_0B, /* 3-byte base header: opcode, sequence, flags */
	DTA_FORMATS,
};

/* One report, host order. key and data point into the packet. */
struct dta_report {
	uint8_t opcode;	  /* enum dta_opcode */
	uint8_t copies;	  /* 0: the table's default */
	uint8_t hop;	  /* postcard: from 0; NACK: the reason */
	uint8_t path_len; /* postcard: 1..15, 0 unknown */
	bool immediate, tracked;
	uint16_t table;
	uint16_t sequence;
	uint16_t key_len, data_len;
	const uint8_t *key, *data;
};

/* "dta1", "dta0a", "dta0b", NULL. */
extern const char *const dta_format_names[DTA_FORMATS + 1];
/* "keywrite"..., by enum dta_opcode; those of primitives come before a NULL. */
extern const char *const dta_opcode_names[DTA_OPCODES];
const char *dta_opcode_name(uint8_t opcode); /* NULL if unknown */

/*
 * Decodes a UDP payload of len bytes. What a table must judge (its id, its key
 * and data lengths, the hop) is left to the translator. format says what to
 * expect: DTA_FORMAT_1 refuses the high nibble 0, the others take DTA/1 too.
 * DTA/0 hops, from 1 on the wire, count from 0 here.
 * Returns 0, -EBADMSG (cut short, lengths that do not add up, DTA/0: hop 0),
 * -ERANGE (N above 4; DTA/0: 0 too), -EPROTONOSUPPORT (unknown version),
 * -EOPNOTSUPP (unknown opcode).
 */
int dta_decode(struct dta_report *out, enum dta_format format,
	       const uint8_t *payload, size_t len);

/*
 * Writes a report's UDP payload. Returns its length, -ENOBUFS, or -EINVAL for
 * what the format cannot carry (DTA/0: keys other than 4 bytes, data other than
 * 4 (Key-Write: 12, 28 too; Key-Increment: 8), no copies, hop above 4; dta0a:
 * tracked). DTA/0b carries 8 bits of the sequence, and its NACK is 2 bytes for
 * the reporter alone: dta_decode() does not know it.
 */
int dta_encode(uint8_t *buf, size_t cap, enum dta_format format,
	       const struct dta_report *r);

#endif
