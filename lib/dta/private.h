/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - what the translator's own files share.
 *
 * A batch is processed in stages of STEP packets: admit.c decodes packets and
 * checks them, which leaves valid reports, and sorts these by table and by
 * collector; sequence.c tracks their numbers; keywrite.c (Key-Write and
 * Key-Increment), postcard.c or append.c makes operations of them; ops.c passes
 * these to the transport. cores.c does it on several cores.
 *
 * Operations and their payloads lie in two arrays of the translator, which go
 * to the transport after each table, or when they are full. Nothing is
 * allocated after translate_open().
 *
 * If the transport has addresses to prefetch (op.h), a stage is admitted in
 * parts, and the operations of a part are carried out after the next one:
 * admit.c prefetches their cache lines, some after each packet.
 */
#ifndef DTA_PRIVATE_H
#define DTA_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "hash/family.h"
#include "rdma/op.h"
#include "rdma/rate.h"
#include "dta/common_report.h"
#include "region/memory.h"
#include "dta/translate.h"
#include "net/key.h"
#include "net/net.h"

/* Operations and their payloads. */
enum {
	OPS_MAX = 18432, /* operations handed to a transport at once, at most */
	ARENA = 256 << 10, /* their payloads; a whole Append batch fits */
};

struct op_buffer {
	unsigned n;
	size_t used; /* bytes of the arena */
	struct op op[OPS_MAX];
	/* Their times, if the transport is stamped. ops_stamp() writes
	 * HASH_COPIES at once, so there is room behind the last. */
	uint64_t stamp[OPS_MAX + HASH_COPIES];
	uint8_t arena[ARENA] __attribute__((aligned(64)));
};

/* Operations of the previous part, whose cache lines are being prefetched. */
struct prefetch_queue {
	struct op_buffer *ops;
	const struct op *next, *end; /* not prefetched yet */
	unsigned each;	     /* so many are prefetched after each packet */
	uint8_t *const *mem; /* the transport's, by table */
};

static inline void prefetch_queue_step(struct prefetch_queue *queue)
{
	const struct op *op = queue->next, *end = queue->end;
	unsigned left = queue->each;

	for (; left && op < end; left--, op++)
		prefetch_lines(queue->mem[op->table] + op->offset, op->length);
	queue->next = op;
}

/* Fills in a write; compilers do best with the fields one by one. */
static inline void op_fill(struct op *o, uint16_t table, uint64_t offset,
			   const uint8_t *data, uint32_t len)
{
	o->offset = offset;
	o->data = data;
	o->length = len;
	o->immediate = 0;
	o->table = table;
	o->verb = OP_WRITE;
}

/* len bytes of the arena, which has room; payloads start 8-byte aligned. */
static inline uint8_t *op_buffer_alloc(struct op_buffer *ops, size_t len)
{
	uint8_t *p = ops->arena + ops->used;

	ops->used += (len + 7) & ~(size_t)7;
	return p;
}

enum {
	STEP = 1024,	    /* packets of a stage: from decoding to memory */
	STAGE = 4096,	    /* at most, on several cores: cores.h */
	STEP_PREFETCH = 64, /* of a part of a stage, with prefetching */
	/* Bytes that all tables' caches may take together. */
	CACHES_MAX = 48 << 20,
	NO_TABLE = TABLE_MAX,
	EXPECTED_BITS = 14, /* 2^14 sets of reporters, a word for each */
};

_Static_assert((int)STEP <= (int)PKT_BATCH, "a step fits a batch");
_Static_assert(STAGE % STEP == 0, "a stage is of whole steps");
_Static_assert(STEP % STEP_PREFETCH == 0, "a step is of whole parts");
_Static_assert(STAGE *DTA_MAX_COPIES <= OPS_MAX, "a stage's operations fit");

/* Valid reports in order. all, any: AND and OR of their descriptors; a part has
 * those of the whole. */
struct report_batch {
	unsigned n;
	uint64_t all, any;
	const uint8_t **key; /* in frames, so CRC_HEADROOM is before each */
	uint64_t *desc;
	uint16_t *at; /* index of the packet in the stage */
};

/* The arrays of a struct report_batch. */
struct report_batch_room {
	const uint8_t *key[STAGE];
	uint64_t desc[STAGE];
	uint16_t at[STAGE];
};

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Reports [from, end). */
static inline struct report_batch
report_batch_part(const struct report_batch *reports, unsigned from,
		  unsigned end)
{
	return (struct report_batch){.n = end - from,
				     .all = reports->all,
				     .any = reports->any,
				     .key = reports->key + from,
				     .desc = reports->desc + from,
				     .at = reports->at + from};
}

struct reporters; /* sequence.c */
struct postcards; /* postcard.c: the cache of rows */
struct lists;	  /* append.c: the batches */
struct table_state;
struct steering; /* admit.c: reports by collector */
struct returned; /* postcard.c: rows on their way back to a worker */
struct worker;
struct threads_out;

/* Makes operations of one table's reports, in order. */
typedef void table_run(struct translator *t, struct table_state *state,
		       const struct report_batch *reports);

/* One collector's table and the translator's state for it. */
struct table_state {
	bool busy;	/* the transport's busy(), for this batch */
	uint16_t index; /* the transport's number of the table */

	table_run *run;
	uint32_t write_len; /* bytes of a slot or chunk written whole */
	struct postcards *postcards;
	struct lists *append;
	struct table t;
};

/* Working memory for making operations. */
struct work {
	uint32_t sum[STAGE],
		slot[HASH_COPIES][STAGE]; /* of the reports' keys */
	void *row[STAGE];		  /* postcard.c: each report's */
};

struct translator {
	/* On several cores, a worker's: sends the operations in ops to their
	 * owners. NULL: they are carried out here. */
	void (*send)(struct translator *t);
	/* An owner's: takes evicted rows. NULL: operations are made of them
	 * here. */
	struct returned *returned;
	unsigned owner;		 /* its number */
	struct worker *worker;	 /* its worker: cores.c */
	struct threads_out *out; /* a worker's: to owners; else NULL */
	const uint64_t *part;	 /* for op_part(), by table */
	struct transport *transport;
	struct op_buffer *ops;		    /* those being made */
	struct prefetch_queue *prefetching; /* NULL: there is none */
	struct snk *nacks;
	pthread_mutex_t *nacks_lock; /* on several cores; else NULL */
	enum dta_format format;
	struct reporters *reporters; /* NULL: no table checks sequences */
	uint64_t *expected;	     /* see expected_at() */
	uint64_t heard;		     /* datagrams of reporters, so far */
	struct translate_ledger ctr;
	uint64_t generation; /* the transport's; list heads change with it */
	uint64_t last_ns;    /* the latest packet's time: packet/clock.h */
	uint64_t idle_ns;    /* passed since then without packets */
	uint64_t due_ns;     /* no list is due before */
	uint64_t flush_ns;   /* the shortest flush time; 0: no lists */
	uint64_t append;     /* a bit for each Append table */
	uint64_t postcards;  /* and for each Postcarding table */
	/* Postcarding tables whose rows may have immediates; if prefetching. */
	uint64_t pending_immediates;
	uint64_t counted;	/* tables that count missing numbers */
	bool waiting;		/* a list may hold entries */
	uint64_t stamp_ns;	/* time of what op_write() makes */
	const struct pkt *pkts; /* of the stage */
	size_t npkts;
	uint64_t first;	  /* packets that came before the stage */
	int error;	  /* the batch's first -errno */
	bool strict;	  /* a table checks sequences strictly */
	struct rate rate; /* of operations */

	unsigned n;	 /* tables of a collector */
	unsigned states; /* tables of all collectors, one after another */
	bool dart;
	uint64_t seed;
	bool mirror;		   /* each report goes to two collectors */
	struct steering *steering; /* NULL: one collector */
	uint8_t first_of_kind[TABLE_KINDS]; /* of DTA/0 reports, or NO_TABLE */
	/* Table of an id, as it is in the packet, or NO_TABLE. */
	uint8_t by_id[UINT16_MAX + 1];
	struct common_report common[TABLE_MAX + 1]; /* by table; NO_TABLE's
						       matches nothing */

	/* Not zeroed from here on, except the numbers of reports. */
	struct report_batch stage, bucket; /* all reports; one table's */
	struct report_batch_room stage_room, bucket_room;
	struct work work;
	struct table_state state[];
};

/* For a new translator or a copy of one. */
static inline void report_batch_init(struct translator *t)
{
	struct report_batch_room *r = &t->stage_room, *b = &t->bucket_room;

	t->stage = (struct report_batch){
		.key = r->key, .desc = r->desc, .at = r->at};
	t->bucket = (struct report_batch){
		.key = b->key, .desc = b->desc, .at = b->at};
}

static inline size_t translator_size(unsigned states)
{
	size_t size = sizeof(struct translator) +
		      states * sizeof(struct table_state);

	return (size + 63) & ~(size_t)63;
}

/*
 * admit.c. translator_begin, translator_end: for each batch, and for the
 * transport; translator_end returns the batch's first error. stage_run:
 * processes a stage, n <= STEP packets. stage_run_tables: runs the reports in
 * t->stage of some tables, a bit each, whatever the time: it writes no lists.
 */
void translator_begin(struct translator *t);
void stage_run(struct translator *t, const struct pkt *pkts, size_t n);
void stage_run_tables(struct translator *t, uint64_t states);
int translator_end(struct translator *t);

static inline void report_batch_clear(struct report_batch *reports)
{
	reports->n = 0;
	reports->all = UINT64_MAX;
	reports->any = 0;
}

static inline void report_batch_add(struct report_batch *reports,
				    const uint8_t *key, uint16_t at,
				    uint64_t desc)
{
	reports->key[reports->n] = key;
	reports->at[reports->n] = at;
	reports->desc[reports->n++] = desc;
	reports->all &= desc;
	reports->any |= desc;
}

/* admit.c: sets the common shape of each table's reports; none, if a rate limit
 * must check each report. After sequence_open(). */
void admit_init(struct translator *t);

/* Adds the valid reports of some of t->pkts to t->stage; prefetches between. */
void admit(struct translator *t, const struct pkt *pkts, size_t n);

/*
 * On several cores: the descriptors of a batch's packets of the common shape; 0
 * for others. next: by source, the number after its last one (descs_number());
 * NULL: numbers do not matter. other() is called for a packet of another shape
 * or number.
 */
enum {
	DESCS_NEXT = 4096,
	DESCS_COUNTED = 31, /* bit of a next number: it counts */
};

struct desc_batch {
	const struct pkt *pkts;
	size_t n;
	uint64_t *desc;
	const uint8_t **key;
	uint64_t all, any; /* AND and OR of the descriptors */
	uint64_t latest_ns;
	uint64_t *next;
	void (*other)(void *ctx, size_t i);
	void *ctx;
};

/* Decodes a packet of any shape: its descriptor and key. 0: none, counted. */
uint64_t admit_slowly(struct translator *t, const struct pkt *p,
		      const uint8_t **key);
void admit_descs(const struct translator *t, struct desc_batch *batch);

/*
 * A word for one IPv4 reporter of each set: its source address, as in the
 * packet, << 32, and the number after its last one. If a report has that
 * number, only this word is read and incremented. After 65535 it is 65536,
 * which no report has, so that sequence.c sees the wrap.
 */
static inline unsigned expected_index(uint32_t src)
{
	return src * UINT32_C(0x9e3779b1) >> (32 - EXPECTED_BITS);
}

static inline uint64_t *expected_at(uint64_t *expected, uint32_t src)
{
	return &expected[expected_index(src)];
}

static inline uint64_t expected_word(uint32_t number, uint32_t src)
{
	return (uint64_t)src << 32 | number;
}

/* The same with whether the number counts, by t->counted. */
static inline uint64_t descs_number(uint32_t src, uint64_t desc,
				    uint64_t counted)
{
	return expected_word(desc_sequence(desc), src) |
	       (counted >> desc_table(desc) & 1) << DESCS_COUNTED;
}

/* The set of a reporter (sequence.c). Sets share nothing, not even a word
 * above, so each may belong to another thread. */
unsigned reporters_set(const uint8_t *src, uint8_t version);

/*
 * sequence.c. note: the number of a report that is accepted whatever its
 * number. check: that of a tracked report, if a table is strict; returns NULL
 * if it is accepted, else its counter. state may be NULL (no such table); good:
 * the report is valid. answer: answers a reporter's probe. run: as note, n
 * consecutive numbers of an IPv4 reporter with DTA/1.
 */
int sequence_open(struct translator *t, struct error *err);
void sequence_note(struct translator *t, const struct table_state *state,
		   const struct net_udp *u, const struct dta_report *r);
uint64_t *sequence_check(struct translator *t, const struct table_state *state,
			 const struct net_udp *u, const struct dta_report *r,
			 const struct pkt *p, bool good);
uint64_t *sequence_answer(struct translator *t, const struct net_udp *u,
			  const struct dta_report *r, const struct pkt *p);
void sequence_run(struct translator *t, uint32_t src, uint16_t first,
		  unsigned n, bool counted);
void sequence_close(struct translator *t);

/* admit.c: sends a NACK to the reporter of u, which was in p. */
void nack_send(struct translator *t, const struct net_udp *u, uint16_t table,
	       const struct pkt *p, uint16_t last, enum dta_nack_reason reason);

/* DTA/0 has no table field, and its numbers have 8 bits. */
static inline bool is_dta0(const struct net_udp *u)
{
	return u->payload[0] >> 4 == 0;
}

/* admit.c: makes t->steering, unless there is one collector. 0 or -ENOMEM. */
int steer_open(struct translator *t, unsigned collectors, bool mirror);

/* ops.c: what a good report takes of the rate before it is carried out.
 * Postcards and entries are charged when they go to the transport. */
unsigned report_cost(const struct translator *t,
		     const struct table_state *state,
		     const struct dta_report *r);

/* Makes operations of one table's reports and passes them on. */
void run_table(struct translator *t, unsigned index,
	       const struct report_batch *reports);

/*
 * append.c. clock_to: sets the time before packets of that time are processed;
 * if the clock was set back, writes all lists that wait. clock_flush: writes
 * the lists that are due. clock_until_due: how many of n packets come before
 * the next list is due; at least 1.
 */
void clock_to(struct translator *t, uint64_t now_ns);
void clock_flush(struct translator *t);
size_t clock_until_due(const struct translator *t, const struct pkt *pkts,
		       size_t n);

/* The descriptor with another table, for example another collector's. */
static inline uint64_t desc_with_table(uint64_t desc, unsigned index)
{
	return (desc & ~(UINT64_MAX << DESC_TABLE)) | (uint64_t)index
							      << DESC_TABLE;
}

table_run keywrite_run, keyinc_run, postcard_run, append_run;

/* *room: bytes that caches may still take; lowered. */
int postcard_open(struct table_state *state, size_t *room, struct error *err);
void postcard_flush(struct translator *t, struct table_state *state);
/*
 * On several cores. clone: for the copy of a state: shares the rows; 0 or
 * -ENOMEM. send: sends reports to the owners of their rows. receive: processes
 * messages up to one for another table; returns their length in words. emit:
 * makes operations of a table's returned rows.
 */
int postcard_clone(struct table_state *state);
void postcard_send(struct translator *t, const struct table_state *state,
		   const struct report_batch *reports, unsigned owners);
size_t postcard_receive(struct translator *t, const struct table_state *state,
			const uint64_t *word, size_t words);
void postcard_emit_returned(struct translator *t,
			    const struct table_state *state,
			    const struct returned *r);
struct returned *returned_new(unsigned owners); /* to free(); or NULL */
void returned_clear(struct returned *r);
void postcard_close(struct table_state *state);

int append_open(struct table_state *state, size_t *room, struct error *err);
void append_flush(struct translator *t,
		  struct table_state *state); /* all lists */
/*
 * On several cores. clone: for the copy of a state: shares the lists, but has
 * its own queue of those that wait. send: if all reports are entries of one
 * word, and their times do not matter, sends them to the owners of their lists
 * (list * factor >> 32); returns whether it did. DESC_WORDS: a bit of the first
 * word of such messages.
 */
#define DESC_WORDS (UINT64_C(1) << 53)

int append_clone(struct table_state *state);
bool append_send_words(struct translator *t, const struct table_state *state,
		       const struct report_batch *reports, uint64_t factor);
size_t append_receive_words(struct translator *t,
			    const struct table_state *state,
			    const uint64_t *message);
void append_close(struct table_state *state);

/* ops.c: passes operations to the transport; with prefetching they wait. */
void ops_run(struct translator *t);
/* Passes those to the transport that were prefetched, and begins to prefetch
 * those of this stage, spread over the next one's packets. */
void ops_prefetch(struct translator *t, size_t packets);
/* prefetching: the transport has mem. 0 or -ENOMEM; to be closed either way. */
int ops_open(struct translator *t, bool prefetching);
void ops_close(struct translator *t);
/* For operations that are made without op_write(): first sets their times, for
 * reports [first, end): one operation for each (one), or one for each copy. */
void ops_stamp(struct translator *t, const struct report_batch *reports,
	       unsigned first, unsigned end, bool one);
/* Passes all operations to the transport. */
void ops_hand_over(struct translator *t);

/* Makes room for nops operations and len bytes of payload. */
static inline void ops_reserve(struct translator *t, unsigned nops, size_t len)
{
	if (t->ops->n + nops > OPS_MAX || t->ops->used + len > ARENA)
		ops_hand_over(t);
}

static inline struct op *op_write(struct translator *t,
				  const struct table_state *state,
				  uint64_t offset, const uint8_t *data,
				  uint32_t len)
{
	struct op *o = &t->ops->op[t->ops->n++];

	if (t->transport->stamped)
		t->ops->stamp[o - t->ops->op] = t->stamp_ns;
	op_fill(o, state->index, offset, data, len);
	t->ctr.bytes += len;
	return o;
}

/* The last operation of a report wakes the collector (dta(7), MEMORY). */
static inline void op_make_immediate(struct translator *t,
				     const struct table_state *state,
				     struct op *last, uint16_t sequence)
{
	last->verb = OP_WRITE_IMM;
	last->immediate = (uint32_t)state->t.id << 16 | sequence;
	t->ctr.immediates++;
}

#endif
