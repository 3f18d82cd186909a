/* SPDX-License-Identifier: BSD-2-Clause */
/* tofino.c - what p4/tna/dta_translator has to be told. */
#include "tofino.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "bmv2.h"
#include "hash/family.h"
#include "wire/be.h"
#include "wire/key.h"
#include "wire/roce.h"

enum {
	NODES = 64, /* numbers of a multicast group's nodes */
	REPORT_LEN = NET_UDP_LEN + DTA_HEADER_LEN,
};

#define TABLE_SPAN UINT64_C(0x100000000) /* that the switch can reach */

static const uint8_t zeros[TOFINO_BATCH_LEN];

static int refuse(const struct table *t, const char *what, struct fault *f)
{
	return fault_set(f, -EINVAL,
			 "table %s: %s; make a region of a layout that has "
			 "this otherwise, or is without the table",
			 t->name, what);
}

static bool is_pow2(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int check_append(const struct ticket *t, unsigned i, struct fault *f)
{
	const struct table *g = &t->table[i];

	if (g->value_len % 4 || !is_pow2(g->stride) || g->stride > 16 ||
	    !is_pow2(g->batch) || g->batch * g->stride > TOFINO_BATCH_LEN)
		return refuse(g,
			      "batch: the switch writes entries of 4, 8 or 16 "
			      "bytes, a power of two of them and 64 bytes at "
			      "once",
			      f);
	if (g->units % g->batch)
		return refuse(g, "ring: the switch has whole batches in it", f);
	for (uint32_t l = 0; t->at[i].heads && l < g->lists; l++)
		if (t->at[i].heads[l] % g->batch)
			return fault_set(f, -EINVAL,
					 "table %s: the switch begins with a "
					 "whole batch, but a list ends within "
					 "one: --rotate first",
					 g->name);
	return 0;
}

static int check_key(const struct table *t, struct fault *f)
{
	if (t->key_type != KEY_FLOW4)
		return refuse(t, "key: the switch has flow4 only", f);
	if (!is_pow2(t->stride) || t->stride > TOFINO_FORM_32)
		return refuse(t,
			      "stride: the switch has slots of 4, 8, 16 and 32 "
			      "bytes",
			      f);
	if (t->kind == TABLE_KEYWRITE &&
	    (t->value_len % 4 || t->value_len > TOFINO_VALUE_MAX))
		return refuse(t,
			      "value: the switch has multiples of 4 bytes, 28 "
			      "at most",
			      f);
	if (t->kind == TABLE_KEYINC && t->qp == TABLE_QP_UC)
		return refuse(t, "qp: the switch adds by RC alone", f);
	return 0;
}

static int check_table(const struct ticket *t, unsigned i, struct fault *f)
{
	const struct table *g = &t->table[i];

	if (g->hash != HASH_DTA1)
		return refuse(g, "hash: the switch has dta1 only", f);
	if (!is_pow2(g->units) || g->length > TABLE_SPAN)
		return refuse(g,
			      "the switch has a power of two of slots, or of a "
			      "ring's entries, in 4 GiB at most",
			      f);
	return g->kind == TABLE_APPEND ? check_append(t, i, f)
				       : check_key(g, f);
}

/* Where rows of a cache can begin: their number is a power of two. */
static uint32_t first_row(uint32_t rows, const struct table *t)
{
	uint32_t n = t->kind == TABLE_POSTCARD ? t->cache_rows : 1;

	return (rows + n - 1) / n * n;
}

static uint32_t rows_of(const struct table *t)
{
	return t->kind == TABLE_POSTCARD ? t->cache_rows : t->lists;
}

static int check_room(const struct ticket *t, struct fault *f)
{
	uint64_t rows = 0, lists = 0;

	for (unsigned i = 0; i < t->n && rows <= TOFINO_ROWS; i++) {
		rows = first_row((uint32_t)rows, &t->table[i]) +
		       (uint64_t)rows_of(&t->table[i]);
		lists += t->table[i].lists;
	}
	if (rows > TOFINO_ROWS)
		return fault_set(f, -EINVAL,
				 "cache: the switch has room for %d rows and "
				 "lists in all tables together",
				 TOFINO_ROWS);
	if (lists > TOFINO_LISTS)
		return fault_set(f, -EINVAL,
				 "lists: the switch has room for %d in all "
				 "tables together",
				 TOFINO_LISTS);
	return 0;
}

int tofino_check_reporter(const struct ticket *t,
			  const struct ticket_form *form, struct fault *f)
{
	(void)form;
	return t->version == 4
		       ? 0
		       : fault_set(f, -EINVAL,
				   "tofino: the switch knows IPv4 only");
}

int tofino_check(const struct ticket *t, const struct ticket_form *form,
		 struct fault *f)
{
	int rc = tofino_check_reporter(t, form, f);

	if (!rc && t->n > TOFINO_TABLES)
		rc = fault_set(f, -EINVAL, "the switch has room for %d tables",
			       TOFINO_TABLES);
	for (unsigned i = 0; i < t->n && !rc; i++)
		rc = check_table(t, i, f);
	return rc ? rc : check_room(t, f);
}

void tofino_groups(FILE *out, unsigned first, unsigned each, unsigned step,
		   const char *port)
{
	for (unsigned n = 1; n <= HASH_COPIES; n++) {
		unsigned group = first + n;

		fprintf(out,
			"for n in range(%u):\n"
			"    bfrt.pre.node.add(MULTICAST_NODE_ID=%u + n, "
			"MULTICAST_RID=n // %u * %u + n %% %u, "
			"MULTICAST_LAG_ID=[], DEV_PORT=[%s])\n\n"
			"bfrt.pre.mgid.add(MGID=%u, "
			"MULTICAST_NODE_ID=list(range(%u, %u)), "
			"MULTICAST_NODE_L1_XID_VALID=[False] * %u, "
			"MULTICAST_NODE_L1_XID=[0] * %u)\n",
			each * n, group * NODES, each, step, each, port, group,
			group * NODES, group * NODES + each * n, each * n,
			each * n);
	}
}

void tofino_pair(FILE *out, const char *place, const struct ticket *t,
		 unsigned i, unsigned number)
{
	const struct ticket_table *at = &t->at[i];
	char mac[2][TEXT_MAC_MAX];

	fprintf(out,
		"p4.%s.pair.pairs.add_with_pair(lane=%u, eth_dst='%s', "
		"eth_src='%s', ip_src=0x%08x, ip_dst=0x%08x, src_port=%u, "
		"qpn=0x%x, key=0x%08x, address=0x%016" PRIx64 ")\n"
		"p4.%s.frame.psn.mod(REGISTER_INDEX=%u, f1=0x%08x)\n",
		place, number, text_of_mac(mac[0], t->mac),
		text_of_mac(mac[1], t->peer_mac), be32_load(t->peer_ip),
		be32_load(t->ip), roce_src_port(at->qpn), at->qpn, at->rkey,
		at->address, place, number, at->psn << 8);
}

/* A packet of that form, with nothing in it that is another's in the next. */
static struct roce packet_of(const struct ticket *t, unsigned i, unsigned form)
{
	const struct ticket_table *at = &t->at[i];
	bool uc = t->table[i].qp == TABLE_QP_UC, imm = form & TOFINO_FORM_IMM;
	struct roce r = {
		.version = 4,
		.src_port = roce_src_port(at->qpn),
		.migreq = true,
		.pkey = 0xffff,
		.dest_qp = at->qpn,
		.rkey = at->rkey,
		.payload = zeros,
	};

	memcpy(r.src, t->peer_ip, sizeof(r.src));
	memcpy(r.dst, t->ip, sizeof(r.dst));
	if (form == TOFINO_FORM_ADD) {
		r.opcode = ROCE_RC_FETCH_ADD;
		return r;
	}
	r.len = r.dma_len = form & ~(unsigned)TOFINO_FORM_IMM;
	if (uc)
		r.opcode = imm ? ROCE_UC_WRITE_ONLY_IMM : ROCE_UC_WRITE_ONLY;
	else
		r.opcode = imm ? ROCE_RC_WRITE_ONLY_IMM : ROCE_RC_WRITE_ONLY;
	return r;
}

void tofino_frame(FILE *out, const char *place, const struct ticket *t,
		  unsigned i, unsigned number, unsigned form)
{
	struct roce r = packet_of(t, i, form);
	uint8_t frame[ROCE_FRAME_MAX];
	int len = roce_encode(frame, sizeof(frame), &r);
	unsigned ip_len = (unsigned)len - NET_ETH_LEN;

	fprintf(out,
		"p4.%s.frame.frames.add_with_frame(lane=%u, form=%u, "
		"opcode=0x%02x, ip_len=%u, udp_len=%u, dma_len=%u, "
		"icrc=0x%08x)\n",
		place, number, form, r.opcode, ip_len, ip_len - NET_IP4_LEN,
		r.dma_len,
		__builtin_bswap32(be32_load(frame + len - ROCE_ICRC_LEN)));
}

/* Bits of the words that a value lacks of what is written. */
static unsigned padding(const struct table *t)
{
	unsigned words = t->value_len / 4u, want = words, mask = 0;

	if (t->kind == TABLE_KEYWRITE)
		want = t->stride / 4 - 1;
	else if (t->kind == TABLE_APPEND)
		want = t->stride / 4;
	while (words < want)
		mask |= 1u << ++words;
	return mask;
}

static unsigned form_of(const struct table *t)
{
	if (t->kind == TABLE_KEYINC)
		return TOFINO_FORM_ADD;
	return t->kind == TABLE_APPEND ? t->batch * t->stride : t->stride;
}

static void write_lane(FILE *out, const struct table *t, unsigned i,
		       uint32_t row)
{
	bool card = t->kind == TABLE_POSTCARD, list = t->kind == TABLE_APPEND;
	unsigned hops = (1u << t->hops) - 1;

	fprintf(out,
		"p4.TranslatorIngress.lanes.add_with_lane(table_id=%u, n=%u, "
		"kind=%u, key_len=%u, udp_len=%u, copies=%u, immediate=%u, "
		"sequence_check=%u, form=%u, pad=0x%02x, hops=0x%02x, "
		"row_mask=0x%x, row_first=%u, "
		"entry_words=%u, last_entry=%u)\n"
		"p4.TranslatorEgress.operation.place.masks.add_with_mask("
		"lane=%u, slots=0x%" PRIx64 ")\n"
		"p4.TranslatorEgress.operation.place.geometries."
		"add_with_geometry(lane=%u, shift=%d)\n",
		t->id, i, t->kind, t->key_len,
		REPORT_LEN + t->key_len + t->value_len, t->copies, t->immediate,
		t->sequence, form_of(t), padding(t), card ? hops : 0,
		card ? t->cache_rows - 1 : UINT16_MAX, row,
		list ? t->stride / 4 : 0, list ? t->batch - 1u : 0, i,
		(t->units - 1) & ~(uint64_t)(list ? t->batch - 1u : 0), i,
		__builtin_ctz(t->stride));
}

/* The hops of all paths that fit. */
static void write_paths(FILE *out, const struct table *t)
{
	unsigned all = (1u << t->hops) - 1;

	for (unsigned len = 0; len <= t->hops; len++) {
		unsigned end = len ? len : t->hops;
		unsigned blank = len ? all & ~((1u << len) - 1) : 0;

		for (unsigned hop = 0; hop < end; hop++)
			fprintf(out,
				"p4.TranslatorIngress.judge.paths."
				"add_with_path(table_id=%u, path_len=%u, "
				"hop=%u, own_hop=0x%02x, rest=0x%02x, "
				"direct=%d)\n",
				t->id, len, hop, 1u << hop,
				all & ~(1u << hop | blank),
				(1u << hop | blank) == all);
	}
}

/* The beginning of a list's ring, for the replica that is its batch, and the
 * place of its count, for the one that is that. */
#define RING                                                                   \
	"p4.TranslatorEgress.operation.place.rings.add_with_ring(list_row=%u," \
	" "                                                                    \
	"egress_rid=%u, at=0x%" PRIx64 ")\n"

/* A list's number, its place, and what has been written of it. */
static void write_list(FILE *out, const struct ticket *t, unsigned i,
		       uint32_t list, uint32_t list_row, uint32_t row)
{
	const struct table *g = &t->table[i];
	uint64_t head = t->at[i].heads ? t->at[i].heads[list] : 0;

	fprintf(out,
		"p4.TranslatorIngress.judge.lists.add_with_row_of(table_id=%u, "
		"list_no=%u, list_row=%u)\n" RING RING,
		g->id, list, list_row, list_row, 0, list * g->units * g->stride,
		list_row, HASH_HOPS, g->heads + 8 * (uint64_t)list);
	if (head)
		fprintf(out,
			"p4.TranslatorIngress.owners.port.mod("
			"REGISTER_INDEX=%u, f1=0x%08x)\n"
			"p4.TranslatorIngress.append.high_counts.mod("
			"REGISTER_INDEX=%u, f1=0x%08x)\n",
			row, (uint32_t)head, row, (uint32_t)(head >> 32));
}

static void write_frames(FILE *out, const struct ticket *t, unsigned i)
{
	const struct table *g = &t->table[i];
	unsigned form = form_of(g);
	unsigned last = g->kind == TABLE_APPEND ? TOFINO_FORM_8 : form;

	tofino_frame(out, "TranslatorEgress.operation", t, i, i, form);
	if (last != form)
		tofino_frame(out, "TranslatorEgress.operation", t, i, i, last);
	if (g->kind == TABLE_POSTCARD && form != TOFINO_FORM_4)
		tofino_frame(out, "TranslatorEgress.operation", t, i, i,
			     TOFINO_FORM_4);
	if (g->kind != TABLE_KEYINC)
		tofino_frame(out, "TranslatorEgress.operation", t, i, i,
			     last | TOFINO_FORM_IMM);
}

static void write_pair(FILE *out, const struct ticket *t, unsigned i)
{
	tofino_pair(out, "TranslatorEgress.operation", t, i, i);
	write_frames(out, t, i);
	fprintf(out,
		"p4.TranslatorIngress.answers.add_with_answer(dest_qp=0x%x, "
		"syndrome=0x%x, n=%u)\n",
		t->at[i].qpn, ROCE_NAK_PSN, i);
}

int tofino_write(const struct ticket *t, const struct ticket_form *form,
		 FILE *out)
{
	uint32_t row = 0, list_row = 0;

	(void)form;
	fputs("# bfshell -b THIS, where dta_translator has just been loaded\n"
	      "p4 = bfrt.dta_translator.pipe\n"
	      "collector = 1  # the port (DEV_PORT) that leads there\n",
	      out);
	tofino_groups(out, 0, 1, HASH_HOPS, "collector");
	tofino_groups(out, TOFINO_GROUP_ENTRIES, HASH_HOPS, HASH_HOPS,
		      "collector");
	for (unsigned i = 0; i < t->n; i++) {
		const struct table *g = &t->table[i];

		row = first_row(row, g);
		write_lane(out, g, i, row);
		write_pair(out, t, i);
		if (g->kind == TABLE_POSTCARD)
			write_paths(out, g);
		for (uint32_t l = 0; l < g->lists; l++)
			write_list(out, t, i, l, list_row++, row + l);
		row += rows_of(g);
	}
	return bmv2_flushed(out);
}
