/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer_heap.h"
#include "base/rng.h"
#include "net/be.h"
#include "net/net.h"

enum {
	SLOTS = 4096,
	SIZE_MAX_PACKETS = 4096,
	LOSS = 100,
	PAUSE = 400,
	HOSTS_MIN = 16,
	HOSTS_MAX = 1 << 20,
	RTT_MS = 4,
	MS = 1000000,
};

static const uint16_t services[] = {443, 80, 53,  22,	443, 8080, 25,	443,
				    80,	 53, 123, 3306, 443, 5432, 993, 443};

/* Hosts are 10.128.0.0/9 and fd00::/96; low numbers are more popular. */
static uint32_t draw_host(struct rng *r, uint64_t hosts)
{
	uint64_t u = rng_u64(r) >> 32;

	return (uint32_t)((((u * u) >> 32) * hosts) >> 32);
}

static uint8_t *put_host(uint8_t *p, bool v6, uint32_t host)
{
	if (v6) {
		memset(p, 0, 12);
		p[0] = 0xfd;
		p += 12;
	}
	be32_store(p, (v6 ? 0 : 0x0a800000) + 1 + host);
	return p + 4;
}

struct synth_stream synth_stream(uint64_t seed)
{
	uint64_t extra = rng_mix(rng_mix(seed ^ SYNTH_SEED_DEFAULT));

	return (struct synth_stream){
		.base = rng_mix(seed) ^ extra,
		.extra = extra,
	};
}

void synth_flows_init(struct synth_flows *s, const struct traffic_model *m)
{
	uint64_t hosts = m->flows / 4;

	*s = (struct synth_flows){
		.base = synth_stream(m->seed).base,
		.hosts = hosts < HOSTS_MIN   ? HOSTS_MIN
			 : hosts > HOSTS_MAX ? HOSTS_MAX
					     : hosts,
		.ipv6_percent = m->ipv6_percent,
		.ends = m->ends,
	};
	if (m->ends.version)
		s->ipv6_percent = m->ends.version == 6 ? 100 : 0;
}

void synth_flow(const struct synth_flows *s, struct traffic_packet *p,
		uint64_t i)
{
	struct rng r = {s->base ^ rng_mix(i + 1)};
	uint64_t bits = rng_u64(&r);
	uint32_t src, dst;
	uint8_t *k = p->key;

	src = draw_host(&r, s->hosts);
	dst = draw_host(&r, s->hosts - 1);
	dst += dst >= src; /* not the sender */
	p->v6 = (bits & 0xff) * 100 < s->ipv6_percent << 8;
	p->dst_port = services[bits >> 8 & 15];
	p->src_port = (uint16_t)(1024 + (bits >> 16 & 0xffff) % 64512);
	p->protocol = p->dst_port == 53 || p->dst_port == 123 ? NET_PROTO_UDP
							      : NET_PROTO_TCP;
	p->fragment = false;
	p->tcp_flags = NET_TCP_SYN;
	p->ttl = 64;
	p->ip_id = (uint16_t)(bits >> 32);
	p->ip_len = 60;
	p->seq = (uint32_t)(bits >> 32);
	p->payload = 0;
	if (s->ends.version) {
		k = mempcpy(k, s->ends.src, p->v6 ? 16 : 4);
		k = mempcpy(k, s->ends.dst, p->v6 ? 16 : 4);
	} else {
		k = put_host(k, p->v6, src);
		k = put_host(k, p->v6, dst);
	}
	be16_store(k, p->src_port);
	be16_store(k + 2, p->dst_port);
	k[4] = p->protocol;
	p->key_len = (uint8_t)(k + 5 - p->key);
	p->id = bits;
}

enum pending {
	PENDING_NOTHING,
	PENDING_FAST,	 /* a lost segment goes out again after more_packets */
	PENDING_TIMEOUT, /* ... when the flow wakes up */
};

struct slot {
	struct traffic_packet p; /* the flow's last packet */
	struct traffic_packet lost;
	uint64_t wake_ns; /* silent until then */
	uint32_t left;	  /* packets to send */
	uint8_t pending, more_packets;
	bool opened;
};

/* Active flows are awake, in any order, or asleep, in a heap by wake_ns. */
struct synth {
	struct traffic_model m;
	struct synth_flows flows;
	struct rng rng;
	uint64_t now_ns, step_ns;
	uint64_t next_flow, round;
	uint32_t awake, asleep;
	struct slot *awake_slot[SLOTS];
	struct timer_entry heap[SLOTS];
	struct slot slot[SLOTS];
};

/* The next flow of this round, if there is one. */
static bool start_flow(struct synth *s, struct slot *l)
{
	struct rng r;
	double size;

	if (s->next_flow == s->m.flows)
		return false;
	memset(l, 0, sizeof(*l));
	synth_flow(&s->flows, &l->p, s->next_flow++);
	/* The same flow again is a new connection. */
	l->p.seq += (uint32_t)rng_mix(s->round);
	r.state = l->p.id;
	size = 2 / (rng_unit(&r) + 2.0 / SIZE_MAX_PACKETS);
	l->left = (uint32_t)size + 1;
	return true;
}

static void start_round(struct synth *s)
{
	s->next_flow = 0;
	for (; s->awake < SLOTS; s->awake++) {
		struct slot *l = &s->slot[s->awake];

		if (!start_flow(s, l))
			break;
		s->awake_slot[s->awake] = l;
	}
}

int synth_open(struct synth **out, const struct traffic_model *m)
{
	struct synth *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->m = *m;
	synth_flows_init(&s->flows, m);
	s->rng.state = rng_mix(m->seed ^ 0x53594e5448);
	s->now_ns = m->start_ns;
	s->step_ns = 1000000000 / m->rate;
	start_round(s);
	*out = s;
	return 0;
}

void synth_restart(struct synth *s)
{
	s->round++;
	start_round(s);
}

void synth_close(struct synth *s)
{
	free(s);
}

/* Wakes the flows whose pause is over. If all are asleep, time goes on to the
 * first. */
static void wake_flows(struct synth *s)
{
	if (!s->awake && s->asleep && s->heap[0].ns > s->now_ns)
		s->now_ns = s->heap[0].ns;
	while (s->asleep && s->heap[0].ns <= s->now_ns) {
		s->awake_slot[s->awake++] = &s->slot[s->heap[0].who];
		s->asleep--;
		timer_heap_down(s->heap, s->asleep, 0, s->heap[s->asleep]);
	}
}

/* The next new packet of a flow: l->p goes on from the last one. */
static void advance_flow(struct synth *s, struct slot *l)
{
	struct traffic_packet *p = &l->p;
	uint64_t bits = rng_u64(&s->rng);
	bool tcp = p->protocol == NET_PROTO_TCP;
	uint32_t room = tcp ? 1448 : 1400,
		 header = (p->v6 ? 40 : 20) + (tcp ? 32 : 8);
	uint32_t size = bits & 1 ? room : 1 + (bits >> 1 & 0xffff) % room;

	p->ip_id++;
	if (!tcp) {
		p->ip_len = header + size;
	} else if (!l->opened) {
		p->ip_len = header + 8;
		p->tcp_flags = NET_TCP_SYN;
		p->payload = 0;
	} else {
		p->seq += p->payload + !!(p->tcp_flags & NET_TCP_SYN);
		p->payload = size;
		p->ip_len = header + size;
		p->tcp_flags = NET_TCP_ACK | (l->left == 1 ? NET_TCP_FIN : 0);
	}
	l->opened = true;
	l->left--;
}

/* Decides what becomes of the packet just sent. */
static void draw_fate(struct synth *s, struct slot *l)
{
	uint64_t bits = rng_u64(&s->rng);

	if (l->p.protocol == NET_PROTO_TCP && !l->pending &&
	    (bits & 0xffff) < 65536 / LOSS) {
		l->lost = l->p;
		if (bits >> 16 & 3) {
			l->pending = PENDING_FAST;
			l->more_packets = 3; /* duplicate ACKs */
		} else {
			l->pending = PENDING_TIMEOUT;
			l->wake_ns = s->now_ns + (bits >> 18 & 0xff) * MS +
				     TCP_RTO_NS;
		}
	} else if ((bits >> 32 & 0xffff) < 65536 / PAUSE) {
		l->wake_ns = s->now_ns + 2 * SYNTH_GAP_NS +
			     (bits >> 48 & 0xff) * MS;
	}
}

/* The lost segment again, if its time has come. */
static bool retransmit(struct synth *s, struct slot *l)
{
	if (l->pending == PENDING_NOTHING)
		return false;
	if (l->pending == PENDING_FAST && l->more_packets && l->left) {
		if (!--l->more_packets)
			l->wake_ns = s->now_ns + RTT_MS * MS;
		return false;
	}
	l->pending = PENDING_NOTHING;
	l->lost.ip_id = ++l->p.ip_id;
	return true;
}

bool synth_next(struct synth *s, struct traffic_packet *p)
{
	struct slot *l;
	uint64_t i;

	if (!s->awake && !s->asleep)
		return false;
	s->now_ns += 1 + rng_below(&s->rng, 2 * s->step_ns);
	wake_flows(s);
	i = rng_below(&s->rng, s->awake);
	l = s->awake_slot[i];
	if (retransmit(s, l)) {
		*p = l->lost;
	} else {
		advance_flow(s, l);
		*p = l->p;
		draw_fate(s, l);
	}
	p->ts_ns = s->now_ns;
	p->id = rng_mix(l->p.id ^ ((uint64_t)p->ip_id << 32 | p->seq));
	if (!l->left && !l->pending) {
		if (!start_flow(s, l))
			s->awake_slot[i] = s->awake_slot[--s->awake];
	} else if (l->wake_ns > s->now_ns) {
		s->awake_slot[i] = s->awake_slot[--s->awake];
		timer_heap_up(
			s->heap, s->asleep++,
			(struct timer_entry){.ns = l->wake_ns,
					     .who = (uint32_t)(l - s->slot)});
	}
	return true;
}
