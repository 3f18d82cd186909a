/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reporters.h - the reporters that a translator knows, by their source
 * addresses, and where the numbers of each stand.
 *
 * There is room for REPORTERS; one more takes the place of the one of its set
 * that was silent longest. Pages come as reporters do; there are seldom many.
 */
#ifndef REPORTERS_REPORTERS_H
#define REPORTERS_REPORTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "wire/net.h"

enum {
	REPORTERS = 65536,
	REPORTERS_WAYS = 4, /* of a set */
	EXPECTED_BITS = 14,
};

_Static_assert(REPORTERS / REPORTERS_WAYS == 1 << EXPECTED_BITS,
	       "a set has a word");

struct reporter {
	uint8_t address[16];
	uint64_t heard;	   /* when, of its set; 0: nobody */
	uint16_t last;	   /* last number in order, if a table is strict */
	uint16_t unheeded; /* reports dropped since it was told */
	uint8_t version;   /* of IP */
	bool narrow;	   /* of DTA/0: another one behind that address */
	bool gap;	   /* a gap is open */
	bool strict;	   /* has sent to a strict table */
};

struct reporters {
	uint64_t expected[1 << EXPECTED_BITS];
	struct reporter set[REPORTERS / REPORTERS_WAYS][REPORTERS_WAYS];
	struct numbers numbers[REPORTERS];
};

int reporters_open(struct reporters **out, struct fault *f);
void reporters_close(struct reporters *rs); /* NULL is fine */

/* The place of the one who sent a datagram; if it is not its own (heard), it
 * may have it: reporter_init(). */
struct reporter *reporters_find(struct reporters *rs, const struct net_udp *u,
				bool narrow, bool *own);
void reporter_init(struct reporters *rs, struct reporter *who,
		   const struct net_udp *u, bool narrow);

/* How far a number is ahead of its last one in order. Of DTA/0 they wrap at 8
 * bits. */
static inline int reporter_ahead(const struct reporter *who, uint16_t number)
{
	return who->narrow ? (int8_t)(number - who->last)
			   : (int16_t)(number - who->last);
}

/* It is the one of its set that was heard last. */
void reporter_heard(struct reporters *rs, struct reporter *who);

static inline struct numbers *reporter_numbers(struct reporters *rs,
					       const struct reporter *who)
{
	return &rs->numbers[who - rs->set[0]];
}

/*
 * The source address, as it is in the packet, << 32 and the number that follows
 * the last one of an IPv4 reporter: where that comes, no more than this word
 * need be looked at, and it is set to the next. What follows 65535 is 65536,
 * which does not come, so that nobody loses count of them.
 */
static inline unsigned expected_index(uint32_t src)
{
	return src * UINT32_C(0x9e3779b1) >> (32 - EXPECTED_BITS);
}

static inline uint64_t *expected_at(uint64_t *expected, uint32_t src)
{
	return &expected[expected_index(src)];
}

static inline uint64_t expected_word(uint32_t number, uint32_t src)
{
	return (uint64_t)src << 32 | number;
}

/*
 * A source's set, which has its word, too: what belongs to one set hangs on
 * nothing of another. So each may be another thread's.
 */
unsigned reporters_set(const uint8_t *src, uint8_t version);

/* What came by such a word since is made known, whoever it was from. Returns
 * the reporter's, NULL: it has none. */
uint64_t *expected_catch_up(struct reporters *rs, struct reporter *who);
/* From now on the word tells its next number. */
void expected_set(struct reporters *rs, const struct reporter *who,
		  uint64_t *expected);

#endif
