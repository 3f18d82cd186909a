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
	SLOTS = 4096,		 /* flows that are active at once */
	FLOW_PACKETS_MAX = 4096, /* about: the 2/u of traffic.h is cut there */
	LOST_ONE_IN = 100,	 /* packets */
	SILENCE_ONE_IN = 400,
	HOSTS_MIN = 16,
	HOSTS_MAX = 1 << 20,
	RTT_NS = 4000000,
	NS_PER_MS = 1000000,
};

/* Destination ports, as often as they stand here. */
static const uint16_t services[] = {443, 80, 53,  22,	443, 8080, 25,	443,
				    80,	 53, 123, 3306, 443, 5432, 993, 443};

/* Hosts are 10.128.0.0/9 and fd00::/96; low numbers are more popular. */
static uint32_t draw_host(struct rng *r, uint64_t hosts)
{
	uint64_t u = rng_u64(r) >> 32;

	return (uint32_t)((((u * u) >> 32) * hosts) >> 32);
}

/* Writes the address of a host; returns what follows it. */
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

	return (struct synth_stream){.base = rng_mix(seed) ^ extra,
				     .extra = extra};
}

void synth_flows_init(struct synth_flows *s, const struct traffic_model *m)
{
	uint64_t hosts = m->flows / 4;

	*s = (struct synth_flows){.base = synth_stream(m->seed).base,
				  .hosts = hosts < HOSTS_MIN   ? HOSTS_MIN
					   : hosts > HOSTS_MAX ? HOSTS_MAX
							       : hosts,
				  .ipv6_percent = m->ipv6_percent,
				  .ends = m->ends};
	if (m->ends.version)
		s->ipv6_percent = m->ends.version == 6 ? 100 : 0;
}

void synth_flow(const struct synth_flows *s, struct traffic_packet *p,
		uint64_t i)
{
	struct rng r = {s->base ^ rng_mix(i + 1)};
	uint64_t bits = rng_u64(&r);
	uint32_t src, dst;
	uint8_t *key = p->key;

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
		key = mempcpy(key, s->ends.src, p->v6 ? 16 : 4);
		key = mempcpy(key, s->ends.dst, p->v6 ? 16 : 4);
	} else {
		key = put_host(key, p->v6, src);
		key = put_host(key, p->v6, dst);
	}
	be16_store(key, p->src_port);
	be16_store(key + 2, p->dst_port);
	key[4] = p->protocol;
	p->key_len = (uint8_t)(key + 5 - p->key);
	p->id = bits;
}

enum repair {
	REPAIR_NONE,
	REPAIR_FAST,	/* fast retransmission, after until_resend packets */
	REPAIR_TIMEOUT, /* retransmission when the flow wakes up */
};

/* An active flow. */
struct slot {
	struct traffic_packet p;    /* the flow's last packet */
	struct traffic_packet lost; /* to be sent again */
	uint64_t wake_ns;	    /* silent until then */
	uint32_t left;		    /* packets to send */
	uint8_t repair;		    /* enum repair, of lost */
	uint8_t until_resend;
	bool opened; /* its first packet was sent */
};

/* Active flows are awake, in any order, or asleep, in a heap by wake_ns. */
struct synth {
	struct traffic_model m;
	struct synth_flows flows;
	struct rng rng;
	uint64_t now_ns, step_ns;
	uint64_t next_flow, round; /* round: how often flows were restarted */
	uint32_t awake, asleep;
	struct slot *awake_slot[SLOTS];
	struct timer_entry heap[SLOTS];
	struct slot slot[SLOTS];
};

/* Puts the next flow of the round into a slot. False: there is none. */
static bool start_flow(struct synth *s, struct slot *slot)
{
	struct rng r;
	double size;

	if (s->next_flow == s->m.flows)
		return false;
	memset(slot, 0, sizeof(*slot));
	synth_flow(&s->flows, &slot->p, s->next_flow++);
	/* The same flow again is a new connection. */
	slot->p.seq += (uint32_t)rng_mix(s->round);
	r.state = slot->p.id;
	size = 2 / (rng_unit(&r) + 2.0 / FLOW_PACKETS_MAX);
	slot->left = (uint32_t)size + 1;
	return true;
}

static void start_round(struct synth *s)
{
	s->next_flow = 0;
	for (; s->awake < SLOTS; s->awake++) {
		s->awake_slot[s->awake] = &s->slot[s->awake];
		if (!start_flow(s, s->awake_slot[s->awake]))
			break;
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

/* Wakes the flows whose silence is over. If all are asleep, time goes on to
 * when the first one wakes. */
static void wake_flows(struct synth *s)
{
	if (!s->awake && s->asleep && s->heap[0].ns > s->now_ns)
		s->now_ns = s->heap[0].ns;
	while (s->asleep && s->heap[0].ns <= s->now_ns) {
		s->awake_slot[s->awake++] = &s->slot[s->heap[0].id];
		s->asleep--;
		timer_heap_down(s->heap, s->asleep, 0, s->heap[s->asleep]);
	}
}

/* Makes slot->p the next new packet of its flow. */
static void advance_flow(struct synth *s, struct slot *slot)
{
	struct traffic_packet *p = &slot->p;
	uint64_t bits = rng_u64(&s->rng);
	bool tcp = p->protocol == NET_PROTO_TCP;
	uint32_t size_max = tcp ? 1448 : 1400,
		 header = (p->v6 ? 40 : 20) + (tcp ? 32 : 8);
	uint32_t size = bits & 1 ? size_max
				 : 1 + (bits >> 1 & 0xffff) % size_max;

	p->ip_id++;
	if (!tcp) {
		p->ip_len = header + size;
	} else if (!slot->opened) {
		p->ip_len = header + 8;
		p->tcp_flags = NET_TCP_SYN;
		p->payload = 0;
	} else {
		p->seq += p->payload + !!(p->tcp_flags & NET_TCP_SYN);
		p->payload = size;
		p->ip_len = header + size;
		p->tcp_flags = NET_TCP_ACK |
			       (slot->left == 1 ? NET_TCP_FIN : 0);
	}
	slot->opened = true;
	slot->left--;
}

/* Draws whether the packet just sent is lost, or silence follows it. */
static void draw_fate(struct synth *s, struct slot *slot)
{
	uint64_t bits = rng_u64(&s->rng);

	if (slot->p.protocol == NET_PROTO_TCP && !slot->repair &&
	    (bits & 0xffff) < 65536 / LOST_ONE_IN) {
		slot->lost = slot->p;
		if (bits >> 16 & 3) {
			slot->repair = REPAIR_FAST;
			slot->until_resend = 3; /* duplicate ACKs */
		} else {
			slot->repair = REPAIR_TIMEOUT;
			slot->wake_ns = s->now_ns + TCP_RTO_NS +
					(bits >> 18 & 0xff) * NS_PER_MS;
		}
	} else if ((bits >> 32 & 0xffff) < 65536 / SILENCE_ONE_IN) {
		slot->wake_ns = s->now_ns + 2 * SYNTH_GAP_NS +
				(bits >> 48 & 0xff) * NS_PER_MS;
	}
}

/* Whether slot->lost is to be sent again now. */
static bool retransmit(struct synth *s, struct slot *slot)
{
	if (slot->repair == REPAIR_NONE)
		return false;
	if (slot->repair == REPAIR_FAST && slot->until_resend && slot->left) {
		if (!--slot->until_resend)
			slot->wake_ns = s->now_ns + RTT_NS;
		return false;
	}
	slot->repair = REPAIR_NONE;
	slot->lost.ip_id = ++slot->p.ip_id;
	return true;
}

bool synth_next(struct synth *s, struct traffic_packet *p)
{
	struct slot *slot;
	uint64_t i;

	if (!s->awake && !s->asleep)
		return false;
	s->now_ns += 1 + rng_below(&s->rng, 2 * s->step_ns);
	wake_flows(s);
	i = rng_below(&s->rng, s->awake);
	slot = s->awake_slot[i];
	if (retransmit(s, slot)) {
		*p = slot->lost;
	} else {
		advance_flow(s, slot);
		*p = slot->p;
		draw_fate(s, slot);
	}
	p->ts_ns = s->now_ns;
	p->id = rng_mix(slot->p.id ^ ((uint64_t)p->ip_id << 32 | p->seq));
	if (!slot->left && !slot->repair) {
		if (!start_flow(s, slot))
			s->awake_slot[i] = s->awake_slot[--s->awake];
	} else if (slot->wake_ns > s->now_ns) {
		s->awake_slot[i] = s->awake_slot[--s->awake];
		timer_heap_up(
			s->heap, s->asleep++,
			(struct timer_entry){.ns = slot->wake_ns,
					     .id = (uint32_t)(slot - s->slot)});
	}
	return true;
}
