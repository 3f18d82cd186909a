/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * again WHAT PLAIN SWITCH OUT [HOPS NODES]: what lib/ makes of the packets of
 * PLAIN with the metadata that P4 switches have said in SWITCH; it should be
 * SWITCH. WHAT:
 *
 *	int	INT-MD 2.1: packets behind so many NODES, the source of which
 *		lets HOPS of them say something (p4/v1model/int_node)
 *	report	telemetry reports 2.0 of such packets, with the reporter's own
 *		metadata and those of NODES - 1 before it
 *	label	labels (p4/v1model/int_label)
 *	export	datagrams with the labels that ended somewhere
 *
 * Packets of int and label are PLAIN's one by one; the others are of some of
 * them, in their order.
 */
/* clang-format on */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "int/int_md.h"
#include "int/int_md.h"
#include "int/treport.h"
#include "packet/pkt.h"
#include "net/be.h"
#include "label/label.h"
#include "net/net.h"
#include "int_push.h"

enum {
	FRAME_MAX = 4096,
	UDP_HEADERS = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN,
	EXPORT_REST = 8, /* bytes behind the labels */
};

struct frame {
	uint8_t data[FRAME_MAX];
	size_t len;
};

static const struct int_profile *profile;
static unsigned hops_max, nodes;
static struct src *plain;
static struct snk *out;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "again: %s\n", what);
	exit(1);
}

/* The next packet of a capture. False: there is none. */
static bool next(struct src *s, struct frame *f)
{
	struct error why;
	struct pkt p;
	int n = src_rx(s, &p, 1, &why);

	if (n < 0 || (n && p.len > FRAME_MAX))
		die("cannot read");
	if (!n)
		return false;
	memcpy(f->data, p.data, p.len);
	f->len = p.len;
	return true;
}

static void put(const struct frame *f)
{
	const struct pkt p = {.data = f->data,
			      .len = (uint32_t)f->len,
			      .wire_len = (uint32_t)f->len};

	if (snk_tx(out, &p, 1))
		die("cannot write");
}

/* The datagram's headers as those of from, around what f has. */
static void around(struct frame *f, const struct frame *from)
{
	const uint8_t *ip = from->data + NET_ETH_LEN, *udp = ip + NET_IP4_LEN;
	struct net_udp4 h = {.ttl = 64,
			     .src_port = be16_load(udp),
			     .dst_port = be16_load(udp + NET_UDP_AT_DST)};

	memcpy(h.eth_dst, from->data, 6);
	memcpy(h.eth_src, from->data + NET_ETH_AT_SRC, 6);
	memcpy(h.src, ip + NET_IP4_AT_SRC, 4);
	memcpy(h.dst, ip + NET_IP4_AT_DST, 4);
	memmove(f->data + UDP_HEADERS, f->data, f->len);
	if (net_udp4_encode(f->data, FRAME_MAX, &h, f->len) < 0)
		die("no headers");
	f->len += UDP_HEADERS;
}

/* PLAIN's next packet that has this IP header and what stands behind it. */
static void find_plain(struct frame *f, const uint8_t *ip, const uint8_t *l4)
{
	do
		if (!next(plain, f))
			die("a packet that is not there was told of");
	while (memcmp(f->data + NET_ETH_LEN + NET_IP4_AT_SRC,
		      ip + NET_IP4_AT_SRC, 8) != 0 ||
	       memcmp(f->data + NET_ETH_LEN + NET_IP4_AT_ID, ip + NET_IP4_AT_ID,
		      2) != 0 ||
	       memcmp(f->data + NET_ETH_LEN + NET_IP4_LEN, l4, 4) != 0);
}

/* INT into f: header and stack as at that place of said, hop by hop. */
static void with_int(struct frame *f, const uint8_t *said,
		     const struct int_place *at)
{
	size_t len = (said[at->header + INT_AT_HOP_WORDS] & 0x1fU) * 4;
	struct int_source s = {
		.version = INT_V2_1,
		.type = INT_TYPE_MD,
		.over = INT_OVER_L4,
		.by = INT_BY_DSCP,
		.hops_max = (uint8_t)hops_max,
		.bitmap = be16_load(said + at->header + INT_AT_BITMAP)};
	unsigned n = len ? at->stack_len / (unsigned)len : 0;
	struct frame with;
	int rc = int_insert(with.data, FRAME_MAX, profile, &s, f->data, f->len);

	/* Nodes for which no hop is left change what they may. */
	for (unsigned i = 0; rc > 0 && i < nodes; i++) {
		unsigned hop = i < n ? n - 1 - i : 0;
		struct int_transit t = {.md = said + at->stack + hop * len,
					.md_len = len};

		rc = int_push(with.data, (size_t)rc, FRAME_MAX, profile, &t);
	}
	if (rc < 0 || !n)
		die("INT cannot be made so");
	with.len = (size_t)rc;
	*f = with;
}

static void again_int(const struct frame *said)
{
	struct int_place at;
	struct frame f;

	if (!next(plain, &f))
		die("more packets than were sent");
	if (!int_find(&at, profile, NET_ETHERTYPE_ETH, said->data, said->len))
		with_int(&f, said->data, &at);
	put(&f);
}

static void again_report(const struct frame *said)
{
	const uint8_t *payload = said->data + UDP_HEADERS;
	const uint8_t *inner = payload + TREPORT_V2_GROUP_LEN + TREPORT_V2_LEN;
	struct treport_fields s = {.from.version = 2,
				   .flags = INT_TRACKED,
				   .inner_type = TREPORT_IP4};
	struct int_place at;
	struct frame f, all = {.len = 0};
	int rc;

	if (said->len < UDP_HEADERS + TREPORT_V2_GROUP_LEN + TREPORT_V2_LEN ||
	    int_find(&at, profile, NET_ETHERTYPE_IP4, inner,
		     (size_t)(said->data + said->len - inner)))
		die("a report without INT");
	find_plain(&f, inner, inner + NET_IP4_LEN);
	with_int(&f, inner, &at);
	s.from.node = be32_load(payload + TREPORT_V2_AT_NODE);
	s.from.sequence = be32_load(payload) & 0x3fffff;
	s.inner = f.data + NET_ETH_LEN;
	s.inner_len = at.end; /* no more of it is reported */
	rc = treport_encode(all.data, FRAME_MAX - UDP_HEADERS, &s);
	if (rc < 0)
		die("no report can be made so");
	all.len = (size_t)rc;
	around(&all, said);
	put(&all);
}

/* The labels of v onto f, the oldest first. */
static void with_labels(struct frame *f, const struct label_view *v)
{
	for (unsigned i = v->n; i > 0; i--) {
		struct label_item item;
		struct label_view at;
		struct frame with;
		int rc;

		label_item_get(&item, v, i - 1);
		rc = label_find(&at, &label_format_default, f->data, f->len);
		if (rc && rc != -ENOENT)
			die("a packet that cannot have labels");
		rc = label_push(with.data, FRAME_MAX, &label_format_default,
				&at, f->data, f->len, &item, v->specific, 0);
		if (rc < 0)
			die("a label cannot be written");
		with.len = (size_t)rc;
		*f = with;
	}
}

static void again_label(const struct frame *said)
{
	struct label_view v;
	struct frame f;

	if (!next(plain, &f))
		die("more packets than were sent");
	if (!label_find(&v, &label_format_default, said->data, said->len))
		with_labels(&f, &v);
	put(&f);
}

static void again_export(const struct frame *said)
{
	struct label_view v;
	struct frame f;
	size_t len;

	if (label_find(&v, &label_format_default, said->data, said->len) ||
	    !v.exported)
		die("a datagram without labels");
	find_plain(&f, v.ip, v.rest);
	with_labels(&f, &v);
	len = NET_IP4_LEN + label_extent(&v) + EXPORT_REST;
	if (len > f.len - NET_ETH_LEN)
		len = f.len - NET_ETH_LEN;
	memmove(f.data, f.data + NET_ETH_LEN, len);
	f.len = len;
	around(&f, said);
	put(&f);
}

static const struct {
	const char *name;
	void (*again)(const struct frame *said);
	int argc;
} kinds[] = {
	{"int", again_int, 7},
	{"report", again_report, 7},
	{"label", again_label, 5},
	{"export", again_export, 5},
};

int main(int argc, char **argv)
{
	struct error why = {0};
	struct frame said;
	struct src *s;
	unsigned i = 0;

	while (i < 4 && (argc < 2 || strcmp(argv[1], kinds[i].name) != 0))
		i++;
	if (i == 4 || argc != kinds[i].argc)
		return 2;
	if (argc == 7) {
		hops_max = (unsigned)strtoul(argv[5], NULL, 0);
		nodes = (unsigned)strtoul(argv[6], NULL, 0);
	}
	profile = int_profile_named("2.1");
	if (src_open(&plain, argv[2], &why) < 0 ||
	    src_open(&s, argv[3], &why) < 0 ||
	    snk_open(&out, argv[4], &why) < 0)
		die(why.text);
	while (next(s, &said))
		kinds[i].again(&said);
	src_close(s);
	src_close(plain);
	return snk_close(out) < 0;
}
