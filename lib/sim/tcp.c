/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/traffic.h"

#include "net/net.h"

enum {
	/* Nothing is retransmitted so fast. */
	REORDER_NS = 3000000,
};

/* Sequence space a segment takes: data, and one each for SYN and FIN. */
static uint32_t seq_len(const struct traffic_packet *p)
{
	return p->payload + !!(p->tcp_flags & NET_TCP_SYN) +
	       !!(p->tcp_flags & NET_TCP_FIN);
}

/* A keep-alive repeats the last byte, or none, on purpose (RFC 9293 3.8.4). */
static bool keep_alive(const struct tcp_flow *f, const struct traffic_packet *p)
{
	return p->payload <= 1 && p->seq == f->top - 1 &&
	       !(p->tcp_flags & (NET_TCP_SYN | NET_TCP_FIN | NET_TCP_RST));
}

/* Captures are not always in order of time. */
static uint64_t time_since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static enum tcp_verdict classify_segment(struct tcp_flow *f,
					 const struct traffic_packet *p)
{
	uint32_t len = seq_len(p), end = p->seq + len;
	bool ahead;

	if (!len)
		return TCP_FRESH;
	if (p->tcp_flags & NET_TCP_SYN && (!f->seen_seq || p->seq != f->isn)) {
		/* A new connection, maybe on the ports of an older one. */
		f->seen_seq = false;
		f->isn = p->seq;
	}
	ahead = !f->seen_seq || (int32_t)(end - f->top) > 0;
	if (!f->seen_seq || (int32_t)(p->seq - f->top) >= 0) {
		f->seen_seq = true;
		f->top = end;
		f->top_ns = p->ts_ns;
		return TCP_FRESH;
	}
	if (keep_alive(f, p))
		return TCP_FRESH;
	if (ahead)
		f->top = end;
	if (time_since(p->ts_ns, f->top_ns) < REORDER_NS && end != f->top)
		return TCP_REORDERED;
	if (ahead)
		f->top_ns = p->ts_ns;
	return time_since(p->ts_ns, f->last_ns) >= TCP_RTO_NS
		       ? TCP_TIMED_OUT
		       : TCP_RETRANSMITTED;
}

enum tcp_verdict tcp_track(struct tcp_flow *f, const struct traffic_packet *p)
{
	enum tcp_verdict v = classify_segment(f, p);

	f->last_ns = p->ts_ns;
	return v;
}
