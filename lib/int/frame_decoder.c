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
	AHEAD = 8, /* frames between asking for their bytes and their use */
	AHEAD_BYTES = 512, /* of each */
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

static int flush_records(struct int_frame_decoder *in)
{
	int rc = in->n ? in->o.records(in->o.ctx, in->record, in->n) : 0;

	in->n = 0;
	return rc;
}

/* Room for a record; *rc is what handing out the others came to. */
static struct int_record *next_record(struct int_frame_decoder *in, int *rc)
{
	if (in->n == INT_FRAME_RECORDS && !*rc)
		*rc = flush_records(in);
	return &in->record[in->n < INT_FRAME_RECORDS ? in->n
						     : INT_FRAME_RECORDS - 1];
}

/* The number of a datagram of which there is no record: it came all the same.
 */
static int report_refused_number(struct int_frame_decoder *in, uint64_t ts_ns,
				 const struct int_from *from)
{
	int rc;

	if (!in->o.number || !from->sequence_bits || !from->has_node)
		return 0;
	rc = flush_records(in); /* they came before */
	return rc ? rc : in->o.number(in->o.ctx, ts_ns, from);
}

static void count_refused(struct int_frame_decoder *in, enum treport_reason why)
{
	struct int_report_ledger *c = &in->report_ctr;
	uint64_t *const reason[TREPORT_REASONS] = {
		[TREPORT_VERSION] = &c->unknown_version,
		[TREPORT_LENGTH] = &c->bad_length,
		[TREPORT_TYPE] = &c->unknown_type,
		[TREPORT_OWN] = &c->own_report,
	};

	c->reports++;
	(*(reason[why] ? reason[why] : &c->truncated))++;
}

static int decode_reports(struct int_frame_decoder *in, const struct pkt *p,
			  const uint8_t *data, size_t len)
{
	struct treport_reader r;
	struct treport report;
	enum treport_reason why;
	bool first = true;
	int rc = 0;

	in->ctr.reports++;
	why = treport_begin(&r, &in->reports, data, len);
	if (why != TREPORT_OK) {
		count_refused(in, why);
		return report_refused_number(in, p->ts_ns, &r.from);
	}
	while (!rc) {
		struct int_record *v = next_record(in, &rc);

		why = treport_next(&r, &report, v);
		if (why == TREPORT_END)
			break;
		if (why != TREPORT_OK) {
			count_refused(in, why);
			continue;
		}
		in->report_ctr.reports++;
		in->report_ctr.taken++;
		v->ts_ns = p->ts_ns;
		v->from.numbered = first && v->from.has_node;
		in->report_ctr.bad_inner += report.packet > INT_NONE;
		in->n += in->n < INT_FRAME_RECORDS;
		first = false;
	}
	return first && !rc ? report_refused_number(in, p->ts_ns, &r.from) : rc;
}

/* Told at once of most that is no report: TCP, or UDP to another port, in plain
 * IPv4 or IPv6. */
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

/* *data, *len: the payload. */
static inline bool is_report(struct int_frame_decoder *in, const struct pkt *p,
			     const uint8_t **data, size_t *len)
{
	uint16_t port = in->o.profile->report_port;
	struct net_udp u;

	if (!port || is_not_report(p, port) ||
	    net_udp_decode(&u, p->data, p->len))
		return false;
	in->ctr.partial_checksums += u.partial && u.dst_port == port;
	*data = u.payload;
	*len = u.len;
	return u.dst_port == port;
}

static int send_unchanged(struct int_frame_decoder *in, const struct pkt *p)
{
	if (!in->o.out)
		return 0;
	in->ctr.passed++;
	return snk_tx(in->o.out, p, 1);
}

/* Without the telemetry of INT at that place, or, NULL, IOAM. What is missing
 * behind a cut frame is so still. */
static int restore_packet(struct int_frame_decoder *in,
			  const struct int_place *at, const struct pkt *p)
{
	uint8_t *room;
	int len;

	if (!in->o.out)
		return 0;
	if (!(room = snk_room(in->o.out, p->len)))
		return -errno;
	len = at ? int_strip(room, p->len, in->o.profile, at, p->data, p->len)
		 : ioam_strip(room, p->len, p->data, p->len);
	if (len < 0) /* IOAM that is cut within its headers */
		return at ? len : send_unchanged(in, p);
	snk_done_cut(in->o.out, (size_t)len,
		     (uint32_t)len + p->wire_len - p->len, p->ts_ns);
	in->ctr.restored++;
	return 0;
}

/*
 * A packet without INT: all of its traces, of which the first is taken for its
 * path: others are of other namespaces. It counts as one with traces if there
 * is a good one, else by the first reason why not.
 */
static int decode_traces(struct int_frame_decoder *in, const struct pkt *p)
{
	enum ioam_reason r, why = IOAM_END;
	struct ioam_reader reader;
	bool good = false, told = false;
	struct ioam t;
	int rc = 0;

	ioam_begin(&reader, &in->traces, p->data, p->len);
	while (!rc && (r = ioam_next(&reader, &t)) != IOAM_END) {
		if (r != IOAM_OK) {
			why = why == IOAM_END ? r : why;
			continue;
		}
		good = true;
		if (t.type == IOAM_DIRECT)
			continue; /* it asks, and says nothing */
		t.record.ts_ns = p->ts_ns;
		if (told)
			t.record.flags |= INT_INTERMEDIATE;
		told = true;
		*next_record(in, &rc) = t.record;
		in->n += in->n < INT_FRAME_RECORDS;
		/* Where its snapshots are is in t. */
		if (!rc && t.record.stack.at)
			rc = flush_records(in);
	}
	if (good)
		in->ctr.traces++;
	else if (why == IOAM_END || why == IOAM_TYPE)
		in->ctr.other++;
	else if (why == IOAM_TRUNCATED)
		in->ctr.truncated++;
	else
		in->ctr.bad_trace++;
	if (rc)
		return rc;
	return good ? restore_packet(in, NULL, p) : send_unchanged(in, p);
}

static int decode_packet(struct int_frame_decoder *in, const struct pkt *p)
{
	struct int_place at;
	int rc = 0;
	struct int_record *v = next_record(in, &rc);
	enum int_result r;

	if (!in->o.out) {
		r = int_read(v, &in->packets, NET_ETHERTYPE_ETH, p->data,
			     p->len);
	} else { /* where its INT is matters, too */
		r = int_find(&at, in->o.profile, NET_ETHERTYPE_ETH, p->data,
			     p->len);
		if (r == INT_OK)
			r = int_decode(v, &in->packets, &at, p->data, p->len);
	}
	if (r == INT_OK) {
		bool copy = in->o.out && v->flags & INT_DISCARD;

		v->ts_ns = p->ts_ns;
		in->n += in->n < INT_FRAME_RECORDS;
		in->ctr.packets++;
		in->ctr.discarded += copy;
		return rc || copy ? rc : restore_packet(in, &at, p);
	}
	if (r == INT_NONE)
		return rc ? rc : decode_traces(in, p);
	(*packet_reason(&in->ctr, r))++;
	return rc ? rc : send_unchanged(in, p);
}

int int_decode_frames(struct int_frame_decoder *in, const struct pkt *pkts,
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
		in->ctr.frames++;
		rc = is_report(in, &pkts[i], &data, &len)
			     ? decode_reports(in, &pkts[i], data, len)
			     : decode_packet(in, &pkts[i]);
	}
	return rc ? rc : flush_records(in);
}

int int_frame_decoder_open(struct int_frame_decoder **out,
			   const struct int_frame_decoder_options *o)
{
	struct int_frame_decoder *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	in->o = *o;
	int_decoder_init(&in->packets, o->profile);
	treport_init(&in->reports, o->profile);
	ioam_init(&in->traces, o->profile);
	*out = in;
	return 0;
}

void int_frame_decoder_close(struct int_frame_decoder *in)
{
	free(in);
}

const struct int_frame_ledger *
int_frame_decoder_counters(const struct int_frame_decoder *in)
{
	return &in->ctr;
}

const struct int_report_ledger *
int_frame_decoder_report_counters(const struct int_frame_decoder *in)
{
	return &in->report_ctr;
}
