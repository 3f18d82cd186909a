/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/block.h"

#include <errno.h>
#include <string.h>

#include "row/outbuf.h"

enum {
	NUMBERS = 3, /* before an item's key */
};

void block_refuse(struct block *b, struct tally *t, const char *why)
{
	if (!t->refused)
		fault_set(&t->why, 0, "%s", why);
	t->refused += b->rows;
	b->rows = 0;
	b->at = b->len;
}

void item_put(struct outbuf *o, const struct item *i)
{
	uint32_t n[NUMBERS] = {i->key_len, i->len, i->parts};

	outbuf_bytes(o, (const char *)n, sizeof(n));
	outbuf_bytes(o, i->key, i->key_len);
	outbuf_bytes(o, i->payload, i->len);
}

int item_next(struct item *out, const struct block *b, size_t *at)
{
	uint32_t n[NUMBERS];
	size_t left = b->len - *at;

	if (!left)
		return 0;
	if (left < sizeof(n))
		return -EBADMSG;
	memcpy(n, b->bytes + *at, sizeof(n));
	left -= sizeof(n);
	if (n[0] > left || n[1] > left - n[0])
		return -EBADMSG;
	out->key = b->bytes + *at + sizeof(n);
	out->payload = out->key + n[0];
	out->key_len = n[0];
	out->len = n[1];
	out->parts = n[2];
	*at += sizeof(n) + n[0] + n[1];
	return 1;
}

void items_keep(struct block *b, const bool *keep, uint32_t n)
{
	size_t at = b->at, from = at, to = at;
	struct item item;

	b->rows = 0;
	for (uint32_t i = 0; i < n && item_next(&item, b, &at) > 0; i++) {
		if (keep[i]) {
			memmove(b->bytes + to, b->bytes + from, at - from);
			to += at - from;
			b->rows++;
		}
		from = at;
	}
	b->len = to;
}
