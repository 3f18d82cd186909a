/* SPDX-License-Identifier: BSD-2-Clause */
/* ask_one.h - one key asked of a table, as query_keys() asks many. */
#ifndef ASK_ONE_H
#define ASK_ONE_H

#include <string.h>

#include "hash/crc.h"
#include "query/query.h"
#include "net/key.h"

static inline struct query_reply ask_one(const struct table_view *v,
					 const struct query_rule *rule,
					 const uint8_t *key)
{
	struct {
		uint8_t headroom[CRC_HEADROOM], key[KEY_MAX];
	} room = {{0}, {0}};
	const uint8_t *keys[] = {room.key};
	struct query_reply r = {.agreed = 0};
	struct query_reply *replies[] = {&r};

	memcpy(room.key, key, v->t->key_len);
	query_keys(v, rule, keys, 1, replies);
	return r;
}

#endif
