/* SPDX-License-Identifier: BSD-2-Clause */
/* bmv2.c - what p4/v1model/dta_translator has to be told. */
#include "bmv2.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "hash/crc.h"
#include "hash/family.h"
#include "wire/be.h"
#include "wire/key.h"

enum {
	QUEUE = 65536, /* packets: a burst of reports, each several operations
			*/
	PORT = 1,      /* where the collector is */
	REPORTS_PORT = 2, /* of the reporter: where the translator is */
	REPORTS = 4,	  /* of a packet */
	SAMPLE = 127,	  /* a packet of 128 is sampled */
	EVENT_LEN = KEY_FLOW4_LEN + 3,
	REPLICAS = 4, /* of a report, at most */
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
	return fault_set(f, -EINVAL, "table %s: %s", t->name, what);
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

int bmv2_check(const struct ticket *t, struct fault *f)
{
	int rc = 0;

	if (t->version != 4)
		return fault_set(f, -EINVAL,
				 "bmv2: the switch knows IPv4 only");
	for (unsigned i = 0; i < t->n && !rc; i++)
		rc = check_table(&t->table[i], f);
	return rc ? rc : check_room(t, f);
}

static void write_hashes(FILE *out)
{
	for (unsigned i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		fputs("set_crc32_parameters calc", out);
		if (hashes[i].calculation)
			fprintf(out, "_%u", hashes[i].calculation - 1);
		fprintf(out, " 0x%08x 0x0 0xffffffff true true\n",
			crc_poly(hashes[i].id));
	}
}

/* Group n: n replicas, which know themselves by their numbers from 0 on. */
static void write_groups(FILE *out, unsigned max, unsigned port)
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

static int flushed(FILE *out)
{
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int bmv2_write(const struct ticket *t, FILE *out)
{
	uint32_t rows = 0, lists = 0;

	fprintf(out, "set_queue_depth %d %d\n", QUEUE, PORT);
	write_hashes(out);
	write_groups(out, REPLICAS, PORT);
	for (unsigned i = 0; i < t->n; i++) {
		write_lane(out, &t->table[i], i);
		write_pair(out, t, i);
		rows += write_cache(out, &t->table[i], i, rows);
		lists += write_ring(out, t, i, lists);
	}
	return flushed(out);
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

static void write_reporter(const struct ticket *t, FILE *out)
{
	static const uint8_t ip[4] = {10, 1, 0, 1};
	unsigned mask = 0, value, list, counter, card;
	char mac[TEXT_MAC_MAX];

	value = table_for(t, TABLE_KEYWRITE, 4, 1, &mask);
	list = table_for(t, TABLE_APPEND, EVENT_LEN, 2, &mask);
	counter = table_for(t, TABLE_KEYINC, 8, 4, &mask);
	card = table_for(t, TABLE_POSTCARD, 4, 8, &mask);
	fprintf(out,
		"table_set_default ReporterIngress.watched "
		"ReporterIngress.watch %u %u 0x%08x\n"
		"table_set_default ReporterEgress.reporter "
		"ReporterEgress.config %s 02:00:00:01:00:01 0x%08x 0x%08x %u "
		"%u %u %u 1 0 1\n",
		mask, SAMPLE, be32_load(ip), text_of_mac(mac, t->peer_mac),
		be32_load(ip), be32_load(t->ip), value, list, counter, card);
}

int bmv2_write_reporter(const struct ticket *t, FILE *out)
{
	fprintf(out,
		"set_queue_depth %d %d\n"
		"set_crc32_parameters calc_0 0x%08x 0xffffffff 0xffffffff true "
		"true\n"
		"set_crc32_parameters calc_1 0x%08x 0xffffffff 0xffffffff true "
		"true\n",
		QUEUE, REPORTS_PORT, crc_poly(CRC_CHECKSUM),
		crc_poly(CRC_COLLECTOR));
	write_groups(out, REPORTS, REPORTS_PORT);
	for (unsigned n = 1; n <= REPORTS; n++)
		fprintf(out, "mirroring_add_mc %u %u\n", n, n);
	for (unsigned port = 0; port < 2; port++)
		fprintf(out,
			"table_add ReporterIngress.ports "
			"ReporterIngress.to_port %u => %u\n",
			port, !port);
	write_reporter(t, out);
	return flushed(out);
}
