/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sonata.c - Sonata: the answers of network-wide queries, one per query and
 * window of time. Key: query id (4). Value: the host that leads (16, IPv4 as
 * ::ffff:a.b.c.d) and its count in the window (4).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload/private.h"
#include "hash/bytes.h"
#include "wire/be.h"

enum query {
	NEW_TCP = 1, /* destination: new TCP connections */
	SPREADER,    /* source: distinct destinations */
	PORT_SCAN,   /* source: distinct destination ports */
	DDOS,	     /* destination: distinct sources */
	VOLUME,	     /* destination: bytes */
	QUERIES,
	CELL_BITS = 20,
	CELLS = 1 << CELL_BITS,
	CELLS_USED_MAX = CELLS / 4 * 3,
};

struct leader {
	uint8_t addr[16];
	uint32_t count;
	unsigned reporter;
};

/* What was counted in this window: open addressing; old windows are empty. */
struct cell {
	uint64_t print; /* fingerprint of (query, host) or (query, host, other)
			 */
	uint32_t window, count;
};

struct sonata {
	uint64_t window_end, last_ns;
	uint32_t window, used;
	struct leader leader[QUERIES];
	struct cell cell[CELLS];
};

int work_sonata_result_start(struct workload_run *g)
{
	struct sonata *s = calloc(1, sizeof(*s));

	g->state = s;
	return s ? 0 : -ENOMEM;
}

/* The cell of a fingerprint, NULL if there is no room for a new one. */
static struct cell *cell_of(struct workload_run *g, struct sonata *s,
			    uint64_t print)
{
	for (uint64_t i = print >> (64 - CELL_BITS);; i = (i + 1) % CELLS) {
		struct cell *c = &s->cell[i];

		if (c->window == s->window && c->print == print)
			return c;
		if (c->window == s->window)
			continue;
		if (s->used == CELLS_USED_MAX) {
			g->ctr->uncounted++;
			return NULL;
		}
		s->used++;
		*c = (struct cell){.print = print, .window = s->window};
		return c;
	}
}

static void count(struct workload_run *g, enum query q,
		  const struct traffic_packet *p, bool of_src, uint32_t add)
{
	const uint8_t *addr = of_src ? traffic_src(p) : traffic_dst(p);
	size_t len = traffic_addr_len(p);
	struct sonata *s = g->state;
	struct leader *l = &s->leader[q];
	struct cell *c = cell_of(g, s, hash_bytes(q, addr, len));

	if (!c)
		return;
	c->count = add > UINT32_MAX - c->count ? UINT32_MAX : c->count + add;
	if (c->count <= l->count)
		return;
	l->count = c->count;
	l->reporter = topo_edge(&g->topology, addr, len);
	memcpy(l->addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	memcpy(l->addr + 16 - len, addr, len);
}

/* Counts only what this window has not seen with the same other end. */
static void count_distinct(struct workload_run *g, enum query q,
			   const struct traffic_packet *p, bool of_src,
			   const uint8_t *other, size_t other_len)
{
	const uint8_t *addr = of_src ? traffic_src(p) : traffic_dst(p);
	uint64_t print = hash_bytes(hash_bytes(q, addr, traffic_addr_len(p)),
				    other, other_len);
	struct cell *c = cell_of(g, g->state, print);

	if (c && !c->count) {
		c->count = 1;
		count(g, q, p, of_src, 1);
	}
}

static void close_window(struct workload_run *g, uint64_t ts_ns)
{
	struct sonata *s = g->state;

	for (unsigned q = NEW_TCP; q < QUERIES; q++) {
		struct leader *l = &s->leader[q];
		uint8_t key[4], value[20];

		if (!l->count)
			continue;
		be32_store(key, q);
		memcpy(value, l->addr, 16);
		be32_store(value + 16, l->count);
		work_keywrite(g, false, key, sizeof(key), value, sizeof(value),
			      l->reporter, ts_ns);
	}
	memset(s->leader, 0, sizeof(s->leader));
	s->window++;
	s->used = 0;
}

void work_sonata_result(struct workload_run *g, const struct traffic_packet *p)
{
	uint8_t dst_port[2];
	struct sonata *s = g->state;

	if (p->ts_ns >= s->window_end) {
		if (s->window)
			close_window(g, s->window_end);
		else
			s->window = 1;
		s->window_end = p->ts_ns - p->ts_ns % g->o.window_ns +
				g->o.window_ns;
	}
	s->last_ns = p->ts_ns;
	if (p->protocol == NET_PROTO_TCP &&
	    (p->tcp_flags & (NET_TCP_SYN | NET_TCP_ACK)) == NET_TCP_SYN)
		count(g, NEW_TCP, p, false, 1);
	be16_store(dst_port, p->dst_port);
	count_distinct(g, SPREADER, p, true, traffic_dst(p),
		       traffic_addr_len(p));
	count_distinct(g, PORT_SCAN, p, true, dst_port, 2);
	count_distinct(g, DDOS, p, false, traffic_src(p), traffic_addr_len(p));
	count(g, VOLUME, p, false, p->ip_len);
}

void work_sonata_result_end(struct workload_run *g)
{
	struct sonata *s = g->state;

	close_window(g, s->last_ns);
}
