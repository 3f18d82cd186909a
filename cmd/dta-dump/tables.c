/* SPDX-License-Identifier: BSD-2-Clause */
#include "tables.h"

#include <string.h>

#include "store/layout.h"
#include "store/region.h"

static void of_region(struct tables *t, const char *name)
{
	struct fault f = {0};
	struct region *r;

	if (region_open(&r, name, false, &f) < 0)
		cli_fault(name, &f);
	if (ticket_of_region(&t->ticket, r, &f) < 0)
		cli_fault(name, &f);
	region_close(r);
	t->addresses = true;
}

static void of_ticket(struct tables *t, const char *path)
{
	struct fault f = {0};

	if (ticket_read(&t->ticket, path, &f) < 0)
		cli_fail("%s", f.text);
	t->addresses = true;
}

static void of_layout(struct tables *t, const char *path)
{
	struct fault f = {0};
	struct layout l;

	if (layout_read(&l, path, &f) < 0)
		cli_fail("%s", f.text);
	t->ticket.n = l.n;
	memcpy(t->ticket.table, l.table, sizeof(t->ticket.table));
	layout_fini(&l);
}

void tables_open(struct tables *t, const struct opts *o)
{
	*t = (struct tables){0};
	if (o->region)
		of_region(t, o->region);
	else if (o->ticket)
		of_ticket(t, o->ticket);
	else if (o->layout)
		of_layout(t, o->layout);
	t->n = t->ticket.n;
}

void tables_close(struct tables *t)
{
	ticket_fini(&t->ticket);
}

const struct table *tables_of_report(const struct tables *t,
				     const struct dta_report *r, bool dta0)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *table = &t->ticket.table[i];

		if (dta0 ? table->kind == r->opcode && table->key_len == 4
			 : table->id == r->table)
			return table;
	}
	return NULL;
}

/* Bytes that an operation touches. */
static uint64_t reach(const struct roce *r)
{
	return r->opcode == ROCE_RC_FETCH_ADD || r->opcode == ROCE_RC_CMP_SWAP
		       ? 8
		       : r->dma_len;
}

const struct table *tables_of_write(const struct tables *t,
				    const struct roce *r, uint64_t *offset)
{
	for (unsigned i = 0; t->addresses && i < t->n; i++) {
		const struct table *table = &t->ticket.table[i];
		const struct ticket_table *at = &t->ticket.at[i];

		if (r->rkey != at->rkey || r->va < at->address ||
		    r->va - at->address > table->length ||
		    table->length - (r->va - at->address) < reach(r))
			continue;
		*offset = r->va - at->address;
		return table;
	}
	return NULL;
}
