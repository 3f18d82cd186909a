/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.c - what a filter can ask about. */
#include "filter/private.h"

#include <string.h>

/* clang-format off */
#define HOP(name_, unit_, field_, help_)                                       \
	{ { .name = "hop." name_, .unit = (unit_), .help = (help_) },          \
	  .of = OF_HOP, .what = (field_) }
#define FLAG(name_, bit_, help_)                                               \
	{ { .name = (name_), .help = (help_), .flag = true },                  \
	  .of = OF_FLAG, .what = (bit_) }

static const struct known known[] = {
	HOP("latency", "ns", INT_LATENCY, "time within the node"),
	HOP("ingress", NULL, INT_INGRESS, "interface it came in by"),
	HOP("egress", NULL, INT_EGRESS, "interface it went out by"),
	HOP("ingress2", NULL, INT_INGRESS2, "the same, level 2"),
	HOP("egress2", NULL, INT_EGRESS2, "the same, level 2"),
	HOP("queue", NULL, INT_QUEUE, "id of the queue"),
	HOP("occupancy", NULL, INT_OCCUPANCY, "of the queue"),
	HOP("congestion", NULL, INT_CONGESTION, "of the queue (INT 0.5)"),
	HOP("utilization", NULL, INT_UTILIZATION, "of the egress link"),
	HOP("buffer", NULL, INT_BUFFER, "id of the buffer"),
	HOP("buffer_occupancy", NULL, INT_BUFFER_OCCUPANCY, "of the buffer"),
	HOP("drop_reason", NULL, INT_DROP_REASON, "why it was dropped there"),
	HOP("hop_limit", NULL, INT_HOP_LIMIT, "IOAM: of the packet there"),
	{ {.name = "hops", .help = "nodes that say something"},
	  .of = OF_HOPS },
	{ {.name = "len", .unit = "bytes", .help = "of the packet, from IP on"},
	  .of = OF_LEN },
	{ {.name = "latency", .unit = "ns", .help = "sum of all nodes'"},
	  .of = OF_LATENCY },
	{ {.name = "hw_id", .help = "of the reporter"}, .of = OF_HW_ID },
	{ {.name = "reporter", .help = "node that reported"},
	  .of = OF_REPORTER },
	{ {.name = "domain", .help = "Domain Specific ID, IOAM namespace"},
	  .of = OF_DOMAIN },
	FLAG("dropped", INT_DROPPED, "the report says: dropped"),
	FLAG("congested", INT_CONGESTED, "its queue was congested"),
	FLAG("tracked", INT_TRACKED, "its flow is tracked"),
	FLAG("intermediate", INT_INTERMEDIATE, "report on the way"),
	FLAG("exceeded", INT_HOPS_EXCEEDED, "there was no room for all hops"),
	FLAG("mtu", INT_MTU_EXCEEDED, "a node had to be silent for the MTU"),
	FLAG("clone", INT_DISCARD, "to be discarded by the sink"),
};
/* clang-format on */

const struct known *known_at(unsigned i)
{
	return i < sizeof(known) / sizeof(known[0]) ? &known[i] : NULL;
}

const struct known *known_find(const char *name)
{
	const struct known *k;

	for (unsigned i = 0; (k = known_at(i)); i++)
		if (!strcmp(k->field.name, name))
			return k;
	return NULL;
}

const struct expr_field *expr_field_at(unsigned i)
{
	const struct known *k = known_at(i);

	return k ? &k->field : NULL;
}
