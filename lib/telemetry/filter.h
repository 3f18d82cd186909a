/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.h - expressions that say which packets' telemetry is wanted:
 *
 *	node 7 and hop.latency > 50us and src net 10.0.0.0/8
 *
 *	EXPR	TEST; not EXPR; EXPR and EXPR; EXPR or EXPR; (EXPR). not binds
 *		closest, then and. Also !, &&, ||.
 *	TEST	node ID
 *		[src|dst] host ADDRESS; [src|dst] net ADDRESS[/BITS]
 *		[src|dst] port NUMBER; proto NUMBER; tcp, udp, icmp, ip, ip6
 *		a flow as rows have it: 10.0.0.1:443>10.0.0.2:5501/tcp
 *		FIELD OP VALUE: OP is = (or ==), !=, <, <=, >, >=; values are
 *		numbers, latencies also times: 50us; rates and sizes 10K
 *		a flag by its name: dropped, congested...
 *
 * Tests of hops (node, hop.*) that `and' or `or' joins are about the same hop:
 * the expression is true of a packet if it is true with one of its hops. After
 * `not', it must be true with none of them. A test of a field
 * that a node does not report is false.
 *
 * Threads: an open filter may be used by several.
 */
#ifndef TELEMETRY_FILTER_H
#define TELEMETRY_FILTER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/ledger.h"
#include "int/int.h"

struct expr;

/* 0; -EINVAL: "at 'WORD': reason" in err; -ENOMEM. */
int expr_parse(struct expr **out, const char *text, struct error *err);
void expr_free(struct expr *e); /* NULL is fine */

bool expr_match(const struct expr *e, const struct int_record *v);

/* Counted by the caller of expr_match(): views = matched + others. */
struct filter_ledger {
	uint64_t views; /* records */
	uint64_t matched;
	uint64_t others;
};

extern const struct ledger filter_ledger;

/* Field or flag number i of those that expressions can test; NULL: no more. */
struct expr_field {
	const char *name, *unit, *help; /* unit: NULL, "ns", "bytes" */
	bool flag;
};

const struct expr_field *expr_field_at(unsigned i);

#endif
