/* SPDX-License-Identifier: BSD-2-Clause */
#include "int/frame_decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "int/int_md.h"
#include "int/treport.h"
#include "int/ioam.h"
#include "net/be.h"
#include "net/net.h"

enum {
	AHEAD = 8,	   /* frames between prefetching one and decoding it */
	AHEAD_BYTES = 512, /* prefetched of each */
};

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct int_frame_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(frames, LEDGER_IN),
	FIELD(reports, LEDGER_DONE),
	FIELD(packets, LEDGER_DONE),
	FIELD(traces, LEDGER_DONE),
	FIELD(other, LEDGER_HARMLESS),
	FIELD(truncated, LEDGER_LOSS),
	FIELD(malformed_packet, LEDGER_LOSS),
	FIELD(unknown_type, LEDGER_LOSS),
	FIELD(unknown_version, LEDGER_LOSS),
	FIELD(bad_next_protocol, LEDGER_LOSS),
	FIELD(bad_length, LEDGER_LOSS),
	FIELD(bad_hop_length, LEDGER_LOSS),
	FIELD(bad_stack, LEDGER_LOSS),
	FIELD(bad_trace, LEDGER_LOSS),
	FIELD(restored, LEDGER_NOTE),
	FIELD(passed, LEDGER_NOTE),
	FIELD(partial_checksums, LEDGER_NOTE),
	FIELD(discarded, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct int_frame_ledger);

#define FIELD(counter, role) \
	LEDGER_FIELD(struct int_report_ledger, counter, role)
static const struct ledger_field report_fields[] = {
	FIELD(reports, LEDGER_IN),
	FIELD(taken, LEDGER_DONE),
	FIELD(truncated, LEDGER_LOSS),
	FIELD(unknown_version, LEDGER_LOSS),
	FIELD(bad_length, LEDGER_LOSS),
	FIELD(unknown_type, LEDGER_LOSS),
	FIELD(own_report, LEDGER_HARMLESS),
	FIELD(bad_inner, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(report_fields, struct int_report_ledger);
/* clang-format on */

const struct ledger int_frame_ledger = {"intake", "frames", fields,
					sizeof(fields) / sizeof(fields[0])};
const struct ledger int_report_ledger = {"report", "reports", report_fields,
					 sizeof(report_fields) /
						 sizeof(report_fields[0])};

struct int_frame_decoder {
	struct int_frame_decoder_options o;
	struct int_decoder packets;
	struct treport_decoder reports;
	struct ioam_decoder traces;
	struct int_frame_ledger ctr;
	struct int_report_ledger report_ctr;
	unsigned n; /* of record[] */
	struct int_record record[INT_FRAME_RECORDS];
};

static uint64_t *packet_reason(struct int_frame_ledger *c, enum int_result r)
{
	uint64_t *const reason[INT_RESULTS] = {
		[INT_CUT] = &c->truncated,
		[INT_BAD_PACKET] = &c->malformed_packet,
		[INT_BAD_TYPE] = &c->unknown_type,
		[INT_BAD_VERSION] = &c->unknown_version,
		[INT_BAD_NEXT] = &c->bad_next_protocol,
		[INT_BAD_LENGTH] = &c->bad_length,
		[INT_BAD_HOP] = &c->bad_hop_length,
		[INT_BAD_STACK] = &c->bad_stack,
	};

	return reason[r] ? reason[r] : &c->other;
}

static int flush_records(struct int_frame_decoder *d)
{
	int rc = d->n ? d->o.records(d->o.ctx, d->record, d->n) : 0;

	d->n = 0;
	return rc;
}

/* Room for a record. If there is none, hands out the others first; *rc: how
 * that ended. */
static struct int_record *next_record(struct int_frame_decoder *d, int *rc)
{
	if (d->n == INT_FRAME_RECORDS && !*rc)
		*rc = flush_records(d);
	return &d->record[d->n < INT_FRAME_RECORDS ? d->n
						   : INT_FRAME_RECORDS - 1];
}

/* Hands out the sequence number of a datagram of which there is no record. */
static int hand_out_number(struct int_frame_decoder *d, uint64_t ts_ns,
			   const struct int_from *from)
{
	int rc;

	if (!d->o.number || !from->sequence_bits || !from->has_node)
		return 0;
	rc = flush_records(d); /* those of datagrams before it */
	return rc ? rc : d->o.number(d->o.ctx, ts_ns, from);
}

static void count_refused(struct int_frame_decoder *d, enum treport_reason why)
{
	struct int_report_ledger *c = &d->report_ctr;
	uint64_t *const reason[TREPORT_REASONS] = {
		[TREPORT_VERSION] = &c->unknown_version,
		[TREPORT_LENGTH] = &c->bad_length,
		[TREPORT_TYPE] = &c->unknown_type,
		[TREPORT_OWN] = &c->own_report,
	};

	c->reports++;
	(*(reason[why] ? reason[why] : &c->truncated))++;
}

static int decode_reports(struct int_frame_decoder *d, const struct pkt *p,
			  const uint8_t *data, size_t len)
{
	struct treport_reader r;
	struct treport report;
	enum treport_reason why;
	bool first = true;
	int rc = 0;

	d->ctr.reports++;
	why = treport_begin(&r, &d->reports, data, len);
	if (why != TREPORT_OK) {
		count_refused(d, why);
		return hand_out_number(d, p->ts_ns, &r.from);
	}
	while (!rc) {
		struct int_record *rec = next_record(d, &rc);

		why = treport_next(&r, &report, rec);
		if (why == TREPORT_END)
			break;
		if (why != TREPORT_OK) {
			count_refused(d, why);
			continue;
		}
		d->report_ctr.reports++;
		d->report_ctr.taken++;
		rec->ts_ns = p->ts_ns;
		rec->from.numbered = first && rec->from.has_node;
		d->report_ctr.bad_inner += report.packet > INT_NONE;
		d->n += d->n < INT_FRAME_RECORDS;
		first = false;
	}
	return first && !rc ? hand_out_number(d, p->ts_ns, &r.from) : rc;
}

/* Quickly rules out most packets: TCP, or UDP to another port, in IPv4 without
 * options or IPv6. */
static inline bool is_not_report(const struct pkt *p, uint16_t port)
{
	const uint8_t *ip = p->data + NET_ETH_LEN, *l4 = ip + NET_IP4_LEN;
	uint16_t type;

	if (p->len < NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN)
		return false;
	type = be16_load(p->data + NET_ETH_AT_TYPE);
	if (type == NET_ETHERTYPE_IP4 && ip[0] == NET_IP4_PLAIN)
		return ip[NET_IP4_AT_PROTO] != NET_PROTO_UDP ||
		       be16_load(l4 + NET_UDP_AT_DST) != port;
	if (type != NET_ETHERTYPE_IP6)
		return false;
	l4 = ip + NET_IP6_LEN;
	return ip[NET_IP6_AT_NEXT] == NET_PROTO_TCP ||
	       (ip[NET_IP6_AT_NEXT] == NET_PROTO_UDP &&
		be16_load(l4 + NET_UDP_AT_DST) != port);
}

/* *data, *len: the UDP payload. */
static inline bool is_report(struct int_frame_decoder *d, const struct pkt *p,
			     const uint8_t **data, size_t *len)
{
	uint16_t port = d->o.profile->report_port;
	struct net_udp u;

	if (!port || is_not_report(p, port) ||
	    net_udp_decode(&u, p->data, p->len))
		return false;
	d->ctr.partial_checksums += u.partial && u.dst_port == port;
	*data = u.payload;
	*len = u.len;
	return u.dst_port == port;
}

static int send_unchanged(struct int_frame_decoder *d, const struct pkt *p)
{
	if (!d->o.out)
		return 0;
	d->ctr.passed++;
	return snk_tx(d->o.out, p, 1);
}

/* Sends a packet without INT, which is at that place, or, if at is NULL,
 * without IOAM. A frame that was cut stays cut. */
static int restore_packet(struct int_frame_decoder *d,
			  const struct int_place *at, const struct pkt *p)
{
	uint8_t *room;
	int len;

	if (!d->o.out)
		return 0;
	if (!(room = snk_room(d->o.out, p->len)))
		return -errno;
	len = at ? int_strip(room, p->len, d->o.profile, at, p->data, p->len)
		 : ioam_strip(room, p->len, p->data, p->len);
	if (len < 0) /* IOAM that is cut within its headers */
		return at ? len : send_unchanged(d, p);
	snk_done_cut(d->o.out, (size_t)len,
		     (uint32_t)len + p->wire_len - p->len, p->ts_ns);
	d->ctr.restored++;
	return 0;
}

/* A packet without INT: decodes all of its IOAM traces. The first one is taken
 * for its path, for others are of other namespaces. The packet counts under
 * traces if one was good, else under the first error. */
static int decode_traces(struct int_frame_decoder *d, const struct pkt *p)
{
	enum ioam_reason r, why = IOAM_END;
	struct ioam_reader reader;
	bool good = false, handed_out = false;
	struct ioam t;
	int rc = 0;

	ioam_begin(&reader, &d->traces, p->data, p->len);
	while (!rc && (r = ioam_next(&reader, &t)) != IOAM_END) {
		if (r != IOAM_OK) {
			why = why == IOAM_END ? r : why;
			continue;
		}
		good = true;
		if (t.type == IOAM_DIRECT)
			continue; /* a request: it has no data */
		t.record.ts_ns = p->ts_ns;
		if (handed_out)
			t.record.flags |= INT_INTERMEDIATE;
		handed_out = true;
		*next_record(d, &rc) = t.record;
		d->n += d->n < INT_FRAME_RECORDS;
		/* stack.at points into t, which the next one overwrites. */
		if (!rc && t.record.stack.at)
			rc = flush_records(d);
	}
	if (good)
		d->ctr.traces++;
	else if (why == IOAM_END || why == IOAM_TYPE)
		d->ctr.other++;
	else if (why == IOAM_TRUNCATED)
		d->ctr.truncated++;
	else
		d->ctr.bad_trace++;
	if (rc)
		return rc;
	return good ? restore_packet(d, NULL, p) : send_unchanged(d, p);
}

static int decode_packet(struct int_frame_decoder *d, const struct pkt *p)
{
	struct int_place at;
	int rc = 0;
	struct int_record *rec = next_record(d, &rc);
	enum int_result r;

	if (!d->o.out) {
		r = int_read(rec, &d->packets, NET_ETHERTYPE_ETH, p->data,
			     p->len);
	} else { /* restore_packet() needs its place */
		r = int_find(&at, d->o.profile, NET_ETHERTYPE_ETH, p->data,
			     p->len);
		if (r == INT_OK)
			r = int_decode(rec, &d->packets, &at, p->data, p->len);
	}
	if (r == INT_OK) {
		bool copy = d->o.out && rec->flags & INT_DISCARD;

		rec->ts_ns = p->ts_ns;
		d->n += d->n < INT_FRAME_RECORDS;
		d->ctr.packets++;
		d->ctr.discarded += copy;
		return rc || copy ? rc : restore_packet(d, &at, p);
	}
	if (r == INT_NONE)
		return rc ? rc : decode_traces(d, p);
	(*packet_reason(&d->ctr, r))++;
	return rc ? rc : send_unchanged(d, p);
}

int int_decode_frames(struct int_frame_decoder *d, const struct pkt *pkts,
		      size_t n)
{
	const uint8_t *data = NULL;
	size_t len = 0;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (i + AHEAD < n)
			pkt_prefetch(&pkts[i + AHEAD],
				     pkts[i + AHEAD].len < AHEAD_BYTES
					     ? pkts[i + AHEAD].len
					     : AHEAD_BYTES);
		d->ctr.frames++;
		rc = is_report(d, &pkts[i], &data, &len)
			     ? decode_reports(d, &pkts[i], data, len)
			     : decode_packet(d, &pkts[i]);
	}
	return rc ? rc : flush_records(d);
}

int int_frame_decoder_open(struct int_frame_decoder **out,
			   const struct int_frame_decoder_options *o)
{
	struct int_frame_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->o = *o;
	int_decoder_init(&d->packets, o->profile);
	treport_init(&d->reports, o->profile);
	ioam_init(&d->traces, o->profile);
	*out = d;
	return 0;
}

void int_frame_decoder_close(struct int_frame_decoder *d)
{
	free(d);
}

const struct int_frame_ledger *
int_frame_decoder_counters(const struct int_frame_decoder *d)
{
	return &d->ctr;
}

const struct int_report_ledger *
int_frame_decoder_report_counters(const struct int_frame_decoder *d)
{
	return &d->report_ctr;
}
