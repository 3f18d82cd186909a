/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/traffic.h"

enum {
	REORDER_NS = 3000000, /* no retransmission is that fast */
};

/* 0 if then is later: captures are not always in order of time. */
static uint64_t time_since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static enum tcp_verdict classify_segment(struct tcp_flow *f,
					 const struct traffic_packet *p)
{
	uint8_t syn = p->tcp_flags & NET_TCP_SYN;
	uint8_t fin = p->tcp_flags & NET_TCP_FIN;
	/* len: of sequence space; SYN and FIN take one number each. */
	uint32_t len = p->payload + !!syn + !!fin, end = p->seq + len;
	bool ahead; /* it ends above the highest sequence number */

	if (!len)
		return TCP_FRESH;
	if (syn && (!f->seen_seq || p->seq != f->isn)) {
		/* A new connection, maybe with the ports of an older one. */
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
	/* A keep-alive repeats the last byte, or none, on purpose (RFC 9293
	 * 3.8.4). */
	if (p->payload <= 1 && p->seq == f->top - 1 && !syn && !fin &&
	    !(p->tcp_flags & NET_TCP_RST))
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
	enum tcp_verdict verdict = classify_segment(f, p);

	f->last_ns = p->ts_ns;
	return verdict;
}
