/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the parser of filters and their evaluation share. */
#ifndef FILTER_PRIVATE_H
#define FILTER_PRIVATE_H

#include "filter/filter.h"

/* Where a field's number is. */
enum known_of {
	OF_HOP,
	OF_FLAG,
	OF_HOPS,
	OF_LEN,
	OF_LATENCY,
	OF_HW_ID,
	OF_REPORTER,
	OF_DOMAIN,
};

struct known {
	struct expr_field field;
	uint8_t of, what; /* enum known_of; enum int_field or int_flag */
};

const struct known *known_at(unsigned i);
const struct known *known_find(const char *name); /* NULL: none */

enum kind {
	EXPR_NOT, /* a */
	EXPR_AND, /* a, b */
	EXPR_OR,
	EXPR_NODE,    /* of a hop: value */
	EXPR_NET,     /* side, ip, bits, version */
	EXPR_PORT,    /* side, value */
	EXPR_PROTO,   /* value */
	EXPR_VERSION, /* value: 4, 6 */
	EXPR_FIELD,   /* known, op, value */
};

enum side {
	SIDE_ANY,
	SIDE_SRC,
	SIDE_DST,
};

enum op {
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
};

struct expr {
	uint8_t kind, side, op, version, bits;
	uint8_t ip[16];
	const struct known *known;
	uint64_t value;
	struct expr *a, *b;
};

#endif
