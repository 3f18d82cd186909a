/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flowtab.c - memory of flows (or of hosts), of limited size: chained hashing
 * over an array of entries that is touched only as it fills, with a list from
 * the most to the least recently used. And what a TCP segment is, judged by
 * its sequence number and its time.
 */
#include <errno.h>
#include <stdlib.h>

#include "gen.h"

enum {
	/*
	 * A segment below the highest sequence number is a reordered one, not
	 * a retransmission, if it comes within this time of the one that
	 * passed it: nothing is retransmitted so fast.
	 */
	REORDER_NS = 3000000,
};

struct flowtab {
	struct flow *flow; /* [1 .. max] */
	uint32_t *bucket;
	uint64_t max, used, mask, seed;
	uint32_t newest, oldest;
	void (*on_evict)(struct gen *g, struct flow *f);
	struct gen *gen;
};

int flowtab_open(struct flowtab **out, uint64_t max, uint64_t seed)
{
	struct flowtab *t = calloc(1, sizeof(*t));
	uint64_t buckets = 1;

	while (buckets < max)
		buckets <<= 1;
	if (!t)
		return -ENOMEM;
	t->flow = calloc(max + 1, sizeof(*t->flow));
	t->bucket = calloc(buckets, sizeof(*t->bucket));
	if (!t->flow || !t->bucket) {
		flowtab_close(t);
		return -ENOMEM;
	}
	t->max = max;
	t->mask = buckets - 1;
	t->seed = seed;
	*out = t;
	return 0;
}

void flowtab_close(struct flowtab *t)
{
	if (!t)
		return;
	free(t->flow);
	free(t->bucket);
	free(t);
}

void flowtab_on_evict(struct flowtab *t,
		      void (*fn)(struct gen *g, struct flow *f), struct gen *g)
{
	t->on_evict = fn;
	t->gen = g;
}

static void unlink_use(struct flowtab *t, struct flow *f)
{
	if (f->newer)
		t->flow[f->newer].older = f->older;
	else
		t->newest = f->older;
	if (f->older)
		t->flow[f->older].newer = f->newer;
	else
		t->oldest = f->newer;
}

static void link_newest(struct flowtab *t, uint32_t i)
{
	struct flow *f = &t->flow[i];

	f->newer = 0;
	f->older = t->newest;
	if (t->newest)
		t->flow[t->newest].newer = i;
	else
		t->oldest = i;
	t->newest = i;
}

static void unlink_chain(struct flowtab *t, uint32_t i)
{
	uint32_t *at = &t->bucket[t->flow[i].hash & t->mask];

	while (*at != i)
		at = &t->flow[*at].chain;
	*at = t->flow[i].chain;
}

/* Frees the entry of the least recently used flow; returns its index. */
static uint32_t evict(struct flowtab *t)
{
	uint32_t i = t->oldest;

	if (t->on_evict)
		t->on_evict(t->gen, &t->flow[i]);
	unlink_use(t, &t->flow[i]);
	unlink_chain(t, i);
	return i;
}

static uint32_t insert(struct flowtab *t, const uint8_t *key, size_t len,
		       uint32_t hash)
{
	struct flow *f;
	uint32_t i;

	if (t->used < t->max) {
		i = (uint32_t)++t->used;
	} else {
		i = evict(t);
		if (t->gen)
			t->gen->ctr.evicted++;
	}
	f = &t->flow[i];
	*f = (struct flow){
		.hash = hash,
		.key_len = (uint8_t)len,
		.chain = t->bucket[hash & t->mask],
	};
	memcpy(f->key, key, len);
	t->bucket[hash & t->mask] = i;
	link_newest(t, i);
	return i;
}

struct flow *flowtab_get(struct flowtab *t, const uint8_t *key, size_t len,
			 bool *fresh)
{
	uint32_t hash = (uint32_t)hash_bytes(t->seed, key, len);
	uint32_t i = t->bucket[hash & t->mask];
	struct flow *f;

	for (; i; i = f->chain) {
		f = &t->flow[i];
		if (f->hash == hash && f->key_len == len &&
		    !memcmp(f->key, key, len))
			break;
	}
	*fresh = !i;
	if (!i)
		return &t->flow[insert(t, key, len, hash)];
	if (t->newest != i) {
		unlink_use(t, &t->flow[i]);
		link_newest(t, i);
	}
	return &t->flow[i];
}

void flowtab_drain(struct flowtab *t)
{
	while (t->oldest)
		evict(t);
	t->used = 0;
}

/* Sequence space a segment takes: data, and one each for SYN and FIN. */
static uint32_t seq_len(const struct gen_packet *p)
{
	return p->payload + !!(p->tcp_flags & NET_TCP_SYN) +
	       !!(p->tcp_flags & NET_TCP_FIN);
}

/* A keep-alive repeats the last byte, or none, on purpose (RFC 9293 3.8.4). */
static bool keep_alive(const struct flow *f, const struct gen_packet *p)
{
	return p->payload <= 1 && p->seq == f->top - 1 &&
	       !(p->tcp_flags & (NET_TCP_SYN | NET_TCP_FIN | NET_TCP_RST));
}

/* Captures are not always in order of time. */
static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

enum tcp_verdict tcp_track(struct flow *f, const struct gen_packet *p,
			   bool fresh, uint64_t rto_ns)
{
	uint32_t len = seq_len(p), end = p->seq + len;
	uint64_t idle = fresh ? 0 : since(p->ts_ns, f->last_ns);
	bool ahead;

	if (!len)
		return TCP_FRESH;
	if (p->tcp_flags & NET_TCP_SYN && (!f->seen_seq || p->seq != f->isn)) {
		/* A new connection, maybe on the ports of an older one. */
		f->seen_seq = false;
		f->isn = p->seq;
	}
	ahead = !f->seen_seq || (int32_t)(end - f->top) > 0;
	if (!f->seen_seq || (int32_t)(p->seq - f->top) >= 0) {
		f->seen_seq = true;
		f->top = end;
		f->top_ns = p->ts_ns;
		return TCP_FRESH;
	}
	if (keep_alive(f, p))
		return TCP_FRESH;
	if (ahead)
		f->top = end;
	if (since(p->ts_ns, f->top_ns) < REORDER_NS && end != f->top)
		return TCP_REORDERED;
	if (ahead)
		f->top_ns = p->ts_ns;
	return idle >= rto_ns ? TCP_TIMED_OUT : TCP_RETRANSMITTED;
}
