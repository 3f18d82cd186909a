/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/traffic.h"

#include <math.h>
#include <string.h>

#include "hash/bytes.h"

enum {
	SALT_RING = 0x501,
	SALT_STEADY = 0x502,
	FRACTION_BITS = 32, /* of the values of the table */
	QUEUES = 8,
	BUFFERS = 2,
	HOP_LIMIT = 64,
};

void inband_init(struct inband *m, const struct inband_options *o)
{
	*m = (struct inband){.o = *o, .rng = {rng_mix(o->seed ^ SALT_STEADY)}};
	for (unsigned i = 1; i <= INBAND_CELLS; i++)
		m->cell[i] = (uint64_t)(-log((double)i / INBAND_CELLS) *
					(double)(UINT64_C(1) << FRACTION_BITS));
}

/* An exponential number of that mean: -ln(u), interpolated in the table. For u
 * below the first interval the table's largest value is added to a new draw,
 * for the distribution is memoryless. */
static uint64_t draw_exponential(struct inband *m, uint64_t mean)
{
	uint64_t sum = 0, u, low, high, part;
	unsigned i;

	while ((u = rng_u64(&m->rng)) >> 56 == 0)
		sum += m->cell[1];
	i = (unsigned)(u >> 56);
	part = u >> 24 & UINT32_MAX;
	low = m->cell[i + 1];
	high = m->cell[i];
	sum += high - (uint64_t)((unsigned __int128)(high - low) * part >> 32);
	return (uint64_t)((unsigned __int128)sum * mean >> FRACTION_BITS);
}

/* Writes the hops of a packet's path, through the topology or around the ring
 * of all switches. Returns their number. */
static unsigned find_path(const struct inband *m, struct topo_hop *out,
			  const struct traffic_packet *p)
{
	uint64_t hash = hash_bytes(SALT_RING, p->key, p->key_len);
	unsigned switches = m->o.topology.switches;
	struct topo_path path;

	for (unsigned i = 0; i < m->o.hops; i++)
		out[i] = (struct topo_hop){
			1 + (uint32_t)((hash + i) % switches), 0, 1};
	if (m->o.hops)
		return m->o.hops;
	topo_path(&m->o.topology, &path, p->key, p->key_len);
	memcpy(out, path.hop, path.len * sizeof(*out));
	return path.len;
}

static void set_value(struct inband_hop *h, enum int_field field,
		      uint64_t value)
{
	h->has |= 1U << field;
	h->value[field] = value;
}

/* A metric: exponential, or steady, from 0 to twice the mean. flow: a hash of
 * the flow; 0: all flows have the same steady value. */
static uint64_t draw_metric(struct inband *m, enum int_field field,
			    const struct topo_hop *at, uint64_t flow,
			    uint64_t mean)
{
	uint64_t which = (uint64_t)field << 56 ^ (uint64_t)at->out << 40 ^
			 at->id ^ flow;
	unsigned __int128 hash = rng_mix(m->o.seed ^ rng_mix(which));

	return m->o.steady ? (uint64_t)(hash * (2 * mean + 1) >> 64)
			   : draw_exponential(m, mean);
}

/* Sets all fields of a hop but the times. */
static void write_fields(struct inband *m, struct inband_hop *h,
			 const struct topo_hop *at, uint64_t flow)
{
	uint64_t percent = draw_metric(m, INT_UTILIZATION, at, 0,
				       INBAND_UTILIZATION);

	h->has = 0;
	set_value(h, INT_NODE, at->id);
	set_value(h, INT_INGRESS, at->in);
	set_value(h, INT_EGRESS, at->out);
	set_value(h, INT_INGRESS2, (uint64_t)at->id << 8 | at->in);
	set_value(h, INT_EGRESS2, (uint64_t)at->id << 8 | at->out);
	set_value(h, INT_LATENCY,
		  draw_metric(m, INT_LATENCY, at, flow, INBAND_LATENCY_NS));
	set_value(h, INT_QUEUE, flow % QUEUES);
	set_value(h, INT_OCCUPANCY,
		  draw_metric(m, INT_OCCUPANCY, at, 0, INBAND_OCCUPANCY));
	set_value(h, INT_CONGESTION,
		  draw_metric(m, INT_CONGESTION, at, 0, INBAND_OCCUPANCY));
	set_value(h, INT_UTILIZATION, percent < 100 ? percent : 100);
	set_value(h, INT_BUFFER, flow % BUFFERS);
	set_value(h, INT_BUFFER_OCCUPANCY,
		  draw_metric(m, INT_BUFFER_OCCUPANCY, at, 0, INBAND_BUFFER));
	set_value(h, INT_NAMESPACE_DATA, at->id);
}

/* Whether a spike is due by the time of a packet. */
static bool spike_due(struct inband *m, uint64_t now_ns)
{
	uint64_t gap = m->o.spikes_per_s ? 1000000000 / m->o.spikes_per_s : 0;

	if (!gap)
		return false;
	if (!m->spike_ns)
		m->spike_ns = now_ns + gap;
	if (now_ns < m->spike_ns)
		return false;
	m->spike_ns += gap;
	return true;
}

/* Sets the times of all hops, backwards from the last egress at end_ns. */
static void write_times(struct inband_path *path, uint64_t end_ns)
{
	for (unsigned i = path->n; i--;) {
		struct inband_hop *h = &path->hop[i];

		set_value(h, INT_EGRESS_TIME, end_ns);
		set_value(h, INT_TIME_SECONDS, end_ns / 1000000000);
		set_value(h, INT_TIME_FRACTION, end_ns % 1000000000);
		end_ns -= h->value[INT_LATENCY];
		set_value(h, INT_INGRESS_TIME, end_ns);
		set_value(h, INT_HOP_LIMIT, HOP_LIMIT - 1 - i);
		end_ns -= INBAND_LINK_NS;
	}
}

void inband_draw(struct inband *m, struct inband_path *out,
		 const struct traffic_packet *p)
{
	uint64_t flow = hash_bytes(SALT_STEADY, p->key, p->key_len);
	struct topo_hop at[INBAND_HOPS_MAX];

	out->n = find_path(m, at, p);
	out->spike = m->o.steady && spike_due(m, p->ts_ns);
	for (unsigned i = 0; i < out->n; i++)
		write_fields(m, &out->hop[i], &at[i], flow);
	if (out->spike)
		out->hop[rng_below(&m->rng, out->n)].value[INT_LATENCY] *=
			INBAND_SPIKE_FACTOR;
	write_times(out, p->ts_ns);
}
