/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.c - the local transport. Reports scatter over gigabytes, so every store
 * misses the caches, and most miss the TLB; the way to be fast is to have many
 * misses at once. So runs of similar operations go through loops that check and
 * store and do nothing else, so short that the processor has some thirty
 * iterations in flight. Additions are locked, which keeps the processor from
 * looking ahead: their lines are prefetched; others' too, where that helps
 * (region/memory.h).
 */
#include "rdma/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "rdma/message.h"
#include "region/memory.h"

enum {
	/* Operations between prefetching a line and writing it. */
	AHEAD = 16,
	AHEAD_L2 = 64,
	L2_MAX = 1 << 30, /* bytes of a table, to prefetch into L2 */
};

struct local_transport {
	struct transport transport;
	struct region *region, *own_region; /* closed with it, or NULL */
	struct writer *writer;
	enum prefetch prefetch;
	uint64_t epoch; /* that mem[] belongs to; 0: none yet */
	unsigned n;
	const struct table *table[TABLE_MAX];
	uint8_t *mem[TABLE_MAX];
};

static inline struct local_transport *self(struct transport *r)
{
	return (struct local_transport *)r;
}

static uint64_t local_begin(struct transport *transport)
{
	struct local_transport *l = self(transport);
	uint64_t epoch = writer_enter(l->writer);

	if (epoch != l->epoch) {
		l->epoch = epoch;
		for (unsigned i = 0; i < l->n; i++)
			l->mem[i] = writer_mem(l->writer, l->table[i]);
	}
	return epoch;
}

static void local_end(struct transport *transport)
{
	writer_leave(self(transport)->writer);
}

static uint64_t local_head(struct transport *transport, unsigned table,
			   uint32_t list)
{
	struct local_transport *l = self(transport);

	return region_list_count(l->region, l->table[table], l->epoch, list);
}

/* A run: operations of one verb, length and table, inside the table and
 * aligned. Each loop stops at the first operation that is not, and returns how
 * many it has done. */
struct run {
	uint8_t *mem;
	uint64_t last;	/* offset that is still inside */
	uint64_t align; /* bits of an offset that must be 0 */
	uint32_t length;
	uint16_t table;
	uint8_t verb;
	enum prefetch prefetch;
};

typedef void apply_op(uint8_t *to, const struct op *op, uint32_t length);

/* The loop itself. It is inlined into each function below, once for each way to
 * prefetch, so that apply() and how are constants there. */
static inline __attribute__((always_inline)) size_t
run_ops(apply_op *apply, const struct run *r, const struct op *ops, size_t n,
	enum prefetch how)
{
	/* Copies, which apply() cannot change as far as the compiler sees. */
	const uint64_t last = r->last, align = r->align;
	const uint32_t length = r->length;
	const uint16_t table = r->table;
	const uint8_t verb = r->verb;
	const size_t ahead = how == PREFETCH_L2 ? AHEAD_L2 : AHEAD;
	uint8_t *mem = r->mem;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct op *op = &ops[i];

		if (op->length != length || op->table != table ||
		    op->verb != verb || op->offset > last ||
		    (op->offset & align))
			break;
		/* Whatever the address: prefetching does no harm. */
		if (how == PREFETCH_L2 && i + ahead < n)
			prefetch_l2(mem + op[ahead].offset);
		else if (how == PREFETCH_ON && i + ahead < n)
			prefetch_line(mem + op[ahead].offset);
		apply(mem + op->offset, op, length);
	}
	return i;
}

static inline __attribute__((always_inline)) size_t
run_prefetched(const struct run *r, const struct op *ops, size_t n,
	       apply_op *apply)
{
	if (r->prefetch == PREFETCH_L2)
		return run_ops(apply, r, ops, n, PREFETCH_L2);
	if (r->prefetch == PREFETCH_ON)
		return run_ops(apply, r, ops, n, PREFETCH_ON);
	return run_ops(apply, r, ops, n, PREFETCH_OFF);
}

/* Whole slots, each one store instruction: a kill leaves old or new. */
static inline void apply8(uint8_t *to, const struct op *op, uint32_t length)
{
	uint64_t w;

	(void)length;
	memcpy(&w, op->data, sizeof(w));
	__atomic_store_n((uint64_t *)to, w, __ATOMIC_RELAXED);
}

static size_t store8(const struct run *r, const struct op *ops, size_t n)
{
	return run_prefetched(r, ops, n, apply8);
}

static inline void apply_add(uint8_t *to, const struct op *op, uint32_t length)
{
	(void)length;
	__atomic_fetch_add((uint64_t *)to, op->add, __ATOMIC_RELAXED);
}

/* A locked addition keeps the processor from looking ahead, so lines are always
 * prefetched. On AMD an addition takes 5.5 ns with prefetching into L2 instead
 * of 10 into L1; but 15 to 23 if a core far away has written the line last. */
static size_t add8(const struct run *r, const struct op *ops, size_t n)
{
	if (r->prefetch == PREFETCH_L2 && n > AHEAD_L2)
		return run_ops(apply_add, r, ops, n, PREFETCH_L2);
	return run_ops(apply_add, r, ops, n, PREFETCH_ON);
}

#ifdef __x86_64__
static inline void apply16(uint8_t *to, const struct op *op, uint32_t length)
{
	(void)length;
	_mm_store_si128((__m128i *)to, _mm_loadu_si128((const void *)op->data));
}

static size_t store16(const struct run *r, const struct op *ops, size_t n)
{
	return run_prefetched(r, ops, n, apply16);
}

/* Up to 64 bytes anywhere: AVX-512's masked store is one instruction. */
__attribute__((target("avx512bw"))) static inline void
apply_masked(uint8_t *to, const struct op *op, uint32_t length)
{
	__mmask64 mask = UINT64_MAX >> (64 - length);

	_mm512_mask_storeu_epi8(to, mask,
				_mm512_maskz_loadu_epi8(mask, op->data));
}

__attribute__((target("avx512bw"))) static size_t
store_masked(const struct run *r, const struct op *ops, size_t n)
{
	return run_prefetched(r, ops, n, apply_masked);
}
#endif

typedef size_t run_loop(const struct run *r, const struct op *ops, size_t n);

/* The loop for operations like this one, and the alignment it needs; NULL:
 * there is none, exec_one() does it. */
static run_loop *loop_of(const struct run *r, const struct op *op,
			 uint64_t *align)
{
	uint64_t at = (uintptr_t)r->mem | op->offset;

	*align = 7;
	if (op->verb == OP_FETCH_ADD)
		return op->length == 8 && !(at & 7) ? add8 : NULL;
	if (op->verb != OP_WRITE)
		return NULL;
	if (op->length == 8 && !(at & 7))
		return store8;
#ifdef __x86_64__
	*align = 15;
	if (op->length == 16 && !(at & 15))
		return store16;
	*align = 0;
	if (op->length && op->length <= 64 &&
	    __builtin_cpu_supports("avx512bw"))
		return store_masked;
#endif
	return NULL;
}

static enum prefetch table_prefetch(const struct local_transport *l,
				    unsigned table)
{
	if (l->prefetch == PREFETCH_L2 && l->table[table]->length > L2_MAX)
		return PREFETCH_OFF;
	return l->prefetch;
}

static inline __attribute__((always_inline)) size_t
fetch_ops(struct local_transport *l, const struct op *ops, size_t n,
	  uint64_t *old, enum prefetch how)
{
	const uint16_t table = ops->table;
	const size_t ahead = how == PREFETCH_L2 ? AHEAD_L2 : AHEAD;
	uint8_t *mem = l->mem[table];
	size_t i;

	for (i = 0;
	     i < n && ops[i].verb == OP_FETCH_ADD && ops[i].table == table;
	     i++) {
		if (i + ahead < n && how == PREFETCH_L2)
			prefetch_l2(mem + ops[i + ahead].offset);
		else if (i + ahead < n)
			prefetch_line(mem + ops[i + ahead].offset);
		old[i] = __atomic_fetch_add((uint64_t *)(mem + ops[i].offset),
					    ops[i].add, __ATOMIC_RELAXED);
	}
	return i;
}

size_t local_fetch(struct local_transport *l, const struct op *ops, size_t n,
		   uint64_t *old)
{
	if (table_prefetch(l, ops->table) == PREFETCH_L2 && n > AHEAD_L2)
		return fetch_ops(l, ops, n, old, PREFETCH_L2);
	return fetch_ops(l, ops, n, old, PREFETCH_ON);
}

/* One operation that no loop takes. */
static int exec_one(struct local_transport *l, const struct op *op)
{
	const struct table *t = l->table[op->table];

	if (op->verb == OP_FETCH_ADD)
		return -EINVAL;
	if (op->length)
		writer_put(l->writer, t, op->offset, op->data, op->length);
	if (op->verb == OP_WRITE_IMM)
		region_notify(l->region, op->immediate);
	return 0;
}

/* The same loop over pairs of words (message.h), as long as they are of the
 * first one's kind: the difference to another kind is above last. */
static inline __attribute__((always_inline)) size_t
run_pairs(const struct run *r, const uint64_t *word, size_t words, bool add,
	  enum prefetch how)
{
	const uint64_t kind = word[0] & ~OP_MESSAGE_OFFSET, last = r->last;
	const size_t ahead = 2 * (how == PREFETCH_L2 ? AHEAD_L2 : AHEAD);
	uint8_t *mem = r->mem;
	size_t i;

	for (i = 0; i + 2 <= words; i += 2) {
		uint64_t offset = word[i] - kind, *to;

		if (offset > last || offset & 7)
			break;
		/* Whatever the word: prefetching does no harm. */
		if (how == PREFETCH_L2 && i + ahead < words)
			prefetch_l2(mem +
				    (word[i + ahead] & OP_MESSAGE_OFFSET));
		else if (how == PREFETCH_ON && i + ahead < words)
			prefetch_line(mem +
				      (word[i + ahead] & OP_MESSAGE_OFFSET));
		to = (uint64_t *)(mem + offset);
		if (add)
			__atomic_fetch_add(to, word[i + 1], __ATOMIC_RELAXED);
		else
			__atomic_store_n(to, word[i + 1], __ATOMIC_RELAXED);
	}
	return i;
}

static size_t store_pairs(const struct run *r, const uint64_t *word, size_t n)
{
	if (r->prefetch == PREFETCH_L2)
		return run_pairs(r, word, n, false, PREFETCH_L2);
	if (r->prefetch == PREFETCH_ON)
		return run_pairs(r, word, n, false, PREFETCH_ON);
	return run_pairs(r, word, n, false, PREFETCH_OFF);
}

static size_t add_pairs(const struct run *r, const uint64_t *word, size_t n)
{
	if (r->prefetch == PREFETCH_L2 && n > 2 * AHEAD_L2)
		return run_pairs(r, word, n, true, PREFETCH_L2);
	return run_pairs(r, word, n, true, PREFETCH_ON);
}

static size_t local_exec_pairs(struct transport *transport,
			       const uint64_t *word, size_t words)
{
	struct local_transport *l = self(transport);
	struct run r = {.table = op_message_table(word[0])};
	uint64_t length;

	if (r.table >= l->n)
		return 0;
	length = l->table[r.table]->length;
	r.prefetch = table_prefetch(l, r.table);
	r.mem = l->mem[r.table];
	r.last = length - 8;
	if (length < 8 || (uintptr_t)r.mem & 7)
		return 0;
	return op_message_verb(word[0]) == OP_WRITE
		       ? store_pairs(&r, word, words)
		       : add_pairs(&r, word, words);
}

static int local_exec(struct transport *transport, const struct op *ops,
		      size_t n, uint64_t ts_ns)
{
	struct local_transport *l = self(transport);
	int rc = 0;

	(void)ts_ns;
	for (size_t done = 0; n && !rc; ops += done, n -= done) {
		struct run r = {
			.length = ops->length,
			.table = ops->table,
			.verb = ops->verb,
		};
		run_loop *run;

		if (ops->table >= l->n)
			return -ERANGE;
		r.prefetch = table_prefetch(l, ops->table);
		r.mem = l->mem[ops->table];
		r.last = l->table[ops->table]->length;
		if (ops->length > r.last || ops->offset > r.last - ops->length)
			return -ERANGE;
		r.last -= ops->length;
		run = loop_of(&r, ops, &r.align);
		done = run ? run(&r, ops, n) : 1;
		if (!run)
			rc = exec_one(l, ops);
	}
	return rc;
}

static void close_transport(struct transport *transport)
{
	struct region *own = self(transport)->own_region;

	local_close(self(transport));
	region_close(own);
}

/* The clone registers as a writer of its own; the region is shared. */
static int local_clone(struct transport *transport, struct transport **out,
		       struct error *err)
{
	struct local_transport *l;
	int rc = local_open(&l, self(transport)->region, err);

	if (rc < 0)
		return rc;
	l->transport.close = close_transport;
	*out = &l->transport;
	return 0;
}

int local_open(struct local_transport **out, struct region *r,
	       struct error *err)
{
	struct local_transport *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	l->transport = (struct transport){
		.begin = local_begin,
		.exec = local_exec,
		.end = local_end,
		.head = local_head,
		.clone = local_clone,
		.exec_pairs = local_exec_pairs,
	};
	l->prefetch = prefetch_here();
	if (l->prefetch == PREFETCH_ON)
		l->transport.mem = l->mem;
	l->region = r;
	l->n = region_tables(r);
	for (unsigned i = 0; i < l->n; i++)
		l->table[i] = region_table(r, i);
	if ((rc = writer_open(&l->writer, r, err)) < 0) {
		free(l);
		return rc;
	}
	*out = l;
	return 0;
}

struct transport *local_transport(struct local_transport *l)
{
	return &l->transport;
}

void local_close(struct local_transport *l)
{
	if (!l)
		return;
	writer_close(l->writer);
	free(l);
}

int local_transport_open(struct transport **out, const char *region,
			 struct error *err)
{
	struct local_transport *l;
	struct region *r;
	int rc = region_open(&r, region, true, err);

	if (rc < 0)
		return rc;
	if ((rc = local_open(&l, r, err)) < 0) {
		region_close(r);
		return rc;
	}
	l->transport.name = region;
	l->transport.table = region_table(r, 0);
	l->transport.tables = l->n;
	l->transport.close = close_transport;
	l->own_region = r;
	*out = &l->transport;
	return 0;
}
