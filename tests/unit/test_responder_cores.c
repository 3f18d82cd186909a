/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A responder on several cores leaves what one alone does: memory, ledger,
 * answers, immediates, refusals; whether lines are asked for or not. Best run
 * under ThreadSanitizer, too (make SAN=thread).
 */
#include <errno.h>
#include <unistd.h>

#include "base/rng.h"
#include "region/memory.h"
#include "packet/kind.h"
#include "rdma_rig.h"
#include "rdma/responder.h"
#include "test.h"
#include "region_sums.h"

enum {
	REQUESTS = 30000,
	WORKERS = 4,
	ROOM = 1280, /* bytes of a frame, at most */
	ANSWERS_MAX = 8 << 20,
	SLOTS = 100,	 /* few, so that batches meet in memory */
	AGAIN = 250,	 /* packets of a batch */
	OTHERS_US = 500, /* in which others come to act on theirs */
};

struct traffic {
	struct rng rng;
	uint32_t psn[RIG_TABLES];
	uint8_t *block;
	struct pkt pkt[REQUESTS];
	size_t at;
	size_t batch; /* all of so many; 0: of various */
};

static unsigned pick(struct traffic *tf, unsigned n)
{
	return (unsigned)rng_below(&tf->rng, n);
}

/* A good request to a table, by its own kinds. */
static struct roce request(struct traffic *tf, const struct rig *g,
			   unsigned table, uint8_t *data)
{
	uint32_t psn = tf->psn[table], slot = pick(tf, SLOTS);
	bool uc = table == RIG_UC, imm = !pick(tf, 50);
	uint8_t opcode = uc ? (imm ? ROCE_UC_WRITE_ONLY_IMM
				   : ROCE_UC_WRITE_ONLY)
			    : (imm ? ROCE_RC_WRITE_ONLY_IMM
				   : ROCE_RC_WRITE_ONLY);
	struct roce r;

	if (table == RIG_INC) {
		r = rig_request(g, ROCE_RC_FETCH_ADD, table, 8ull * slot, psn);
		r.swap_add = pick(tf, 3);
		return r;
	}
	r = rig_request(g, opcode, table,
			table == RIG_WIDE ? 1024ull * (slot % 16)
					  : 4ull * (slot % 40),
			psn);
	r.len = r.dma_len = table == RIG_WIDE ? 1000 : 8;
	r.payload = data;
	r.imm = (uint32_t)rng_u64(&tf->rng);
	r.ack_req = !uc && !pick(tf, 8);
	for (unsigned i = 0; i < r.len; i++)
		data[i] = (uint8_t)pick(tf, 256);
	return r;
}

/* What goes wrong with it on its way, or with who sent it. */
static void spoil(struct traffic *tf, struct roce *r, size_t i)
{
	static const uint8_t stranger[4] = {10, 9, 8, 7};

	switch (pick(tf, 400)) {
	case 0: /* ahead: the ones between are lost */
		r->psn = (r->psn + 2) & ROCE_PSN_MASK;
		break;
	case 1:
	case 2:
	case 3: /* again */
		r->psn = (r->psn - 1 - pick(tf, 20)) & ROCE_PSN_MASK;
		break;
	case 4:
		memcpy(r->src, stranger, sizeof(stranger));
		break;
	case 5:
		r->pkey = 1;
		break;
	case 6:
		r->dest_qp += 77;
		break;
	case 8:
		r->dst[3] ^= 1;
		break;
	case 9: /* answers go there */
		r->src_port ^= 1;
		break;
	case 7: /* the queue pair of RC is dead then */
		r->rkey += i > REQUESTS * 3 / 4 || r->opcode >= 0x20;
		break;
	}
}

static void make_one(struct traffic *tf, const struct rig *g, size_t i)
{
	unsigned table = pick(tf, RIG_TABLES);
	uint8_t data[1024], *p = tf->block + (i + 1) * ROOM;
	unsigned what;
	struct roce r;
	int len;

	table = table == RIG_LIST ? RIG_KW : table;
	r = request(tf, g, table, data);
	spoil(tf, &r, i);
	len = roce_encode(p, ROOM - CRC_HEADROOM, &r);
	if (!TEST(len > 0))
		exit(1);
	what = pick(tf, 1000);
	if (what < 3) /* lost, for its sum */
		p[len - 20 + (int)pick(tf, 20)] ^= 1;
	if (what == 3)
		len = (int)pick(tf, (unsigned)len);
	tf->psn[table] += what > 3 && r.psn == tf->psn[table] &&
			  r.pkey == 0xffff && r.dest_qp == g->t.at[table].qpn &&
			  !memcmp(r.src, g->t.peer_ip, 4) &&
			  !memcmp(r.dst, g->t.ip, 4);
	tf->psn[table] &= ROCE_PSN_MASK;
	tf->pkt[i] = (struct pkt){p, (uint32_t)len, (uint32_t)len, 1000 + i};
}

static int take(void *ctx, struct pkt *room, int max)
{
	struct traffic *tf = ctx;
	size_t n = rng_mix(tf->at) % 3 ? 100 : 1 + rng_mix(tf->at) % 1024;

	n = tf->batch ? tf->batch : n;
	n = n < (size_t)max ? n : (size_t)max;
	n = n < REQUESTS - tf->at ? n : REQUESTS - tf->at;
	memcpy(room, tf->pkt + tf->at, n * sizeof(*room));
	tf->at += n;
	return (int)n;
}

/* What a run leaves. */
struct result {
	uint32_t digest[RIG_TABLES];
	struct responder_ledger ledger;
	uint64_t notified;
	uint32_t immediate[REGION_IMMEDIATES];
	bool dead;
	size_t answers_len;
	uint8_t answers[ANSWERS_MAX];
};

/* A sink that has no room any more behind so many frames. */
struct full {
	struct snk snk;
	unsigned left, refused;
	unsigned taken;
	uint8_t frame[ROOM];
};

static int full_room(struct snk *snk, size_t len)
{
	struct full *s = (struct full *)snk;

	(void)len;
	if (!s->left) {
		if (!s->refused++)
			usleep(OTHERS_US);
		return -ENOSPC;
	}
	s->left--;
	snk->at = s->frame;
	snk->room = sizeof(s->frame);
	return 0;
}

static void full_done(struct snk *snk, size_t len, uint32_t wire_len,
		      uint64_t ts_ns)
{
	(void)len;
	(void)wire_len;
	(void)ts_ns;
	((struct full *)snk)->taken++;
	snk->room = 0;
}

static int full_flush(struct snk *snk)
{
	(void)snk;
	return 0;
}

static const struct snk_ops full_ops = {
	.room = full_room,
	.done = full_done,
	.flush = full_flush,
};

/* Until the answers' sink fails, as it has to. */
static void run_full(struct responder *p, struct traffic *tf, unsigned workers)
{
	struct responder_cores_options o = {
		.workers = workers, .take = take, .ctx = tf};
	struct responder_cores *c = NULL;
	struct pkt pkts[PKT_BATCH];
	int n, rc = 0;

	tf->at = 0;
	TEST(responder_cores_open(&c, p, &o, NULL) == 0);
	while (!rc && (n = take(tf, pkts, PKT_BATCH)))
		rc = responder_cores_rx(c, pkts, (size_t)n);
	TEST(rc == -ENOSPC);
	TEST(responder_cores_rest(c) == -ENOSPC);
	responder_cores_close(c);
}

/* Whether there was something to tell on the way. */
static bool run(struct responder *p, struct traffic *tf, unsigned workers)
{
	struct responder_cores_options o = {
		.workers = workers, .take = take, .ctx = tf};
	struct responder_cores *c = NULL;
	struct pkt pkts[PKT_BATCH];
	bool news = false;
	int n;

	tf->at = 0;
	if (workers)
		TEST(responder_cores_open(&c, p, &o, NULL) == 0);
	while ((n = take(tf, pkts, PKT_BATCH))) {
		TEST((workers ? responder_cores_rx(c, pkts, (size_t)n)
			      : responder_rx(p, pkts, (size_t)n)) == 0);
		news |= workers && responder_cores_has_events(c);
	}
	if (workers)
		TEST(responder_cores_rest(c) == 0);
	responder_cores_close(c);
	return news;
}

static void result_of(struct result *r, struct rig *g)
{
	FILE *in;

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < RIG_TABLES; i++)
		r->digest[i] = region_digest(g->region,
					     region_table(g->region, i), 1);
	r->ledger = *responder_counters(g->p);
	r->notified = region_notified(g->region);
	for (uint64_t k = 0; k < REGION_IMMEDIATES && k < r->notified; k++)
		TEST(region_immediate(g->region, r->notified - k,
				      &r->immediate[k]) == 0);
	r->dead = responder_is_dead(g->p);
	snk_flush(g->answers);
	in = fopen(g->path, "rb");
	r->answers_len = in ? fread(r->answers, 1, ANSWERS_MAX, in) : 0;
	if (in)
		fclose(in);
}

static void make_all(struct traffic *tf, const struct rig *g, uint64_t seed)
{
	tf->rng.state = seed; /* the same requests, with this rig's keys */
	for (unsigned i = 0; i < RIG_TABLES; i++)
		tf->psn[i] = g->t.at[i].psn;
	for (size_t i = 0; i < REQUESTS; i++)
		make_one(tf, g, i);
}

/* By so many workers, 0: without a team. */
static struct result *by(struct traffic *tf, uint64_t seed, unsigned workers,
			 enum prefetch prefetch, bool answered,
			 uint64_t receives)
{
	struct responder_options o = {.receives = receives};
	struct result *r = malloc(sizeof(*r));
	struct rig g;
	bool news;

	prefetch_set(prefetch);
	rig_open(&g, &o);
	make_all(tf, &g, seed);
	if (!answered) {
		responder_close(g.p);
		TEST(responder_open(&g.p, g.region, &g.t, NULL, &o, NULL) == 0);
	}
	news = run(g.p, tf, workers);
	result_of(r, &g);
	/* Some 20 batches follow the refusal; WORKERS * 3 can be under way. */
	TEST(!workers || news == r->dead);
	rig_close(&g);
	return r;
}

static void check(bool ok, const char *what, unsigned workers)
{
	if (!TEST(ok))
		fprintf(stderr, "  %s, %u workers\n", what, workers);
}

static void compare(const struct result *a, const struct result *b,
		    unsigned workers)
{
	check(!memcmp(a->digest, b->digest, sizeof(a->digest)), "memory",
	      workers);
	check(!memcmp(&a->ledger, &b->ledger, sizeof(a->ledger)), "ledger",
	      workers);
	check(ledger_balanced(&responder_ledger, &b->ledger), "sum", workers);
	check(a->notified == b->notified &&
		      !memcmp(a->immediate, b->immediate, sizeof(a->immediate)),
	      "immediates", workers);
	check(a->dead == b->dead, "refusals", workers);
	check(a->answers_len == b->answers_len &&
		      !memcmp(a->answers, b->answers, a->answers_len),
	      "answers", workers);
}

/* Nothing is missing in this traffic. */
static void check_traffic(const struct responder_ledger *l, bool limited)
{
	TEST(l->executed > REQUESTS / 3 && l->duplicate && l->foreign &&
	     l->malformed && l->bad_icrc && l->bad_pkey && l->bad_qp &&
	     l->bad_peer && l->out_of_order && l->access && l->writes &&
	     l->atomics && l->immediates && l->acks && l->naks);
	TEST(l->qp_error && (l->rnr != 0) == limited);
}

static void by_all(uint64_t seed, bool answered, uint64_t receives)
{
	struct traffic *tf = calloc(1, sizeof(*tf));
	struct result *alone, *r;

	tf->block = calloc(REQUESTS + 1, ROOM);
	alone = by(tf, seed, 0, PREFETCH_OFF, answered, receives);
	check_traffic(&alone->ledger, receives != UINT64_MAX);
	TEST(alone->dead);
	TEST((alone->answers_len > 1000) == answered);
	for (unsigned workers = 0; workers <= WORKERS; workers++) {
		r = by(tf, seed, workers, PREFETCH_ON, answered, receives);
		compare(alone, r, workers);
		free(r);
		if (!workers)
			continue;
		r = by(tf, seed, workers, PREFETCH_OFF, answered, receives);
		compare(alone, r, workers);
		free(r);
	}
	free(alone);
	free(tf->block);
	free(tf);
}

/* Additions alone, the first of each batch the last one of that before: again,
 * what they found before is to be told when it is known. */
static void make_again(struct traffic *tf, const struct rig *g)
{
	for (size_t i = 0; i < REQUESTS; i++) {
		uint8_t *p = tf->block + (i + 1) * ROOM;
		uint32_t nr = (uint32_t)(i - i / AGAIN);
		struct roce r = rig_add(g, 8 * (nr % SLOTS),
					g->t.at[RIG_INC].psn + nr, 1 + nr % 7);
		int len = roce_encode(p, ROOM - CRC_HEADROOM, &r);

		tf->pkt[i] = (struct pkt){p, (uint32_t)len, (uint32_t)len,
					  1000};
	}
	tf->batch = AGAIN;
}

/* The rig's sink, but that it takes its time. */
static const struct snk_ops *quick;

static int slow_flush(struct snk *snk)
{
	usleep(OTHERS_US);
	return quick->flush(snk);
}

static void again_by_all(void)
{
	static struct snk_ops slow;
	struct traffic *tf = calloc(1, sizeof(*tf));
	struct result *alone = malloc(sizeof(*alone)), *r;
	struct rig g;

	r = malloc(sizeof(*r));
	tf->block = calloc(REQUESTS + 1, ROOM);
	for (unsigned workers = 0; workers <= WORKERS; workers++) {
		rig_open(&g, NULL);
		make_again(tf, &g);
		quick = g.answers->ops;
		slow = *quick;
		slow.flush = slow_flush;
		g.answers->ops = &slow;
		run(g.p, tf, workers);
		result_of(r, &g);
		rig_close(&g);
		if (!workers)
			*alone = *r;
		compare(alone, r, workers);
	}
	TEST(alone->ledger.duplicate == REQUESTS / AGAIN - 1 &&
	     alone->ledger.acks == REQUESTS);
	free(alone);
	free(r);
	free(tf->block);
	free(tf);
}

/* A sink that is full soon: its error comes up, and nothing is sent behind. */
static void by_full(unsigned full_at, unsigned workers)
{
	struct responder_options o = {.receives = UINT64_MAX};
	struct full full = {.snk.ops = &full_ops, .left = full_at};
	struct traffic *tf = calloc(1, sizeof(*tf));
	struct rig g;

	tf->block = calloc(REQUESTS + 1, ROOM);
	rig_open(&g, &o);
	make_all(tf, &g, 5);
	responder_close(g.p);
	TEST(responder_open(&g.p, g.region, &g.t, &full.snk, &o, NULL) == 0);
	run_full(g.p, tf, workers);
	TEST(full.taken == full_at && full.refused == 1);
	TEST(ledger_balanced(&responder_ledger, responder_counters(g.p)));
	TEST(responder_counters(g.p)->received < REQUESTS / 2);
	rig_close(&g);
	free(tf->block);
	free(tf);
}

int main(void)
{
	by_all(1, false, UINT64_MAX);
	by_all(2, true, UINT64_MAX);
	by_all(3, false, 100);
	by_all(4, true, 100);
	again_by_all();
	for (unsigned workers = 1; workers <= WORKERS; workers++) {
		by_full(300, workers);
		by_full(911, workers);
	}
	return test_end();
}
