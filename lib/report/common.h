/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * common.h - the common report of a table: DTA/1 in a frame of one shape, with
 * one value.
 */
#ifndef REPORT_COMMON_H
#define REPORT_COMMON_H

#include "packet/pkt.h"
#include "report/head.h"
#include "report/shape.h"
#include "store/table.h"
#include "wire/be.h"
#include "wire/dta.h"

enum {
	COMMON_AT_TABLE = SHAPE_AT_PAYLOAD + 4,
	COMMON_AT_KEY = SHAPE_AT_PAYLOAD + DTA_HEADER_LEN,
};

_Static_assert((int)COMMON_AT_KEY >= (int)SHAPE_READ, "a report has them");

/* What it is like, and its head; a line of memory. */
struct common {
	struct shape shape;
	uint64_t header, mask; /* version, opcode, key length; which bits */
	uint64_t head;	       /* lane, the table's immediate, data length */
	uint32_t limit;	       /* lists, hops */
	uint16_t frame_len;    /* to the end of the value */
	uint8_t copies;	       /* the default N */
	uint8_t judged;	       /* by more than that: the kind; 0: it is not */
} __attribute__((aligned(64)));

/* Of a table with values of data_len bytes. Tracked reports are common if
 * nothing hangs on their numbers: not strict. */
void common_init(struct common *c, const struct table *t, unsigned lane,
		 uint16_t data_len, bool strict);
void common_none(struct common *c); /* no report is */

/* What a table still has to say about a report of the right lengths. */
static inline __attribute__((always_inline)) bool
common_judge(const struct common *c, const uint8_t *key, uint64_t head)
{
	unsigned hop = head_hop(head), path_len = head_path_len(head);

	if (c->judged == TABLE_APPEND)
		return be32_load(key) < c->limit;
	return hop < c->limit && path_len <= c->limit &&
	       (!path_len || hop < path_len) &&
	       be32_load(key + head_data_at(head)) != TABLE_BLANK;
}

/*
 * The head of a packet that is such a report of one of the tables, and good;
 * else 0. by_id: which table, by its id as it is in the packet.
 */
static inline __attribute__((always_inline)) uint64_t
common_head(const struct common *tables, const uint8_t *by_id,
	    const struct pkt *p, shape_fn *is)
{
	const uint64_t kept = 0x008fffff0000ffff; /* of DTA/1's header */
	const uint8_t *f = p->data;
	const struct common *c;
	uint64_t header, head;
	uint16_t table;
	unsigned copies;

	if (p->len < COMMON_AT_KEY)
		return 0;
	memcpy(&table, f + COMMON_AT_TABLE, sizeof(table));
	c = &tables[by_id[table]];
	header = be64_load(f + SHAPE_AT_PAYLOAD);
	if ((header & c->mask) != c->header || !is(&c->shape, f) ||
	    p->len < c->frame_len || !shape_sum_right(f))
		return 0;
	head = (header & kept) | c->head;
	copies = head_copies(head);
	if (copies - 1 >= DTA_MAX_COPIES) {
		if (copies)
			return 0;
		head |= (uint64_t)c->copies << HEAD_COPIES;
	}
	if (c->judged && !common_judge(c, f + COMMON_AT_KEY, head))
		return 0;
	return head;
}

#endif
