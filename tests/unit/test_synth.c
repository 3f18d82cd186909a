/* SPDX-License-Identifier: BSD-2-Clause */
/* The traffic model: what it says of itself, and that a seed decides it all. */
#include "sim/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "test.h"
#include "net/be.h"
#include "net/net.h"

enum {
	MS = 1000000,
	FLOWS = 20000,
};

static const struct traffic_model model = {
	.seed = SYNTH_SEED_DEFAULT,
	.flows = FLOWS,
	.rate = 1000000,
	.start_ns = 1700000000000000000,
	.ipv6_percent = 30,
};

static bool same(const struct traffic_packet *a, const struct traffic_packet *b)
{
	return a->ts_ns == b->ts_ns && a->key_len == b->key_len &&
	       !memcmp(a->key, b->key, a->key_len) && a->v6 == b->v6 &&
	       a->protocol == b->protocol && a->tcp_flags == b->tcp_flags &&
	       a->ip_id == b->ip_id && a->ip_len == b->ip_len &&
	       a->seq == b->seq && a->payload == b->payload && a->id == b->id;
}

/* How many of n packets of two models differ in time, and in anything. */
static unsigned differences(const struct traffic_model *a,
			    const struct traffic_model *b, unsigned n,
			    unsigned *in_time)
{
	struct traffic_packet p, q;
	struct synth *s, *t;
	unsigned differ = 0;

	if (synth_open(&s, a) || synth_open(&t, b))
		exit(1);
	*in_time = 0;
	for (unsigned i = 0; i < n; i++) {
		TEST(synth_next(s, &p) && synth_next(t, &q));
		differ += !same(&p, &q);
		*in_time += p.ts_ns != q.ts_ns;
	}
	synth_close(s);
	synth_close(t);
	return differ;
}

static void seeds(void)
{
	struct traffic_model other = model;
	unsigned in_time;

	TEST(differences(&model, &other, 100000, &in_time) == 0);
	other.seed = 2;
	TEST(differences(&model, &other, 100000, &in_time) == 100000);
	TEST(in_time > 99000);
	TEST(differences(&other, &other, 100000, &in_time) == 0);
}

/* Addresses and ports of a key are those that the model tells of. */
static void check_flow(const struct traffic_packet *p)
{
	const uint8_t *src = traffic_src(p), *dst = traffic_dst(p);
	size_t n = traffic_addr_len(p);
	uint8_t prefix[12] = {0xfd};

	TEST(p->key_len == 2 * n + 5);
	TEST(memcmp(src, dst, n));
	if (p->v6)
		TEST(!memcmp(src, prefix, 12) && !memcmp(dst, prefix, 12));
	else
		TEST(be32_load(src) >> 23 == (10u << 24 | 128 << 16) >> 23 &&
		     be32_load(dst) >> 23 == (10u << 24 | 128 << 16) >> 23);
	TEST(be16_load(dst + n) == p->src_port && p->src_port >= 1024);
	TEST(be16_load(dst + n + 2) == p->dst_port);
	TEST(dst[n + 4] == p->protocol);
	TEST(p->protocol == (p->dst_port == 53 || p->dst_port == 123
				     ? NET_PROTO_UDP
				     : NET_PROTO_TCP));
}

static void flows(void)
{
	struct synth_flows f, g;
	struct traffic_model other = model;
	unsigned v6 = 0, equal = 0;

	other.seed = 2;
	synth_flows_init(&f, &model);
	synth_flows_init(&g, &other);
	for (uint64_t i = 0; i < FLOWS; i++) {
		struct traffic_packet p = {0}, q = {0};

		synth_flow(&f, &p, i);
		synth_flow(&f, &q, i);
		TEST(same(&p, &q));
		check_flow(&p);
		v6 += p.v6;
		synth_flow(&g, &q, i);
		equal += p.key_len == q.key_len &&
			 !memcmp(p.key, q.key, p.key_len);
	}
	TEST(v6 > FLOWS * 28 / 100 && v6 < FLOWS * 32 / 100);
	TEST(equal == 0);
	TEST(synth_stream(SYNTH_SEED_DEFAULT).extra == 0);
}

/* What is known of a flow while its packets come. */
struct seen {
	struct tcp_flow tcp;
	uint32_t isn;
	bool fin;
};

struct round {
	unsigned packets, flows, segments, again, timeouts;
	uint64_t last_ns, isns; /* a sum */
};

static void take(struct flowtab *t, struct round *r,
		 const struct traffic_packet *p)
{
	bool fresh;
	struct seen *s = flow_data(flowtab_get(t, p->key, p->key_len, &fresh));
	enum tcp_verdict v;

	TEST(p->ts_ns > r->last_ns);
	r->last_ns = p->ts_ns;
	r->packets++;
	r->flows += fresh;
	if (p->protocol != NET_PROTO_TCP)
		return;
	TEST(!fresh || p->tcp_flags & NET_TCP_SYN);
	if (fresh)
		r->isns += p->seq;
	v = tcp_track(&s->tcp, p);
	r->segments++;
	r->again += v >= TCP_RETRANSMITTED;
	r->timeouts += v == TCP_TIMED_OUT;
	s->fin |= !!(p->tcp_flags & NET_TCP_FIN);
}

static unsigned unfinished;

static void left(void *ctx, struct flow *f)
{
	const struct seen *s = flow_data(f);

	(void)ctx;
	unfinished += f->key[f->key_len - 1] == NET_PROTO_TCP && !s->fin;
}

static struct round play(struct synth *s, uint64_t from_ns)
{
	struct round r = {.last_ns = from_ns};
	struct flowtab_options o = {
		.max = 2 * FLOWS,
		.data_len = sizeof(struct seen),
		.on_evict = left,
	};
	struct traffic_packet p;
	struct flowtab *t;

	if (flowtab_open(&t, &o))
		exit(1);
	while (synth_next(s, &p))
		take(t, &r, &p);
	unfinished = 0;
	flowtab_drain(t);
	flowtab_close(t);
	TEST(unfinished == 0);
	return r;
}

/* Two rounds: all flows, begun and ended, in time that goes on. */
static void rounds(void)
{
	struct round a, b;
	struct traffic_packet p;
	struct synth *s;

	if (synth_open(&s, &model))
		exit(1);
	a = play(s, model.start_ns);
	TEST(a.flows > FLOWS * 99 / 100 && a.flows <= FLOWS);
	TEST(a.again * 50 < a.segments && a.again * 200 > a.segments);
	TEST(a.timeouts * 2 < a.again && a.timeouts * 8 > a.again);
	TEST(!synth_next(s, &p) && !synth_next(s, &p)); /* it has ended */
	synth_restart(s);
	b = play(s, a.last_ns);
	TEST(b.flows == a.flows && b.isns != a.isns);
	synth_close(s);
	synth_close(NULL);
}

/* The rate is that of the model, while there are flows enough. */
static void rate(void)
{
	struct traffic_model m = model;
	struct traffic_packet p;
	struct synth *s;
	double seconds;

	m.rate = 2000;
	if (synth_open(&s, &m))
		exit(1);
	for (int i = 0; i < 20000; i++)
		TEST(synth_next(s, &p));
	seconds = (double)(p.ts_ns - m.start_ns) / 1e9;
	TEST(seconds > 9.5 && seconds < 10.5);
	synth_close(s);
}

int main(void)
{
	seeds();
	flows();
	rounds();
	rate();
	return test_end();
}
