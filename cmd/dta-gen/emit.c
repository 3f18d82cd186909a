/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.c - writes each report as a frame, built in the sink's own buffer, and,
 * if wanted, as a row of the truth.
 */
#include "gen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net/be.h"

/* --- headers ------------------------------------------------------------- */

enum {
	REPORTER_PORT = 49374, /* the published reporters' source port */
};

/* Sets Ethernet addresses. In a capture they are locally administered; the
 * source ends in the switch's id. On an interface they are real ones. */
static int find_addresses(struct gen *g, struct error *err)
{
	const struct gen_options *o = &g->o;
	struct net_udp4 *h = &g->header;
	struct live_address own;

	if (o->has_mac)
		memcpy(h->eth_dst, o->to_mac, 6);
	if (!o->live.name || !live_address(&own, o->live.name))
		return 0;
	g->own_mac = true;
	memcpy(h->eth_src, own.mac, 6);
	if (!o->has_mac &&
	    !live_neighbour(h->eth_dst, o->live.name, 4, o->collector))
		return error_set(err, -EDESTADDRREQ,
				 "%s: %u.%u.%u.%u is no neighbour there: ping "
				 "it first, or say with --to-mac who takes the "
				 "reports",
				 o->live.name, o->collector[0], o->collector[1],
				 o->collector[2], o->collector[3]);
	return 0;
}

struct net_udp4 frame_header(const struct gen *g, unsigned reporter)
{
	struct net_udp4 h = g->header;

	if (!g->own_mac)
		be16_store(h.eth_src + 4, (uint16_t)reporter);
	be32_store(h.src, GEN_SOURCE + reporter);
	return h;
}

void frame_headers(const struct gen *g, uint8_t *frame, size_t payload,
		   unsigned reporter)
{
	uint8_t *ip = frame + NET_ETH_LEN;

	memcpy(frame, g->headers, HEADER_LEN);
	if (!g->own_mac)
		be16_store(frame + NET_ETH_AT_SRC + 4, (uint16_t)reporter);
	payload += NET_UDP_LEN;
	be16_store(ip + NET_IP4_AT_LEN, (uint16_t)(NET_IP4_LEN + payload));
	be32_store(ip + NET_IP4_AT_SRC, GEN_SOURCE + reporter);
	be16_store(ip + NET_IP4_AT_SUM, net_checksum(ip, NET_IP4_LEN));
	be16_store(ip + NET_IP4_LEN + NET_UDP_AT_LEN, (uint16_t)payload);
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

void truth_check(struct gen *g)
{
	if (!ferror(g->truth))
		return;
	g->truth_err = errno ? -errno : -EIO;
	g->done = true; /* reports without their truth are worth nothing */
}

static void truth_row(struct gen *g, const struct dta_report *r,
		      enum key_type type)
{
	char key[KEY_TEXT_MAX], value[2 * REPORT_MAX];

	key_format(key, type, r->key, r->key_len);
	if (table_traits[r->opcode].counts || r->opcode == DTA_POSTCARD)
		snprintf(value, sizeof(value), "%" PRIu64,
			 r->data_len == 4 ? be32_load(r->data)
					  : be64_load(r->data));
	else
		*text_put_hex(value, r->data, r->data_len) = '\0';
	errno = 0;
	fprintf(g->truth, "%u,%s,%s,%u,%u,%u,%s\n", r->table,
		dta_opcode_name(r->opcode), key, r->hop, r->path_len, r->copies,
		value);
	truth_check(g);
}

/* --- reports ------------------------------------------------------------- */

int emit_open(struct gen *g, struct error *err)
{
	const char *path = g->o.truth;

	g->sequence = calloc(g->run.topology.switches + 1,
			     sizeof(*g->sequence));
	if (!g->sequence)
		return error_set(err, -ENOMEM, "out of memory");
	g->header = (struct net_udp4){
		.eth_dst = {0x02, 0x44, 0x54, 0x41, 0xff, 0xff},
		.eth_src = {0x02, 0x44, 0x54, 0x41, 0, 0},
		.src_port = REPORTER_PORT,
		.dst_port = DTA_PORT,
		.ttl = 64,
	};
	memcpy(g->header.dst, g->o.collector, 4);
	if ((g->run.w != &int_workload || g->o.has_mac) &&
	    find_addresses(g, err) < 0)
		return -EDESTADDRREQ;
	net_udp4_encode(g->headers, HEADER_LEN, &g->header, 0);
	memset(g->headers + NET_ETH_LEN + NET_IP4_AT_SUM, 0, 2);
	while (path && !g->truth) {
		g->truth = strcmp(path, "-")
				   ? fopen(cli_path_to_open(path), "we")
				   : stdout;
		if (!g->truth && errno != EINTR)
			cli_fail("%s: %s", path, strerror(errno));
	}
	if (path) {
		setvbuf(g->truth, NULL, _IOFBF, 1 << 18);
		fputs(g->truth_head, g->truth);
	}
	return link_open(g, err);
}

/* Builds the frame of a report in the sink. Returns the payload's length; 0: it
 * was not sent; -errno. */
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
	/* DTA/0 has a field for copies in two of its reports only. */
	if (g->o.copies && r->opcode != DTA_APPEND &&
	    (r->opcode != DTA_POSTCARD || g->o.format == DTA_FORMAT_1))
		r->copies = (uint8_t)g->o.copies;
	r->sequence = (uint16_t)g->sequence[reporter]++;
	if (ts_ns < g->sent_ns)
		ts_ns = g->sent_ns;
	g->sent_ns = ts_ns;
	n = link_keeps(g) ? emit_kept(g, r, reporter, ts_ns)
			  : emit_frame(g, r, reporter, ts_ns);
	gen_failed(g, n);
	if (n <= 0)
		return;
	if (g->truth)
		truth_row(g, r, type);
	g->ctr.report_bytes += (uint64_t)n;
	if (++g->ctr.reports == g->o.count)
		g->done = true;
}

void emit_flush(void *gen)
{
	struct gen *g = gen;

	gen_failed(g, snk_flush(g->snk));
}

int emit_close(struct gen *g)
{
	int rc = link_close(g);

	free(g->sequence);
	if (g->truth &&
	    (g->truth == stdout ? fflush(stdout) : fclose(g->truth)) &&
	    !g->truth_err)
		g->truth_err = -errno;
	return rc;
}
