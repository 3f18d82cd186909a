/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - what int_fast.bpf.c and xdp.c share: what the maps hold, and the
 * records that the program sends. Native byte order, but for the bytes of flow
 * keys, which are as in packets (net/key.h). A key here is one of a metric
 * (telemetry/threshold.h), unless it is a flow's.
 */
#ifndef XDP_PRIVATE_H
#define XDP_PRIVATE_H

#include <linux/types.h>

#include "net/proto.h"
#include "telemetry/threshold.h"

enum {
	FAST_FRAME = 2048, /* bytes of a frame that are looked at or sent up */
	FAST_HOPS = 8,	   /* of a packet that is compared here, at most */
	FAST_KEY = 37,	   /* bytes of an IPv6 flow key */
	FAST_PORTS = 65536,
};

/* INT versions whose metadata differ: the number in the INT header. */
enum fast_int_ver {
	FAST_INT_1_0 = 1,
	FAST_INT_2,
};

struct fast_layout_key {
	__u32 int_ver; /* enum fast_int_ver */
	__u32 bitmap;
};

/* A field: (word >> shift & mask) * scale; mask 0: the hop does not have it. */
struct fast_field {
	__u32 mask;
	__u32 scale;
	__u32 word; /* offset in the hop, of 4 bytes */
	__u32 shift;
};

/* Where a bitmap's fields are: int_layout of int/int.h as the program needs it.
 */
struct fast_layout {
	__u32 len;    /* bytes of a hop */
	__u32 node;   /* offset of its word */
	__u32 stamps; /* there are times, too, that latency follows from */
	struct fast_field id[FIELD_IDS];
	struct fast_field metric[HOP_METRICS];
};

struct fast_threshold_key {
	__u32 node, metric;
};

/* What is an event now. */
struct fast_rules {
	/* Low bits: a number of pushes; above, the generation of thresholds. A
	 * key is reported (pushed) or adapted once in each era. */
	__u32 era;
	__u32 nodes; /* number of thresholds of single nodes */
	struct threshold all[NUMERIC_METRICS];
};

enum {
	FAST_PUSHES_MASK = 0xffff,
	FAST_GENERATION_SHIFT = 16,
};

struct fast_key_state {
	struct threshold_state watch;
	__u32 era;   /* in which it was checked last */
	__u32 flags; /* enum threshold_flag; 0: nothing is known */
};

struct fast_flow_key {
	union {
		struct {
			__u8 key[FAST_KEY];
			__u8 len;
			__u16 unused;
		};
		__u64 word[5];
	};
};

/* port: where the state of each metric but latency was found last, as an index
 * of ports[]. */
struct fast_hop {
	__u32 node;
	__u32 port[HOP_METRICS - 1];
	struct fast_key_state latency;
};

struct fast_flow {
	__u64 packets, bytes;	 /* IP headers on, without INT */
	__u64 first_ns, last_ns; /* CLOCK_MONOTONIC; to a tick */
	__u32 hops; /* of the path that was reported last; 0: none was */
	__u32 era;  /* in which the path was reported */
	struct fast_key_state latency;
	__u32 settled; /* the era in which all its keys were checked last */
	/* The path, the source's first; then, as far as there is room, hops
	 * of earlier paths. */
	struct fast_hop hop[FAST_HOPS];
};

struct fast_slot {
	struct fast_flow_key key;
	struct fast_flow flow;
};

enum {
	FAST_SLOTS = 131072, /* a power of two; the last ones begin no row */
	FAST_WAYS = 8,	     /* slots where a flow may be, in a row */
};

static inline __u64 fast_hash(const struct fast_flow_key *k)
{
	__u64 h = k->word[0] * 0x9e3779b97f4a7c15 ^
		  k->word[1] * 0xbf58476d1ce4e5b9 ^
		  k->word[2] * 0x94d049bb133111eb ^
		  k->word[3] * 0xff51afd7ed558ccd ^
		  k->word[4] * 0xc4ceb9fe1a85ec53;

	h ^= h >> 32;
	return h * 0x9e3779b97f4a7c15;
}

/* The first slot where the flow may be. */
static inline __u32 fast_home(__u64 hash)
{
	return (hash >> 32) * (FAST_SLOTS - FAST_WAYS) >> 32;
}

static inline __u32 fast_tag(__u64 hash)
{
	return (__u32)hash | 1;
}

/* The key of a metric of a queue, a link or a buffer. */
struct fast_port_key {
	__u32 node, metric, egress, id; /* ~0: none */
};

struct fast_port {
	struct fast_port_key key;
	struct fast_key_state state;
};

/* A reporter's run: numbers without a gap that were not sent up yet. */
struct fast_reporter {
	__u64 key;     /* (flags | hw_id) << 32 | node; 0: none */
	__u64 numbers; /* the first << 32 | the one after the last */
};

enum {
	FAST_REPORTERS = 4096,	      /* a power of two */
	FAST_REPORTER_USED = 1 << 15, /* a flag, so that no key is 0 */
	FAST_REPORTER_22 = 1 << 14,   /* a flag: numbers have 22 bits, not 32 */
};

/* The length of the run. */
static inline __u32 fast_numbers(const struct fast_reporter *r)
{
	__u32 n = r->numbers - (r->numbers >> 32);

	return r->key >> 32 & FAST_REPORTER_22 ? n & TREPORT_SEQUENCE2_MASK : n;
}

/* frames = passed + taken + whole + copied + lost. */
struct fast_counters {
	__u64 frames;
	__u64 passed; /* no telemetry: left to the host's stack */
	__u64 taken;  /* compared here */
	__u64 whole;  /* sent up for user space to compare */
	__u64 copied; /* the same, and passed to the host's stack, too */
	__u64 lost;   /* not sent up: the ring was full */
	/* notes */
	__u64 events;	/* records of events and of pushed values */
	__u64 delayed;	/* no room in the ring: sent later, if still true */
	__u64 unplaced; /* values of queues, links, buffers: no room for more */
	__u64 unheard;	/* numbers of reports without room in the ring: lost */
};

/* Records in the ring: struct fast_value, and so on. */
enum fast_type { FAST_VALUE, FAST_PATH, FAST_WHOLE, FAST_RUN };

enum {
	FAST_PERIODIC = 1 << 4, /* no event: the value is pushed */
};

struct fast_record {
	__u32 type;  /* enum fast_type */
	__u32 kinds; /* enum threshold_event, FAST_PERIODIC */
	__u64 ns;    /* CLOCK_MONOTONIC */
};

struct fast_value {
	struct fast_record record;
	struct fast_flow_key flow; /* len 0: not of a flow */
	__u32 metric;
	__u32 node, egress, id;
	__u32 value, reference;
	__u32 has_reference;
	struct threshold threshold;
};

/* node[]: n nodes of the path, then old nodes of the one before. */
struct fast_path {
	struct fast_record record;
	struct fast_flow_key flow;
	__u32 n, old;
	__u32 node[2 * FAST_HOPS];
};

struct fast_run {
	struct fast_record record;
	struct fast_reporter of;
};

struct fast_whole {
	struct fast_record record;
	__u32 len, wire_len;
	__u8 byte[FAST_FRAME];
};

/* How the network uses INT: the same fields as in int/int_profile.h. */
struct fast_profile {
	__u64 marker;
	__u32 any;     /* of any version: each header says which */
	__u32 int_ver; /* if not any: enum fast_int_ver; 0: another one */
	__u32 any_ver, behind_tcp_options, report_length_wrong;
	__u32 dscp, dscp_mask;
	__u32 udp_port, vxlan_gpe_port, geneve_port, report_port;
	__u32 gre_type;
};

#endif
