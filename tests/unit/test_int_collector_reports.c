/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of two versions share their reporter's numbers, on any number of
 * cores: what comes twice in a batch has come twice. */
#include <string.h>

#include "int/treport.h"
#include "packet/kind.h"
#include "telemetry/int_collector.h"
#include "test.h"
#include "net/net.h"

enum {
	BATCHES = 2,
	REPORTS = 2, /* of a batch */
	ROOM = 256,  /* bytes of a frame, at most */
	WORKERS = 3,
};

static int put(struct row_sink *s, struct row_batch *b)
{
	(void)s;
	(void)b;
	return 0;
}

static int nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

/* The other workers have nothing to do. */
static int take(void *ctx, struct pkt *room, int max)
{
	(void)ctx;
	(void)room;
	(void)max;
	return 0;
}

static size_t report(uint8_t *frame, const struct int_profile *profile,
		     uint8_t version, uint32_t sequence)
{
	static const uint8_t inner[64];
	const struct treport_fields say = {.from = {.version = version,
						    .has_node = true,
						    .node = 7,
						    .hw_id = 1,
						    .sequence = sequence},
					   .flags = INT_TRACKED,
					   .inner_type = TREPORT_ETHERNET,
					   .inner = inner,
					   .inner_len = sizeof(inner)};
	struct net_udp4 u = {.src = {10, 0, 0, 1},
			     .dst = {10, 0, 0, 2},
			     .src_port = 1,
			     .dst_port = profile->report_port,
			     .ttl = 64};
	uint8_t payload[ROOM];
	int len = treport_encode(payload, sizeof(payload), &say), head;

	TEST(len > 0);
	head = net_udp4_encode(frame, ROOM, &u, (size_t)len);
	TEST(head > 0 && head + len <= ROOM);
	memcpy(frame + head, payload, (size_t)len);
	return (size_t)(head + len);
}

/* Of batches that come one after the other. */
static void rx(struct int_collector *c, const struct int_profile *profile)
{
	static const struct {
		uint8_t version;
		uint32_t sequence;
	} said[BATCHES][REPORTS] = {{{1, 9}, {1, 10}}, {{1, 11}, {2, 11}}};

	for (unsigned i = 0; i < BATCHES; i++) {
		uint8_t frame[REPORTS][ROOM];
		struct pkt pkt[REPORTS];

		for (unsigned k = 0; k < REPORTS; k++) {
			size_t len = report(frame[k], profile,
					    said[i][k].version,
					    said[i][k].sequence);

			pkt[k] = (struct pkt){frame[k], (uint32_t)len,
					      (uint32_t)len, 1000 + i};
		}
		TEST(!int_collector_rx(c, pkt, REPORTS));
		TEST(!int_collector_rest(c));
	}
}

static void test_versions(unsigned workers)
{
	const struct int_profile *profile = int_profile_named("any");
	struct row_sink none = {put, nothing, nothing};
	const struct telemetry_sinks sinks = {
		{&none, &none, &none, &none, &none, &none, &none}};
	struct int_collector_options o = {.workers = workers,
					  .profile = profile};
	const struct telemetry_thresholds th = {.ends_watched = 0};
	struct int_collector_ledgers l;
	struct int_collector *c;
	struct error err = {0};

	telemetry_defaults(&o.telemetry);
	TEST(!int_collector_open(&c, &o, &th, &sinks));
	TEST(!int_collector_start(c, NULL, take, NULL, &err));
	rx(c, profile);
	TEST(!int_collector_flush(c));
	int_collector_ledgers(c, &l);
	TEST(l.telemetry.reports_repeated == 1);
	TEST(l.telemetry.reports_lost == 0);
	int_collector_close(c);
}

int main(void)
{
	for (unsigned workers = 1; workers <= WORKERS; workers++)
		test_versions(workers);
	return test_end();
}
