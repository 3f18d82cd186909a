/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The local road. Reports scatter over gigabytes, so every store misses the
 * caches; what can be had is many misses at once. Operations of one kind are
 * therefore carried out in runs: a first pass over the run judges the bounds and
 * asks for the lines, a second one stores and does nothing else.
 */
#include "rdma/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
	/* Lines asked for ahead of the store; beyond some 30 nothing is gained. */
	AHEAD = 32,
};

struct local_road {
	struct road road;
	struct region *region;
	struct writer *writer;
	uint64_t epoch; /* that mem[] belongs to; 0: none yet */
	unsigned n;
	const struct table *table[TABLE_MAX];
	uint8_t *mem[TABLE_MAX];
};

static inline struct local_road *self(struct road *r)
{
	return (struct local_road *)r;
}

static uint64_t local_begin(struct road *road)
{
	struct local_road *l = self(road);
	uint64_t epoch = writer_enter(l->writer);

	if (epoch != l->epoch) {
		l->epoch = epoch;
		for (unsigned i = 0; i < l->n; i++)
			l->mem[i] = writer_mem(l->writer, l->table[i]);
	}
	return epoch;
}

static void local_end(struct road *road)
{
	writer_leave(self(road)->writer);
}

static uint64_t local_head(struct road *road, unsigned table, uint32_t list)
{
	struct local_road *l = self(road);

	return region_list_count(l->region, l->table[table], l->epoch, list);
}

static inline void want_line(const uint8_t *mem, const struct op *ops, size_t i,
			     size_t n)
{
	if (i + AHEAD < n)
		__builtin_prefetch(mem + ops[i + AHEAD].offset, 1);
}

/* Whole slots, each one store instruction: a kill leaves old or new. */
static void store8(uint8_t *mem, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t w;

		want_line(mem, ops, i, n);
		memcpy(&w, ops[i].data, sizeof(w));
		__atomic_store_n((uint64_t *)(mem + ops[i].offset), w,
				 __ATOMIC_RELAXED);
	}
}

static void add8(uint8_t *mem, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		want_line(mem, ops, i, n);
		__atomic_fetch_add((uint64_t *)(mem + ops[i].offset),
				   ops[i].add, __ATOMIC_RELAXED);
	}
}

#ifdef __x86_64__
static void store16(uint8_t *mem, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		want_line(mem, ops, i, n);
		_mm_store_si128((__m128i *)(mem + ops[i].offset),
				_mm_loadu_si128((const void *)ops[i].data));
	}
}

__attribute__((target("avx"))) static void
store32(uint8_t *mem, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		want_line(mem, ops, i, n);
		_mm256_store_si256((__m256i *)(mem + ops[i].offset),
				   _mm256_loadu_si256((const void *)ops[i].data));
	}
}

__attribute__((target("avx512f"))) static void
store64(uint8_t *mem, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		want_line(mem, ops, i, n);
		_mm512_store_si512(mem + ops[i].offset,
				   _mm512_loadu_si512(ops[i].data));
	}
}
#endif

typedef void store_run(uint8_t *mem, const struct op *ops, size_t n);

/* The loop for a whole slot of this length, or NULL: writer_put(). */
static store_run *store_of(uint32_t length)
{
	if (length == 8)
		return store8;
#ifdef __x86_64__
	if (length == 16)
		return store16;
	if (length == 32 && __builtin_cpu_supports("avx"))
		return store32;
	if (length == 64 && __builtin_cpu_supports("avx512f"))
		return store64;
#endif
	return NULL;
}

uint64_t local_atomic(struct local_road *l, const struct op *op)
{
	uint64_t *p = (uint64_t *)(l->mem[op->table] + op->offset);
	uint64_t want[2];

	if (op->verb == OP_FETCH_ADD)
		return __atomic_fetch_add(p, op->add, __ATOMIC_RELAXED);
	memcpy(want, op->data, sizeof(want));
	__atomic_compare_exchange_n(p, &want[0], want[1], false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return want[0]; /* what was there: swapped or not */
}

const uint8_t *local_mem(const struct local_road *l, unsigned table)
{
	return l->mem[table];
}

/* Operations in front that are alike, and all inside the table. Their
 * addresses or-ed together tell the alignment. */
static size_t run_length(const struct local_road *l, const struct op *ops,
			 size_t n, uint64_t *address_bits, bool *inside)
{
	const struct op *first = ops;
	uint64_t room, bits = 0;
	size_t i;

	*inside = false;
	if (first->table >= l->n ||
	    first->length > l->table[first->table]->length)
		return 0;
	room = l->table[first->table]->length - first->length;
	for (i = 0; i < n; i++) {
		if (ops[i].verb != first->verb ||
		    ops[i].length != first->length ||
		    ops[i].table != first->table)
			break;
		if (ops[i].offset > room)
			return 0;
		bits |= ops[i].offset;
	}
	*address_bits = bits | (uintptr_t)l->mem[first->table];
	*inside = true;
	return i;
}

static void run_writes(struct local_road *l, const struct op *ops, size_t n,
		       uint64_t address_bits)
{
	const struct table *t = l->table[ops->table];
	store_run *store = store_of(ops->length);

	if (store && !(address_bits & (ops->length - 1))) {
		store(l->mem[ops->table], ops, n);
	} else {
		for (size_t i = 0; i < n; i++)
			writer_put(l->writer, t, ops[i].offset, ops[i].data,
				   ops[i].length);
	}
	for (size_t i = 0; ops->verb == OP_WRITE_IMM && i < n; i++)
		region_notify(l->region, ops[i].immediate);
}

static int local_exec(struct road *road, const struct op *ops, size_t n,
		      uint64_t ts_ns)
{
	struct local_road *l = self(road);

	(void)ts_ns;
	while (n) {
		uint64_t bits;
		bool inside;
		size_t run = run_length(l, ops, n, &bits, &inside);

		if (!inside)
			return -ERANGE;
		if (ops->verb == OP_WRITE || ops->verb == OP_WRITE_IMM) {
			run_writes(l, ops, run, bits);
		} else if (ops->length != 8 || bits & 7) {
			return -EINVAL;
		} else if (ops->verb == OP_FETCH_ADD) {
			add8(l->mem[ops->table], ops, run);
		} else {
			for (size_t i = 0; i < run; i++)
				local_atomic(l, &ops[i]);
		}
		ops += run;
		n -= run;
	}
	return 0;
}

int local_open(struct local_road **out, struct region *r, struct fault *f)
{
	struct local_road *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	l->road = (struct road){
		.begin = local_begin,
		.exec = local_exec,
		.end = local_end,
		.head = local_head,
	};
	l->region = r;
	l->n = region_tables(r);
	for (unsigned i = 0; i < l->n; i++)
		l->table[i] = region_table(r, i);
	if ((rc = writer_open(&l->writer, r, f)) < 0) {
		free(l);
		return rc;
	}
	*out = l;
	return 0;
}

struct road *local_road(struct local_road *l)
{
	return &l->road;
}

void local_close(struct local_road *l)
{
	if (!l)
		return;
	writer_close(l->writer);
	free(l);
}
