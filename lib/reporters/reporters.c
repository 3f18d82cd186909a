/* SPDX-License-Identifier: BSD-2-Clause */
#include "reporters/reporters.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"

/* No reporter's: the high bits are not 0. */
static const uint64_t nobody = UINT64_MAX;

int reporters_open(struct reporters **out, struct fault *f)
{
	void *mem = mmap(NULL, sizeof(struct reporters), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		return fault_set(f, -ENOMEM, "no memory for the reporters");
	*out = mem;
	memset((*out)->expected, 0xff, sizeof((*out)->expected));
	return 0;
}

void reporters_close(struct reporters *rs)
{
	if (rs)
		munmap(rs, sizeof(*rs));
}

unsigned reporters_set(const uint8_t *src, uint8_t version)
{
	uint64_t a, b;
	uint32_t v4;

	if (version != 6) {
		memcpy(&v4, src, 4);
		return expected_index(v4);
	}
	memcpy(&a, src, 8);
	memcpy(&b, src + 8, 8);
	return rng_mix(a ^ rng_mix(b)) >> (64 - EXPECTED_BITS);
}

void reporter_heard(struct reporters *rs, struct reporter *who)
{
	const struct reporter *set =
		rs->set[(who - rs->set[0]) / REPORTERS_WAYS];
	uint64_t last = 0;

	for (unsigned i = 0; i < REPORTERS_WAYS; i++)
		if (last < set[i].heard)
			last = set[i].heard;
	who->heard = last + 1;
}

/* The place of a reporter: its own, or the one that it may have. */
static struct reporter *place_of(struct reporters *rs, const uint8_t *src,
				 uint8_t version, bool narrow, bool *own)
{
	struct reporter *set = rs->set[reporters_set(src, version)];
	struct reporter *oldest = set;
	uint8_t address[16] = {0};

	memcpy(address, src, version == 6 ? 16 : 4);
	for (unsigned i = 0; i < REPORTERS_WAYS; i++) {
		*own = set[i].heard && set[i].version == version &&
		       set[i].narrow == narrow &&
		       !memcmp(set[i].address, address, 16);
		if (*own)
			return &set[i];
		if (set[i].heard < oldest->heard)
			oldest = &set[i];
	}
	return oldest;
}

struct reporter *reporters_find(struct reporters *rs, const struct net_udp *u,
				bool narrow, bool *own)
{
	return place_of(rs, u->src, u->version, narrow, own);
}

void reporter_init(struct reporters *rs, struct reporter *who,
		   const struct net_udp *u, bool narrow)
{
	*who = (struct reporter){.version = u->version, .narrow = narrow};
	memcpy(who->address, u->src, u->version == 6 ? 16 : 4);
	*reporter_numbers(rs, who) = (struct numbers){.narrow = narrow};
}

static uint64_t *expected_of(struct reporters *rs, const struct reporter *who)
{
	uint32_t src;

	if (who->version != 4 || who->narrow)
		return NULL;
	memcpy(&src, who->address, sizeof(src));
	return expected_at(rs->expected, src);
}

uint64_t *expected_catch_up(struct reporters *rs, struct reporter *who)
{
	uint64_t *expected = expected_of(rs, who);
	uint32_t src;
	bool own = false;

	if (!expected || *expected == nobody)
		return expected;
	src = (uint32_t)(*expected >> 32);
	if (memcmp(who->address, &src, sizeof(src)) != 0)
		who = place_of(rs, (const uint8_t *)&src, 4, false, &own);
	else
		own = true;
	if (own)
		numbers_follow(reporter_numbers(rs, who),
			       (uint16_t)(*expected - 1));
	*expected = nobody;
	return expected;
}

void expected_set(struct reporters *rs, const struct reporter *who,
		  uint64_t *expected)
{
	uint32_t src;

	if (!expected)
		return;
	memcpy(&src, who->address, sizeof(src));
	*expected = expected_word(numbers_last(reporter_numbers(rs, who)) + 1U,
				  src);
}
