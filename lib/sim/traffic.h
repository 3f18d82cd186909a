/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traffic.h - the packets that a network carries, one after the other: out of a
 * capture, in its time, or of the model, in virtual time.
 *
 * Threads: none; a stream belongs to one caller.
 */
#ifndef SIM_TRAFFIC_H
#define SIM_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "packet/pkt.h"
#include "net/key.h"

/*
 * One packet of the traffic that a network carries and its switches
 * tell of: the same whether it is of a capture or of the model, so
 * that what is computed from one is computed from the other.
 *
 * Decoded: all in host order but the key, whose bytes are as on the wire
 * (net/key.h). Owns what it holds.
 */
struct traffic_packet {
	uint64_t ts_ns;	      /* since the epoch */
	uint8_t key[KEY_MAX]; /* flow4 or flow6 */
	uint8_t key_len;
	bool v6;
	bool fragment; /* not the first one: no ports */
	uint8_t protocol, ttl, tcp_flags;
	uint16_t src_port, dst_port;
	uint16_t ip_id;	       /* of IPv4 */
	uint32_t ip_len;       /* bytes of the IP header and its payload */
	uint32_t seq, payload; /* TCP: sequence number, bytes of data */
	uint64_t id; /* a hash of what stays the same along the path */
};

/* The addresses in network order, as bytes of the key. */
static inline const uint8_t *traffic_src(const struct traffic_packet *p)
{
	return p->key;
}

static inline const uint8_t *traffic_dst(const struct traffic_packet *p)
{
	return p->key + (p->v6 ? 16 : 4);
}

static inline size_t traffic_addr_len(const struct traffic_packet *p)
{
	return p->v6 ? 16 : 4;
}

/*
 * Of a frame; a capture may have cut it after the headers. -ENOTSUP: neither
 * IPv4 nor IPv6; -EBADMSG: malformed or cut. Then *out is as it was.
 */
int traffic_decode(struct traffic_packet *out, const struct pkt *pkt);

/*
 * The model: synthetic traffic in virtual time.
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

/* --- all of it, one after the other --------------------------------------- */

/* Flows and packets of a run, at most: days of work. */
#define TRAFFIC_COUNT_MAX UINT64_C(1000000000000)

/* packets = given to the caller + left out by what he asked for + not_ip +
 * malformed. */
struct traffic_counters {
	uint64_t packets;
	uint64_t not_ip;    /* neither IPv4 nor IPv6 */
	uint64_t malformed; /* bad or cut headers */
	/* notes */
	uint64_t evicted; /* flows that TRAFFIC_FLOWS has forgotten */
};

/* Which packets. The last two are made, of a model, without any memory of
 * flows, as fast as can be. */
enum traffic_of {
	TRAFFIC_PACKETS, /* all */
	TRAFFIC_FLOWS,	 /* the first one of each flow */
	TRAFFIC_NUMBERS, /* none: a flow's number as id, ts_ns; model only */
};

struct traffic_options {
	const char *capture; /* pcap or pcapng, "-": stdin; NULL: the model */
	struct traffic_model model;
	enum traffic_of of;
	uint64_t max_flows; /* of a capture: TRAFFIC_FLOWS remembers as many */
	struct traffic_counters *ctr; /* the caller's */
	/*
	 * Each may be NULL. wanted: a packet that is not is left out, and its
	 * flow has not begun with it. again: all flows of the model have ended;
	 * whether they come round once more (NULL: no). before_wait: a capture
	 * in a pipe has nothing more at hand.
	 */
	bool (*wanted)(void *ctx, const struct traffic_packet *p);
	bool (*again)(void *ctx);
	void (*before_wait)(void *ctx);
	void *ctx;
};

struct traffic;

/* The options are copied. Returns 0 or -errno; f tells the reason, the path not
 * included. */
int traffic_open(struct traffic **out, const struct traffic_options *o,
		 struct fault *f);
void traffic_close(struct traffic *t); /* NULL is fine */

/*
 * 1: *p set; 0: the end; -EINTR: none as yet, a signal came or it is time to
 * look at a clock; or another -errno, as of src_rx(), with f set.
 */
int traffic_next(struct traffic *t, struct traffic_packet *p, struct fault *f);

/* The frame of the packet that traffic_next() gave last, as long as that: of a
 * capture; NULL of the model. */
const struct pkt *traffic_pkt(const struct traffic *t);

#endif
