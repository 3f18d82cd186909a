/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packets.c - the verb packets: every packet of a capture, also those that no
 * program of the suite could use.
 *
 * A packet is a row of all fields, or, as text, a line of those that it has, as
 * tcpdump prints one. In this order: rows and lines; the tables that packets
 * are meant for; INT-label; INT, IOAM and telemetry reports; DTA; RoCEv2; the
 * capture.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/confine.h"
#include "cli/table.h"
#include "dump.h"
#include "int/frame_decoder.h"
#include "rdma/ticket.h"
#include "packet/pkt.h"
#include "int/int_profile.h"
#include "region/region.h"
#include "row/outbuf.h"
#include "net/be.h"
#include "net/key.h"
#include "label/label.h"
#include "net/net.h"
#include "net/roce.h"

enum show_field {
	SHOW_NUMBER, /* the first six are the head of a line, in this order */
	SHOW_TIME,
	SHOW_SRC,
	SHOW_DST,
	SHOW_PROTOCOL,
	SHOW_OPCODE,
	SHOW_TABLE,
	SHOW_KEY,
	SHOW_LIST,
	SHOW_HOP,
	SHOW_PATH_LEN,
	SHOW_COPIES,
	SHOW_SEQUENCE,
	SHOW_FLAGS,
	SHOW_QP,
	SHOW_PSN,
	SHOW_VA,
	SHOW_RKEY,
	SHOW_LENGTH,
	SHOW_SLOT,
	SHOW_ENTRY,
	SHOW_IMM,
	SHOW_ADD,
	SHOW_COMPARE,
	SHOW_SYNDROME,
	SHOW_MSN,
	SHOW_ORIGINAL,
	SHOW_ICRC,
	SHOW_DATA,
	SHOW_REASON,
	SHOW_LABELS,
	SHOW_HOPS,
	SHOW_FIELDS,
};

static const struct row_field fields[SHOW_FIELDS] = {
	[SHOW_NUMBER] = {"number", ROW_U64, 0},
	[SHOW_TIME] = {"time", ROW_TIME, 0, ROW_WHEN},
	[SHOW_SRC] = {"src", ROW_STR, 0},
	[SHOW_DST] = {"dst", ROW_STR, 0},
	[SHOW_PROTOCOL] = {"protocol", ROW_STR, 0, ROW_TAG},
	[SHOW_OPCODE] = {"opcode", ROW_STR, 0, ROW_TAG},
	[SHOW_TABLE] = {"table", ROW_STR, 0, ROW_TAG},
	[SHOW_KEY] = {"key", ROW_STR, 0},
	[SHOW_LIST] = {"list", ROW_U64, 0},
	[SHOW_HOP] = {"hop", ROW_U64, 0},
	[SHOW_PATH_LEN] = {"path_len", ROW_U64, 0},
	[SHOW_COPIES] = {"copies", ROW_U64, 0},
	[SHOW_SEQUENCE] = {"sequence", ROW_U64, 0},
	[SHOW_FLAGS] = {"flags", ROW_STR, 0},
	[SHOW_QP] = {"qp", ROW_U64, 0},
	[SHOW_PSN] = {"psn", ROW_U64, 0},
	[SHOW_VA] = {"va", ROW_STR, 0},
	[SHOW_RKEY] = {"rkey", ROW_STR, 0},
	[SHOW_LENGTH] = {"length", ROW_U64, 0, ROW_VALUE, "bytes"},
	[SHOW_SLOT] = {"slot", ROW_U64, 0},
	[SHOW_ENTRY] = {"entry", ROW_U64, 0},
	[SHOW_IMM] = {"imm", ROW_U64, 0},
	[SHOW_ADD] = {"add", ROW_U64, 0},
	[SHOW_COMPARE] = {"compare", ROW_U64, 0},
	[SHOW_SYNDROME] = {"syndrome", ROW_STR, 0},
	[SHOW_MSN] = {"msn", ROW_U64, 0},
	[SHOW_ORIGINAL] = {"original", ROW_U64, 0},
	[SHOW_ICRC] = {"icrc", ROW_STR, 0},
	[SHOW_DATA] = {"data", ROW_BYTES, 0},
	[SHOW_REASON] = {"reason", ROW_STR, 0, ROW_TAG},
	[SHOW_LABELS] = {"labels", ROW_STR, 0},
	[SHOW_HOPS] = {"hops", ROW_STR, 0},
};

static const char show_wrong_checksum[] = "wrong IPv4 header or UDP checksum";
static const char show_malformed[] = "malformed or cut short";

static const struct schema packets = {"packet", fields, SHOW_FIELDS};

/* Appends a field to the line of a packet, unless the packet lacks it. */
static void print_cell(struct outbuf *o, const struct row_batch *b, unsigned f)
{
	const struct row_cell *c = row_batch_cell(b, 0, f);

	if (c->kind == ROW_NULL)
		return;
	outbuf_word(o, f == SHOW_DST	  ? " > "
		       : f == SHOW_REASON ? " ! "
		       : f > SHOW_NUMBER  ? " "
					  : "");
	if (f > SHOW_OPCODE && f != SHOW_REASON) {
		outbuf_word(o, b->schema->fields[f].name);
		outbuf_char(o, '=');
	}
	encode_cell(o, b, c);
}

/* A line of the fields that a packet has; what is wrong with it comes last. */
static int print_line(struct row_sink *sink, struct row_batch *b)
{
	static struct outbuf o;
	static struct row_styled *styled;

	(void)sink;
	if (!(b = row_restyle(&styled, b)))
		return -ENOMEM;
	o.out = stdout;
	for (unsigned f = 0; f < SHOW_FIELDS; f++)
		if (f != SHOW_REASON)
			print_cell(&o, b, f);
	print_cell(&o, b, SHOW_REASON);
	outbuf_char(&o, '\n');
	outbuf_spill(&o);
	return o.err;
}

static struct rows *show_open(enum row_format format)
{
	static struct row_sink lines = {.put = print_line};

	return format == ROW_TEXT
		       ? cli_allocated(rows_open(&lines, &packets, 1))
		       : cli_rows(format, &packets);
}

/* The fields that every protocol has; src and dst may be NULL. */
static void show_head(struct rows *rows, const char *src, const char *dst,
		      const char *protocol)
{
	row_str(rows, SHOW_SRC, src);
	row_str(rows, SHOW_DST, dst);
	row_str(rows, SHOW_PROTOCOL, protocol);
}

/* --- tables -------------------------------------------------------------- */

/* The table that a report is for; NULL if there is none, or none are known.
 * DTA/0 names no table: the first that fits takes it. */
static const struct table *
table_of_report(const struct ticket *t, const struct dta_report *r, bool dta0)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *table = &t->table[i];

		if (dta0 ? table->kind == r->opcode && table->key_len == 4
			 : table->id == r->table)
			return table;
	}
	return NULL;
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == ROCE_RC_FETCH_ADD || opcode == ROCE_RC_CMP_SWAP;
}

static uint64_t bytes_touched(const struct roce *r)
{
	return is_atomic(r->opcode) ? 8 : r->dma_len;
}

/* The table whose memory an operation hits: R_Key and bounds fit; NULL if none.
 * *offset: from the table's start. */
static const struct table *
table_of_request(const struct ticket *t, const struct roce *r, uint64_t *offset)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *table = &t->table[i];
		const struct ticket_table *at = &t->at[i];

		if (r->rkey != at->rkey || r->va < at->address ||
		    r->va - at->address > table->length ||
		    table->length - (r->va - at->address) < bytes_touched(r))
			continue;
		*offset = r->va - at->address;
		return table;
	}
	return NULL;
}

/* --- INT-label ------------------------------------------------------------ */

enum { LABEL_TEXT = 112 }; /* of one, at most */

/* "7:1>2@1000us,latency=5,queue=0,number=3", the newest first. */
static void format_labels(char *out, size_t size, const struct label_view *v)
{
	struct label_item item;
	size_t len = 0;

	*out = '\0';
	for (unsigned i = 0; i < v->n; i++) {
		label_item_get(&item, v, i);
		len += (size_t)snprintf(
			out + len, size - len,
			"%s%" PRIu32 ":%u>%u@%" PRIu64 "us,latency=%" PRIu32
			",queue=%" PRIu32 ",number=%" PRIu32,
			i ? ";" : "", item.device, item.in, item.out,
			item.time_us, item.latency_ns, item.queue, item.number);
	}
}

static bool show_label(struct rows *rows, const struct pkt *p)
{
	static char text[UINT8_MAX * LABEL_TEXT];
	char src[TEXT_IP_MAX], dst[TEXT_IP_MAX];
	uint8_t key[KEY_FLOW6_LEN];
	struct label_view v;
	int rc = label_find(&v, &label_format_default, p->data, p->len);
	bool ip6 = !rc && v.layout == LABEL_IP6;

	if (rc && (rc != -EBADMSG || !v.claims))
		return false;
	row_u64(rows, SHOW_LENGTH, p->wire_len);
	if (rc) { /* it says that it carries labels */
		show_head(rows, NULL, NULL, "int-label");
		row_str(rows, SHOW_REASON, show_malformed);
		return true;
	}
	format_labels(text, sizeof(text), &v);
	text_of_ip(src, ip6 ? 6 : 4,
		   v.ip + (ip6 ? NET_IP6_AT_SRC : NET_IP4_AT_SRC));
	text_of_ip(dst, ip6 ? 6 : 4,
		   v.ip + (ip6 ? NET_IP6_AT_DST : NET_IP4_AT_DST));
	show_head(rows, src, dst, "int-label");
	row_str(rows, SHOW_OPCODE, v.specific ? "specific" : "normal");
	/* The flow, its protocol by NH. */
	row_batch_flow(&rows->b, SHOW_KEY, key, label_flow_key(key, &v));
	row_u64(rows, SHOW_PATH_LEN, v.n);
	row_str(rows, SHOW_LABELS, text);
	if (v.damaged)
		row_str(rows, SHOW_REASON, show_wrong_checksum);
	return true;
}

/* --- INT, IOAM, telemetry reports ----------------------------------------- */

struct show_int {
	struct int_frame_decoder *decoder; /* never closed */
	struct rows *rows;
	const struct pkt *p;   /* that is shown */
	const char *src, *dst; /* its addresses, or NULL */
	uint64_t number;
	unsigned shown; /* rows of it */
};

enum {
	/* 256 hops, each with its fields, their names and 20 digits. */
	HOPS_TEXT = 256 * INT_FIELDS * 48,
};

struct hops_text {
	char text[HOPS_TEXT];
	size_t len;
	unsigned hops;
};

/* node: the reporter's id, which is not among its metadata; else NULL. */
static void add_hop(struct hops_text *t, const struct int_hops *h, unsigned i,
		    const uint32_t *node)
{
	const char *lead = t->hops ? ";" : "";
	uint64_t v;

	for (unsigned f = 0; f < INT_FIELDS; f++) {
		if (node && f == INT_NODE)
			v = *node;
		else if (!h->layout || i >= h->n ||
			 !int_get(h->layout, int_hop(h, i), (enum int_field)f,
				  &v))
			continue;
		t->len += (size_t)snprintf(t->text + t->len, HOPS_TEXT - t->len,
					   "%s%s=%" PRIu64, lead,
					   profile_field_names[f], v);
		t->hops += *lead != ',';
		lead = ",";
	}
}

/* In the order of the path: the stack from its end, then the reporter. */
static void format_hops(struct hops_text *t, const struct int_record *rec)
{
	t->len = t->hops = 0;
	t->text[0] = '\0';
	for (unsigned i = rec->stack.n; i--;)
		add_hop(t, &rec->stack, i, NULL);
	if (rec->own.n || (rec->from.has_node && !rec->stack.n))
		add_hop(t, &rec->own, 0,
			rec->from.has_node ? &rec->from.node : NULL);
}

static void show_record(struct show_int *x, const struct int_record *rec)
{
	static const char *const formats[] = {"md", "mx", "xd"};
	static struct hops_text hops;
	static const char letters[] = "DQFIEMC"; /* by enum int_flag */
	char flags[sizeof(letters)] = "";
	struct rows *rows = x->rows;
	size_t n = 0;

	if (x->shown++) {
		cli_row_end(rows);
		row_u64(rows, SHOW_NUMBER, x->number);
		row_time(rows, SHOW_TIME, (int64_t)x->p->ts_ns);
	}
	format_hops(&hops, rec);
	show_head(rows, x->src, x->dst,
		  rec->from.report	    ? "report"
		  : rec->format == INT_IOAM ? "ioam"
					    : "int");
	if (rec->format != INT_IOAM)
		row_str(rows, SHOW_OPCODE, formats[rec->format]);
	row_batch_flow(&rows->b, SHOW_KEY, rec->key, rec->key_len);
	row_u64(rows, SHOW_PATH_LEN, hops.hops);
	if (rec->from.report)
		row_u64(rows, SHOW_SEQUENCE, rec->from.sequence);
	for (unsigned i = 0; letters[i]; i++)
		if (rec->flags >> i & 1)
			flags[n++] = letters[i];
	row_str(rows, SHOW_FLAGS, n ? flags : NULL);
	row_u64(rows, SHOW_LENGTH, x->p->wire_len);
	if (hops.hops)
		row_str(rows, SHOW_HOPS, hops.text);
}

static int show_records(void *ctx, const struct int_record *recs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		show_record(ctx, &recs[i]);
	return 0;
}

/* --- DTA ------------------------------------------------------------------ */

static const char *decode_error(int rc)
{
	return rc == -ERANGE		? "copies not between 1 and 4"
	       : rc == -EPROTONOSUPPORT ? "unknown version"
	       : rc == -EOPNOTSUPP	? "unknown opcode"
				   : "cut short, or lengths that do not add up";
}

/* Why a table would not take a report; NULL: it would. */
static const char *report_objection(const struct table *t,
				    const struct dta_report *r)
{
	if (t->kind != r->opcode)
		return "the table is of another kind";
	if (r->key_len != t->key_len)
		return "the key is not as long as the table's";
	if (t->kind == TABLE_APPEND) {
		if (!r->data_len || r->data_len % t->value_len)
			return "not whole entries of the table";
		return be32_load(r->key) >= t->lists ? "no such list" : NULL;
	}
	if (r->data_len != t->value_len)
		return "the data is not as long as the table's";
	if (t->kind != TABLE_POSTCARD)
		return NULL;
	/* A longer path would be answered cut short (dta(7), REPORTS). */
	if (r->hop >= t->hops || r->path_len > t->hops ||
	    (r->path_len && r->hop >= r->path_len))
		return "the hop, or the path's end, is outside chunk or path";
	return be32_load(r->data) == TABLE_BLANK ? "the value stands for no hop"
						 : NULL;
}

/* A key of a table's type; without a table, of a type that is as long. text has
 * room for any key on the wire. */
static const char *format_report_key(char *text, const struct table *t,
				     const struct dta_report *r)
{
	static const enum key_type types[] = {KEY_FLOW4, KEY_FLOW6, KEY_HOP4,
					      KEY_HOP6,	 KEY_U32,   KEY_HEX};
	unsigned i = 0;

	while (types[i] != KEY_HEX && key_type_len(types[i]) != r->key_len)
		i++;
	if (r->key_len > KEY_MAX)
		*text_put_hex(text, r->key, r->key_len) = '\0';
	else
		key_format(text,
			   t && t->key_len == r->key_len
				   ? (enum key_type)t->key_type
				   : types[i],
			   r->key, r->key_len);
	return text;
}

static void show_report(struct rows *rows, const struct ticket *tables,
			const struct dta_report *r, bool dta0)
{
	const struct table *t = table_of_report(tables, r, dta0);
	const char *why = t	      ? report_objection(t, r)
			  : tables->n ? "no such table"
				      : NULL;
	char key[2 * UINT8_MAX + 1 + KEY_TEXT_MAX], id[8], flags[3] = "";

	snprintf(id, sizeof(id), "%u", r->table);
	snprintf(flags, sizeof(flags), "%s%s", r->immediate ? "I" : "",
		 r->tracked ? "T" : "");
	if (t || !dta0)
		row_str(rows, SHOW_TABLE, t ? t->name : id);
	if (r->opcode == DTA_APPEND && r->key_len == 4)
		row_u64(rows, SHOW_LIST, be32_load(r->key));
	else
		row_str(rows, SHOW_KEY, format_report_key(key, t, r));
	if (r->opcode == DTA_POSTCARD) {
		row_u64(rows, SHOW_HOP, r->hop);
		row_u64(rows, SHOW_PATH_LEN, r->path_len);
	}
	if (r->opcode != DTA_APPEND)
		row_u64(rows, SHOW_COPIES, r->copies);
	row_u64(rows, SHOW_SEQUENCE, r->sequence);
	row_str(rows, SHOW_FLAGS, *flags ? flags : NULL);
	if (r->opcode == DTA_KEYINC && r->data_len == 8)
		row_u64(rows, SHOW_ADD, be64_load(r->data));
	row_bytes(rows, SHOW_DATA, r->data, r->data_len);
	row_str(rows, SHOW_REASON, why);
}

static void show_dta(struct rows *rows, enum dta_format format,
		     const struct ticket *t, const struct net_udp *u)
{
	static const char *const reason[] = {
		[DTA_NACK_STATE] = "state",
		[DTA_NACK_GAP] = "gap",
		[DTA_NACK_RATE] = "rate limit",
		[DTA_NACK_RESYNC] = "resynchronisation",
		[DTA_NACK_GONE] = "gone",
	};
	struct dta_report r;
	int rc;

	/* The NACK of the published system has no opcode. */
	if (u->dst_port == DTA_NACK_PORT && format != DTA_FORMAT_1 &&
	    u->len >= DTA0_NACK_LEN && u->payload[1] & DTA0_NACK_FLAG) {
		row_str(rows, SHOW_OPCODE, dta_opcode_name(DTA_NACK));
		row_u64(rows, SHOW_SEQUENCE, u->payload[0]);
		return;
	}
	rc = dta_decode(&r, format, u->payload, u->len);
	if (rc < 0) {
		row_bytes(rows, SHOW_DATA, u->payload, u->len);
		row_str(rows, SHOW_REASON, decode_error(rc));
		return;
	}
	row_str(rows, SHOW_OPCODE, dta_opcode_name(r.opcode));
	if (r.opcode != DTA_NACK) {
		show_report(rows, t, &r, u->payload[0] >> 4 == 0);
		return;
	}
	row_u64(rows, SHOW_SEQUENCE, r.sequence);
	if (r.hop < sizeof(reason) / sizeof(reason[0]))
		row_str(rows, SHOW_SYNDROME, reason[r.hop]);
}

/* --- RoCEv2 --------------------------------------------------------------- */

/* The opcodes that carry a RETH. */
static bool is_write(uint8_t opcode)
{
	return opcode == ROCE_RC_WRITE_ONLY ||
	       opcode == ROCE_RC_WRITE_ONLY_IMM ||
	       opcode == ROCE_UC_WRITE_ONLY || opcode == ROCE_UC_WRITE_ONLY_IMM;
}

static bool show_target(struct rows *rows, const struct ticket *tables,
			const struct roce *r)
{
	uint64_t offset, unit;
	const struct table *t = table_of_request(tables, r, &offset);

	if (!t)
		return false;
	row_str(rows, SHOW_TABLE, t->name);
	unit = offset / t->stride;
	if (t->kind != TABLE_APPEND) {
		row_u64(rows, SHOW_SLOT, unit);
	} else if (offset >= t->heads) { /* the count of a list */
		row_u64(rows, SHOW_LIST, (offset - t->heads) / 8);
	} else if (unit < t->units * t->lists) {
		row_u64(rows, SHOW_LIST, unit / t->units);
		row_u64(rows, SHOW_ENTRY, unit % t->units);
	}
	return true;
}

/* AETH syndromes: bits 6 and 5 tell the kind (IBTA 9.7.5.2). */
static void show_response(struct rows *rows, const struct roce *r)
{
	static const char *const nak[] = {"nak_psn", "nak_invalid",
					  "nak_access", "nak_operational"};
	unsigned code = r->syndrome & 0x1f;
	const char *text;
	char other[16];

	snprintf(other, sizeof(other), "0x%02x", r->syndrome);
	text = other;
	if (r->syndrome >> 5 == 0)
		text = "ack";
	else if (r->syndrome >> 5 == ROCE_RNR_NAK >> 5)
		text = "rnr_nak";
	else if (r->syndrome >> 5 == ROCE_NAK_PSN >> 5 &&
		 code < sizeof(nak) / sizeof(nak[0]))
		text = nak[code];
	row_str(rows, SHOW_SYNDROME, text);
	row_u64(rows, SHOW_MSN, r->msn);
	if (r->opcode == ROCE_RC_ATOMIC_ACK)
		row_u64(rows, SHOW_ORIGINAL, r->original);
}

static void show_request(struct rows *rows, const struct ticket *t,
			 const struct roce *r)
{
	bool fits = show_target(rows, t, r) || !t->n;
	char flags[4], va[24], rkey[16];

	snprintf(flags, sizeof(flags), "%s%s%s", r->ack_req ? "A" : "",
		 r->solicited ? "S" : "", r->migreq ? "M" : "");
	row_str(rows, SHOW_FLAGS, *flags ? flags : NULL);
	snprintf(va, sizeof(va), "0x%" PRIx64, r->va);
	snprintf(rkey, sizeof(rkey), "0x%x", r->rkey);
	row_str(rows, SHOW_VA, va);
	row_str(rows, SHOW_RKEY, rkey);
	row_u64(rows, SHOW_LENGTH, bytes_touched(r));
	if (r->opcode == ROCE_RC_WRITE_ONLY_IMM ||
	    r->opcode == ROCE_UC_WRITE_ONLY_IMM)
		row_u64(rows, SHOW_IMM, r->imm);
	if (is_atomic(r->opcode))
		row_u64(rows, SHOW_ADD, r->swap_add);
	if (r->opcode == ROCE_RC_CMP_SWAP)
		row_u64(rows, SHOW_COMPARE, r->compare);
	if (is_write(r->opcode))
		row_bytes(rows, SHOW_DATA, r->payload, r->len);
	/* What makes it invalid, besides its iCRC. */
	row_str(rows, SHOW_REASON,
		r->tver ? "transport version is not 0"
		: is_write(r->opcode) && r->dma_len != r->len
			? "DMA length is not the payload's"
		: fits ? NULL
		       : "no table has this R_Key and address");
}

/* frame: the whole packet of len bytes. */
static void show_roce(struct rows *rows, const struct ticket *t,
		      const uint8_t *frame, size_t len, const struct net_udp *u)
{
	struct roce r;
	int rc = roce_decode(&r, frame, len);

	if (rc < 0) {
		row_bytes(rows, SHOW_DATA, u->payload, u->len);
		row_str(rows, SHOW_REASON,
			rc == -ENOTSUP ? "an opcode that is not known"
			: rc == -EBADE ? show_wrong_checksum
				       : show_malformed);
		return;
	}
	row_str(rows, SHOW_OPCODE, roce_opcode_name(r.opcode));
	row_u64(rows, SHOW_QP, r.dest_qp);
	row_u64(rows, SHOW_PSN, r.psn);
	row_str(rows, SHOW_ICRC, r.icrc_ok ? "ok" : "bad");
	if (r.opcode == ROCE_RC_ACK || r.opcode == ROCE_RC_ATOMIC_ACK)
		show_response(rows, &r);
	else
		show_request(rows, t, &r);
}

/* --- the capture ---------------------------------------------------------- */

enum { ADDRESS_MAX = TEXT_IP_MAX + 9 }; /* brackets, port */

static void format_endpoint(char *out, uint8_t version, const uint8_t *ip,
			    uint16_t port)
{
	char text[TEXT_IP_MAX];

	snprintf(out, ADDRESS_MAX, version == 6 ? "[%s]:%u" : "%s:%u",
		 text_of_ip(text, version, ip), port);
}

/* A packet that is not UDP to DTA's or RoCEv2's port: in-band telemetry, or of
 * another protocol. rc: of net_udp_decode(). */
static void show_other(struct show_int *x, const struct pkt *p, int rc)
{
	struct rows *rows = x->rows;
	struct net_packet n;
	char src[ADDRESS_MAX], dst[ADDRESS_MAX];
	bool is_ip = net_packet_decode(&n, p->data, p->len) == 0, bad;
	uint64_t reports;

	if (is_ip) {
		format_endpoint(src, n.version, n.src, n.src_port);
		format_endpoint(dst, n.version, n.dst, n.dst_port);
	}
	x->p = p;
	x->src = is_ip ? src : NULL;
	x->dst = is_ip ? dst : NULL;
	x->shown = 0;
	reports = int_frame_decoder_report_counters(x->decoder)->reports;
	if (rc != -EBADE) /* a row for each report or trace */
		int_decode_frames(x->decoder, p, 1);
	if (x->shown)
		return;
	bad = int_frame_decoder_report_counters(x->decoder)->reports > reports;
	show_head(rows, x->src, x->dst, bad ? "report" : "other");
	row_u64(rows, SHOW_LENGTH, p->wire_len);
	if (rc == -EBADE)
		row_str(rows, SHOW_REASON, show_wrong_checksum);
	else if (rc == -EBADMSG || bad)
		row_str(rows, SHOW_REASON, show_malformed);
}

static void show_packet(struct show_int *x, const struct opts *o,
			const struct ticket *t, const struct pkt *p,
			uint64_t number)
{
	char src[ADDRESS_MAX], dst[ADDRESS_MAX];
	struct rows *rows = x->rows;
	struct net_udp u;
	bool dta0;
	int rc;

	x->number = number;
	row_u64(rows, SHOW_NUMBER, number);
	row_time(rows, SHOW_TIME, (int64_t)p->ts_ns);
	rc = net_udp_decode(&u, p->data, p->len);
	if (show_label(rows, p)) {
		;
	} else if (rc ||
		   (u.dst_port != DTA_PORT && u.dst_port != DTA_NACK_PORT &&
		    u.dst_port != ROCE_PORT)) {
		show_other(x, p, rc);
	} else {
		format_endpoint(src, u.version, u.src, u.src_port);
		format_endpoint(dst, u.version, u.dst, u.dst_port);
		dta0 = o->dta != DTA_FORMAT_1 && u.len &&
		       (u.payload[0] >> 4 == 0 || u.dst_port == DTA_NACK_PORT);
		show_head(rows, src, dst,
			  u.dst_port == ROCE_PORT
				  ? "roce"
				  : dta_format_names[dta0 ? o->dta
							  : DTA_FORMAT_1]);
		if (u.dst_port == ROCE_PORT)
			show_roce(rows, t, p->data, p->len, &u);
		else
			show_dta(rows, o->dta, t, &u);
	}
	cli_row_end(rows);
}

int dump_packets(const struct opts *o)
{
	static struct ticket t;
	struct pkt pkts[PKT_BATCH];
	struct error err = {0};
	static struct show_int x;
	struct region *r = NULL;
	struct src *src;
	uint64_t number = 0;
	int n = 0;

	/* Tables are those of a region or a ticket; or none. */
	if (o->ticket && ticket_read(&t, o->ticket, &err) < 0)
		cli_fail("%s", err.text);
	if (o->region && (region_open(&r, o->region, false, &err) < 0 ||
			  ticket_of_region(&t, r, &err) < 0))
		cli_error(o->region, &err);
	region_close(r);
	if (src_open(&src, o->what, &err) < 0)
		cli_error(o->what, &err);
	x.rows = show_open(o->format);
	if (int_frame_decoder_open(&x.decoder,
				   &(struct int_frame_decoder_options){
					   .profile = int_profile_named("any"),
					   .records = show_records,
					   .ctx = &x}) < 0)
		cli_fail("out of memory");
	cli_confine(true);
	while (number < o->count && !cli_stop) {
		n = src_rx(src, pkts, PKT_BATCH, &err);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		for (int i = 0; i < n && number < o->count; i++)
			show_packet(&x, o, &t, &pkts[i], ++number);
	}
	rows_close(x.rows);
	src_close(src);
	ticket_fini(&t);
	if (n < 0 && n != -EINTR)
		cli_error(o->what, &err);
	return CLI_OK;
}
