/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports in memory, through the translator, into a region: what a core does
 * when nobody has to read files for it.
 *
 * The reference loop is what one would write by hand for Key-Write: parse the
 * headers, make the checks that the translator makes, two CRC-32C of the key by
 * the CPU's own instruction, one 8-byte store into the slot; nothing else. It
 * runs in the same rounds over the same packets and the same memory. A second
 * one that looks at fewer fields is shown beside it: such loops wait for
 * address translation, and the fewer instructions they have, the more of them
 * wait at the same time.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/rng.h"
#include "bench.h"
#include "op/local.h"
#include "translate/translate.h"
#include "wire/be.h"
#include "wire/dta.h"
#include "wire/key.h"
#include "wire/net.h"

enum {
	REPORTS = 1 << 20,
	FRAME = 80, /* bytes from one frame to the next */
	KEY = 13,
	HOPS = 5,
	LISTS = 255,
	TABLES = 4,
	REPORTERS = 64,
};

/* Frames one after the other, as in a capture that is in memory. */
struct traffic {
	uint8_t *block;
	struct pkt *pkt;
	uint16_t numbers[REPORTERS];
};

static void die(const char *what)
{
	fprintf(stderr, "bench_translate: %s\n", what);
	exit(1);
}

static void *must(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static struct traffic traffic_new(void)
{
	return (struct traffic){
		.block = must(calloc(REPORTS + 1, FRAME)),
		.pkt = must(calloc(REPORTS, sizeof(struct pkt))),
	};
}

/* From one reporter or another, each of which numbers its own. */
static void traffic_set(struct traffic *tf, unsigned i,
			const struct dta_report *report)
{
	uint8_t who = (uint8_t)(rng_mix(i) % REPORTERS);
	struct dta_report numbered = *report, *r = &numbered;
	struct net_udp4 h = {.src = {10, 0, 1, who},
			     .dst = {10, 0, 0, 51},
			     .src_port = 50000,
			     .dst_port = DTA_PORT,
			     .ttl = 64};
	uint8_t *p = tf->block + (size_t)(i + 1) * FRAME;
	int len;

	r->sequence = tf->numbers[who]++;
	len = dta_encode(p + 42, FRAME - 42, DTA_FORMAT_1, r);
	if (len < 0 || net_udp4_encode(p, 42, &h, (size_t)len) < 0)
		die("a report that does not fit");
	tf->pkt[i] = (struct pkt){p, 42u + (uint32_t)len, 42u + (uint32_t)len,
				  i * 100ull};
}

static void traffic_free(struct traffic *tf)
{
	free(tf->block);
	free(tf->pkt);
}

/* Random keys, or few: key i is a function of its number. */
static void key_of(uint8_t key[16], uint64_t number)
{
	be64_store(key, rng_mix(number + 1));
	be64_store(key + 8, rng_mix(~number));
}

/* Seconds for all packets through a translator, in full batches. */
static double run(struct translator *t, const struct traffic *tf)
{
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i += PKT_BATCH)
		if (translate_rx(t, tf->pkt + i, PKT_BATCH))
			die("translate_rx failed");
	return bench_now() - start;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static inline uint32_t
crc32c_of(const uint8_t *key, uint32_t sum)
{
	uint64_t a, w;
	uint32_t b;

	memcpy(&a, key, 8);
	memcpy(&b, key + 8, 4);
	w = _mm_crc32_u64(sum, a);
	w = _mm_crc32_u32((uint32_t)w, b);
	return ~_mm_crc32_u8((uint32_t)w, key[12]);
}

/* Whether a frame is a Key-Write report of table 1, by its fields. */
static inline bool fields_right(const uint8_t *p, uint32_t len)
{
	return len >= 67 && be16_load(p + 12) == 0x0800 && p[14] == 0x45 &&
	       p[23] == NET_PROTO_UDP && be16_load(p + 36) == DTA_PORT &&
	       be16_load(p + 38) == 8 + 8 + KEY + 4 &&
	       p[42] == (0x10 | DTA_KEYWRITE) && p[44] == KEY &&
	       be16_load(p + 46) == TABLE_KEYWRITE;
}

/* And by all else that the translator wants of it: not a fragment, lengths that
 * agree, the sum of the IPv4 header, no UDP checksum, N. */
static inline bool rest_right(const uint8_t *p)
{
	uint64_t a = be64_load(p + 14), b = be64_load(p + 22);
	unsigned __int128 sum = (unsigned __int128)a + b + be32_load(p + 30);

	return !(be16_load(p + 20) & 0xbfff) &&
	       be16_load(p + 16) == 28 + 8 + KEY + 4 && !be16_load(p + 40) &&
	       (p[43] & 15) <= 4 &&
	       ((uint64_t)sum + (uint64_t)(sum >> 64)) % 0xffff == 0;
}

/* The reference loop; returns its seconds. Without the rest of the checks, it
 * takes for a report what the translator would not. */
__attribute__((target("sse4.2"))) static inline
	__attribute__((always_inline)) double
	reference(const struct traffic *tf, uint8_t *mem, uint64_t slots,
		  bool rest)
{
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i++) {
		const uint8_t *p = tf->pkt[i].data;
		uint64_t slot;

		if (!fields_right(p, tf->pkt[i].len) ||
		    (rest && !rest_right(p)))
			continue;
		slot = crc32c_of(p + 50, ~1u) & (slots - 1);
		*(volatile uint64_t *)(mem +
				       slot * 8) = (uint64_t)be32_load(p + 63)
							   << 32 |
						   crc32c_of(p + 50, ~0u);
	}
	return bench_now() - start;
}

__attribute__((target("sse4.2"), noinline)) static double
reference_full(const struct traffic *tf, uint8_t *mem, uint64_t slots)
{
	return reference(tf, mem, slots, true);
}

__attribute__((target("sse4.2"), noinline)) static double
reference_fields(const struct traffic *tf, uint8_t *mem, uint64_t slots)
{
	return reference(tf, mem, slots, false);
}
#else
static double reference_full(const struct traffic *tf, uint8_t *mem,
			     uint64_t slots)
{
	(void)tf, (void)mem, (void)slots;
	return INFINITY; /* a rate of 0: no limit is printed */
}

static double reference_fields(const struct traffic *tf, uint8_t *mem,
			       uint64_t slots)
{
	return reference_full(tf, mem, slots);
}
#endif

/* Random read-modify-writes of 8 bytes: the limit of Key-Increment. */
static double reference_add(uint8_t *mem, uint64_t slots)
{
	struct rng r = {1};
	double start = bench_now();

	for (unsigned i = 0; i < REPORTS; i++)
		++*(volatile uint64_t *)(mem + (rng_u64(&r) & (slots - 1)) * 8);
	return bench_now() - start;
}

/* Every byte of the packets, a cache line at a time. */
static double reference_stream(const struct traffic *tf)
{
	const uint64_t *p = (const void *)(tf->block + FRAME);
	double start = bench_now();
	volatile uint64_t out;
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i < (size_t)REPORTS * FRAME / 8; i += 8) {
		a += p[i] + p[i + 4];
		b += p[i + 1] + p[i + 5];
		c += p[i + 2] + p[i + 6];
		d += p[i + 3] + p[i + 7];
	}
	out = a + b + c + d;
	(void)out;
	return bench_now() - start;
}

static struct table table_of(uint8_t kind, uint16_t key_len, uint16_t value_len,
			     uint32_t stride, uint64_t units)
{
	struct table t = {.id = kind,
			  .kind = kind,
			  .copies = 1,
			  .key_len = key_len,
			  .key_type = KEY_HEX,
			  .value_len = value_len,
			  .stride = stride,
			  .units = units,
			  .sequence = TABLE_SEQ_COUNT};

	snprintf(t.name, sizeof(t.name), "%s", table_kind_name(kind));
	return t;
}

/* A table of each kind; Key-Write is 4 GiB, if the machine has them. */
static struct layout layout_of(uint64_t slots)
{
	struct layout l = {.n = TABLES};

	l.table[0] = table_of(TABLE_KEYWRITE, KEY, 4, 8, slots);
	l.table[1] = table_of(TABLE_APPEND, 4, 4, 4, 1 << 16);
	l.table[1].key_type = KEY_U32;
	l.table[1].lists = LISTS;
	l.table[1].batch = 16;
	l.table[1].flush_ms = 1000;
	l.table[2] = table_of(TABLE_KEYINC, KEY, 8, 8, slots / 4);
	l.table[3] = table_of(TABLE_POSTCARD, KEY, 4, 32, 1 << 22);
	l.table[3].hops = HOPS;
	l.table[3].cache_rows = 32768;
	l.table[3].value_min = 1;
	l.table[3].value_max = 1 << 18;
	return l;
}

/* The region, its tables' memory, and a road into it. */
struct bed {
	char name[64];
	struct region *region;
	struct local_road *local;
	struct table table[TABLES];
	uint8_t *mem[TABLES];
	uint64_t slots;
	const char *pages;
};

static void bed_make(struct bed *b)
{
	struct region_options o = {.epochs = 1};
	struct writer *w = NULL;
	struct fault f = {0};
	int rc = -ENOMEM;

	snprintf(b->name, sizeof(b->name), "dta-test-%d-bench-translate",
		 getpid());
	for (b->slots = 1u << 29; rc && b->slots >= 1u << 20; b->slots /= 2) {
		struct layout l = layout_of(b->slots);

		rc = region_create(&b->region, b->name, &l, &o, &f);
	}
	b->slots *= 2;
	if (rc || local_open(&b->local, b->region, &f) ||
	    writer_open(&w, b->region, &f))
		die(f.text);
	/* The name goes at once: nothing is left behind, come what may. */
	region_remove(b->name, NULL);
	b->pages = region_page_kind(b->region);
	writer_enter(w);
	for (unsigned i = 0; i < TABLES; i++) {
		b->table[i] = *region_table(b->region, i);
		b->mem[i] = writer_mem(w, &b->table[i]);
		/* map every page now, not in the first round */
		memset(b->mem[i], 0, b->table[i].length);
	}
	writer_leave(w);
	writer_close(w);
}

static void bed_unmake(struct bed *b)
{
	local_close(b->local);
	region_close(b->region);
}

static struct translator *translator_new(const struct bed *b)
{
	struct translator *t;
	struct fault f = {0};

	if (translate_open(&t, b->table, TABLES, local_road(b->local), NULL,
			   &f))
		die(f.text);
	return t;
}

static void check(const struct translator *t)
{
	const struct translate_ledger *c = translate_counters(t);

	if (c->stored != c->received)
		die("a report was dropped");
}

static void keyed(struct traffic *tf, uint8_t kind, uint8_t copies)
{
	uint8_t key[16], value[8] = {0};
	struct dta_report r = {.opcode = kind,
			       .copies = copies,
			       .table = kind,
			       .key_len = KEY,
			       .data_len = kind == TABLE_KEYINC ? 8 : 4,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		key_of(key, i);
		be32_store(value + r.data_len - 4, i);
		traffic_set(tf, i, &r);
	}
}

static void bench_keywrite(const struct bed *b)
{
	double rate[2][BENCH_ROUNDS], limit[BENCH_ROUNDS], lean[BENCH_ROUNDS];
	struct traffic tf[2] = {traffic_new(), traffic_new()};
	struct translator *t = translator_new(b);
	const char *names[] = {"Key-Write, flow4, 4 B, N = 1",
			       "Key-Write, flow4, 4 B, N = 2"};

	for (unsigned n = 0; n < 2; n++)
		keyed(&tf[n], TABLE_KEYWRITE, (uint8_t)(n + 1));
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS /
			   reference_full(&tf[0], b->mem[0], b->slots);
		lean[i] = REPORTS /
			  reference_fields(&tf[0], b->mem[0], b->slots);
		for (unsigned n = 0; n < 2; n++)
			rate[n][i] = REPORTS / run(t, &tf[n]);
	}
	check(t);
	for (unsigned n = 0; n < 2; n++)
		bench_row(names[n], bench_median(rate[n], BENCH_ROUNDS) / 1e6,
			  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	bench_row("Reference loop without IPv4 sum, lengths, fragment, N",
		  bench_median(lean, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf[0]);
	traffic_free(&tf[1]);
}

static void bench_keyinc(const struct bed *b)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new();
	struct translator *t = translator_new(b);

	keyed(&tf, TABLE_KEYINC, 1);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS / reference_add(b->mem[2], b->slots / 4);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row("Key-Increment, flow4, N = 1",
		  bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

/* Packets' postcards in order of the hops, between packets of other flows. */
static void bench_postcards(const struct bed *b, const char *name,
			    unsigned between)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new();
	struct translator *t = translator_new(b);
	uint8_t key[16], value[4];
	struct dta_report r = {.opcode = TABLE_POSTCARD,
			       .path_len = HOPS,
			       .table = TABLE_POSTCARD,
			       .key_len = KEY,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		r.hop = (uint8_t)(i / between % HOPS);
		key_of(key, i / (between * HOPS) * between + i % between);
		be32_store(value, 1 + i % 1000);
		traffic_set(&tf, i, &r);
	}
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS / reference_stream(&tf);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row(name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

static void bench_append(const struct bed *b, const char *name, unsigned lists)
{
	double rate[BENCH_ROUNDS], limit[BENCH_ROUNDS];
	struct traffic tf = traffic_new();
	struct translator *t = translator_new(b);
	uint8_t key[4], value[4];
	struct dta_report r = {.opcode = TABLE_APPEND,
			       .table = TABLE_APPEND,
			       .key_len = 4,
			       .data_len = 4,
			       .key = key,
			       .data = value};

	for (unsigned i = 0; i < REPORTS; i++) {
		be32_store(key, (uint32_t)(rng_mix(i) % lists));
		be32_store(value, i);
		traffic_set(&tf, i, &r);
	}
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		limit[i] = REPORTS / reference_stream(&tf);
		rate[i] = REPORTS / run(t, &tf);
	}
	check(t);
	bench_row(name, bench_median(rate, BENCH_ROUNDS) / 1e6,
		  bench_median(limit, BENCH_ROUNDS) / 1e6, b->pages);
	translate_close(t);
	traffic_free(&tf);
}

int main(void)
{
	struct bed b;

	bed_make(&b);
	bench_keywrite(&b);
	bench_keyinc(&b);
	bench_postcards(&b, "Postcards, 5 hops, 32K rows, no interleaving", 1);
	bench_postcards(&b, "Postcards, 5 hops, 32K rows, 1K flows between",
			1024);
	bench_append(&b, "Append, 4 B, batch 16, one list", 1);
	bench_append(&b, "Append, 4 B, batch 16, 255 lists", LISTS);
	bed_unmake(&b);
	return 0;
}
