/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - what int_fast.bpf.c and xdp.c share: what the maps hold, and the
 * records that the program sends. Native byte order, but for the bytes of flow
 * keys, which are as in packets (net/key.h).
 */
#ifndef XDP_PRIVATE_H
#define XDP_PRIVATE_H

#include <linux/types.h>

#include "net/proto.h"
#include "telemetry/threshold.h"

enum {
	FAST_FRAME = 2048, /* bytes of a frame that are looked at or sent up */
	FAST_HOPS = 8,	   /* of a packet that is taken */
	FAST_KEY = 37,
	FAST_OBJECTS = 65536,
};

/* Of which INT header a bitmap is: the number in it. */
enum fast_words {
	FAST_1_0 = 1,
	FAST_2,
};

struct fast_layout_key {
	__u32 words; /* enum fast_words */
	__u32 bitmap;
};

/* Bits of a word of 4 bytes; mask 0: the hop does not have it. */
struct fast_field {
	__u32 mask;
	__u32 scale;
	__u32 word; /* where it is in the hop */
	__u32 shift;
};

/* Where a bitmap's fields are: int_layout of int/int.h as the program needs it.
 */
struct fast_layout {
	__u32 len;    /* bytes of a hop */
	__u32 node;   /* where its word is */
	__u32 stamps; /* there are times, by which latency could be told, too */
	struct fast_field id[FIELD_IDS];
	struct fast_field metric[HOP_METRICS];
};

struct fast_threshold_key {
	__u32 node, metric;
};

/* What is an event now. */
struct fast_rules {
	/* Low bits: times that values were pushed; above, the generation of
	 * thresholds. */
	__u32 era;
	__u32 nodes; /* thresholds of single nodes */
	struct threshold all[NUMERIC_METRICS];
};

enum {
	FAST_EPOCHS = 0xffff,
	FAST_GENERATION_SHIFT = 16,
};

/* A number of a key, watched in this era. */
struct fast_seen {
	struct threshold_state watch;
	__u32 era;
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

/* object: numbers of int_objects, of METRIC_QUEUE_OCCUPANCY and on; where they
 * were found last. */
struct fast_hop {
	__u32 node;
	__u32 object[HOP_METRICS - 1];
	struct fast_seen latency;
};

struct fast_flow {
	__u64 packets, bytes;	 /* IP headers on, without INT */
	__u64 first_ns, last_ns; /* CLOCK_MONOTONIC; to a tick */
	__u32 hops;		 /* of the path that was told; 0: none was */
	__u32 era;
	struct fast_seen latency;
	__u32 settled; /* the era in which all of its path has been told */
	/* The source's first; behind the path, as far as there is room, those
	 * that were on another. */
	struct fast_hop hop[FAST_HOPS];
};

/* A place for a flow. */
struct fast_place {
	struct fast_flow_key key;
	struct fast_flow flow;
};

enum {
	FAST_PLACES = 131072, /* a power of two; the last ones begin no row */
	FAST_WAYS = 8,	      /* places where a flow may be, in a row */
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

/* The first place where it may be. */
static inline __u32 fast_home(__u64 hash)
{
	return (hash >> 32) * (FAST_PLACES - FAST_WAYS) >> 32;
}

static inline __u32 fast_tag(__u64 hash)
{
	return (__u32)hash | 1;
}

/* A queue, a link or a buffer: whose number it is. */
struct fast_object_key {
	__u32 node, metric, egress, id; /* ~0: none */
};

struct fast_object {
	struct fast_object_key key;
	struct fast_seen seen;
};

/* A reporter's numbers that came one after the other and were not told yet. */
struct fast_reporter {
	__u64 key;     /* the numbers' flags << 32 | node; 0: none */
	__u64 numbers; /* the first << 32 | the one behind the last */
};

enum {
	FAST_REPORTERS = 4096, /* a power of two */
	FAST_REPORTER_USED = 1 << 15,
	FAST_REPORTER_22 = 1 << 14, /* numbers have 22 bits, not 32 */
};

/* How many they are. */
static inline __u32 fast_numbers(const struct fast_reporter *r)
{
	__u32 n = r->numbers - (r->numbers >> 32);

	return r->key >> 32 & FAST_REPORTER_22 ? n & TREPORT_SEQUENCE2_MASK : n;
}

/* frames = passed + taken + whole + copied + lost. */
struct fast_counters {
	__u64 frames;
	__u64 passed; /* no telemetry: the host's */
	__u64 taken;  /* compared here */
	__u64 whole;  /* sent up as they were: a kind that this does not know */
	__u64 copied; /* the same; the host has them, too */
	__u64 lost;   /* the same, but the ring was full */
	/* notes */
	__u64 events;	/* records, and of values that are pushed */
	__u64 delayed;	/* records that had no room: next time, if still true */
	__u64 unplaced; /* values of queues, links, buffers: no room for more */
	__u64 unheard;	/* numbers of reports: no room; they count as lost */
};

/* What the ring carries. */
enum fast_type {
	FAST_NUMBER,
	FAST_PATH,
	FAST_WHOLE,
	FAST_RUN,
};

enum {
	FAST_VALUE =
		1 << 4, /* beside enum threshold_event: it is time to tell */
};

struct fast_record {
	__u32 type;  /* enum fast_type */
	__u32 kinds; /* enum threshold_event */
	__u64 ns;    /* CLOCK_MONOTONIC */
};

struct fast_number {
	struct fast_record record;
	struct fast_flow_key flow; /* len 0: not of a flow */
	__u32 metric;
	__u32 node, egress, id;
	__u32 value, reference;
	__u32 referred; /* there is a reference */
	struct threshold threshold;
};

/* node[]: n of the path, then old of the one before. */
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

/* How the network speaks INT: of int_profile.h. */
struct fast_profile {
	__u64 marker;
	__u32 any;   /* each header says which version it is; else: */
	__u32 words; /* enum fast_words; 0: another one */
	__u32 any_ver, behind_tcp_options, report_length_wrong;
	__u32 dscp, dscp_mask;
	__u32 udp_port, vxlan_gpe_port, geneve_port, report_port;
	__u32 gre_type;
};

#endif
