/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traffic.h - the packets that a network carries, one after the other: from a
 * capture, with its times, or from a model, in virtual time. Besides: frames,
 * TCP losses, a flow table, the fat tree, and what INT says along a path.
 *
 * Threads: none; each object belongs to one caller.
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

/* A packet of a capture or of the model. All is in host order but the key,
 * whose bytes are as on the wire (net/key.h). */
struct traffic_packet {
	uint64_t ts_ns;	      /* since the epoch */
	uint8_t key[KEY_MAX]; /* flow4 or flow6 */
	uint8_t key_len;
	bool v6;
	bool fragment; /* but the first one: it has no ports */
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
 * The model: synthetic traffic in virtual time. A flow is a function of the
 * seed and the flow's number, so that none has to be remembered. Hosts are of
 * 10.128.0.0/9 and fd00::/96, a few of them popular, a quarter as many as flows
 * but 16 to 2^20. Services are well known: UDP for DNS and NTP, else TCP.
 *
 * Up to 4096 flows are active; each step one of them, picked at random, sends a
 * packet. Flow sizes are 2/u packets, u uniform (Zipf's tail). A TCP flow opens
 * with SYN and ends with FIN. One packet in 100 is lost beyond the observer and
 * sent again, one in four of those after a timeout; one in 400 is followed by
 * silence, which ends a flowlet. The same model makes the same packets on every
 * machine: it uses only integers and correctly rounded division.
 */
enum {
	SYNTH_SEED_DEFAULT = 1,
};

/* Silence that ends a flowlet. The model's silences are at least twice that. */
#define SYNTH_GAP_NS UINT64_C(50000000)

/* The two hosts of all flows. */
struct traffic_ends {
	uint8_t version; /* 4, 6; 0: not given, flows are between many hosts */
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
 * A stream of random numbers for a seed: number i is base ^ rng_mix(i). Were
 * base just rng_mix(seed), number j of seed i would equal number i of seed j;
 * extra prevents it. For the default seed extra is 0, so that its packets stay
 * what they were before there was extra.
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

/* When all flows have ended: the same flows once more, each a new connection.
 * Time goes on. */
void synth_restart(struct synth *s);

/* --- captures and the model alike ----------------------------------------- */

/* Flows or packets of a run, at most. */
#define TRAFFIC_COUNT_MAX UINT64_C(1000000000000)

/* packets = given to the caller + not wanted + not the first of their flow
 * (TRAFFIC_FLOWS of a capture) + not_ip + malformed. */
struct traffic_counters {
	uint64_t packets;
	uint64_t not_ip;    /* neither IPv4 nor IPv6 */
	uint64_t malformed; /* bad or cut headers */
	uint64_t evicted;   /* flows that TRAFFIC_FLOWS has forgotten */
};

enum traffic_item {
	TRAFFIC_PACKETS, /* all */
	TRAFFIC_FLOWS,	 /* the first one of each flow */
	TRAFFIC_NUMBERS, /* of the model: id is a flow's number, ts_ns is set,
			    all else is 0 */
};

struct traffic_options {
	const char *capture; /* pcap or pcapng, "-": stdin; NULL: the model */
	struct traffic_model model;
	enum traffic_item item;
	uint64_t max_flows; /* that TRAFFIC_FLOWS remembers of a capture */
	struct traffic_counters *ctr; /* the caller's */
	/* May be NULL, as the next two. Whether to pass the packet on; if not,
	 * it does not begin a flow. */
	bool (*wanted)(void *ctx, const struct traffic_packet *p);
	/* All flows of the model have ended: whether to restart them. */
	bool (*again)(void *ctx);
	/* Called before a read that may wait, as from a pipe. */
	void (*before_wait)(void *ctx);
	void *ctx;
};

struct traffic;

/* The options are copied. Returns 0 or -errno; err tells the reason without the
 * path. */
int traffic_open(struct traffic **out, const struct traffic_options *o,
		 struct error *err);
void traffic_close(struct traffic *t); /* NULL is fine */

/* 1: *p is set; 0: the end; -EINTR: no packet this time, the caller looks at
 * its signals and its clock and calls again; another -errno: as src_rx(), with
 * err set. */
int traffic_next(struct traffic *t, struct traffic_packet *p,
		 struct error *err);

/* The captured frame of the packet that traffic_next() gave last, valid until
 * its next call; NULL: the packet is of the model. */
const struct pkt *traffic_pkt(const struct traffic *t);

/* --- frames --------------------------------------------------------------- */

/*
 * Writes a packet as a frame: Ethernet, IPv4 or IPv6, TCP or UDP headers
 * (nothing above IP for other protocols), and zeros as data, as many bytes as
 * the packet has but at most data_max. The lengths in the headers and all
 * checksums are those of the frame as written. Returns its length, or -ENOBUFS.
 */
int traffic_frame(uint8_t *buf, size_t cap, const struct traffic_packet *p,
		  size_t data_max, uint8_t dscp);

/*
 * Writes a frame in a tunnel, VXLAN (RFC 7348) or else Geneve (RFC 8926); outer
 * has the addresses and ports of the tunnel. Returns the length, or -ENOBUFS.
 */
int traffic_tunnel(uint8_t *buf, size_t cap, const struct net_udp4 *outer,
		   bool vxlan, const uint8_t *frame, size_t len);

/* --- TCP, as seen from the middle of the network -------------------------- */

/*
 * A segment that begins below the highest sequence number of its flow was sent
 * again, unless it is a keep-alive (RFC 9293, 3.8.4) or was reordered: it comes
 * within 3 ms of the highest one and ends below that. One sent again after
 * TCP_RTO_NS of silence counts as a timeout, as in Marple (Narayana et al.,
 * SIGCOMM 2017; DTA paper, section 6.1). A SYN with another sequence number
 * begins a new connection. Acknowledgements are not seen, so that an
 * unnecessary retransmission counts as a loss.
 */

/* The usual minimum of a retransmission timer. */
#define TCP_RTO_NS UINT64_C(200000000)

/* Of a flow; zeros to begin with. */
struct tcp_flow {
	uint64_t last_ns; /* time of the last packet */
	uint64_t top_ns;  /* when the highest sequence number was seen */
	uint32_t top;	  /* one past the highest sequence number */
	uint32_t isn;	  /* that of the SYN */
	bool seen_seq;	  /* top is known */
};

enum tcp_verdict {
	TCP_FRESH,
	TCP_REORDERED,
	TCP_RETRANSMITTED,
	TCP_TIMED_OUT, /* retransmitted after at least TCP_RTO_NS of silence */
};

/* Of the next packet of a flow. Captures are not always in order of time. */
enum tcp_verdict tcp_track(struct tcp_flow *f, const struct traffic_packet *p);

/* --- a table of flows, or of hosts ---------------------------------------- */

/* When the table is full, the least recently used flow is evicted. Memory: for
 * each flow 56 bytes, data_len, and 4 to 8 in the hash index; touched only as
 * the table fills. */

enum {
	FLOWTAB_MAX = 1 << 26, /* flows of a table */
	FLOWTAB_KEY_MAX = KEY_FLOW6_LEN,
};

struct flow {
	/* The table's own: indices of other flows, 0: none. */
	uint32_t next_in_bucket, newer, older;
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
	uint64_t seed;	 /* of the hash */
	/* A flow leaves, evicted or by flowtab_drain(). It still has its data.
	 * The table must not be used from here. May be NULL. */
	void (*on_evict)(void *ctx, struct flow *f);
	void *ctx;
	uint64_t *evicted; /* counts flows, drained ones not; may be NULL */
};

struct flowtab;

/* Returns 0, -EINVAL (max) or -ENOMEM. */
int flowtab_open(struct flowtab **out, const struct flowtab_options *o);
void flowtab_close(struct flowtab *t); /* NULL is fine; no flow leaves */

/* The flow of a key of at most FLOWTAB_KEY_MAX bytes, added if there is none;
 * *fresh: it was. It is now the most recently used one. The pointer is good
 * until the flow leaves. */
struct flow *flowtab_get(struct flowtab *t, const uint8_t *key, size_t len,
			 bool *fresh);

/* All flows leave, the least recently used one first. */
void flowtab_drain(struct flowtab *t);

/* --- the network that telemetry tells of ---------------------------------- */

/* clang-format off */
/*
 * Switches have ids from 1, ports are numbered from 0 in each. A host is
 * connected to the edge switch that a hash of its address picks. Among equal
 * paths (ECMP) a hash of the flow's key picks one. The two directions of a
 * connection are two flows and may take different paths.
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
	unsigned edges;	   /* switches with hosts: ids 1 .. edges */
	unsigned ports;	   /* of each switch */
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

/* A fat tree of switches with k ports, even, 4 to TOPO_ARITY_MAX. With hops 1,
 * 3 or 5, all paths are that long: the receiver is moved to the sender's own
 * switch, to another one of its pod, to another pod. */
void topo_fat_tree(struct topology *t, unsigned k, unsigned hops);

/* The path of a flow; key: flow4 or flow6 of net/key.h, by its length. */
void topo_path(const struct topology *t, struct topo_path *out,
	       const uint8_t *key, size_t key_len);

/* The edge switch of a host (addr: 4 or 16 bytes). Flows from it begin there;
 * flows to it end there unless topology.hops has moved their receivers. */
unsigned topo_edge(const struct topology *t, const uint8_t *addr, size_t len);

/* --- what the nodes of a path report of a packet: in-band telemetry ------- */

/*
 * Paths are those of the topology, or have a given length: then their nodes are
 * consecutive in a ring of all switches, begin where the flow's hash says, and
 * have ingress port 0 and egress port 1.
 *
 * Values are exponential, as in the SmartNIC paper (section IV-A), drawn anew
 * for each packet, node and metric. Or they are steady, as INTCollector's
 * reports are (section V-A): one latency for each flow at each node, and one
 * value of any other metric for each egress port. Steady values may have
 * spikes, a given number a second: the latency of one packet at one node is
 * SPIKE_FACTOR times as long. A collector that makes events of changes makes
 * two of a spike: up, and back.
 *
 * Only integers are used, but for a table of 256 logarithms, so that the model
 * gives the same values on every machine.
 */

enum {
	INBAND_HOPS_MAX = 32,
	INBAND_SPIKE_FACTOR = 10,
	INBAND_CELLS = 256,    /* intervals of the table of -ln(u) */
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
	uint64_t spikes_per_s; /* a second of the packets' time; steady only */
};

/* What a node reports of a packet: value[f] if bit f of has is set, f being an
 * enum int_field. */
struct inband_hop {
	uint32_t has;
	uint64_t value[INT_FIELDS];
};

struct inband_path {
	unsigned n; /* hops, from the source to the sink */
	bool spike; /* at one hop */
	struct inband_hop hop[INBAND_HOPS_MAX];
};

struct inband {
	struct inband_options o;
	struct rng rng;
	uint64_t spike_ns; /* time of the next spike; 0: no packet came yet */
	uint64_t cell[INBAND_CELLS + 1];
};

void inband_init(struct inband *m, const struct inband_options *o);

/* The reports of a packet, which leaves the last node at its ts_ns. */
void inband_draw(struct inband *m, struct inband_path *out,
		 const struct traffic_packet *p);

#endif
