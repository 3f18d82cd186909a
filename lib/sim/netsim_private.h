/* SPDX-License-Identifier: BSD-2-Clause */
/* netsim_private.h - a run, and what its parts ask of each other. */
#ifndef SIM_NETSIM_PRIVATE_H
#define SIM_NETSIM_PRIVATE_H

#include <stdlib.h>

#include "base/timer_heap.h"
#include "label/control.h"
#include "sim/netsim.h"
#include "label/label.h"

/* What an event is of: its kind in the upper bits, a number in the others. */
enum event_kind {
	EV_ARRIVE,  /* a packet at the other end of its link */
	EV_SOURCE,  /* a sender of traffic sends */
	EV_PROBE,   /* a generator of probes sends */
	EV_EXPORT,  /* what a last hop took off reaches the controller */
	EV_COMMAND, /* the controller's word reaches a port */
	EV_TICK,    /* an interval of the controller's is over */
	EV_LOOK,    /* something of a port is due there */
	EV_END,
};

enum {
	SIM_NONE = UINT32_MAX, /* no packet, no port, no host */
	EV_BITS = 28,
	EV_MASK = (1 << EV_BITS) - 1,
};

enum packet_kind {
	OF_TRAFFIC,
	OF_WAY,	  /* a probe along one of probe.c's trails */
	OF_FLOOD, /* a probe that switches copy */
	OF_PING,
};

struct sim_packet {
	uint32_t next;	   /* behind it in the queue, or among those free */
	uint32_t port;	   /* through which it left last */
	uint32_t bytes;	   /* of the frame, without labels */
	uint32_t src, dst; /* nodes */
	uint32_t flow;	   /* its number; of a probe: its trail */
	uint32_t hop;
	uint16_t labels;
	uint8_t kind, len;	 /* of out */
	struct label_item *item; /* the labels, the oldest first */
	bool specific, lost, answer;
	uint64_t leave_ns; /* its last byte */
	uint8_t out[FABRIC_HOPS];
};

struct sim_port {
	uint64_t free_ns; /* when the last packet of its queue has left */
	uint32_t head, tail, depth;
	uint8_t want_s;	  /* of the controller, under way */
	uint64_t flag_ns; /* of NETSIM_FLAG: it labels all packets until then */
	double loss;
	uint32_t active; /* interval + 1 in which a packet last left by it */
	struct label_port label;
	struct label_port sampled; /* of NETSIM_INT: what came by it */
};

/* A sender of traffic. */
struct sim_source {
	uint32_t host; /* SIM_NONE: any */
	uint32_t next; /* of its ways */
};

struct probes;

struct netsim {
	struct netsim_options o;
	struct netsim_calls calls;
	struct fabric *f;
	/* What is to happen, a heap; those of one instant come in the order in
	 * which they were put, so that a run is the same each time. */
	struct timer_entry *heap;
	uint32_t events, room, order;
	uint64_t now_ns;
	bool over;    /* the end has come: what is under way arrives */
	bool stopped; /* before its time, by calls.stop */
	struct sim_port *port;
	/* Packets, known by their numbers: as many as were ever under way at
	 * once. A pointer to one holds until the next is made. */
	struct sim_packet *packet;
	uint32_t packets, packet_room, free;
	struct rng traffic, chance, labelling;
	struct label_format format;

	struct sim_source *source;
	uint32_t sources;
	double gap_ns; /* of a source, mean */

	struct probes *probes;
	struct label_control *control;
	struct label_interval_sum sum; /* of its last interval */
	uint64_t look_ns;	       /* of EV_LOOK; 0: there is none */

	struct netsim_counters ctr, before; /* now; at the last interval */
	uint64_t carried[NETSIM_CARRIED], carried_before[NETSIM_CARRIED];
	uint64_t interval; /* number of the running one */
	int err;
};

static inline struct sim_packet *sim_packet(const struct netsim *s, uint32_t i)
{
	return &s->packet[i];
}

/* What it has on the wire. */
static inline uint32_t sim_bytes(const struct sim_packet *p)
{
	return p->bytes + (p->labels ? LABEL_OPTION_LEN : 0) +
	       (uint32_t)p->labels * LABEL_ITEM_LEN;
}

/* --- netsim.c ------------------------------------------------------------- */

/* The run ends with an error, -errno. */
void sim_fail(struct netsim *s, int err);
/* It happens then. */
void sim_at(struct netsim *s, uint64_t ns, enum event_kind kind,
	    uint32_t number);
/* A new packet, cleared; SIM_NONE after sim_fail(). */
uint32_t sim_make(struct netsim *s, enum packet_kind kind, uint32_t bytes);
/* It is gone, and its labels. */
void sim_free(struct netsim *s, uint32_t i);
/* Into the queue of a port; in: the one it came by, SIM_NONE: of a host, or of
 * the switch itself. */
void sim_send(struct netsim *s, uint32_t i, uint32_t port, uint32_t in);
/* Its labels go to the controller; it goes on without. */
void carry_export(struct netsim *s, uint32_t i, uint64_t ns);

/* --- probe.c -------------------------------------------------------------- */

int probe_open(struct netsim *s);
void probe_send(struct netsim *s, uint32_t i); /* EV_PROBE */
/* One along a trail or a flooded one has come to a switch, or a ping to a host.
 */
void probe_arrive(struct netsim *s, uint32_t i, uint32_t in);
uint32_t probe_generators(const struct netsim *s);
void probe_close(struct netsim *s);

#endif
