/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * synth.h - synthetic traffic in virtual time.
 *
 * Flows are a function of the seed and their number, so that none has to be
 * remembered: between hosts of 10.128.0.0/9 and fd00::/96, a few of them
 * popular, to well-known services, UDP for DNS and NTP, else TCP. There are a
 * quarter as many hosts as flows, 16 to 2^20.
 *
 * Packets: up to 4096 flows are active; each step one of them, picked at
 * random, sends one. Flow sizes are 2/u packets, u uniform (Zipf's tail). A TCP
 * flow opens with SYN and ends with FIN. One packet in 100 is lost beyond the
 * observer and sent again, one in four of those after a timeout; one in 400 is
 * followed by silence, which ends a flowlet.
 *
 * Only integers and correctly rounded division: the same model makes the same
 * packets on every machine.
 */
#ifndef TRAFFIC_SYNTH_H
#define TRAFFIC_SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "traffic/packet.h"

enum {
	SYNTH_SEED_DEFAULT = 1,
};

/* Silence that ends a flowlet: the model's are twice that at least. */
#define SYNTH_GAP_NS UINT64_C(50000000)

/* Two hosts that all flows are between. */
struct traffic_ends {
	uint8_t version; /* 4, 6; 0: the flows are between the model's hosts */
	uint8_t src[16], dst[16];
};

struct traffic_model {
	uint64_t seed;
	uint64_t flows;	       /* at least 1 */
	uint64_t rate;	       /* packets/s on the average, 1 to 10^9 */
	uint64_t start_ns;     /* since the epoch */
	unsigned ipv6_percent; /* of the flows */
	struct traffic_ends ends;
};

/*
 * Where the streams of a seed lie: number i of one is base ^ rng_mix(i). Were
 * base rng_mix() of the seed and no more, number j of seed i would be number i
 * of seed j. The default seed has no extra: its bytes stay what they were.
 */
struct synth_stream {
	uint64_t base, extra;
};

struct synth_stream synth_stream(uint64_t seed);

/* The flows of a model. */
struct synth_flows {
	uint64_t base, hosts;
	unsigned ipv6_percent;
	struct traffic_ends ends;
};

void synth_flows_init(struct synth_flows *s, const struct traffic_model *m);

/* The first packet of flow i; ts_ns is left as it is. */
void synth_flow(const struct synth_flows *s, struct traffic_packet *p,
		uint64_t i);

/* The packets of all flows. */
struct synth;

/* The model is copied. Returns 0 or -ENOMEM. */
int synth_open(struct synth **out, const struct traffic_model *m);
void synth_close(struct synth *s); /* NULL is fine */

/* The next packet; false when all flows have ended. */
bool synth_next(struct synth *s, struct traffic_packet *p);

/* The same flows once more, each a new connection: time goes on. For when all
 * have ended. */
void synth_again(struct synth *s);

/* How many flows have begun, of this round. */
uint64_t synth_begun(const struct synth *s);

#endif
