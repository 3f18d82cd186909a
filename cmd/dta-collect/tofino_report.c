/* SPDX-License-Identifier: BSD-2-Clause */
/* tofino_report.c - what p4/tna/dta_reporter, int_node and dart_reporter have
 * to be told. */
#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "bmv2.h"
#include "hash/family.h"
#include "tofino.h"
#include "wire/be.h"
#include "wire/proto.h"

enum {
	DRAWS = 65536, /* numbers that are drawn for a copy */
	/* Bytes of a mirror: Ethernet, IPv4 and TCP headers, and what ingress
	 * puts in front. */
	CUT_HEADERS = NET_ETH_LEN + NET_IP4_LEN + NET_TCP_LEN,
	CUT_REPORT = CUT_HEADERS + 21,
	CUT_DART = CUT_HEADERS + 18,
	CUT_CARD = 20, /* of nothing else */
};

/* Traffic comes by one port and leaves by the other. */
static void write_ports(FILE *out, const char *program, const char *where)
{
	fprintf(out,
		"# bfshell -b THIS, where %s has just been loaded\n"
		"p4 = bfrt.%s.pipe\n"
		"traffic = 0, 1  # ports (DEV_PORT) that lead to each other\n"
		"for i in 0, 1:\n"
		"    p4.%s.forward.ports.add_with_to_port("
		"ingress_port=traffic[i], port=traffic[1 - i])\n\n",
		program, program, where);
}

static void write_reporter(const struct ticket *t, FILE *out)
{
	uint32_t ip = be32_load(bmv2_reporter_ip);
	struct bmv2_targets to;
	char mac[TEXT_MAC_MAX];

	bmv2_targets(&to, t);
	fprintf(out,
		"p4.ReporterIngress.watched.set_default_with_watch("
		"change=%u, event=%u, count=%u, sample=%u, mask=%d)\n"
		"p4.ReporterIngress.to_us.add_with_nacked(dst=0x%08x, "
		"dst_port=%d)\n"
		"p4.ReporterEgress.reporter.set_default_with_config("
		"dst_mac='%s', src_mac='%s', src_ip=0x%08x, dst_ip=0x%08x, "
		"value_id=%u, list_id=%u, count_id=%u, card_id=%u, node_id=1, "
		"node_hop=0, hops=1, tracked=%d)\n",
		to.mask & 1, to.mask >> 1 & 1, to.mask >> 2 & 1,
		to.mask >> 3 & 1, BMV2_SAMPLE, ip, DTA_NACK_PORT,
		text_of_mac(mac, t->peer_mac), bmv2_reporter_mac, ip,
		be32_load(t->ip), to.value, to.list, to.counter, to.card,
		bmv2_tracked(t));
}

int tofino_write_reporter(const struct ticket *t,
			  const struct ticket_form *form, FILE *out)
{
	(void)form;
	write_ports(out, "dta_reporter", "ReporterIngress");
	fputs("translator = 2  # the port (DEV_PORT) that leads there\n", out);
	tofino_groups(out, 0, 1, 1, "translator");
	for (unsigned n = 1; n <= HASH_COPIES; n++)
		fprintf(out,
			"bfrt.mirror.cfg.add_with_normal(sid=%u, "
			"direction='INGRESS', session_enable=True, "
			"mcast_grp_a=%u, mcast_grp_a_valid=True, "
			"max_pkt_len=%d)\n",
			n, n, CUT_REPORT);
	write_reporter(t, out);
	return bmv2_flushed(out);
}

int tofino_write_node(const struct ticket *t, const struct ticket_form *form,
		      FILE *out)
{
	const struct table *g = bmv2_card_table(t, form->of);
	char mac[TEXT_MAC_MAX];

	if (!g)
		return -ENOENT;
	fprintf(out,
		"# bfshell -b THIS, where int_node has just been loaded\n"
		"p4 = bfrt.int_node.pipe\n"
		"translator = 3  # the port (DEV_PORT) that leads there\n"
		"bfrt.mirror.cfg.add_with_normal(sid=2, direction='EGRESS', "
		"session_enable=True, ucast_egress_port=translator, "
		"ucast_egress_port_valid=True, max_pkt_len=%d)\n"
		"p4.NodeIngress.cards.flows.set_default_with_card(hop=%u, "
		"path_len=%u, what=%u, less_one=0)\n"
		"p4.NodeEgress.postcard.reporter.set_default_with_translator("
		"dst_mac='%s', src_mac='02:00:00:01:00:%02x', src=0x%08x, "
		"dst=0x%08x, table_id=%u, tracked=%d)\n",
		CUT_CARD, form->number, form->of, form->what + 1,
		text_of_mac(mac, t->peer_mac), form->number + 1,
		be32_load(bmv2_reporter_ip) + form->number, be32_load(t->ip),
		g->id, g->sequence != TABLE_SEQ_OFF);
	return bmv2_flushed(out);
}

int tofino_check_dart(const struct ticket *t, const struct ticket_form *form,
		      struct fault *f)
{
	int rc = tofino_check_reporter(t, form, f), i = bmv2_dart_table(t);
	const struct table *g;

	if (rc || i < 0)
		return rc; /* tofino_write_dart() tells that there is none */
	if ((form->of & (form->of - 1)) || form->of > TOFINO_COLLECTORS)
		return fault_set(f, -EINVAL,
				 "the switch knows a power of two of "
				 "collectors, %d at most",
				 TOFINO_COLLECTORS);
	g = &t->table[i];
	if (g->stride != TOFINO_FORM_8 || (g->units & (g->units - 1)) ||
	    g->length > UINT64_C(0x100000000))
		return fault_set(f, -EINVAL,
				 "table %s: the switch has slots of 8 bytes, a "
				 "power of two of them in 4 GiB at most",
				 g->name);
	return 0;
}

/* What all collectors have in common. */
static void write_dart(const struct table *g, unsigned collectors, FILE *out)
{
	write_ports(out, "dart_reporter", "DartIngress");
	fprintf(out,
		"p4.DartIngress.table_of_flows.set_default_with_geometry("
		"slot_mask=0x%" PRIx64 ", collector_mask=0x%x)\n",
		g->units - 1, collectors - 1);
	for (unsigned i = 0; i < g->copies; i++)
		fprintf(out,
			"p4.DartIngress.draws.add_with_draw(draw_start=%u, "
			"draw_end=%u, copy=%u)\n",
			DRAWS * i / g->copies, DRAWS * (i + 1) / g->copies - 1,
			i);
}

static void write_collector(const struct ticket *t, unsigned i, unsigned number,
			    FILE *out)
{
	fprintf(out,
		"collector%u = %u  # the port (DEV_PORT) that leads there\n"
		"bfrt.mirror.cfg.add_with_normal(sid=%u, direction='INGRESS', "
		"session_enable=True, ucast_egress_port=collector%u, "
		"ucast_egress_port_valid=True, max_pkt_len=%d)\n"
		"p4.DartIngress.collectors.add_with_report(collector=%u, "
		"number=%u, session=%u)\n",
		number, 2 + number, number + 1, number, CUT_DART, number,
		number, number + 1);
	tofino_pair(out, "DartEgress", t, i, number);
	tofino_frame(out, "DartEgress", t, i, number, TOFINO_FORM_8);
	fprintf(out,
		"p4.DartIngress.answers.add_with_answer(src=0x%08x, "
		"dest_qp=0x%x, syndrome=0x%x, collector=%u)\n",
		be32_load(t->ip), t->at[i].qpn, ROCE_NAK_PSN, number);
}

int tofino_write_dart(const struct ticket *t, const struct ticket_form *form,
		      FILE *out)
{
	int i = bmv2_dart_table(t);

	if (i < 0)
		return -ENOENT;
	if (!form->number)
		write_dart(&t->table[i], form->of, out);
	write_collector(t, (unsigned)i, form->number, out);
	return bmv2_flushed(out);
}
