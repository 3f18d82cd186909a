/* SPDX-License-Identifier: BSD-2-Clause */
/* hold.c - a hash table of places; each has room for a frame. */
#include "reporters/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hash/crc.h"

enum {
	/* Numbers that follow each other are spread evenly. An owner who gives
	 * others gets no more than so many into one chain. */
	CHAIN_MAX = 16,
	NOWHERE = -1,
	RING_END = HOLD_OWNERS,
};

struct place {
	int32_t next;		/* of the chain, or of the free ones */
	int32_t before, behind; /* of the owner's, in no order */
	uint16_t owner, number;
	uint32_t len, wire_len;
};

/* Those of whom something is held make a ring, by the time of their last put:
 * its end, which is no owner, is behind the latest and before the earliest. */
struct owner {
	uint32_t earlier, later;
	int32_t first; /* place, if any is taken */
	uint32_t count;
	uint64_t put; /* when: the count of puts */
};

struct frame {
	uint8_t headroom[CRC_HEADROOM];
	uint8_t data[HOLD_FRAME_MAX];
};

struct hold {
	unsigned packets, used; /* the first places were taken once at least */
	int32_t free;
	unsigned shift; /* of a hash, which leaves its chain */
	uint64_t puts;
	struct owner owner[HOLD_OWNERS + 1];
	struct place *place;
	int32_t *chain;
	struct frame *frame;
};

/* A chain for each packet at least. */
static int chains_open(struct hold *h)
{
	unsigned bits = 4;

	while (1u << bits < h->packets)
		bits++;
	h->shift = 32 - bits;
	h->chain = malloc(sizeof(*h->chain) << bits);
	if (!h->chain)
		return -ENOMEM;
	memset(h->chain, 0xff, sizeof(*h->chain) << bits);
	return 0;
}

int hold_open(struct hold **out, unsigned packets, struct fault *f)
{
	struct hold *h;
	void *mem;

	if (!packets || packets > HOLD_MAX)
		return fault_set(f, -EINVAL, "%u packets to hold: 1 to %d",
				 packets, HOLD_MAX);
	h = calloc(1, sizeof(*h));
	if (!h)
		return fault_set(f, -ENOMEM, "out of memory");
	h->packets = packets;
	h->free = NOWHERE;
	h->owner[RING_END].earlier = h->owner[RING_END].later = RING_END;
	h->place = calloc(packets, sizeof(*h->place));
	mem = mmap(NULL, packets * sizeof(*h->frame), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	h->frame = mem == MAP_FAILED ? NULL : mem;
	if (!h->place || !h->frame || chains_open(h) < 0) {
		hold_close(h);
		return fault_set(f, -ENOMEM, "no memory to hold packets");
	}
	*out = h;
	return 0;
}

void hold_close(struct hold *h)
{
	if (!h)
		return;
	if (h->frame)
		munmap(h->frame, h->packets * sizeof(*h->frame));
	free(h->chain);
	free(h->place);
	free(h);
}

unsigned hold_count(const struct hold *h, uint16_t owner)
{
	return h->owner[owner].count;
}

static int32_t *chain_of(const struct hold *h, uint16_t owner, uint16_t number)
{
	uint32_t key = (uint32_t)owner << 16 | number;

	return &h->chain[key * UINT32_C(0x9e3779b1) >> h->shift];
}

/* The link to a packet's place, or to where its chain ends. */
static int32_t *link_to(const struct hold *h, uint16_t owner, uint16_t number,
			unsigned *passed)
{
	int32_t *at = chain_of(h, owner, number);

	for (*passed = 0; *at != NOWHERE; ++*passed) {
		struct place *p = &h->place[*at];

		if (p->owner == owner && p->number == number)
			break;
		at = &p->next;
	}
	return at;
}

static int32_t find(const struct hold *h, uint16_t owner, uint16_t number)
{
	unsigned passed;

	return h->owner[owner].count ? *link_to(h, owner, number, &passed)
				     : NOWHERE;
}

bool hold_has(const struct hold *h, uint16_t owner, uint16_t number)
{
	return find(h, owner, number) != NOWHERE;
}

unsigned hold_missing(const struct hold *h, uint16_t owner, uint16_t number,
		      unsigned max)
{
	unsigned n = 0;

	if (!hold_count(h, owner))
		return max;
	while (n < max && !hold_has(h, owner, (uint16_t)(number + n)))
		n++;
	return n;
}

static void leave_ring(struct hold *h, const struct owner *o)
{
	h->owner[o->earlier].later = o->later;
	h->owner[o->later].earlier = o->earlier;
}

/* As the latest. */
static void join_ring(struct hold *h, uint16_t owner)
{
	struct owner *o = &h->owner[owner], *end = &h->owner[RING_END];

	o->earlier = end->earlier;
	o->later = RING_END;
	h->owner[end->earlier].later = owner;
	end->earlier = owner;
}

bool hold_silent(const struct hold *h, uint16_t *owner)
{
	uint32_t earliest = h->owner[RING_END].later;
	unsigned many = h->packets > HOLD_SILENT ? h->packets : HOLD_SILENT;

	if (h->free != NOWHERE || h->used < h->packets)
		return false;
	*owner = (uint16_t)earliest;
	return h->puts - h->owner[earliest].put > many;
}

static int32_t take_place(struct hold *h)
{
	int32_t i = h->free;

	if (i != NOWHERE)
		h->free = h->place[i].next;
	else if (h->used < h->packets)
		i = (int32_t)h->used++;
	return i;
}

/* A place that was taken, at the end of its chain. */
static void fill_in(struct hold *h, uint16_t owner, uint16_t number, int32_t i)
{
	struct owner *o = &h->owner[owner];

	h->place[i] = (struct place){
		.next = NOWHERE,
		.before = NOWHERE,
		.behind = o->count ? o->first : NOWHERE,
		.owner = owner,
		.number = number,
	};
	if (o->count++)
		h->place[o->first].before = i;
	o->first = i;
}

bool hold_put(struct hold *h, uint16_t owner, uint16_t number,
	      const struct pkt *p)
{
	struct owner *o = &h->owner[owner];
	unsigned passed;
	int32_t *at = link_to(h, owner, number, &passed), i = *at;

	o->put = ++h->puts;
	if (o->count) {
		leave_ring(h, o);
		join_ring(h, owner);
	}
	if (p->len > HOLD_FRAME_MAX)
		return false;
	if (i == NOWHERE) {
		if (passed >= CHAIN_MAX || (i = take_place(h)) == NOWHERE)
			return false;
		if (!o->count)
			join_ring(h, owner);
		fill_in(h, owner, number, i);
		*at = i;
	}
	h->place[i].len = p->len;
	h->place[i].wire_len = p->wire_len;
	memcpy(h->frame[i].data, p->data, p->len);
	return true;
}

unsigned hold_row(const struct hold *h, uint16_t owner, uint16_t number,
		  struct pkt *pkts, unsigned max, uint64_t ts_ns)
{
	unsigned n = 0;
	int32_t i;

	while (n < max &&
	       (i = find(h, owner, (uint16_t)(number + n))) != NOWHERE)
		pkts[n++] = (struct pkt){
			.data = h->frame[i].data,
			.len = h->place[i].len,
			.wire_len = h->place[i].wire_len,
			.ts_ns = ts_ns,
		};
	return n;
}

/* A place is the owner's no more. */
static void take_away(struct hold *h, struct owner *o, const struct place *p)
{
	if (p->before == NOWHERE)
		o->first = p->behind;
	else
		h->place[p->before].behind = p->behind;
	if (p->behind != NOWHERE)
		h->place[p->behind].before = p->before;
	if (!--o->count)
		leave_ring(h, o);
}

static void release(struct hold *h, uint16_t owner, uint16_t number)
{
	unsigned passed;
	int32_t *at = link_to(h, owner, number, &passed), i = *at;

	*at = h->place[i].next;
	take_away(h, &h->owner[owner], &h->place[i]);
	h->place[i].next = h->free;
	h->free = i;
}

void hold_release(struct hold *h, uint16_t owner, uint16_t number, unsigned n)
{
	while (n--)
		release(h, owner, number++);
}

unsigned hold_drop(struct hold *h, uint16_t owner)
{
	const struct owner *o = &h->owner[owner];
	unsigned n = o->count;

	while (o->count)
		release(h, owner, h->place[o->first].number);
	return n;
}
