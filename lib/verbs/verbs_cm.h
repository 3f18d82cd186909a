/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_cm.h - private to this room: what collector and host say to each other
 * in the private data of librdmacm's connections. Big-endian.
 *
 * The host connects:     "DTA1", kind (2), table id (2), epoch (8)
 *   kind 0, a ticket:    accepted with "DTA1", kind (2), 0 (2), R_Key (4),
 *                        0 (4), address (8), length (8) of the ticket's text;
 *                        the host READs it, then disconnects. Table, epoch: 0.
 *   kind 1, a table:     accepted with "DTA1", kind (2), table id (2),
 *                        R_Key (4), 0 (4), address (8), epoch (8)
 *   kind 2, to read:     as kind 0, of the region's file, as dta-region(5) has
 *                        it.
 * The collector rejects: -errno (4): -ESTALE, an older epoch's ticket; -ENOENT,
 *                        no such table; -EACCES, not to be read; -EPROTO,
 *                        none of the above; -EUSERS, too many connections.
 *
 * librdmacm pads private data with zeros: more may arrive than was sent.
 */
#ifndef VERBS_VERBS_CM_H
#define VERBS_VERBS_CM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cur.h"
#include "base/put.h"

enum {
	VERBS_CM_MAGIC = 0x44544131, /* "DTA1" */
	VERBS_CM_TICKET = 0,
	VERBS_CM_TABLE = 1,
	VERBS_CM_READ = 2,
	VERBS_CM_ASK_LEN = 16,
	VERBS_CM_PLACE_LEN = 32,
	VERBS_CM_REFUSAL_LEN = 4,
};

struct verbs_cm_ask {
	uint16_t kind, table;
	uint64_t epoch;
};

struct verbs_cm_place {
	uint16_t kind, table;
	uint32_t rkey;
	uint64_t address;
	union {
		uint64_t epoch;	 /* VERBS_CM_TABLE */
		uint64_t length; /* the others */
	};
};

static inline void verbs_cm_ask_encode(uint8_t out[VERBS_CM_ASK_LEN],
				       const struct verbs_cm_ask *a)
{
	struct put w = put_to(out, VERBS_CM_ASK_LEN);

	put_be32(&w, VERBS_CM_MAGIC);
	put_be16(&w, a->kind);
	put_be16(&w, a->table);
	put_be64(&w, a->epoch);
}

/* Returns 0 or -EPROTO. */
static inline int verbs_cm_ask_decode(struct verbs_cm_ask *a, const void *data,
				      size_t len)
{
	struct cur c = cur_of(data, len);
	uint32_t magic = cur_be32(&c);

	a->kind = cur_be16(&c);
	a->table = cur_be16(&c);
	a->epoch = cur_be64(&c);
	return cur_ok(&c) && magic == VERBS_CM_MAGIC && a->kind <= VERBS_CM_READ
		       ? 0
		       : -EPROTO;
}

static inline void verbs_cm_place_encode(uint8_t out[VERBS_CM_PLACE_LEN],
					 const struct verbs_cm_place *p)
{
	struct put w = put_to(out, VERBS_CM_PLACE_LEN);

	put_be32(&w, VERBS_CM_MAGIC);
	put_be16(&w, p->kind);
	put_be16(&w, p->table);
	put_be32(&w, p->rkey);
	put_be32(&w, 0);
	put_be64(&w, p->address);
	put_be64(&w, p->epoch);
}

/* The answer to an ask of this kind. Returns 0 or -EPROTO. */
static inline int verbs_cm_place_decode(struct verbs_cm_place *p, uint16_t kind,
					const void *data, size_t len)
{
	struct cur c = cur_of(data, len);
	uint32_t magic = cur_be32(&c);

	p->kind = cur_be16(&c);
	p->table = cur_be16(&c);
	p->rkey = cur_be32(&c);
	cur_be32(&c);
	p->address = cur_be64(&c);
	p->epoch = cur_be64(&c);
	return cur_ok(&c) && magic == VERBS_CM_MAGIC && p->kind == kind
		       ? 0
		       : -EPROTO;
}

static inline void verbs_cm_refusal_encode(uint8_t out[VERBS_CM_REFUSAL_LEN],
					   int why)
{
	struct put w = put_to(out, VERBS_CM_REFUSAL_LEN);

	put_be32(&w, (uint32_t)why);
}

/* Why: 0 if the collector did not say, -EPROTO if it can be none. */
static inline int verbs_cm_refusal_decode(const void *data, size_t len)
{
	struct cur c = cur_of(data, len);
	uint32_t v = cur_be32(&c);

	if (v && v < UINT32_MAX - 4094)
		return -EPROTO;
	return (int)v;
}

#endif
