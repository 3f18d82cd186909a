/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The INT sink on several cores, where it matters when something is news:
 * values are pushed when it is their turn, numbers are judged in their order.
 * Rows are those of one core.
 */
#include "int_collector_rig.h"

enum {
	FRAMES = 12000,
	BATCH = 100,
	WORKERS = 3,
	QUEUE = 0xb000, /* node, latency, queue */
	US = 1000,
};

static const struct int_profile *profile;

/* Frames, and how many were taken. */
struct frames {
	uint8_t (*block)[2 * ROOM];
	struct pkt pkt[FRAMES];
	size_t n, at, batch;
};

static void add(struct frames *fs, size_t len, uint64_t ts_ns)
{
	fs->pkt[fs->n] = (struct pkt){fs->block[fs->n], (uint32_t)len,
				      (uint32_t)len, ts_ns};
	fs->n++;
}

static void begin(struct frames *fs)
{
	if (!fs->block)
		fs->block = malloc(FRAMES * sizeof(*fs->block));
	fs->n = fs->at = 0;
}

static int take(void *ctx, struct pkt *room, int max)
{
	struct frames *fs = ctx;
	size_t n = fs->n - fs->at < fs->batch ? fs->n - fs->at : fs->batch;

	TEST(n <= (size_t)max);
	memcpy(room, fs->pkt + fs->at, n * sizeof(*room));
	fs->at += n;
	return (int)n;
}

static void rx_all(struct int_collector *c, struct frames *fs)
{
	struct pkt room[PKT_BATCH];
	int n;

	fs->at = 0;
	while ((n = take(fs, room, PKT_BATCH)) > 0)
		TEST(!int_collector_rx(c, room, (size_t)n));
}

/* No value is an event but the first of its key. */
static void defaults(struct telemetry_options *to,
		     struct telemetry_thresholds *th)
{
	telemetry_defaults(to);
	to->flows.rows = 64;
	to->push_ns = 0;
	*th = (struct telemetry_thresholds){.ends_watched = 0};
	for (unsigned m = 0; m < NUMERIC_METRICS; m++)
		th->all[m].change = THRESHOLD_OFF;
}

/* What is told on several cores, as on one. */
static void compare(struct frames *fs, const struct telemetry_options *to,
		    const struct telemetry_thresholds *th, struct result *one)
{
	struct rig_one alone;
	struct result more;

	rig_one_open(&alone, one, profile, to, th);
	TEST(!int_decode_frames(alone.in, fs->pkt, fs->n));
	rig_one_close(&alone, one);
	for (unsigned workers = 1; workers <= WORKERS; workers++) {
		const struct int_collector_options o = {.workers = workers,
							.profile = profile};
		struct int_collector *c = rig_collector_open(&more, &o, to, th,
							     NULL, take, fs);

		rx_all(c, fs);
		rig_collector_close(c, &more);
		TEST(more.rows == one->rows && more.sum == one->sum);
		TEST(!memcmp(&more.ledgers.telemetry, &one->ledgers.telemetry,
			     sizeof(one->ledgers.telemetry)));
	}
}

/* A packet: hops at nodes that its flow alone says, values that its number
 * does. */
struct packet {
	unsigned flow, number;
};

static uint32_t set_hop(void *packet, uint64_t v[INT_FIELDS], unsigned hop)
{
	const struct packet *p = packet;

	memset(v, 0, INT_FIELDS * sizeof(*v));
	v[INT_NODE] = 1 + p->flow * 3 + hop;
	v[INT_QUEUE] = 1;
	v[INT_LATENCY] = 100 + p->number % 50;
	v[INT_OCCUPANCY] = 200 + p->number % 50;
	return UINT32_MAX;
}

static void add_packet(struct frames *fs, struct packet p, unsigned hops,
		       uint64_t ts_ns)
{
	add(fs,
	    rig_frame(fs->block[fs->n], profile, p.flow, QUEUE, hops, set_hop,
		      &p),
	    ts_ns);
}

/* One flow, whose latest values are pushed now and then. */
static void test_one_flow(struct frames *fs)
{
	struct telemetry_thresholds th;
	struct telemetry_options to;
	struct result one;

	defaults(&to, &th);
	to.push_ns = 20000 * US;
	begin(fs);
	for (unsigned i = 0; i < FRAMES; i++)
		add_packet(fs, (struct packet){1, i}, 2,
			   UINT64_C(1000000000) + i * UINT64_C(300) * US);
	compare(fs, &to, &th, &one);
	TEST(one.ledgers.telemetry.pushed > 100);
}

static void add_report(struct frames *fs, uint32_t node, uint32_t sequence)
{
	static const uint8_t inner[64];
	const struct treport_fields say = {.from = {.version = 1,
						    .has_node = true,
						    .node = node,
						    .hw_id = 1,
						    .sequence = sequence,
						    .sequence_bits = 32},
					   .flags = INT_TRACKED,
					   .inner_type = TREPORT_ETHERNET,
					   .inner = inner,
					   .inner_len = sizeof(inner)};
	size_t n = fs->n;

	add(fs, rig_report(fs->block[n], profile, &say, 0), (1000 + n) * US);
}

/* What is wrong with a batch's numbers: of one of two reporters who take turns,
 * in the middle of it or with its first one. */
enum wrong {
	NOTHING,
	LOST,
	TWICE,
	SWAPPED,
	LOST_BEFORE,
	WRONGS,
};

static void add_reports(struct frames *fs, enum wrong wrong, uint32_t who,
			uint32_t next[2])
{
	for (uint32_t i = 0; i < BATCH; i++) {
		bool middle = i / 2 == BATCH / 4 && i % 2 == who;
		uint32_t *number = &next[i % 2];

		*number += (wrong == LOST && middle) ||
			   (wrong == LOST_BEFORE && i == who);
		*number -= wrong == TWICE && middle;
		add_report(fs, 1 + i % 2,
			   *number + (wrong == SWAPPED && middle));
		if (wrong == SWAPPED && middle) {
			add_report(fs, 2 - i % 2, next[1 - i % 2]++);
			add_report(fs, 1 + i % 2, *number);
			*number += 2;
			i += 2;
			continue;
		}
		++*number;
	}
}

/* Numbers that go on are judged at once; no others, wherever they are. */
static void test_numbers(struct frames *fs)
{
	enum { SETTLED = 8 }; /* batches behind which nothing is missing */
	const struct telemetry_ledger *l;
	struct telemetry_thresholds th;
	struct telemetry_options to;
	uint32_t next[2] = {7, 9};
	struct result one;

	defaults(&to, &th);
	l = &one.ledgers.telemetry;
	begin(fs);
	for (unsigned i = 0; i < 2 * WRONGS; i++) {
		add_reports(fs, (enum wrong)(i / 2), i % 2, next);
		for (unsigned k = 0; k < SETTLED; k++)
			add_reports(fs, NOTHING, 0, next);
	}
	compare(fs, &to, &th, &one);
	TEST(l->reports_lost == 4 && l->reports_late == 2 &&
	     l->reports_repeated == 2);
}

/* More reporters than a batch knows apart, the last of whom say their numbers
 * twice. */
static void test_many_reporters(struct frames *fs)
{
	enum { REPORTERS = 400, ONCE = 300, REPORTS = 2 * REPORTERS - ONCE };
	struct telemetry_thresholds th;
	struct telemetry_options to;
	struct result one;

	defaults(&to, &th);
	fs->batch = REPORTS;
	begin(fs);
	for (unsigned k = 0; k < 4; k++)
		for (unsigned i = 0; i < REPORTS; i++)
			add_report(fs, i < REPORTERS ? i : i - REPORTERS + ONCE,
				   5 + k);
	compare(fs, &to, &th, &one);
	TEST(one.ledgers.telemetry.reports_repeated == 4 * (REPORTERS - ONCE));
	fs->batch = BATCH;
}

int main(void)
{
	static struct frames fs = {.batch = BATCH};

	profile = int_profile_named("any");
	test_one_flow(&fs);
	test_numbers(&fs);
	test_many_reporters(&fs);
	free(fs.block);
	return test_end();
}
