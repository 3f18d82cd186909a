/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workloads.c - the workloads: one per row of the DTA paper's Table 2 (and of
 * its section 6.1, for the three Marple queries), with keys, sizes, functions.
 */
#include <string.h>

#include "wire/dta.h"
#include "workload/private.h"

#define FLOW_KEYS                                                              \
	{                                                                      \
		KEY_FLOW4, KEY_FLOW6                                           \
	}
#define HOP_KEYS                                                               \
	{                                                                      \
		KEY_HOP4, KEY_HOP6                                             \
	}
#define HOST_KEYS                                                              \
	{                                                                      \
		KEY_SRC4, KEY_SRC6                                             \
	}
#define NUMBER_KEYS                                                            \
	{                                                                      \
		KEY_U32, KEY_U32                                               \
	}

/* clang-format off */
const struct workload workloads[] = {
	{ "int-path", DTA_KEYWRITE, NEEDS_FLOW, true, FLOW_KEYS, { 20, 20 },
	  "INT-MD path tracing", NULL, work_int_path, NULL },
	{ "int-postcard", DTA_POSTCARD, NEEDS_FLOW, true, FLOW_KEYS, { 4, 4 },
	  "INT-XD/MX path measurement", work_int_postcard_start,
	  work_int_postcard,
	  work_int_postcard_end },
	{ "int-congestion", DTA_APPEND, NEEDS_HOST, false, NUMBER_KEYS,
	  { 4, 4 }, "INT congestion events", work_int_congestion_start,
	  work_int_congestion, NULL },
	{ "marple-hosts", DTA_KEYWRITE, NEEDS_HOST, false, HOST_KEYS, { 4, 4 },
	  "Marple host counters, non-merging", work_marple_hosts_start,
	  work_marple_hosts,
	  work_marple_hosts_end },
	{ "marple-hosts-sum", DTA_KEYINC, NEEDS_HOST, false, HOST_KEYS,
	  { 8, 8 }, "Marple host counters, by addition", work_counters_start,
	  work_marple_hosts_sum, work_counters_end },
	{ "marple-flowlets", DTA_APPEND, NEEDS_FLOW, false, NUMBER_KEYS,
	  { 13, 37 }, "Marple flowlet sizes", work_marple_flowlets_start,
	  work_marple_flowlets, work_flows_end },
	{ "marple-timeouts", DTA_KEYWRITE, NEEDS_TCP, false, FLOW_KEYS,
	  { 4, 4 }, "Marple TCP timeouts", work_flows_start,
	  work_marple_timeouts,
	  work_flows_end },
	{ "marple-lossy", DTA_APPEND, NEEDS_TCP, false, NUMBER_KEYS,
	  { 13, 37 }, "Marple lossy connections", work_marple_lossy_start,
	  work_marple_lossy, work_flows_end },
	{ "netseer-loss", DTA_APPEND, NEEDS_TCP, false, NUMBER_KEYS,
	  { 18, 42 }, "NetSeer loss events", work_flows_start,
	  work_netseer_loss,
	  work_flows_end },
	{ "packetscope-path", DTA_KEYWRITE, NEEDS_FLOW, true, HOP_KEYS,
	  { 8, 8 }, "PacketScope flow troubleshooting", NULL,
	  work_packetscope_path,
	  NULL },
	{ "packetscope-loss", DTA_APPEND, NEEDS_TCP, false, NUMBER_KEYS,
	  { 14, 14 }, "PacketScope pipeline loss", work_flows_start,
	  work_packetscope_loss, work_flows_end },
	{ "pint", DTA_KEYWRITE, NEEDS_FLOW, false, FLOW_KEYS, { 1, 1 },
	  "PINT per-flow queries", NULL, work_pint, NULL },
	{ "sonata-result", DTA_KEYWRITE, NEEDS_FLOW, false, NUMBER_KEYS,
	  { 20, 20 }, "Sonata per-query results", work_sonata_result_start,
	  work_sonata_result, work_sonata_result_end },
	{ "sonata-raw", DTA_APPEND, NEEDS_FLOW, false, NUMBER_KEYS, { 16, 40 },
	  "Sonata raw data transfer", NULL, work_sonata_raw, NULL },
	{ "trajectory", DTA_POSTCARD, NEEDS_FLOW, false, NUMBER_KEYS, { 4, 4 },
	  "Trajectory Sampling path frequencies", NULL, work_trajectory, NULL },
	{ "dshark", DTA_APPEND, NEEDS_FLOW, false, NUMBER_KEYS, { 28, 52 },
	  "dShark parser-group transfer", NULL, work_dshark, NULL },
	{ "turboflow", DTA_KEYINC, NEEDS_FLOW, false, FLOW_KEYS, { 8, 8 },
	  "TurboFlow per-flow counters", work_counters_start, work_turboflow,
	  work_counters_end },
	{ "uniform", DTA_KEYWRITE, NEEDS_NOTHING, true,
	  { KEY_FLOW4, KEY_FLOW4 }, { 4, 4 }, "random keys, for the theory",
	  work_uniform_start, work_uniform, NULL },
};
/* clang-format on */

const unsigned n_workloads = sizeof(workloads) / sizeof(workloads[0]);

const struct workload *workload_find(const char *name)
{
	for (unsigned i = 0; i < n_workloads; i++)
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	return NULL;
}
