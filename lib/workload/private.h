/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - the functions of workloads[], by file, and what they share. */
#ifndef WORKLOAD_PRIVATE_H
#define WORKLOAD_PRIVATE_H

#include "workload/workload.h"

/* One report. Keys, values and entries are bytes as on the wire. */
static inline void work_report(struct workload_run *g, struct dta_report *r,
			       bool v6, unsigned reporter, uint64_t ts_ns)
{
	g->emit(g->ctx, r, v6, reporter, ts_ns);
}

void work_keywrite(struct workload_run *g, bool v6, const void *key,
		   size_t key_len, const void *value, size_t len,
		   unsigned reporter, uint64_t ts_ns);
void work_append(struct workload_run *g, bool v6, uint32_t list,
		 const void *entry, size_t len, unsigned reporter,
		 uint64_t ts_ns);
void work_keyinc(struct workload_run *g, bool v6, const void *key,
		 size_t key_len, uint64_t addend, unsigned reporter,
		 uint64_t ts_ns);
void work_postcard(struct workload_run *g, bool v6, const void *key,
		   size_t key_len, unsigned hop, unsigned path_len,
		   uint32_t value, unsigned reporter, uint64_t ts_ns);

void work_int_path(struct workload_run *g,
		   const struct traffic_packet *p); /* path.c */
int work_int_postcard_start(struct workload_run *g);
void work_int_postcard(struct workload_run *g, const struct traffic_packet *p);
void work_int_postcard_end(struct workload_run *g);
void work_packetscope_path(struct workload_run *g,
			   const struct traffic_packet *p);
void work_pint(struct workload_run *g, const struct traffic_packet *p);
void work_trajectory(struct workload_run *g, const struct traffic_packet *p);
int work_marple_hosts_start(struct workload_run *g); /* counters.c */
void work_marple_hosts(struct workload_run *g, const struct traffic_packet *p);
void work_marple_hosts_end(struct workload_run *g);
int work_counters_start(struct workload_run *g);
void work_marple_hosts_sum(struct workload_run *g,
			   const struct traffic_packet *p);
void work_turboflow(struct workload_run *g, const struct traffic_packet *p);
void work_counters_end(struct workload_run *g);
int work_marple_flowlets_start(struct workload_run *g); /* flows.c */
void work_marple_flowlets(struct workload_run *g,
			  const struct traffic_packet *p);
void work_flows_end(struct workload_run *g);
int work_flows_start(struct workload_run *g);
void work_marple_timeouts(struct workload_run *g,
			  const struct traffic_packet *p);
int work_marple_lossy_start(struct workload_run *g);
void work_marple_lossy(struct workload_run *g, const struct traffic_packet *p);
void work_netseer_loss(struct workload_run *g, const struct traffic_packet *p);
void work_packetscope_loss(struct workload_run *g,
			   const struct traffic_packet *p);
int work_int_congestion_start(struct workload_run *g); /* events.c */
void work_int_congestion(struct workload_run *g,
			 const struct traffic_packet *p);
void work_sonata_raw(struct workload_run *g, const struct traffic_packet *p);
void work_dshark(struct workload_run *g, const struct traffic_packet *p);
int work_sonata_result_start(struct workload_run *g); /* sonata.c */
void work_sonata_result(struct workload_run *g, const struct traffic_packet *p);
void work_sonata_result_end(struct workload_run *g);
int work_uniform_start(struct workload_run *g); /* uniform.c */
void work_uniform(struct workload_run *g, const struct traffic_packet *p);

#endif
