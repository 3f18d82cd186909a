/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * head.h - the head of a report that was judged good.
 *
 * Every field was judged against its table. Of the report remain a pointer to
 * the key in the packet, behind which the data comes, and its head. That has
 * the shape of DTA/1's header, with what is not needed any more replaced:
 *
 *	bits	DTA/1			head
 *	56-63	version, opcode		lane
 *	55	immediate		the report's flag or the table's
 *	52-54	tracked, reserved	0
 *	48-51	N			1..4, the table's default filled in
 *	40-47	key length		bytes from the key to the data
 *	32-39	hop, path length	the same
 *	16-31	table			data length
 *	0-15	sequence		the same
 */
#ifndef REPORT_HEAD_H
#define REPORT_HEAD_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HEAD_LANE = 56,
	HEAD_IMMEDIATE = 55,
	HEAD_COPIES = 48,
	HEAD_DATA_AT = 40,
	HEAD_HOP = 36,
	HEAD_PATH_LEN = 32,
	HEAD_DATA_LEN = 16,
	HEADER_TRACKED = 54, /* of DTA/1 */
};

static inline unsigned head_lane(uint64_t head)
{
	return (unsigned)(head >> HEAD_LANE);
}

static inline bool head_immediate(uint64_t head)
{
	return head >> HEAD_IMMEDIATE & 1;
}

static inline unsigned head_copies(uint64_t head)
{
	return head >> HEAD_COPIES & 15;
}

static inline unsigned head_data_at(uint64_t head)
{
	return head >> HEAD_DATA_AT & 0xff;
}

static inline unsigned head_hop(uint64_t head)
{
	return head >> HEAD_HOP & 15;
}

static inline unsigned head_path_len(uint64_t head)
{
	return head >> HEAD_PATH_LEN & 15;
}

static inline uint16_t head_data_len(uint64_t head)
{
	return (uint16_t)(head >> HEAD_DATA_LEN);
}

static inline uint16_t head_sequence(uint64_t head)
{
	return (uint16_t)head;
}

#endif
