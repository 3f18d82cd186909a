/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gen.h - dta-gen's own interfaces: packets come in from a capture or from a
 * traffic model, a workload looks at each and hands out reports, and emit.c
 * writes them as frames and as rows of the truth.
 *
 * A workload sees only struct gen_packet, so that what it computes from a
 * capture it computes from synthetic traffic too, by the same code.
 */
#ifndef DTA_GEN_GEN_H
#define DTA_GEN_GEN_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/ledger.h"
#include "base/rng.h"
#include "cli/live.h"
#include "packet/pkt.h"
#include "wire/dta.h"
#include "wire/key.h"
#include "wire/net.h"

enum {
	SEED_DEFAULT = 1,
	FLOW4_LEN = 13,
	FLOW6_LEN = 37,
	PATH_MAX_HOPS = 5, /* of a fat tree */
	ARITY_MAX = 64,
	REPORT_MAX = 8 + KEY_MAX + 1024,
	HEADER_LEN = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
};

/* packets = used + skipped, by reason. */
struct gen_ledger {
	uint64_t packets;
	uint64_t used;
	uint64_t not_ip;    /* neither IPv4 nor IPv6 */
	uint64_t malformed; /* bad or cut headers */
	uint64_t fragments; /* no ports: the flow cannot be told */
	uint64_t not_tcp;   /* for workloads that follow TCP */
	uint64_t ipv6;	    /* a 16-byte address does not fit a DTA/0 key */
	/* notes */
	uint64_t reports;
	uint64_t report_bytes; /* UDP payload */
	uint64_t retransmissions;
	uint64_t evicted;   /* flows pushed out of the flow table */
	uint64_t uncounted; /* sonata-result: no room in the window's table */
	uint64_t backoffs;  /* times that the pace was halved */
};

extern const struct ledger gen_ledger;

/* One packet of the monitored traffic, host order. */
struct gen_packet {
	uint64_t ts_ns;
	uint8_t key[KEY_MAX]; /* flow4 or flow6 */
	uint8_t key_len;
	bool v6;
	bool fragment;
	uint8_t protocol, ttl, tcp_flags;
	uint16_t src_port, dst_port;
	uint16_t ip_id;
	uint32_t ip_len;
	uint32_t seq, payload; /* TCP */
	uint64_t id; /* a hash of what stays the same along the path */
};

static inline const uint8_t *packet_src(const struct gen_packet *p)
{
	return p->key;
}

static inline const uint8_t *packet_dst(const struct gen_packet *p)
{
	return p->key + (p->v6 ? 16 : 4);
}

static inline size_t packet_addr_len(const struct gen_packet *p)
{
	return p->v6 ? 16 : 4;
}

static inline void store16(uint8_t *p, unsigned v)
{
	uint16_t be = htobe16((uint16_t)v);

	memcpy(p, &be, sizeof(be));
}

static inline void store32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

/* A seeded hash of a few bytes, the same on every machine. */
static inline uint64_t hash_bytes(uint64_t seed, const uint8_t *p, size_t len)
{
	uint64_t h = rng_mix(seed + len), w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = rng_mix(h ^ le64toh(w));
	}
	w = 0;
	for (size_t i = 0; i < len; i++)
		w |= (uint64_t)p[i] << (8 * i);
	return rng_mix(h ^ w);
}

struct gen_options {
	const char *from, *out, *truth;
	const char *ticket, *cluster; /* --dart */
	bool dart;
	uint64_t flows, count, seed;
	uint64_t base, extra; /* made of the seed: check.c */
	bool repeat; /* synthetic flows come round again, until told to stop */
	enum dta_format format;
	bool tracked, immediate;
	uint64_t copies, table;
	uint8_t collector[4];
	uint64_t rate; /* packets/s, of the clock of synthetic traffic */
	/* where reports go: link.c */
	struct cli_live live;
	const char *nacks;
	uint8_t to_mac[6];
	bool has_mac, wait, quiet;
	enum row_format output; /* of list and ledger */
	uint32_t source;	/* address of switch 0 */
	uint64_t pace;		/* reports/s on an interface; 0: any */
	uint64_t duration_ns;	/* 0: to the end */
	uint64_t resend;	/* reports kept of each switch */
	uint64_t ipv6;		/* per cent of the synthetic flows */
	uint64_t arity, hops;
	uint64_t interleave;
	bool no_path_len;
	uint64_t gap_ns, rto_ns, window_ns;
	uint64_t link_rate; /* bits/s; 0: the source's default */
	uint64_t queue;	    /* bytes */
	uint64_t cache, max_flows, lists, sample;
	/* uniform */
	int key_type, kind;
	unsigned key_len;
	uint64_t value_len;
};

struct gen;

/* What is known of a workload before it runs. [0]: IPv4, [1]: IPv6. */
struct workload {
	const char *name;
	uint8_t kind;	    /* enum dta_opcode */
	uint8_t needs;	    /* enum workload_needs */
	bool per_flow;	    /* looks at the first packet of a flow only */
	uint8_t key[2];	    /* enum key_type; append: KEY_U32 */
	uint16_t value[2];  /* bytes of value, entry */
	const char *system; /* the row of the paper's Table 2 */
	int (*start)(struct gen *g); /* may be NULL */
	void (*packet)(struct gen *g, const struct gen_packet *p);
	void (*end)(struct gen *g); /* may be NULL */
};

enum workload_needs {
	NEEDS_NOTHING,
	NEEDS_HOST, /* addresses */
	NEEDS_FLOW, /* and ports */
	NEEDS_TCP,  /* and sequence numbers */
};

extern const struct workload workloads[];
extern const unsigned n_workloads;
const struct workload *workload_find(const char *name);

/* Per-flow memory, in a table of limited size: the least recently used goes. */
struct flow {
	uint32_t chain, newer, older; /* 1-based indices, 0: none */
	uint32_t hash;
	uint8_t key[FLOW6_LEN];
	uint8_t key_len;
	bool v6, seen_seq;
	uint64_t last_ns;  /* time of the last packet */
	uint64_t top_ns;   /* when the highest sequence number was seen */
	uint64_t start_ns; /* of the window, of the flowlet */
	uint32_t top, isn; /* one past the highest sequence number; the SYN's */
	uint32_t packets, lost; /* counted by the workload */
};

struct flowtab;
int flowtab_open(struct flowtab **out, uint64_t max, uint64_t seed);
/* The flow of a key; *fresh when it is new. May evict another (on_evict). */
struct flow *flowtab_get(struct flowtab *t, const uint8_t *key, size_t len,
			 bool *fresh);
/* Called for flows that leave: pushed out, or by flowtab_drain, oldest first.
 */
void flowtab_on_evict(struct flowtab *t,
		      void (*fn)(struct gen *g, struct flow *f), struct gen *g);
void flowtab_drain(struct flowtab *t);
void flowtab_close(struct flowtab *t);

/* What a TCP segment is, seen from the middle of the network. */
enum tcp_verdict {
	TCP_FRESH,
	TCP_REORDERED,
	TCP_RETRANSMITTED,
	TCP_TIMED_OUT, /* retransmitted after at least rto_ns of silence */
};

enum tcp_verdict tcp_track(struct flow *f, const struct gen_packet *p,
			   bool fresh, uint64_t rto_ns);

/* A direct-mapped cache of counters: what a switch has room for. */
struct cache_entry {
	uint8_t key[FLOW6_LEN];
	uint8_t key_len;
	bool v6;
	uint16_t reporter;
	uint32_t count;
};

struct cache {
	struct cache_entry *e;
	uint64_t n, seed;
};

/* The switches: a k-ary fat tree, ids from 1: edges, aggregation, cores. */
struct hop {
	uint32_t id;
	uint16_t in, out; /* ports */
};

struct path {
	unsigned len;
	struct hop hop[PATH_MAX_HOPS];
};

struct tree {
	unsigned k, switches;
	unsigned hops; /* 0: as the addresses say; else 1, 3, 5 for all */
	uint64_t seed;
};

void tree_init(struct tree *t, unsigned k, unsigned hops);
void tree_path(const struct tree *t, struct path *out,
	       const struct gen_packet *p);
/* The first switch of a source's packets, the last of a destination's. */
unsigned tree_edge(const struct tree *t, const uint8_t *addr, size_t len);

/* Where packets come from. 1: *p set, 0: the end, -EINTR: none as yet, or
 * another -errno with f set. */
struct traffic;
int traffic_open(struct traffic **out, struct gen *g, struct fault *f);
int traffic_next(struct traffic *t, struct gen_packet *p, struct fault *f);
/* How far it is: in a capture, or of flows that come once. */
void traffic_place(const struct traffic *t, struct cli_progress *p);
void traffic_close(struct traffic *t);

/* The two kinds of synthetic traffic, for traffic.c. */
void synth_flow(struct gen_packet *p, const struct gen_options *o, uint64_t i);
struct synth;
/* reports: how many came of it so far; rounds that bring none are the last. */
int synth_open(struct synth **out, const struct gen_options *o,
	       uint64_t start_ns, const uint64_t *reports);
bool synth_next(struct synth *s, struct gen_packet *p);
void synth_close(struct synth *s);

struct gen {
	const struct workload *w;
	struct gen_options o;
	struct gen_ledger ctr;
	struct tree tree;
	struct flowtab *flows;
	struct cache cache;
	void *state;	 /* the workload's own, freed by free() */
	uint64_t now_ns; /* time of the last packet: what the end is dated */
	/* emit.c */
	struct snk *snk;
	struct link *link;
	struct dart_switch *dart; /* dart.c; NULL: reports leave as such */
	FILE *truth;
	uint16_t *sequence; /* per switch */
	uint8_t header[42]; /* Ethernet, IPv4, UDP without what changes */
	bool own_mac;	    /* all frames come from the interface's address */
	uint32_t ip_sum;    /* of what stays the same in the IP header */
	uint64_t sent_ns;   /* when the last report left */
	int err;	    /* sticky */
	int truth_err;	    /* the first of the truth's file */
	bool done;	    /* --count reports are out, or nobody takes more */
};

/* The key type of the table that v6 picks. */
static inline enum key_type gen_key_type(const struct gen *g, bool v6)
{
	return g->w->needs == NEEDS_NOTHING ? g->o.key_type : g->w->key[v6];
}

int emit_open(struct gen *g, struct fault *f); /* f names the file */
/*
 * One report of switch reporter: a frame, and a row of the truth. r->table and
 * the flags are filled in here; v6 picks the table. It leaves at ts_ns, or with
 * the report before it, if that is later: what it tells of may be long ago.
 * After an error, or when done, does nothing.
 */
void emit(struct gen *g, struct dta_report *r, bool v6, unsigned reporter,
	  uint64_t ts_ns);
/* Ethernet, IPv4, UDP for a payload of a switch. */
void frame_headers(const struct gen *g, uint8_t *frame, size_t payload,
		   unsigned reporter);
void emit_flush(struct gen *g); /* lets the reports so far go */
int emit_close(struct gen *g);
void truth_header(FILE *f);
void truth_row(struct gen *g, const struct dta_report *r, bool v6);

/* Shorthands over emit(). */
void emit_keywrite(struct gen *g, bool v6, const void *key, size_t key_len,
		   const void *value, size_t len, unsigned reporter,
		   uint64_t ts_ns);
void emit_append(struct gen *g, bool v6, uint32_t list, const void *entry,
		 size_t len, unsigned reporter, uint64_t ts_ns);
void emit_keyinc(struct gen *g, bool v6, const void *key, size_t key_len,
		 uint64_t addend, unsigned reporter, uint64_t ts_ns);
void emit_postcard(struct gen *g, bool v6, const void *key, size_t key_len,
		   unsigned hop, unsigned path_len, uint32_t value,
		   unsigned reporter, uint64_t ts_ns);

/* Workloads, by file. */
void int_path(struct gen *g, const struct gen_packet *p); /* w_path.c */
int int_postcard_start(struct gen *g);
void int_postcard(struct gen *g, const struct gen_packet *p);
void int_postcard_end(struct gen *g);
void packetscope_path(struct gen *g, const struct gen_packet *p);
void pint(struct gen *g, const struct gen_packet *p);
void trajectory(struct gen *g, const struct gen_packet *p);
int marple_hosts_start(struct gen *g); /* w_counters.c */
void marple_hosts(struct gen *g, const struct gen_packet *p);
void marple_hosts_end(struct gen *g);
int counters_start(struct gen *g);
void marple_hosts_sum(struct gen *g, const struct gen_packet *p);
void turboflow(struct gen *g, const struct gen_packet *p);
void counters_end(struct gen *g);
int marple_flowlets_start(struct gen *g); /* w_flows.c */
void marple_flowlets(struct gen *g, const struct gen_packet *p);
void flows_end(struct gen *g);
int flows_start(struct gen *g);
void marple_timeouts(struct gen *g, const struct gen_packet *p);
int marple_lossy_start(struct gen *g);
void marple_lossy(struct gen *g, const struct gen_packet *p);
void netseer_loss(struct gen *g, const struct gen_packet *p);
void packetscope_loss(struct gen *g, const struct gen_packet *p);
int int_congestion_start(struct gen *g); /* w_events.c */
void int_congestion(struct gen *g, const struct gen_packet *p);
void sonata_raw(struct gen *g, const struct gen_packet *p);
void dshark(struct gen *g, const struct gen_packet *p);
int sonata_result_start(struct gen *g); /* w_sonata.c */
void sonata_result(struct gen *g, const struct gen_packet *p);
void sonata_result_end(struct gen *g);
void uniform(struct gen *g, const struct gen_packet *p); /* w_uniform.c */

#endif
