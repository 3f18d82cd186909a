/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload.h - what a workload is: it looks at each packet of the traffic and
 * hands out reports (emit.h).
 *
 * It sees only struct traffic_packet, so that what it computes from a capture
 * it computes from synthetic traffic too, by the same code.
 */
#ifndef DTA_GEN_WORKLOAD_H
#define DTA_GEN_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "traffic/packet.h"

struct gen;

enum workload_needs {
	NEEDS_NOTHING,
	NEEDS_HOST, /* addresses */
	NEEDS_FLOW, /* and ports */
	NEEDS_TCP,  /* and sequence numbers */
};

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
	void (*packet)(struct gen *g, const struct traffic_packet *p);
	void (*end)(struct gen *g); /* may be NULL */
};

extern const struct workload workloads[];
extern const unsigned n_workloads;
const struct workload *workload_find(const char *name);

/* The functions of workloads[], by file. */
void int_path(struct gen *g, const struct traffic_packet *p); /* w_path.c */
int int_postcard_start(struct gen *g);
void int_postcard(struct gen *g, const struct traffic_packet *p);
void int_postcard_end(struct gen *g);
void packetscope_path(struct gen *g, const struct traffic_packet *p);
void pint(struct gen *g, const struct traffic_packet *p);
void trajectory(struct gen *g, const struct traffic_packet *p);
int marple_hosts_start(struct gen *g); /* w_counters.c */
void marple_hosts(struct gen *g, const struct traffic_packet *p);
void marple_hosts_end(struct gen *g);
int counters_start(struct gen *g);
void marple_hosts_sum(struct gen *g, const struct traffic_packet *p);
void turboflow(struct gen *g, const struct traffic_packet *p);
void counters_end(struct gen *g);
int marple_flowlets_start(struct gen *g); /* w_flows.c */
void marple_flowlets(struct gen *g, const struct traffic_packet *p);
void flows_end(struct gen *g);
int flows_start(struct gen *g);
void marple_timeouts(struct gen *g, const struct traffic_packet *p);
int marple_lossy_start(struct gen *g);
void marple_lossy(struct gen *g, const struct traffic_packet *p);
void netseer_loss(struct gen *g, const struct traffic_packet *p);
void packetscope_loss(struct gen *g, const struct traffic_packet *p);
int int_congestion_start(struct gen *g); /* w_events.c */
void int_congestion(struct gen *g, const struct traffic_packet *p);
void sonata_raw(struct gen *g, const struct traffic_packet *p);
void dshark(struct gen *g, const struct traffic_packet *p);
int sonata_result_start(struct gen *g); /* w_sonata.c */
void sonata_result(struct gen *g, const struct traffic_packet *p);
void sonata_result_end(struct gen *g);
void uniform(struct gen *g, const struct traffic_packet *p); /* w_uniform.c */

#endif
