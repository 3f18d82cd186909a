/* SPDX-License-Identifier: BSD-2-Clause */
/* bmv2.c - what p4/v1model/dta_translator has to be told. */
#include "bmv2.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "hash/crc.h"
#include "hash/family.h"
#include "wire/be.h"

enum {
	PORT = 1, /* where the collector is */
	/* Operations of a report, at most: those of a row of the postcard cache
	 * that makes room (of each copy as many as there are runs of hops), and
	 * of another that is complete; and a packet that goes on to the next
	 * row. */
	REPLICAS = HASH_COPIES * (HASH_HOPS / 2 + 1) + 1,
};

/* The polynomials of the program's calculations, in the order in which its
 * source has them: they are called calc, calc_0, calc_1, ... */
static const struct {
	unsigned calculation; /* 0: calc, 1: calc_0... */
	enum crc_id id;
} hashes[] = {
	/* keys.p4 */
	{1, CRC_SLOT0},
	{2, CRC_SLOT1},
	{3, CRC_SLOT2},
	{4, CRC_SLOT3},
	{5, CRC_CHECKSUM},
	{7, CRC_HOP0},
	{8, CRC_HOP0 + 1},
	{9, CRC_HOP0 + 2},
	{10, CRC_HOP0 + 3},
	{11, CRC_HOP0 + 4},
	{12, CRC_HOP0 + 5},
	{13, CRC_HOP0 + 6},
	{14, CRC_HOP7},
	/* rdma.p4: the iCRC, over data */
	{18, CRC_SLOT0},
};

static int refuse(const struct table *t, const char *what, struct fault *f)
{
	return fault_set(f, -EINVAL,
			 "table %s: %s; make a region of a layout that has "
			 "this otherwise, or is without the table",
			 t->name, what);
}

static int check_table(const struct table *t, struct fault *f)
{
	if (t->hash != HASH_DTA1)
		return refuse(t, "hash: the switch has dta1 only", f);
	if (t->key_len < P4_KEY_MIN)
		return refuse(t, "key: the switch takes 4 bytes at least", f);
	if ((t->kind == TABLE_KEYWRITE && table_write_len(t) > P4_WRITE_LEN) ||
	    (t->kind == TABLE_APPEND && t->batch * t->stride > P4_WRITE_LEN))
		return refuse(t,
			      "value: the switch writes 256 bytes at once: a "
			      "slot with its checksum and padding, or all "
			      "entries of a batch",
			      f);
	if (t->kind == TABLE_KEYINC && t->qp == TABLE_QP_UC)
		return refuse(t, "qp: the switch adds by RC alone", f);
	return 0;
}

static int check_room(const struct ticket *t, struct fault *f)
{
	uint64_t rows = 0, lists = 0;

	for (unsigned i = 0; i < t->n; i++) {
		rows += t->table[i].cache_rows;
		lists += t->table[i].lists;
	}
	if (rows > P4_ROWS)
		return fault_set(f, -EINVAL,
				 "cache: the switch has room for %d rows in "
				 "all tables together",
				 P4_ROWS);
	if (lists > P4_LISTS)
		return fault_set(f, -EINVAL,
				 "lists: the switch has room for %d in all "
				 "tables together",
				 P4_LISTS);
	return 0;
}

int bmv2_check(const struct ticket *t, const struct ticket_form *form,
	       struct fault *f)
{
	int rc = 0;

	(void)form;
	if (t->version != 4)
		return fault_set(f, -EINVAL,
				 "bmv2: the switch knows IPv4 only");
	for (unsigned i = 0; i < t->n && !rc; i++)
		rc = check_table(&t->table[i], f);
	return rc ? rc : check_room(t, f);
}

void bmv2_polynomial(FILE *out, unsigned calculation, enum crc_id id,
		     uint32_t begin)
{
	fputs("set_crc32_parameters calc", out);
	if (calculation)
		fprintf(out, "_%u", calculation - 1);
	fprintf(out, " 0x%08x 0x%x 0xffffffff true true\n", crc_poly(id),
		begin);
}

/* Group n: n replicas, which know themselves by their numbers from 0 on. */
void bmv2_groups(FILE *out, unsigned max, unsigned port)
{
	unsigned node = 0;

	for (unsigned n = 1; n <= max; n++) {
		fprintf(out, "mc_mgrp_create %u\n", n);
		for (unsigned i = 0; i < n; i++, node++)
			fprintf(out,
				"mc_node_create %u %u\n"
				"mc_node_associate %u %u\n",
				i, port, n, node);
	}
}

static void write_lane(FILE *out, const struct table *t, unsigned i)
{
	fprintf(out,
		"table_add TranslatorIngress.lanes "
		"TranslatorIngress.lane %u => %u %u %u %u %u "
		"%u %u %" PRIu64 " %u %u %u %u\n",
		t->id, i, t->kind, t->key_len, t->value_len, t->copies,
		t->immediate, t->sequence, t->units, t->stride,
		table_write_len(t), t->hops, t->lists);
}

/* Its rows of the cache of postcards are from first on. Returns how many. */
static uint32_t write_cache(FILE *out, const struct table *t, unsigned i,
			    uint32_t first)
{
	if (t->kind != TABLE_POSTCARD)
		return 0;
	fprintf(out,
		"table_add TranslatorIngress.postcards.caches "
		"TranslatorIngress.postcards.cache %u => %u "
		"%u\n",
		i, first, t->cache_rows);
	return t->cache_rows;
}

/* The same for the batches of its lists. */
static uint32_t write_ring(FILE *out, const struct ticket *t, unsigned i,
			   uint32_t first)
{
	const struct table *g = &t->table[i];

	if (g->kind != TABLE_APPEND)
		return 0;
	fprintf(out,
		"table_add TranslatorIngress.append.rings "
		"TranslatorIngress.append.ring %u => %u %u "
		"%" PRIu64 "\n",
		i, first, g->batch, g->heads);
	for (uint32_t l = 0; t->at[i].heads && l < g->lists; l++)
		if (t->at[i].heads[l])
			fprintf(out,
				"register_write TranslatorIngress.append."
				"counts %u %" PRIu64 "\n"
				"register_write TranslatorIngress.append."
				"places %u %" PRIu64 "\n",
				first + l, t->at[i].heads[l], first + l,
				t->at[i].heads[l] % g->units);
	return g->lists;
}

static void write_pair(FILE *out, const struct ticket *t, unsigned i)
{
	const struct ticket_table *at = &t->at[i];
	char mac[2][TEXT_MAC_MAX];

	fprintf(out,
		"table_add TranslatorEgress.rdma.pairs "
		"TranslatorEgress.rdma.pair %u => %s %s "
		"0x%08x 0x%08x 0x%x 0x%08x 0x%" PRIx64 " %d\n"
		"register_write TranslatorEgress.rdma.psn %u %u\n"
		"table_add TranslatorIngress.answers "
		"TranslatorIngress.answer %u => %u\n",
		i, text_of_mac(mac[0], t->mac),
		text_of_mac(mac[1], t->peer_mac), be32_load(t->peer_ip),
		be32_load(t->ip), at->qpn, at->rkey, at->address,
		t->table[i].qp == TABLE_QP_UC, i, at->psn, at->qpn, i);
}

int bmv2_flushed(FILE *out)
{
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int bmv2_write(const struct ticket *t, const struct ticket_form *form,
	       FILE *out)
{
	uint32_t rows = 0, lists = 0;

	(void)form;
	fprintf(out, "set_queue_depth %d %d\n", BMV2_QUEUE, PORT);
	for (unsigned i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++)
		bmv2_polynomial(out, hashes[i].calculation, hashes[i].id, 0);
	bmv2_groups(out, REPLICAS, PORT);
	for (unsigned i = 0; i < t->n; i++) {
		write_lane(out, &t->table[i], i);
		write_pair(out, t, i);
		rows += write_cache(out, &t->table[i], i, rows);
		lists += write_ring(out, t, i, lists);
	}
	return bmv2_flushed(out);
}
