/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.c - reports out: each one a frame, built in the sink's own buffer, and,
 * if wanted, a row of the truth.
 */
#include "gen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* --- headers ------------------------------------------------------------- */

/*
 * They are made once; per report only lengths, the reporter's address and the
 * IP checksum change (RFC 1624's sum over what changes).
 */

enum {
	REPORTER_PORT = 49374, /* the published reporters' source port */
	IP_AT = NET_ETH_LEN,
	UDP_AT = NET_ETH_LEN + NET_IP4_LEN,
};

/*
 * Ethernet addresses. In a capture they are locally administered, the
 * reporter's ends in the switch's id. On an interface they are true ones.
 */
static int find_macs(struct gen *g, struct net_udp4 *h, struct error *err)
{
	const struct gen_options *o = &g->o;

	if (o->live.name) {
		struct live_address own;

		g->own_mac = live_address(&own, o->live.name);
		if (g->own_mac)
			memcpy(h->eth_src, own.mac, 6);
		if (!o->has_mac && g->own_mac &&
		    !live_neighbour(h->eth_dst, o->live.name, 4, o->collector))
			return error_set(err, -EDESTADDRREQ,
					 "%s: %u.%u.%u.%u is no neighbour "
					 "there: say with --to-mac who takes "
					 "the reports",
					 o->live.name, o->collector[0],
					 o->collector[1], o->collector[2],
					 o->collector[3]);
	}
	if (o->has_mac)
		memcpy(h->eth_dst, o->to_mac, 6);
	return 0;
}

static int frame_open(struct gen *g, struct error *err)
{
	struct net_udp4 h = {
		.eth_dst = {0x02, 0x44, 0x54, 0x41, 0xff, 0xff},
		.eth_src = {0x02, 0x44, 0x54, 0x41, 0, 0},
		.src_port = REPORTER_PORT,
		.dst_port = DTA_PORT,
		.ttl = 64,
	};
	int n;

	memcpy(h.dst, g->o.collector, 4);
	n = find_macs(g, &h, err);
	if (n < 0)
		return n;
	n = net_udp4_encode(g->header, sizeof(g->header), &h, 0);
	if (n != HEADER_LEN)
		return error_set(err, -EINVAL, "no headers");
	memset(g->header + IP_AT + NET_IP4_AT_SUM, 0, 2);
	g->ip_sum = 0;
	for (int i = 0; i < NET_IP4_LEN; i += 2)
		if (i != NET_IP4_AT_LEN)
			g->ip_sum += g->header[IP_AT + i] << 8 |
				     g->header[IP_AT + i + 1];
	return 0;
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

void frame_headers(const struct gen *g, uint8_t *frame, size_t payload,
		   unsigned reporter)
{
	unsigned ip_len = NET_IP4_LEN + NET_UDP_LEN + (unsigned)payload;
	uint32_t address = GEN_SOURCE + reporter;
	uint32_t sum = g->ip_sum + ip_len + (address >> 16) +
		       (address & 0xffff);

	memcpy(frame, g->header, HEADER_LEN);
	if (!g->own_mac)
		put16(frame + 10, reporter);
	put16(frame + IP_AT + NET_IP4_AT_LEN, ip_len);
	put16(frame + IP_AT + NET_IP4_AT_SRC, address >> 16);
	put16(frame + IP_AT + NET_IP4_AT_SRC + 2, address);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	put16(frame + IP_AT + NET_IP4_AT_SUM, ~sum & 0xffff);
	put16(frame + UDP_AT + NET_UDP_AT_LEN, NET_UDP_LEN + (unsigned)payload);
}

/* --- the truth ----------------------------------------------------------- */

/*
 * One CSV row per report, in the order of the reports, so that answers can be
 * checked against it (dta-query verify reads it).
 *
 *     table,kind,key,hop,path_len,copies,value
 *     1,keywrite,10.0.0.1:443>10.0.0.2:5501/tcp,0,0,0,0000002a
 *
 * The value of keywrite and append is the bytes in hexadecimal, that of
 * keyinc and postcard a decimal number. No field ever needs quoting.
 */

int truth_close(FILE *f, int err)
{
	if (f && (f == stdout ? fflush(f) : fclose(f)) && !err)
		err = -errno;
	return err;
}

/* A big-endian number of up to 8 bytes. */
static uint64_t be_number(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	while (len--)
		v = v << 8 | *p++;
	return v;
}

static void truth_row(struct gen *g, const struct dta_report *r,
		      enum key_type type)
{
	char key[KEY_TEXT_MAX], value[2 * REPORT_MAX];

	key_format(key, type, r->key, r->key_len);
	if (r->opcode == DTA_KEYINC || r->opcode == DTA_POSTCARD)
		snprintf(value, sizeof(value), "%" PRIu64,
			 be_number(r->data, r->data_len));
	else
		*text_put_hex(value, r->data, r->data_len) = '\0';
	errno = 0;
	if (fprintf(g->truth, "%u,%s,%s,%u,%u,%u,%s\n", r->table,
		    dta_opcode_name(r->opcode), key, r->hop, r->path_len,
		    r->copies, value) >= 0)
		return;
	g->truth_err = errno ? -errno : -EIO;
	g->done = true; /* reports without their truth are worth nothing */
}

/* --- reports ------------------------------------------------------------- */

FILE *truth_open(const char *path, const char *head)
{
	FILE *out;

	do
		out = strcmp(path, "-") ? fopen(cli_place(path), "we") : stdout;
	while (!out && errno == EINTR);
	if (!out)
		cli_fail("%s: %s", path, strerror(errno));
	setvbuf(out, NULL, _IOFBF, 1 << 18);
	fputs(head, out);
	return out;
}

int emit_open(struct gen *g, struct error *err)
{
	int rc;

	g->sequence = calloc(g->run.topology.switches + 1,
			     sizeof(*g->sequence));
	if (!g->sequence)
		return error_set(err, -ENOMEM, "out of memory");
	rc = frame_open(g, err);
	if (rc < 0)
		return rc;
	if (g->o.truth)
		g->truth = truth_open(
			g->o.truth,
			"table,kind,key,hop,path_len,copies,value\n");
	return link_open(g, err);
}

/* DTA/0 has a field for copies in two of its reports only. */
static bool carries_copies(const struct gen *g, uint8_t opcode)
{
	if (opcode == DTA_POSTCARD)
		return g->o.format == DTA_FORMAT_1;
	return opcode != DTA_APPEND;
}

/* Built in place. Returns the payload's length, 0 if it was not taken, -errno.
 */
static int emit_frame(struct gen *g, const struct dta_report *r,
		      unsigned reporter, uint64_t ts_ns)
{
	uint8_t *frame;
	int n;

	if (!link_turn(g))
		return 0;
	frame = snk_room(g->snk, HEADER_LEN + REPORT_MAX);
	if (!frame)
		return errno ? -errno : -EIO;
	n = dta_encode(frame + HEADER_LEN, REPORT_MAX, g->o.format, r);
	if (n < 0)
		return n;
	frame_headers(g, frame, (size_t)n, reporter);
	snk_done(g->snk, HEADER_LEN + (size_t)n, ts_ns);
	return n;
}

static int emit_kept(struct gen *g, const struct dta_report *r,
		     unsigned reporter, uint64_t ts_ns)
{
	uint8_t payload[REPORT_MAX];
	int n = dta_encode(payload, sizeof(payload), g->o.format, r);

	if (n < 0 || !link_report(g, reporter, payload, (size_t)n, ts_ns))
		return n < 0 ? n : 0;
	return n;
}

void emit_dta_report(struct gen *g, struct dta_report *r, enum key_type type,
		     unsigned reporter, uint64_t ts_ns)
{
	int n;

	if (g->err || g->done)
		return;
	r->tracked = g->o.tracked;
	r->immediate = g->o.immediate;
	if (g->o.copies && carries_copies(g, r->opcode))
		r->copies = (uint8_t)g->o.copies;
	r->sequence = g->sequence[reporter]++;
	if (ts_ns < g->sent_ns)
		ts_ns = g->sent_ns;
	g->sent_ns = ts_ns;
	n = link_keeps(g) ? emit_kept(g, r, reporter, ts_ns)
			  : emit_frame(g, r, reporter, ts_ns);
	if (n <= 0) {
		if (n < 0 && !g->err)
			g->err = n;
		return;
	}
	if (g->truth)
		truth_row(g, r, type);
	g->ctr.report_bytes += (uint64_t)n;
	if (++g->ctr.reports == g->o.count)
		g->done = true;
}

void emit_flush(struct gen *g)
{
	int rc = snk_flush(g->snk);

	if (rc < 0 && !g->err)
		g->err = rc;
}

int emit_close(struct gen *g)
{
	int rc = link_close(g);

	free(g->sequence);
	g->sequence = NULL;
	g->truth_err = truth_close(g->truth, g->truth_err);
	g->truth = NULL;
	return rc;
}
