/* SPDX-License-Identifier: BSD-2-Clause */
/* netsim_private.h - a run, and the functions that its parts share. */
#ifndef SIM_NETSIM_PRIVATE_H
#define SIM_NETSIM_PRIVATE_H

#include <stdlib.h>

#include "base/timer_heap.h"
#include "label/control.h"
#include "sim/netsim.h"
#include "label/label.h"

/* An event is its kind, in the upper bits, and a number in the lower EV_BITS:
 * of a packet, a sender or a port. */
enum event_kind {
	EV_ARRIVE,     /* a packet, at the other end of its link */
	EV_SOURCE,     /* a sender of traffic sends */
	EV_PROBE,      /* a generator of probes sends */
	EV_EXPORT,     /* exported labels (a packet) reach the controller */
	EV_COMMAND,    /* a command of the controller reaches a port */
	EV_TICK,       /* a telemetry interval is over */
	EV_CONTROLLER, /* label_control_due() has come */
	EV_END,	       /* of the run: nothing more is sent */
};

enum {
	SIM_NONE = UINT32_MAX, /* no packet, no port, no host */
	EV_BITS = 28,
	EV_MASK = (1 << EV_BITS) - 1,
};

enum packet_kind {
	PACKET_TRAFFIC,
	PACKET_TRAIL, /* a probe of INT-path, along a trail */
	PACKET_FLOOD, /* a probe of HULA, which switches copy */
	PACKET_PING,
};

struct sim_packet {
	uint32_t next;	   /* packet behind it in a queue or free list */
	uint32_t port;	   /* the last egress port */
	uint32_t bytes;	   /* of the frame, without labels */
	uint32_t src, dst; /* nodes */
	uint32_t flow;	   /* of PACKET_TRAIL: 2 * trail, + 1 backwards */
	uint32_t hop;	   /* switches (ports of the trail) passed */
	uint16_t labels;
	uint8_t kind;		 /* enum packet_kind */
	uint8_t len;		 /* hops of the route, out */
	struct label_item *item; /* the labels, the oldest first */
	bool specific;		 /* labelled at each hop */
	bool lost;		 /* on its link: it does not arrive */
	bool answer;		 /* to a ping */
	uint64_t leave_ns;	 /* when its last byte leaves port */
	uint8_t out[FABRIC_HOPS];
};

struct sim_port {
	uint64_t free_ns; /* when the last packet of its queue has left */
	uint32_t head, tail, depth; /* the queue: packets, and how many */
	uint8_t s_under_way;	    /* the controller's newest S for it */
	uint64_t flag_ns; /* of NETSIM_FLAG: it labels all packets until then */
	double loss;	  /* share of packets */
	uint32_t active;  /* interval + 1 in which traffic last left by it */
	struct label_port label;
	struct label_port sampled; /* of NETSIM_INT, as an ingress port */
};

/* A sender of traffic. */
struct sim_source {
	uint32_t host;	/* SIM_NONE: any pair of hosts of a fat tree */
	uint32_t route; /* of host, used last */
};

struct probes;

struct netsim {
	struct netsim_options o;
	struct netsim_calls calls;
	struct fabric *f;
	/* Events to come. Of one instant, they happen in the order in which
	 * they were scheduled, so that a run is the same each time. */
	struct timer_entry *heap;
	uint32_t events, heap_room;
	uint32_t order; /* of the next event that is scheduled */
	uint64_t now_ns;
	bool over;    /* nothing more is sent; packets under way arrive */
	bool stopped; /* over before its time, by calls.stop */
	struct sim_port *port; /* of each fabric.port */
	/* Packets, by number: as many as were ever under way at once. A
	 * pointer to one holds until sim_new_packet(). */
	struct sim_packet *packet;
	uint32_t packets, packet_room;
	uint32_t free; /* the first free packet */
	/* Random numbers of: traffic; losses, jitter and probes; labelling. */
	struct rng traffic, chance, labelling;
	struct label_format format;

	struct sim_source *source;
	uint32_t sources;
	double gap_ns; /* between packets of a source, mean */

	struct probes *probes;
	uint32_t generators; /* devices; one may be several senders */
	struct label_control *control;
	struct label_interval_sum sum; /* of the controller's last interval */
	uint64_t controller_ns;	       /* of the next EV_CONTROLLER; 0: none */

	/* Now, and when the last interval ended: */
	struct netsim_counters ctr, ctr_before;
	uint64_t carried[NETSIM_CARRIED], carried_before[NETSIM_CARRIED];
	uint64_t interval; /* number of the current one */
	int err;
};

static inline struct sim_packet *sim_packet(const struct netsim *s, uint32_t i)
{
	return &s->packet[i];
}

static inline uint32_t sim_wire_bytes(const struct sim_packet *p)
{
	return p->bytes + (p->labels ? LABEL_OPTION_LEN : 0) +
	       (uint32_t)p->labels * LABEL_ITEM_LEN;
}

/* --- netsim.c ------------------------------------------------------------- */

/* The run ends with an error, -errno. */
void sim_fail(struct netsim *s, int err);
void sim_schedule(struct netsim *s, uint64_t ns, enum event_kind kind,
		  uint32_t number);
/* A new packet, cleared; SIM_NONE after sim_fail(). */
uint32_t sim_new_packet(struct netsim *s, enum packet_kind kind,
			uint32_t bytes);
void sim_free_packet(struct netsim *s, uint32_t i);
/* Puts a packet into the queue of a port. in: the ingress port; SIM_NONE: the
 * packet is of this host or switch itself. */
void sim_send(struct netsim *s, uint32_t i, uint32_t port, uint32_t in);
/* At ns the labels of a packet are taken off and sent to the controller. */
void sim_export_labels(struct netsim *s, uint32_t i, uint64_t ns);

/* --- probe.c -------------------------------------------------------------- */

int probe_open(struct netsim *s);
void probe_send(struct netsim *s, uint32_t i); /* EV_PROBE */
/* A probe (PACKET_TRAIL, PACKET_FLOOD) has come to a switch, or a ping to a
 * host. in: the ingress port. */
void probe_arrive(struct netsim *s, uint32_t i, uint32_t in);
void probe_close(struct netsim *s);

#endif
