/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "net/net.h"

/* A payload for DTA_PORT. */
static void look_inside(struct why *w, enum dta_format format,
			const struct net_udp *u)
{
	struct dta_report r;

	if (u->len)
		w->version = u->payload[0] >> 4;
	if (dta_decode(&r, format, u->payload, u->len) < 0)
		return;
	if (r.opcode == DTA_NACK) {
		w->nack = true;
		return;
	}
	w->report = true;
	w->first = r;
}

void why_look(struct why *w, enum dta_format format, const struct pkt *pkts,
	      size_t n)
{
	for (size_t i = 0; i < n && !w->report; i++) {
		struct net_udp u;

		if (net_udp_decode(&u, pkts[i].data, pkts[i].len) < 0)
			continue;
		if (u.dst_port == DTA_PORT)
			look_inside(w, format, &u);
		w->nack = w->nack || u.dst_port == DTA_NACK_PORT;
		w->roce = w->roce || u.dst_port == ROCE_PORT;
	}
}

/* "1 flows, 2 events" */
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

const char *why_text(struct error *err, const struct why *w,
		     const struct translate_ledger *l,
		     const struct table *tables, unsigned n)
{
	unsigned worst = ledger_worst(&translate_ledger, l);
	const char *counter = worst < translate_ledger.n
				      ? translate_ledger.fields[worst].name
				      : "";
	const struct table *t;

	if (!strcmp(counter, "foreign"))
		error_set(err, -1, "%s",
			  w->roce ? "these are RoCEv2 packets, translated "
				    "already: dta-collect carries them out"
			  : w->nack
				  ? "these are NACKs, for reporters"
				  : "no DTA report (UDP to port 40040) is in "
				    "it; dta-gen --from makes reports of plain "
				    "traffic, int-collect --dta of INT");
	else if (!strcmp(counter, "bad_version"))
		error_set(err, -1, "these reports are DTA/%u%s", w->version,
			  w->version ? ", which is unknown"
				     : ": say --format dta0a or dta0b");
	else if (!w->report)
		error_set(err, -1,
			  "all are %s; dta-dump packets shows what they are",
			  counter);
	else if (!(t = find_table(&w->first, tables, n)))
		no_table(err, &w->first, tables, n);
	else
		error_set(err, -1,
			  "all are %s: table %u (%s) is %s, keys of %u bytes, "
			  "values of %u, %u hops; these reports are %s, %u and "
			  "%u: another layout?",
			  counter, t->id, t->name, table_kind_name(t->kind),
			  t->key_len, t->value_len, t->hops,
			  dta_opcode_name(w->first.opcode), w->first.key_len,
			  w->first.data_len);
	return err->text;
}
