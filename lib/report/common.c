/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/common.h"

_Static_assert(sizeof(struct common) == 64, "a line");

void common_init(struct common *c, const struct table *t, unsigned lane,
		 uint16_t data_len, bool strict)
{
	uint16_t len = (uint16_t)(DTA_HEADER_LEN + t->key_len + data_len);
	uint64_t version = DTA_VERSION_1 << 4 | t->kind;
	bool lists = t->kind == TABLE_APPEND;

	shape_init(&c->shape, DTA_PORT, len);
	c->header = version << 56 | (uint64_t)t->key_len << 40;
	c->mask = UINT64_C(0xff00ff) << 40 | (uint64_t)strict << HEADER_TRACKED;
	c->head = (uint64_t)lane << HEAD_LANE |
		  (uint64_t)(t->immediate != 0) << HEAD_IMMEDIATE |
		  (uint64_t)data_len << HEAD_DATA_LEN;
	c->limit = lists ? t->lists : t->hops;
	c->frame_len = (uint16_t)(SHAPE_AT_PAYLOAD + len);
	c->copies = t->copies;
	c->judged = lists || t->kind == TABLE_POSTCARD ? t->kind : 0;
}

void common_none(struct common *c)
{
	*c = (struct common){.header = UINT64_MAX}; /* the mask has no bits */
}
