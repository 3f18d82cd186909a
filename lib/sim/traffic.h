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

#include "base/error.h"
#include "base/rng.h"
#include "int/int.h"
#include "net/key.h"
#include "net/net.h"
#include "packet/pkt.h"

/* A packet, of a capture or of the model: all in host order but the key, whose
 * bytes are as on the wire (net/key.h). */
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
 * The model: synthetic traffic in virtual time. Flows are a function of the
 * seed and their number, so that none has to be remembered: between hosts
 * of 10.128.0.0/9 and fd00::/96, a few of them popular, to well-known services,
 * UDP for DNS and NTP, else TCP. There are a quarter as many hosts as flows, 16
 * to 2^20. Packets: up to 4096 flows are active; each step one of them, picked
 * at random, sends one. Flow sizes are 2/u packets, u uniform (Zipf's tail). A
 * TCP flow opens with SYN and ends with FIN. One packet in 100 is lost beyond
 * the observer and sent again, one in four of those after a timeout; one in 400
 * is followed by silence, which ends a flowlet. The same model makes the same
 * packets on every machine: only integers and correctly rounded division.
 */
enum {
	SYNTH_SEED_DEFAULT = 1,
};

/* Silence that ends a flowlet: the model's are twice that at least. */
#define SYNTH_GAP_NS UINT64_C(50000000)

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

/* The first packet of flow i, but for ts_ns. */
void synth_flow(const struct synth_flows *s, struct traffic_packet *p,
		uint64_t i);

/* The packets of all flows. */
struct synth;

/* 0 or -ENOMEM. */
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

/* packets = given to the caller + not wanted + not_ip + malformed. */
struct traffic_counters {
	uint64_t packets;
	uint64_t not_ip;    /* neither IPv4 nor IPv6 */
	uint64_t malformed; /* bad or cut headers */
	/* notes */
	uint64_t evicted; /* flows that TRAFFIC_FLOWS has forgotten */
};

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

/* The options are copied. Returns 0 or -errno; err tells the reason, the path
 * not included. */
int traffic_open(struct traffic **out, const struct traffic_options *o,
		 struct error *err);
void traffic_close(struct traffic *t); /* NULL is fine */

/*
 * 1: *p set; 0: the end; -EINTR: none as yet, a signal came or it is time to
 * look at a clock; or another -errno, as of src_rx(), with err set.
 */
int traffic_next(struct traffic *t, struct traffic_packet *p,
		 struct error *err);

/* The frame of the packet that traffic_next() gave last, as long as that: of a
 * capture; NULL of the model. */
const struct pkt *traffic_pkt(const struct traffic *t);

/* --- frames ----------------------------------------------------------------
 */

/*
 * The frame of a packet: writes Ethernet, IPv4 or IPv6, TCP or UDP headers
 * (nothing above IP for other protocols), and data of zeros: as many bytes as
 * the packet has, but at most data_max, by which its lengths go then. All
 * checksums are right; DSCP and TTL as given. Returns the frame's length, or
 * -ENOBUFS.
 */
int traffic_frame(uint8_t *buf, size_t cap, const struct traffic_packet *p,
		  size_t data_max, uint8_t dscp);

/*
 * Writes a frame in a tunnel, VXLAN (RFC 7348) or else Geneve (RFC 8926), whose
 * ends and port outer has. Returns the length, or -ENOBUFS.
 */
int traffic_tunnel(uint8_t *buf, size_t cap, const struct net_udp4 *outer,
		   bool vxlan, const uint8_t *frame, size_t len);

/* --- TCP, as seen from the middle of the network ---------------------------
 */

/*
 * A segment that begins below the highest sequence number of its flow is one
 * sent again, unless it is a keep-alive (RFC 9293 3.8.4), or comes within 3 ms
 * of the one that passed it and does not end at that number: then it was
 * reordered. One sent again after a silence of TCP_RTO_NS is a timeout, as of
 * Marple (Narayana et al., SIGCOMM 2017; DTA paper, section 6.1). A SYN with
 * another sequence number begins a new connection. Acknowledgements are not
 * seen: a retransmission without need is a loss.
 */

/* The usual minimum of a retransmission timer. */
#define TCP_RTO_NS UINT64_C(200000000)

/* Of a flow; zeros to begin with. */
struct tcp_flow {
	uint64_t last_ns;  /* time of the last packet */
	uint64_t top_ns;   /* when the highest sequence number was seen */
	uint32_t top, isn; /* one past the highest one; the SYN's */
	bool seen_seq;	   /* top is known */
};

enum tcp_verdict {
	TCP_FRESH,
	TCP_REORDERED,
	TCP_RETRANSMITTED,
	TCP_TIMED_OUT, /* retransmitted after at least TCP_RTO_NS of silence */
};

/* Of the next packet of a flow. Captures are not always in order of time. */
enum tcp_verdict tcp_track(struct tcp_flow *f, const struct traffic_packet *p);

/* --- what is remembered of flows, or of hosts ------------------------------
 */

/*
 * A table of limited size: when it is full, the least recently used flow goes.
 * Memory: 56 bytes and data_len for each flow, 4 to 8 for where it is found,
 * touched only as the table fills.
 */

enum {
	FLOWTAB_MAX = 1 << 26, /* flows of a table */
	FLOWTAB_KEY_MAX = KEY_FLOW6_LEN,
};

struct flow {
	uint32_t chain, newer, older; /* the table's own, as hash */
	uint32_t hash;
	uint8_t key_len;
	uint8_t key[FLOWTAB_KEY_MAX];
};

/* What the caller keeps of a flow: data_len bytes, aligned to 8, zeros when the
 * flow is new. */
static inline void *flow_data(struct flow *f)
{
	return f + 1;
}

struct flowtab_options {
	uint64_t max;	 /* flows, 1 to FLOWTAB_MAX */
	size_t data_len; /* of a flow */
	uint64_t seed;	 /* where flows are found, nothing else */
	/* A flow leaves: pushed out, or by flowtab_drain(). It still holds its
	 * data; the table must not be asked from here. May be NULL. */
	void (*on_evict)(void *ctx, struct flow *f);
	void *ctx;
	uint64_t *evicted; /* counts those pushed out; may be NULL */
};

struct flowtab;

/* Returns 0, -EINVAL (max) or -ENOMEM. */
int flowtab_open(struct flowtab **out, const struct flowtab_options *o);
void flowtab_close(struct flowtab *t); /* NULL is fine; no flow leaves */

/*
 * The flow of a key of at most FLOWTAB_KEY_MAX bytes; *fresh when it is new.
 * It is the most recently used one now, and stays where it is until it
 * leaves.
 */
struct flow *flowtab_get(struct flowtab *t, const uint8_t *key, size_t len,
			 bool *fresh);

/* All flows leave, the least recently used one first. */
void flowtab_drain(struct flowtab *t);

/* --- the network that telemetry tells of -----------------------------------
 */

/* clang-format off */
/*
 * Switches have ids from 1, ports are numbered from 0 in each. A host is
 * connected to the edge switch that a hash of its address picks. Equal paths
 * are shared out by flow (ECMP): a hash of its key picks one. The two
 * directions of a connection are two flows and may go different ways.
 *
 * The k-ary fat tree (Al-Fares et al., SIGCOMM 2008): k pods of k/2 edge and
 * k/2 aggregation switches, k*k/4 cores. Ids: edge switches, pod by pod; then
 * aggregation switches, pod by pod; then cores. 80 for k = 8.
 *
 * switch                        port      leads to
 * edge e of pod p               h         a host, h < k/2
 *                               k/2 + a   aggregation a of p, its port e
 * aggregation a of pod p        e         edge e of p, its port k/2 + a
 *                               k/2 + c   core a * k/2 + c, its port p
 * core                          p         pod p
 *
 * A path has 5 switches, 3 within a pod, 1 between hosts of one edge switch.
 */
/* clang-format on */

enum {
	TOPO_HOPS_MAX = 5,   /* of a path */
	TOPO_ARITY_MAX = 64, /* of a fat tree */
};

struct topology {
	unsigned switches; /* ids 1 .. switches */
	unsigned edges;	   /* ids 1 .. edges: those with hosts */
	unsigned ports;	   /* of each */
	unsigned hops;	   /* of all paths; 0: as the addresses say */
};

struct topo_hop {
	uint32_t id;
	uint16_t in, out; /* ports */
};

struct topo_path {
	unsigned len;
	struct topo_hop hop[TOPO_HOPS_MAX];
};

/*
 * A fat tree of switches with k ports, even, 4 to TOPO_ARITY_MAX. With hops 1,
 * 3 or 5, all paths are that long: the receiver is moved to the sender's own
 * switch, to another one of its pod, to another pod.
 */
void topo_fat_tree(struct topology *t, unsigned k, unsigned hops);

/* The path of a flow: key as of net/key.h, flow4 or flow6, by its length. */
void topo_path(const struct topology *t, struct topo_path *out,
	       const uint8_t *key, size_t key_len);

/* The switch of a host, 4 or 16 bytes of address: the first one of its flows,
 * and, if paths are as the addresses say, the last one of those to it. */
unsigned topo_edge(const struct topology *t, const uint8_t *addr, size_t len);

/* --- what the nodes on a packet's way say about it: in-band telemetry -------
 */

/*
 * Paths are those of the topology, or as long as is wanted: then nodes follow
 * each other in a ring that the flow picks a place in, so that none comes
 * twice. Ports of such nodes: in 0, out 1, as in a ring.
 *
 * Values are exponential, as in the SmartNIC paper (section IV-A): a draw of
 * its own for each packet, node and metric. Or steady, as INTCollector's
 * reports are (section V-A): of each node, and of each flow at it, one value,
 * but for spikes, so many a second: one packet is SPIKE_FACTOR times as long at
 * one of its nodes. Where changes are events, each is two: up, and back.
 *
 * Integers only, but for a table of 256 logarithms: the same model says the
 * same on every machine.
 */

enum {
	INBAND_HOPS_MAX = 32,
	INBAND_SPIKE_FACTOR = 10,
	INBAND_CELLS = 256,    /* of the table of exponential values */
	INBAND_LINK_NS = 1000, /* from a node to the next */
	/* Means of nodes, queues, links (per cent) and buffers. */
	INBAND_LATENCY_NS = 2000,
	INBAND_OCCUPANCY = 60,
	INBAND_UTILIZATION = 30,
	INBAND_BUFFER = 1000,
};

struct inband_options {
	uint64_t seed;
	struct topology topology;
	unsigned hops; /* of all paths, up to INBAND_HOPS_MAX, at most as many
			  as there are switches; 0: the topology's */
	bool steady;
	uint64_t spikes; /* a second of the packets' time; steady only */
};

/* One node's words about a packet: has says which, as struct int_layout's. */
struct inband_hop {
	uint32_t has;
	uint64_t value[INT_FIELDS];
};

struct inband_path {
	unsigned n; /* from the source to the sink */
	bool spike; /* at one of them */
	struct inband_hop hop[INBAND_HOPS_MAX];
};

struct inband {
	struct inband_options o;
	struct rng rng;
	uint64_t spike_ns; /* when the next one comes; 0: not begun */
	uint64_t cell[INBAND_CELLS + 1];
};

void inband_init(struct inband *m, const struct inband_options *o);

/* Times end at the packet's. */
void inband_say(struct inband *m, struct inband_path *out,
		const struct traffic_packet *p);

#endif
