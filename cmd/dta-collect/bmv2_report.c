/* SPDX-License-Identifier: BSD-2-Clause */
/* bmv2_report.c - what p4/v1model/dta_reporter, int_node and dart_reporter have
 * to be told. */
#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "bmv2.h"
#include "wire/be.h"
#include "wire/key.h"

enum {
	REPORTS_PORT = 2, /* where the translator, or collector 0, is */
	CARDS_PORT = 3,	  /* the same of int_node */
	REPORTS = 4,	  /* of a packet */
	EVENT_LEN = KEY_FLOW4_LEN + 3,
};

const uint8_t bmv2_reporter_ip[4] = {10, 1, 0, 1};
const char bmv2_reporter_mac[] = "02:00:00:01:00:01";

/* Traffic comes by port 0 and leaves by 1, and the other way round. */
static void write_ports(FILE *out, const char *where)
{
	for (unsigned port = 0; port < 2; port++)
		fprintf(out,
			"table_add %s.forward.ports %s.forward.to_port %u => "
			"%u\n",
			where, where, port, 1 - port);
}

/* The first table of a kind that takes what the reporter has for it; 0 and no
 * bit in *mask: there is none. */
static unsigned table_for(const struct ticket *t, uint8_t kind, unsigned len,
			  unsigned bit, unsigned *mask)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *g = &t->table[i];

		if (g->kind != kind || g->value_len != len ||
		    (kind != TABLE_APPEND && g->key_type != KEY_FLOW4) ||
		    (kind == TABLE_APPEND && g->lists < 2))
			continue;
		*mask |= bit;
		return g->id;
	}
	return 0;
}

void bmv2_targets(struct bmv2_targets *out, const struct ticket *t)
{
	out->mask = 0;
	out->value = table_for(t, TABLE_KEYWRITE, 4, 1, &out->mask);
	out->list = table_for(t, TABLE_APPEND, EVENT_LEN, 2, &out->mask);
	out->counter = table_for(t, TABLE_KEYINC, 8, 4, &out->mask);
	out->card = table_for(t, TABLE_POSTCARD, 4, 8, &out->mask);
}

int bmv2_dart_table(const struct ticket *t)
{
	unsigned mask = 0, id = table_for(t, TABLE_KEYWRITE, 4, 1, &mask);
	int i = 0;

	if (!mask)
		return -1;
	while (t->table[i].id != id)
		i++;
	return i;
}

bool bmv2_tracked(const struct ticket *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->table[i].sequence != TABLE_SEQ_OFF)
			return true;
	return false;
}

static void write_reporter(const struct ticket *t, FILE *out)
{
	struct bmv2_targets to;
	char mac[TEXT_MAC_MAX];

	bmv2_targets(&to, t);
	fprintf(out,
		"table_set_default ReporterIngress.watched "
		"ReporterIngress.watch %u %d 0x%08x\n"
		"table_set_default ReporterEgress.reporter "
		"ReporterEgress.config %s %s 0x%08x 0x%08x %u "
		"%u %u %u 1 0 1 %d\n",
		to.mask, BMV2_SAMPLE, be32_load(bmv2_reporter_ip),
		text_of_mac(mac, t->peer_mac), bmv2_reporter_mac,
		be32_load(bmv2_reporter_ip), be32_load(t->ip), to.value,
		to.list, to.counter, to.card, bmv2_tracked(t));
}

int bmv2_write_reporter(const struct ticket *t, const struct ticket_form *form,
			FILE *out)
{
	(void)form;
	fprintf(out, "set_queue_depth %d %d\n", BMV2_QUEUE, REPORTS_PORT);
	bmv2_polynomial(out, 1, CRC_CHECKSUM, UINT32_MAX);
	bmv2_polynomial(out, 2, CRC_COLLECTOR, UINT32_MAX);
	bmv2_groups(out, REPORTS, REPORTS_PORT);
	for (unsigned n = 1; n <= REPORTS; n++)
		fprintf(out, "mirroring_add_mc %u %u\n", n, n);
	write_ports(out, "ReporterIngress");
	write_reporter(t, out);
	return bmv2_flushed(out);
}

const struct table *bmv2_card_table(const struct ticket *t, unsigned hops)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->table[i].kind == TABLE_POSTCARD &&
		    t->table[i].key_type == KEY_FLOW4 &&
		    t->table[i].hops >= hops)
			return &t->table[i];
	return NULL;
}

int bmv2_write_node(const struct ticket *t, const struct ticket_form *form,
		    FILE *out)
{
	const struct table *g = bmv2_card_table(t, form->of);
	char mac[TEXT_MAC_MAX];

	if (!g)
		return -ENOENT;
	fprintf(out,
		"set_queue_depth %d %d\n"
		"mirroring_add 2 %d\n"
		"table_set_default NodeIngress.cards.flows "
		"NodeIngress.cards.card %u %u %u 0\n"
		"table_set_default NodeEgress.postcard.reporter "
		"NodeEgress.postcard.translator %s 02:00:00:01:00:%02x 0x%08x "
		"0x%08x %u %d\n",
		BMV2_QUEUE, CARDS_PORT, CARDS_PORT, form->number, form->of,
		form->what + 1, text_of_mac(mac, t->peer_mac), form->number + 1,
		be32_load(bmv2_reporter_ip) + form->number, be32_load(t->ip),
		g->id, g->sequence != TABLE_SEQ_OFF);
	return bmv2_flushed(out);
}

/* What a collector and a table of flows are to a switch: DART section 6. */
static void write_collector(const struct ticket *t, unsigned i, unsigned number,
			    FILE *out)
{
	const struct ticket_table *at = &t->at[i];
	char mac[2][TEXT_MAC_MAX];
	unsigned port = REPORTS_PORT + number;

	fprintf(out,
		"set_queue_depth %d %u\n"
		"mirroring_add %u %u\n"
		"table_add DartEgress.rdma.pairs DartEgress.rdma.pair %u => %s "
		"%s 0x%08x 0x%08x 0x%x 0x%08x 0x%" PRIx64 " %d\n"
		"register_write DartEgress.rdma.psn %u %u\n"
		"table_add DartIngress.answers DartIngress.answer 0x%08x 0x%x "
		"=> %u\n",
		BMV2_QUEUE, port, number + 1, port, number,
		text_of_mac(mac[0], t->mac), text_of_mac(mac[1], t->peer_mac),
		be32_load(t->peer_ip), be32_load(t->ip), at->qpn, at->rkey,
		at->address, t->table[i].qp == TABLE_QP_UC, number, at->psn,
		be32_load(t->ip), at->qpn, number);
}

/* What all collectors have in common. */
static void write_dart(const struct table *g, unsigned collectors, FILE *out)
{
	static const enum crc_id ids[] = {CRC_SLOT0,	CRC_SLOT1,
					  CRC_SLOT2,	CRC_SLOT3,
					  CRC_CHECKSUM, CRC_COLLECTOR};

	for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		bmv2_polynomial(out, i, ids[i], UINT32_MAX);
	bmv2_polynomial(out, 14, CRC_SLOT0, 0); /* the iCRC, over data */
	write_ports(out, "DartIngress");
	fprintf(out,
		"table_set_default DartIngress.table_of_flows "
		"DartIngress.geometry %u %" PRIu64 " %u %u %u\n",
		g->copies, g->units, g->stride, table_write_len(g), collectors);
}

int bmv2_write_dart(const struct ticket *t, const struct ticket_form *form,
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
