/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_profile.c - the built-in profiles. Their metadata words are those of INT
 * 2.1, section 5.8, its earlier versions, and the telemetry reports. Where
 * P4.org has assigned no number (port, DSCP), a profile has the one that was
 * seen in use, or one that is reserved for experiments.
 */
#include "int/int_profile.h"

#include <string.h>

#include "net/proto.h"

/* clang-format off */
/* A word of one field, len bytes long, in units of scale; and one of two. */
#define ONE(field, len, scale) {(len), {{(field), 0, (len), (scale)}}}
#define TWO(field, len, other, other_len)                                      \
	{(len) + (other_len),                                                  \
	 {{(field), 0, (len), 1}, {(other), (len), (other_len), 1}}}
#define NODE ONE(INT_NODE, 4, 1)
#define PORTS TWO(INT_INGRESS, 2, INT_EGRESS, 2)
#define LATENCY(scale) ONE(INT_LATENCY, 4, (scale))
#define QUEUE TWO(INT_QUEUE, 1, INT_OCCUPANCY, 3)
#define TIMES(len, scale)                                                      \
	ONE(INT_INGRESS_TIME, (len), (scale)),                                 \
	ONE(INT_EGRESS_TIME, (len), (scale))
#define PORTS2(len) TWO(INT_INGRESS2, (len), INT_EGRESS2, (len))
#define UTILIZATION ONE(INT_UTILIZATION, 4, 1)
#define BUFFER TWO(INT_BUFFER, 1, INT_BUFFER_OCCUPANCY, 3)
#define DROP {4, {{INT_QUEUE, 0, 1, 1}, {INT_DROP_REASON, 1, 1, 1}}}
#define COMPLEMENT {.len = INT_COMPLEMENT_LEN}

#define WORDS_0_5 {                                                            \
	NODE, PORTS, LATENCY(1), QUEUE, TIMES(4, 1),                           \
	TWO(INT_QUEUE, 1, INT_CONGESTION, 3), UTILIZATION,                     \
}
#define WORDS_1_0 {                                                            \
	NODE, PORTS, LATENCY(1), QUEUE, TIMES(4, 1), PORTS2(4), UTILIZATION,   \
	[15] = COMPLEMENT,                                                     \
}
#define WORDS_2 {                                                              \
	NODE, PORTS, LATENCY(1), QUEUE, TIMES(8, 1), PORTS2(4), UTILIZATION,   \
	BUFFER, [15] = COMPLEMENT,                                             \
}
/* BMv2's clock counts microseconds. GEANT's programs for it multiply times, but
 * not latencies, by 1000: github.com/GEANT-DataPlaneProgramming/int-platforms
 * 4898901, p4src/int_v1.0/include/int_transit.p4 and headers.p4. */
#define WORDS_BMV2(time) {                                                     \
	NODE, PORTS, LATENCY(1000), QUEUE, TIMES(8, (time)), PORTS2(2),        \
	UTILIZATION, [15] = COMPLEMENT,                                        \
}
/* As the published INTCollector reads words: queue id and occupancy have 16
 * bits each. bit6: the word of bit 6. */
#define WORDS_INTCOLLECTOR(bit6) {                                             \
	NODE, PORTS, LATENCY(1), TWO(INT_QUEUE, 2, INT_OCCUPANCY, 2),          \
	TIMES(4, 1), bit6, UTILIZATION, [15] = COMPLEMENT,                     \
}
#define REPORTS                                                                \
	.report1 = {                                                           \
		PORTS, LATENCY(1), QUEUE, ONE(INT_EGRESS_TIME, 4, 1), DROP,    \
		UTILIZATION,                                                   \
	},                                                                     \
	.report2 = {                                                           \
		[1] = PORTS, LATENCY(1), QUEUE, TIMES(8, 1), PORTS2(4),        \
		UTILIZATION, BUFFER, [15] = DROP,                              \
	}
/* What marks INT packets and reports in the specifications' examples. */
#define BY_DSCP                                                                \
	.dscp = INT_DSCP, .dscp_mask = INT_DSCP_MASK,                          \
	.report_port = INT_REPORT_PORT
#define IN_TUNNELS(next, class)                                                \
	.vxlan_gpe_port = NET_VXLAN_GPE_PORT, .vxlan_gpe_next = (next),        \
	.geneve_port = NET_GENEVE_PORT, .geneve_class = (class)
#define SINCE_2_0 .udp_port = INT_UDP_PORT, .gre_type = INT_GRE_TYPE
/* clang-format on */

static const struct int_word words_0_5[16] = WORDS_0_5;
static const struct int_word words_1_0[16] = WORDS_1_0;
static const struct int_word words_2[16] = WORDS_2;

/* clang-format off */
static const struct int_profile profiles[] = {
	{.name = "any", .version = INT_ANY, BY_DSCP, SINCE_2_0,
	 IN_TUNNELS(0, INT_GENEVE_CLASS),
	 .instruction = WORDS_2, REPORTS},
	{.name = "0.5", .version = INT_V0_5, BY_DSCP,
	 IN_TUNNELS(INT_VXLAN_GPE_0_5, INT_GENEVE_CLASS_EXAMPLE),
	 .behind_tcp_options = true,
	 .instruction = WORDS_0_5, REPORTS},
	{.name = "1.0", .version = INT_V1_0, BY_DSCP,
	 IN_TUNNELS(INT_VXLAN_GPE_1_0, INT_GENEVE_CLASS_EXAMPLE),
	 .instruction = WORDS_1_0, REPORTS},
	{.name = "2.0", .version = INT_V2_0, BY_DSCP, SINCE_2_0,
	 IN_TUNNELS(INT_VXLAN_GPE_2_0, INT_GENEVE_CLASS_EXAMPLE),
	 .instruction = WORDS_2, REPORTS},
	{.name = "2.1", .version = INT_V2_1, BY_DSCP, SINCE_2_0,
	 IN_TUNNELS(INT_VXLAN_GPE_2_1, INT_GENEVE_CLASS),
	 .instruction = WORDS_2, REPORTS},
	{.name = "bmv2", .version = INT_V1_0, BY_DSCP,
	 .instruction = WORDS_BMV2(1000), REPORTS},
	{.name = "geant", .version = INT_V1_0,
	 .tcp_sum_left = true, /* parser.p4, see WORDS_BMV2 */
	 .dscp = INT_DSCP_GEANT, .dscp_mask = INT_DSCP_MASK,
	 .report_port = INT_REPORT_PORT_GEANT,
	 .instruction = WORDS_BMV2(1), REPORTS},
	/* Its generator writes version 0, its parser checks none. */
	{.name = "intcollector", .version = INT_V1_0, .any_ver = true,
	 .dscp_mask = INT_DSCP_ANY, .report_port = INT_REPORT_PORT,
	 .report_length_wrong = true,
	 .instruction = WORDS_INTCOLLECTOR(PORTS2(2)), REPORTS},
	/* INTCollector's branch spec_0.5 */
	{.name = "intcollector-0.5", .version = INT_V0_5,
	 .dscp_mask = INT_DSCP_ANY, .report_port = INT_REPORT_PORT,
	 .report_length_wrong = true,
	 .instruction = WORDS_INTCOLLECTOR(
		TWO(INT_QUEUE, 2, INT_CONGESTION, 2)), REPORTS},
	/* "SmartNIC platform", section II: a new UDP header is put before TCP;
	 * in UDP packets the port is replaced. */
	{.name = "smartnic", .version = INT_V2_1, .udp_port = INT_UDP_PORT,
	 .report_port = INT_REPORT_PORT, .instruction = WORDS_2, REPORTS},
};
/* clang-format on */

const struct int_profile *int_profile_at(unsigned i)
{
	return i < sizeof(profiles) / sizeof(profiles[0]) ? &profiles[i] : NULL;
}

const struct int_profile *int_profile_named(const char *name)
{
	const struct int_profile *p;

	for (unsigned i = 0; (p = int_profile_at(i)); i++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

const struct int_word *int_profile_words(const struct int_profile *p,
					 enum int_version version)
{
	if (p->version != INT_ANY)
		return p->instruction;
	return version == INT_V0_5   ? words_0_5
	       : version == INT_V1_0 ? words_1_0
				     : words_2;
}
