/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tofino_rows.c - what waits in the registers of p4/tna/dta_translator, a
 * row of postcards and a list's batch: done here as rows.p4 says it, packet by
 * packet, and compared with lib/dta: the same reports leave the same
 * memory.
 */
#include "base/rng.h"
#include "p4_source.h"
#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

enum {
	KEY = 13,
	WORDS = 16,
	PLACES_MAX = 64,
};

static char source[SOURCE_MAX];

/* The registers of a row. */
struct row {
	uint8_t owner[KEY];
	uint8_t lacking;
	uint32_t word[WORDS];
};

struct rows {
	const struct table *t;
	struct row *row;
	uint8_t *mem;
	uint64_t chunks, early, duplicates;
};

static unsigned mask_of(unsigned n)
{
	return (1u << n) - 1;
}

/* Entries of a row to its own chunk: those that it holds. */
static void write_entries(const struct rows *m, const struct row *r,
			  unsigned held)
{
	for (unsigned i = 0; i < m->t->hops; i++)
		for (unsigned c = 0; c < m->t->copies && held >> i & 1; c++) {
			uint64_t chunk = test_crc(poly_slot[c], r->owner, KEY) %
					 m->t->units;

			be32_store(m->mem + chunk * m->t->stride + 4 * i,
				   r->word[i]);
		}
}

/* What a postcard has for a word of its row. */
static uint32_t entry_of(const struct dta_report *p, unsigned i)
{
	uint32_t v = i == p->hop ? be32_load(p->data) : UINT32_MAX;

	return v ^ test_crc(poly_hop[i], p->key, KEY);
}

static struct row *row_of(const struct rows *m, const uint8_t *key)
{
	return &m->row[test_crc(poly_checksum, key, KEY) % m->t->cache_rows];
}

/* Chunk, Owners, holdings, words, outcomes, repetitions. */
static void take_postcard(struct rows *m, const struct dta_report *p)
{
	unsigned all = mask_of(m->t->hops), own_hop = 1u << p->hop;
	/* as the table paths has them */
	unsigned path = p->path_len ? mask_of(p->path_len) : all;
	uint8_t rest = path & ~own_hop;
	struct row *r = row_of(m, p->key), was = *r;
	bool same = !memcmp(r->owner, p->key, KEY);

	memcpy(r->owner, p->key, KEY);
	r->lacking = same && was.lacking ? was.lacking & rest : rest;
	for (unsigned i = 0; i < m->t->hops; i++)
		if (!same || !was.lacking || i == p->hop)
			r->word[i] = entry_of(p, i);
	if (same && was.lacking && !(was.lacking & own_hop))
		m->duplicates++;
	if (was.lacking && !same) {
		m->early++;
		write_entries(m, &was, was.lacking ^ all);
	} else if (was.lacking && !(was.lacking & rest)) {
		m->chunks++;
		write_entries(m, r, all);
	}
}

static void flush_rows(struct rows *m)
{
	unsigned all = mask_of(m->t->hops);

	for (unsigned i = 0; i < m->t->cache_rows; i++) {
		struct row *r = &m->row[i];

		if (!r->lacking)
			continue;
		m->early++;
		write_entries(m, r, r->lacking ^ all);
		r->lacking = 0;
	}
}

static void compare(const struct rows *m, struct translator *tr,
		    const struct test_transport *transport)
{
	const struct translate_ledger *c = translate_counters(tr);

	TEST(!memcmp(m->mem, transport->mem[0], m->t->length));
	TEST(c->chunks == m->chunks && c->early_emissions == m->early);
	TEST(c->duplicates == m->duplicates);
}

/* A postcard of some flow, whose path of two hops and more is told by some. */
static void any_postcard(struct rng *rng, const struct table *t, unsigned flows,
			 uint8_t key[KEY], uint8_t value[4],
			 struct dta_report *p)
{
	uint64_t flow = rng_below(rng, flows);
	struct rng k = {flow + 1};
	unsigned len = 2 + flow % (t->hops - 1u);

	for (unsigned b = 0; b < KEY; b++)
		key[b] = (uint8_t)rng_u64(&k);
	be32_store(value, (uint32_t)rng_below(rng, 1000));
	*p = (struct dta_report){
		.opcode = TABLE_POSTCARD,
		.hop = (uint8_t)rng_below(rng, len),
		.path_len = (uint8_t)(rng_below(rng, 3) ? len : 0),
		.table = t->id,
		.key_len = KEY,
		.data_len = 4,
		.key = key,
		.data = value,
	};
}

static void take_postcards(struct table t, uint64_t seed, unsigned flows)
{
	struct test_transport *transport = test_transport_new(&t, 1);
	struct rows m = {.t = &t};
	struct rng rng = {seed};
	struct frames f = {.n = 0};
	struct translator *tr;

	m.row = calloc(t.cache_rows, sizeof(*m.row));
	m.mem = calloc(1, t.length);
	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	for (int i = 0; i < 3000; i++) {
		uint8_t key[KEY], value[4];
		struct dta_report p;

		any_postcard(&rng, &t, flows, key, value, &p);
		take_postcard(&m, &p);
		frames_report(&f, &p);
		TEST(translate_rx(tr, f.pkt, f.n) == 0);
		frames_clear(&f);
	}
	compare(&m, tr, transport);
	flush_rows(&m);
	TEST(translate_flush(tr) == 0);
	compare(&m, tr, transport);
	TEST(m.chunks > 50 && m.early > 100 && m.duplicates > 100);
	translate_close(tr);
	test_transport_free(transport);
	free(m.row);
	free(m.mem);
}

static void test_postcards_wait(void)
{
	struct table t = test_postcards(1, 5, 32, 4096, 4);

	says(source, "differs = v ^ own;");
	says(source, "(SAME_OWNER): add();");
	says(source, "(OTHER_OWNER): begin();");
	says(source, "hops = hops & meta.own_rest;");
	says(source, "hdr.bridge.held = meta.lacked ^ meta.all;");
	says(source, "(_, _, 0, _): NoAction(); /* was free */");
	says(source, "(SWITCH_ROW_POSTCARD, 0, _, _): early();");
	says(source, "(SWITCH_ROW_POSTCARD, 1, _, _): whole();");
	says(source, "(SWITCH_ROW_POSTCARD, _, 0, _): swap_word##i();");
	says(source, "(SWITCH_ROW_POSTCARD, _, _, 0): swap_word##i();");
	says(source, "(SWITCH_ROW_POSTCARD, 1, _, _): keep_word##i();");
	says(source, "hdr.low.w##i = hdr.w1.v ^ hop##i.get(KEY);");
	says(source, "hdr.low.w##i = ~hop##i.get(KEY);");
	says(source, "(DTA_POSTCARD, 1, 1): sum_##i();");
	says(source, "(DTA_POSTCARD, 1, 0): blank_##i();");
	take_postcards(t, 1, 12);
	t.copies = 3;
	take_postcards(t, 2, 12);
	t = test_postcards(1, 8, 32, 4096, 16);
	take_postcards(t, 3, 40);
	t = test_postcards(1, 2, 8, 4096, 1);
	take_postcards(t, 4, 3);
}

/* An entry of the table places. */
struct place {
	unsigned words, last, n;
};

static struct place places[PLACES_MAX];
static unsigned n_places;

/* ENTRIES_n(words, last, first): so many, one after the other. */
static void read_places(void)
{
	const char *at = source;
	unsigned n, words, last, first;

	while ((at = strstr(at, "ENTRIES_")) != NULL) {
		if (sscanf(at, "ENTRIES_%u(%u, %u, %u)", &n, &words, &last,
			   &first) == 4)
			for (unsigned i = 0; i < n; i++) {
				if (!TEST(n_places < PLACES_MAX))
					return;
				places[n_places++] = (struct place){words, last,
								    first + i};
			}
		at++;
	}
}

/* The words of the entry with which the count is now. */
static unsigned put_of(unsigned words, unsigned last, uint32_t count)
{
	unsigned put = 0, found = 0;

	for (unsigned i = 0; i < n_places; i++) {
		const struct place *p = &places[i];

		if (p->words != words || p->last != last ||
		    (count & last) != ((p->n + 1) & last))
			continue;
		put = mask_of(words) << (p->n * words);
		found++;
	}
	TEST(found == 1);
	return put;
}

/* The registers of a list. */
struct list {
	struct row row;
	uint32_t count, high;
};

/* A batch, where its last entry is; then the count. */
static void write_batch(const struct table *t, const struct list *l,
			uint8_t *mem)
{
	uint64_t mask = (t->units - 1) & ~(uint64_t)(t->batch - 1);
	uint64_t at = ((l->count - 1) & mask) * t->stride;

	for (unsigned i = 0; i < t->batch * t->stride / 4u; i++)
		be32_store(mem + at + 4 * i, l->row.word[i]);
	be64_store(mem + t->heads, (uint64_t)l->high << 32 | l->count);
}

static void take_entry(const struct table *t, struct list *l,
		       const uint8_t *entry, uint8_t *mem)
{
	unsigned words = t->stride / 4, last = t->batch - 1u, put;

	l->count++;
	l->high += l->count == 0;
	put = put_of(words, last, l->count);
	for (unsigned i = 0; i < WORDS; i++)
		if (put >> i & 1)
			l->row.word[i] = be32_load(entry + 4 * (i % words));
	if (!(l->count & last))
		write_batch(t, l, mem);
}

/* Entries from that count on; at last some that fill no batch. */
static void take_entries(unsigned words, unsigned batch, uint64_t head)
{
	struct table t = test_lists(1, (uint16_t)(4 * words), 4 * words, 64, 1,
				    (uint16_t)batch);
	struct test_transport *transport = test_transport_new(&t, 1);
	struct list l = {.count = (uint32_t)head,
			 .high = (uint32_t)(head >> 32)};
	unsigned full = 5 * batch, n = full + batch / 2;
	uint64_t last = (head + full) % t.units * t.stride;
	uint8_t entry[16], *mem = calloc(1, t.length);
	struct rng rng = {words * batch};
	struct frames f = {.n = 0};
	struct translator *tr;

	transport->head = head;
	TEST(translate_open(&tr, &t, 1, &transport->transport, NULL, NULL) ==
	     0);
	for (unsigned i = 0; i < n; i++) {
		struct dta_report p = {.opcode = DTA_APPEND,
				       .table = 1,
				       .key_len = 4,
				       .data_len = (uint16_t)(4 * words),
				       .key = (const uint8_t *)"\0\0\0\0",
				       .data = entry};

		for (unsigned b = 0; b < sizeof(entry); b++)
			entry[b] = (uint8_t)rng_u64(&rng);
		take_entry(&t, &l, entry, mem);
		frames_report(&f, &p);
		TEST(translate_rx(tr, f.pkt, f.n) == 0);
		frames_clear(&f);
		if (i + 1 == full)
			TEST(!memcmp(mem, transport->mem[0], t.length));
	}
	/* A flush: what is behind its entries is not counted. */
	if (l.count & (batch - 1))
		write_batch(&t, &l, mem);
	TEST(translate_flush(tr) == 0);
	TEST(!memcmp(mem + t.heads, transport->mem[0] + t.heads, 8));
	TEST(!memcmp(mem + last, transport->mem[0] + last,
		     (n - full) * t.stride));
	translate_close(tr);
	test_transport_free(transport);
	free(mem);
}

static void test_entries_wait(void)
{
	says(source, "((n) + 1) & last &&& last):");
	says(source, "at(((1 << words) - 1) << ((n) * words));");
	says(source, "(SWITCH_ROW_ENTRY, 0): carry();");
	says(source, "(SWITCH_ROW_ENTRY, last, 0 &&& last, _): write_full();");
	says(source, "(SWITCH_FLUSH_LIST, last, 0 &&& last, _): NoAction();");
	read_places();
	for (unsigned words = 1; words <= 4; words *= 2)
		for (unsigned batch = 1; batch * words <= WORDS; batch *= 2) {
			take_entries(words, batch, 0);
			take_entries(words, batch,
				     UINT64_C(0x300000000) - 2 * batch);
		}
}

int main(void)
{
	read_source(source, "p4/tna/dta_translator/rows.p4");
	test_postcards_wait();
	test_entries_wait();
	return test_end();
}
