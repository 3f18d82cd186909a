/* SPDX-License-Identifier: BSD-2-Clause */
/* why.c - explains why nothing was stored, from the packets and the drops. */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "net/net.h"

/* Notes what a UDP packet to DTA_PORT holds. */
static void note_dta_payload(struct drop_clues *c, enum dta_format format,
			     const struct net_udp *u)
{
	struct dta_report r;

	if (u->len)
		c->version = u->payload[0] >> 4;
	if (dta_decode(&r, format, u->payload, u->len) < 0)
		return;
	if (r.opcode == DTA_NACK) {
		c->nack = true;
		return;
	}
	c->report = true;
	c->first = r;
}

void drop_clues_note(struct drop_clues *c, enum dta_format format,
		     const struct pkt *pkts, size_t n)
{
	for (size_t i = 0; i < n && !c->report; i++) {
		struct net_udp u;

		if (net_udp_decode(&u, pkts[i].data, pkts[i].len) < 0)
			continue;
		if (u.dst_port == DTA_PORT)
			note_dta_payload(c, format, &u);
		c->nack = c->nack || u.dst_port == DTA_NACK_PORT;
		c->roce = c->roce || u.dst_port == ROCE_PORT;
	}
}

/* Says that no table takes r, and lists the tables: "1 flows, 2 events". */
static void no_table(struct error *err, const struct dta_report *r,
		     const struct table *tables, unsigned n)
{
	char names[200] = "";
	size_t len = 0;

	for (unsigned i = 0; i < n && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len,
					"%s%u %s", i ? ", " : "", tables[i].id,
					tables[i].name);
	if (r->table == DTA_NO_TABLE)
		error_set(err, -1,
			  "DTA/0 reports name no table, and none is a %s with "
			  "4-byte keys; there is %s",
			  dta_opcode_name(r->opcode), names);
	else
		error_set(err, -1,
			  "these reports are for table %u, and there is %s: "
			  "another layout?",
			  r->table, names);
}

/* DTA/0 reports go to the first table of their kind with 4-byte keys, since
 * they name none: see net/dta.h. */
static const struct table *find_table(const struct dta_report *r,
				      const struct table *tables, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (r->table == DTA_NO_TABLE ? tables[i].kind == r->opcode &&
						       tables[i].key_len == 4
					     : tables[i].id == r->table)
			return &tables[i];
	return NULL;
}

const char *drop_clues_explain(struct error *err, const struct drop_clues *c,
			       const struct translate_ledger *l,
			       const struct table *tables, unsigned n)
{
	/* The drop counter that counted most is taken for the main reason. */
	uint64_t most;
	const char *counter = ledger_largest_loss(&translate_ledger, l, &most);
	const struct table *t;

	if (!strcmp(counter, "foreign"))
		error_set(err, -1, "%s",
			  c->roce ? "these are RoCEv2 packets, translated "
				    "already: dta-collect carries them out"
			  : c->nack
				  ? "these are NACKs, for reporters"
				  : "no DTA report (UDP to port 40040) is in "
				    "it; dta-gen --from makes reports of plain "
				    "traffic, int-collect --dta of INT");
	else if (!strcmp(counter, "bad_version"))
		error_set(err, -1, "these reports are DTA/%u%s", c->version,
			  c->version ? ", which is unknown"
				     : ": say --format dta0a or dta0b");
	else if (!c->report)
		error_set(err, -1,
			  "all are %s; dta-dump packets shows what they are",
			  counter);
	else if (!(t = find_table(&c->first, tables, n)))
		no_table(err, &c->first, tables, n);
	else
		error_set(err, -1,
			  "all are %s: table %u (%s) is %s, keys of %u bytes, "
			  "values of %u, %u hops; these reports are %s, %u and "
			  "%u: another layout?",
			  counter, t->id, t->name, table_kind_name(t->kind),
			  t->key_len, t->value_len, t->hops,
			  dta_opcode_name(c->first.opcode), c->first.key_len,
			  c->first.data_len);
	return err->text;
}
