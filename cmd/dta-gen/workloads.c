/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workloads.c - the workloads: one per row of the DTA paper's Table 2 (and of
 * its section 6.1, for the three Marple queries), with keys, sizes, functions.
 */
#include <string.h>

#include "wire/dta.h"
#include "workload.h"

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
	  "INT-MD path tracing", NULL, int_path, NULL },
	{ "int-postcard", DTA_POSTCARD, NEEDS_FLOW, true, FLOW_KEYS, { 4, 4 },
	  "INT-XD/MX path measurement", int_postcard_start, int_postcard,
	  int_postcard_end },
	{ "int-congestion", DTA_APPEND, NEEDS_HOST, false, NUMBER_KEYS,
	  { 4, 4 }, "INT congestion events", int_congestion_start,
	  int_congestion, NULL },
	{ "marple-hosts", DTA_KEYWRITE, NEEDS_HOST, false, HOST_KEYS, { 4, 4 },
	  "Marple host counters, non-merging", marple_hosts_start, marple_hosts,
	  marple_hosts_end },
	{ "marple-hosts-sum", DTA_KEYINC, NEEDS_HOST, false, HOST_KEYS,
	  { 8, 8 }, "Marple host counters, by addition", counters_start,
	  marple_hosts_sum, counters_end },
	{ "marple-flowlets", DTA_APPEND, NEEDS_FLOW, false, NUMBER_KEYS,
	  { 13, 37 }, "Marple flowlet sizes", marple_flowlets_start,
	  marple_flowlets, flows_end },
	{ "marple-timeouts", DTA_KEYWRITE, NEEDS_TCP, false, FLOW_KEYS,
	  { 4, 4 }, "Marple TCP timeouts", flows_start, marple_timeouts,
	  flows_end },
	{ "marple-lossy", DTA_APPEND, NEEDS_TCP, false, NUMBER_KEYS,
	  { 13, 37 }, "Marple lossy connections", marple_lossy_start,
	  marple_lossy, flows_end },
	{ "netseer-loss", DTA_APPEND, NEEDS_TCP, false, NUMBER_KEYS,
	  { 18, 42 }, "NetSeer loss events", flows_start, netseer_loss,
	  flows_end },
	{ "packetscope-path", DTA_KEYWRITE, NEEDS_FLOW, true, HOP_KEYS,
	  { 8, 8 }, "PacketScope flow troubleshooting", NULL, packetscope_path,
	  NULL },
	{ "packetscope-loss", DTA_APPEND, NEEDS_TCP, false, NUMBER_KEYS,
	  { 14, 14 }, "PacketScope pipeline loss", flows_start,
	  packetscope_loss, flows_end },
	{ "pint", DTA_KEYWRITE, NEEDS_FLOW, false, FLOW_KEYS, { 1, 1 },
	  "PINT per-flow queries", NULL, pint, NULL },
	{ "sonata-result", DTA_KEYWRITE, NEEDS_FLOW, false, NUMBER_KEYS,
	  { 20, 20 }, "Sonata per-query results", sonata_result_start,
	  sonata_result, sonata_result_end },
	{ "sonata-raw", DTA_APPEND, NEEDS_FLOW, false, NUMBER_KEYS, { 16, 40 },
	  "Sonata raw data transfer", NULL, sonata_raw, NULL },
	{ "trajectory", DTA_POSTCARD, NEEDS_FLOW, false, NUMBER_KEYS, { 4, 4 },
	  "Trajectory Sampling path frequencies", NULL, trajectory, NULL },
	{ "dshark", DTA_APPEND, NEEDS_FLOW, false, NUMBER_KEYS, { 28, 52 },
	  "dShark parser-group transfer", NULL, dshark, NULL },
	{ "turboflow", DTA_KEYINC, NEEDS_FLOW, false, FLOW_KEYS, { 8, 8 },
	  "TurboFlow per-flow counters", counters_start, turboflow,
	  counters_end },
	{ "uniform", DTA_KEYWRITE, NEEDS_NOTHING, true,
	  { KEY_FLOW4, KEY_FLOW4 }, { 4, 4 }, "random keys, for the theory",
	  NULL, uniform, NULL },
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
