/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cores.c - a translator on several cores: see cores.h for the rounds.
 *
 * Each worker has two copies of the translator: one makes messages of its
 * batches, the other receives the messages for it as an owner. Rows, lists and
 * reporters are shared, but only its owner touches each.
 */
#include "dta/cores.h"

#include <errno.h>
#include <stdlib.h>

#include "rdma/message.h"
#include "dta/private.h"
#include "net/be.h"

enum {
	NONE = UINT8_MAX, /* no such round */
	OP_MAX = 960,	  /* bytes of an operation */
	/* A list entry: its descriptor, its time, the address of its key. */
	ENTRY_WORDS = 3,
	STATES_MAX = OP_MESSAGE_TABLES - 1,
	CLOCK = 255, /* for a table, in a message of the batch's latest time */
	AT_SRC = SHAPE_AT_IP + NET_IP4_AT_SRC,
};

_Static_assert((int)TRANSLATE_CORES_MAX *THREADS_PLACES <= (int)SRC_HOLD_MAX,
	       "batches that a source holds");
_Static_assert(OP_MAX / 8 + 3 <= (int)THREADS_WORDS, "a message is in a block");

/* For a source without an open run: no descs_number() has so many bits. */
#define NO_RUN UINT64_MAX

/* A run of consecutive numbers, up to the one before desc_batch.next. */
struct run {
	uint32_t src;
	uint16_t first;
	bool counted, open, listed; /* open: not sent; listed: in listed[] */
};

struct batch {
	const struct pkt *pkts;
	size_t n;
	uint64_t first; /* the number of its first packet */
	uint64_t all, any, latest_ns;
	size_t uncommon; /* how many packets are not of the common shape */
	struct returned *returned;
	uint64_t desc[TRANSLATE_CORES_BATCH]; /* 0: no valid report */
	const uint8_t *key[TRANSLATE_CORES_BATCH];
	struct pkt room[TRANSLATE_CORES_BATCH];
};

struct worker {
	struct translate_cores *cores;
	struct threads_out *out;
	struct translator *t;	  /* makes messages */
	struct translator *owner; /* receives; NULL: it owns nothing */
	struct batch *batch[THREADS_PLACES];
	struct batch *current;
	uint64_t next[DESCS_NEXT]; /* descs_number() by source, or NO_RUN */
	struct run run[DESCS_NEXT];
	uint16_t listed[DESCS_NEXT]; /* runs that this batch has begun */
	unsigned nlisted;
	/* 0, 1, 2...: report_batch.at, if all packets are reports. */
	uint16_t identity[TRANSLATE_CORES_BATCH];
	/* An owner's: a block's operations and their times; entries' times. */
	struct op op[THREADS_WORDS];
	uint64_t stamp[THREADS_WORDS];
	struct pkt entry[THREADS_WORDS];
	struct translate_ledger published; /* atomic: of completed batches */
} __attribute__((aligned(128)));

struct translate_cores {
	struct translate_cores_options o;
	struct translator *t;
	struct threads *threads; /* NULL: one worker, which needs none */
	bool busy; /* worker 0 is in a call that processes batches */
	struct worker *worker[TRANSLATE_CORES_MAX];
	unsigned owners;
	uint8_t numbers, cache, write; /* which round each is; or NONE */
	uint8_t rounds;
	uint64_t sent_tables; /* whose reports go to owners of rows and lists */
	uint64_t packets;     /* taken so far; as `take' is, in turn */
	uint64_t part[STATES_MAX]; /* op_part_factor() of each table */
	int error;		   /* atomic: the first */
	pthread_mutex_t nacks_lock;
};

static int error_of(const struct translate_cores *c)
{
	return __atomic_load_n(&c->error, __ATOMIC_RELAXED);
}

static void note_error(struct translate_cores *c, int error)
{
	int none = 0;

	if (error)
		__atomic_compare_exchange_n(&c->error, &none, error, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static struct batch *batch_of(const struct translate_cores *c,
			      const struct threads_batch *b)
{
	return c->worker[b->worker]->batch[b->place];
}

/* Round "numbers". A message: a source, the first number of its run, whether it
 * counts; the run's length. Or a packet's index; 0. */

static unsigned set_owner(const struct translate_cores *c, unsigned set)
{
	return set * c->owners >> EXPECTED_BITS;
}

/* Sends a source's open run to the owner of its set. */
static void run_end(struct worker *w, unsigned at)
{
	struct run *r = &w->run[at];
	uint64_t *message;

	if (!r->open)
		return;
	message = threads_send(
		&w->out[set_owner(w->cores, expected_index(r->src))], 2);
	message[0] = r->src | (uint64_t)r->first << 32 |
		     (uint64_t)r->counted << 48;
	message[1] = (w->next[at] & 0x1ffff) - r->first;
	r->open = false;
	w->next[at] = NO_RUN;
}

/* Begins a run with a packet's number. */
static void run_begin(struct worker *w, const struct pkt *p, uint64_t desc)
{
	uint64_t counted = w->t->counted >> desc_table(desc) & 1;
	uint32_t src = load32(p->data + AT_SRC);
	unsigned at = expected_index(src) % DESCS_NEXT;
	struct run *r = &w->run[at];

	run_end(w, at);
	if (!r->listed)
		w->listed[w->nlisted++] = (uint16_t)at;
	*r = (struct run){src, desc_sequence(desc), counted, true, true};
	w->next[at] = descs_number(src, desc, w->t->counted) + 1;
}

/* Sends a packet to its reporter's owner, which admits it; without that round,
 * or if it is no datagram, admits it here. */
static void send_packet(struct worker *w, struct batch *b, size_t i)
{
	struct net_udp u;
	unsigned set;
	uint64_t *message;

	b->uncommon++;
	if (w->cores->numbers == NONE ||
	    net_udp_decode(&u, b->pkts[i].data, b->pkts[i].len) < 0) {
		b->desc[i] = admit_slowly(w->t, &b->pkts[i], &b->key[i]);
		return;
	}
	set = reporters_set(u.src, u.version);
	run_end(w, set % DESCS_NEXT); /* the numbers before this one's */
	message = threads_send(&w->out[set_owner(w->cores, set)], 2);
	message[0] = i;
	message[1] = 0;
}

/* For a packet that is not of the common shape, or has not the next number. */
static void send_uncommon(void *worker, size_t i)
{
	struct worker *w = worker;
	struct batch *b = w->current;

	if (b->desc[i])
		run_begin(w, &b->pkts[i], b->desc[i]);
	else
		send_packet(w, b, i);
}

static void decode_batch(struct worker *w, struct batch *b)
{
	struct desc_batch descs = {.pkts = b->pkts,
				   .n = b->n,
				   .desc = b->desc,
				   .key = b->key,
				   .next = w->cores->numbers == NONE ? NULL
								     : w->next,
				   .other = send_uncommon,
				   .ctx = w};

	w->current = b;
	b->uncommon = 0;
	admit_descs(w->t, &descs);
	b->all = descs.all;
	b->any = descs.any;
	b->latest_ns = descs.latest_ns;
	for (; w->nlisted; w->nlisted--) {
		unsigned at = w->listed[w->nlisted - 1];

		run_end(w, at);
		w->run[at].listed = false;
	}
}

static void receive_numbers(struct worker *w, const struct threads_block *in)
{
	struct batch *b = batch_of(w->cores, &in->from);
	struct translator *owner = w->owner;

	for (size_t at = 0; at < in->words; at += 2) {
		uint64_t message = in->word[at], n = in->word[at + 1];

		if (n)
			sequence_run(owner, (uint32_t)message,
				     (uint16_t)(message >> 32), (unsigned)n,
				     message >> 48 & 1);
		else
			b->desc[message] = admit_slowly(
				owner, &b->pkts[message], &b->key[message]);
	}
}

/* Round "cache". */

/* A worker's table_run instead of append_run(); below, of postcard_run(). */
static void send_entries(struct translator *t, struct table_state *state,
			 const struct report_batch *reports)
{
	struct worker *w = t->worker;
	uint64_t factor = ((uint64_t)w->cores->owners << 32) / state->t.lists;

	if (append_send_words(t, state, reports, factor))
		return;
	for (unsigned i = 0; i < reports->n; i++) {
		unsigned owner = be32_load(reports->key[i]) * factor >> 32;
		uint64_t *message = threads_send(&w->out[owner], ENTRY_WORDS);

		message[0] = desc_with_table(reports->desc[i], state->index);
		message[1] = t->pkts[reports->at[i]].ts_ns;
		message[2] = (uintptr_t)reports->key[i];
	}
}

static void send_postcards(struct translator *t, struct table_state *state,
			   const struct report_batch *reports)
{
	postcard_send(t, state, reports, t->worker->cores->owners);
}

static void run_entries(struct translator *owner, struct report_batch *reports)
{
	if (reports->n)
		run_table(owner, desc_table(reports->desc[0]), reports);
	report_batch_clear(reports);
}

/* Keeps a list entry, for run_entries() to run with others of its table. */
static void receive_entry(struct worker *w, const uint64_t *message)
{
	struct translator *owner = w->owner;
	struct report_batch *reports = &owner->stage;

	if (reports->n && desc_table(*message) != desc_table(reports->desc[0]))
		run_entries(owner, reports);
	w->entry[reports->n].ts_ns = message[1];
	owner->waiting = true;
	report_batch_add(reports, (const uint8_t *)(uintptr_t)message[2],
			 (uint16_t)reports->n, *message);
}

static void receive_reports(struct worker *w, const struct threads_block *in)
{
	struct batch *b = batch_of(w->cores, &in->from);
	struct translator *owner = w->owner;
	struct report_batch *reports = &owner->stage;

	owner->returned = b->returned;
	owner->pkts = w->entry;
	report_batch_clear(reports);
	for (size_t at = 0; at < in->words;) {
		const uint64_t *message = in->word + at;
		struct table_state *state = &owner->state[desc_table(*message)];

		if (desc_table(*message) != CLOCK && state->append &&
		    !(*message & DESC_WORDS)) {
			receive_entry(w, message);
			at += ENTRY_WORDS;
			continue;
		}
		run_entries(owner, reports);
		if (desc_table(*message) == CLOCK) {
			clock_to(owner, message[1]);
			clock_flush(owner);
			at += 2;
		} else if (state->append) {
			w->entry[0].ts_ns = b->latest_ns;
			owner->waiting = true;
			at += 1 + append_receive_words(owner, state, message);
			ops_run(owner);
		} else {
			at += postcard_receive(owner, state, message,
					       in->words - at);
		}
	}
	run_entries(owner, reports);
}

/* Round "write". */

/* In a worker's translator: sends operations to their owners. */
static void send_ops(struct translator *t)
{
	const struct op_buffer *ops = t->ops;
	bool stamped = t->transport->stamped;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct op *op = &ops->op[i];
		uint64_t *message = threads_send(
			&t->out[op_part(op->offset, t->part[op->table])],
			stamped + op_message_words(op, OP_MAX));

		if (stamped)
			*message++ = ops->stamp[i];
		op_message_put(message, op, OP_MAX);
	}
}

/* Carries out the operations at this word and behind it, up to the first pair,
 * if the transport takes pairs by themselves. Returns where that is. */
static size_t receive_others(struct worker *w, const struct threads_block *in,
			     size_t at)
{
	struct transport *transport = w->owner->transport;
	size_t n = 0;

	do {
		if (transport->stamped)
			w->stamp[n] = in->word[at++];
		at += op_message_get(&w->op[n++], in->word + at, OP_MAX);
	} while (at < in->words &&
		 !(transport->exec_pairs && op_message_is_pair(in->word[at])));
	transport->stamps = transport->stamped ? w->stamp : NULL;
	note_error(w->cores,
		   transport->exec(transport, w->op, n,
				   batch_of(w->cores, &in->from)->latest_ns));
	transport->stamps = NULL;
	return at;
}

static void receive_ops(struct worker *w, const struct threads_block *in)
{
	struct transport *transport = w->owner->transport;

	for (size_t at = 0; at < in->words;) {
		size_t done = 0;

		if (transport->exec_pairs && op_message_is_pair(in->word[at]))
			done = transport->exec_pairs(transport, in->word + at,
						     in->words - at);
		at = done ? at + done : receive_others(w, in, at);
	}
}

/* What a batch's worker does in each round. */

/* Puts a batch's valid reports into the worker's translator; without a copy, if
 * all packets are. */
static void collect_reports(struct worker *w, struct batch *b)
{
	struct translator *t = w->t;
	struct report_batch *reports = &t->stage;

	t->pkts = b->pkts;
	t->npkts = b->n;
	t->first = b->first;
	report_batch_init(t);
	report_batch_clear(reports);
	if (!b->uncommon) {
		*reports = (struct report_batch){.n = (unsigned)b->n,
						 .all = b->all,
						 .any = b->any,
						 .key = b->key,
						 .desc = b->desc,
						 .at = w->identity};
		return;
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->desc[i])
			report_batch_add(reports, b->key[i], (uint16_t)i,
					 b->desc[i]);
}

static void send_rows_and_lists(struct worker *w, struct batch *b)
{
	collect_reports(w, b);
	if (b->returned)
		returned_clear(b->returned);
	stage_run_tables(w->t, w->cores->sent_tables);
	for (unsigned i = 0; w->t->append && i < w->cores->owners; i++) {
		/* An owner's lists need the time. */
		uint64_t *message = threads_send(&w->out[i], 2);

		message[0] = (uint64_t)CLOCK << DESC_TABLE;
		message[1] = b->latest_ns;
	}
}

static void send_writes(struct worker *w, struct batch *b)
{
	struct translator *t = w->t;

	collect_reports(w, b);
	stage_run_tables(t, ~w->cores->sent_tables);
	for (unsigned i = 0; i < t->states && b->returned; i++)
		if (t->state[i].postcards) {
			postcard_emit_returned(t, &t->state[i], b->returned);
			ops_run(t);
		}
}

/* Publishes what was counted since the last batch. */
static void publish_counters(struct worker *w)
{
	struct translator *both[] = {w->t, w->owner};
	uint64_t *to = (uint64_t *)&w->published;

	for (unsigned k = 0; k < 2 && both[k]; k++) {
		const uint64_t *from = (const uint64_t *)&both[k]->ctr;

		for (size_t i = 0; i < sizeof(w->published) / 8; i++)
			__atomic_store_n(&to[i], to[i] + from[i],
					 __ATOMIC_RELAXED);
		memset(&both[k]->ctr, 0, sizeof(both[k]->ctr));
	}
}

static void end_batch(struct worker *w, const struct batch *b)
{
	struct translate_ledger *ctr = &w->t->ctr;

	ctr->received += b->n;
	ctr->stored += b->n;
	for (size_t i = 0; i < b->n && b->uncommon; i++)
		ctr->stored -= !b->desc[i];
	publish_counters(w);
}

/* threads_options.work: true if owners may receive this round's messages after
 * the next one's. */
static bool run_round(void *ctx, const struct threads_batch *at, unsigned round)
{
	struct translate_cores *c = ctx;
	struct worker *w = c->worker[at->worker];
	struct batch *b = w->batch[at->place];

	if (!round)
		decode_batch(w, b);
	if (round == c->numbers)
		return !b->uncommon; /* decode_batch() has sent them */
	if (round == c->cache)
		send_rows_and_lists(w, b);
	else if (round == c->write)
		send_writes(w, b);
	else
		end_batch(w, b);
	return round == c->cache && !b->returned;
}

static void receive_block(void *ctx, unsigned owner,
			  const struct threads_block *in)
{
	struct translate_cores *c = ctx;
	struct worker *w = c->worker[owner];

	/* Numbers are processed even then, so that all packets are counted. */
	if (error_of(c) && in->round != c->numbers)
		return;
	translator_begin(w->owner);
	if (in->round == c->numbers)
		receive_numbers(w, in);
	else if (in->round == c->cache)
		receive_reports(w, in);
	else
		receive_ops(w, in);
	note_error(c, translator_end(w->owner));
}

/* Called in the order of the batches, by one thread at a time. */
static void end_taking(struct translate_cores *c, struct batch *b, size_t n)
{
	b->n = n;
	b->first = c->packets;
	c->packets += n;
	if (c->o.look)
		c->o.look(c->o.ctx, b->pkts, n);
}

static bool take_batch(void *ctx, const struct threads_batch *at)
{
	struct translate_cores *c = ctx;
	struct batch *b = batch_of(c, at);
	int n;

	b->pkts = b->room;
	n = c->o.take(c->o.ctx, &b->pkts, b->room, TRANSLATE_CORES_BATCH);
	if (n > 0)
		end_taking(c, b, (size_t)n);
	return n > 0;
}

static void run_batch(struct translate_cores *c, const struct pkt *pkts,
		      size_t n)
{
	struct batch *b = c->worker[0]->batch[threads_place(c->threads)];
	struct transport *transport = c->t->transport;

	memcpy(b->room, pkts, n * sizeof(*pkts));
	b->pkts = b->room;
	if (n)
		end_taking(c, b, n);
	/* A batch that is not full came live: its packets must not wait. */
	note_error(c,
		   threads_go(c->threads, n > 0, n == TRANSLATE_CORES_BATCH));
	if (c->owners == 1 && !error_of(c)) /* this thread is the owner */
		note_error(c, transport_tick(transport));
	if (n == TRANSLATE_CORES_BATCH)
		return;
	if (c->owners == 1)
		transport_flush(transport);
	if (c->t->nacks) {
		pthread_mutex_lock(&c->nacks_lock);
		snk_flush(c->t->nacks);
		pthread_mutex_unlock(&c->nacks_lock);
	}
}

int translate_cores_rx(struct translate_cores *c, const struct pkt *pkts,
		       size_t n)
{
	if (!c->threads) {
		if (c->o.look)
			c->o.look(c->o.ctx, pkts, n);
		return translate_rx(c->t, pkts, n);
	}
	c->busy = true;
	run_batch(c, pkts, n);
	c->busy = false;
	return error_of(c);
}

static void read_published(struct translate_ledger *sum, const struct worker *w)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)&w->published;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

int translate_cores_rest(struct translate_cores *c)
{
	if (!c->threads || c->busy)
		return error_of(c);
	c->busy = true;
	note_error(c, threads_rest(c->threads));
	c->busy = false;
	for (unsigned i = 0; i < c->o.workers; i++) {
		struct worker *w = c->worker[i];

		publish_counters(w);
		read_published(&c->t->ctr, w);
		memset(&w->published, 0, sizeof(w->published));
		for (unsigned k = 0; k < THREADS_PLACES; k++)
			if (c->t->last_ns < w->batch[k]->latest_ns)
				c->t->last_ns = w->batch[k]->latest_ns;
		/* A translator that succeeds t counts on from there. */
		if (w->owner && c->t->heard < w->owner->heard)
			c->t->heard = w->owner->heard;
	}
	return error_of(c);
}

int translate_cores_idle(struct translate_cores *c, uint64_t ns)
{
	if (!c->threads)
		return translate_idle(c->t, ns);
	translate_cores_rest(c);
	c->busy = true;
	for (unsigned i = 0; i < c->owners; i++)
		note_error(c, translate_idle(c->worker[i]->owner, ns));
	c->busy = false;
	return translate_cores_rest(c);
}

struct translate_ledger
translate_cores_counters(const struct translate_cores *c)
{
	struct translate_ledger sum = c->t->ctr;

	for (unsigned i = 0; c->threads && i < c->o.workers; i++)
		read_published(&sum, c->worker[i]);
	return sum;
}

uint64_t translate_cores_unsent(struct translate_cores *c)
{
	uint64_t n;

	if (!c->t->nacks)
		return 0;
	pthread_mutex_lock(&c->nacks_lock);
	n = snk_drops(c->t->nacks);
	pthread_mutex_unlock(&c->nacks_lock);
	return n;
}

/* A copy of t with work and operations of its own. Rows, lists and reporters
 * are t's. */
static struct translator *copy_open(struct worker *w, bool owner)
{
	const struct translator *from = w->cores->t;
	size_t size = translator_size(from->states);
	struct translator *t = aligned_alloc(64, size);
	int rc;

	if (!t)
		return NULL;
	memcpy(t, from, size);
	memset(&t->ctr, 0, sizeof(t->ctr));
	report_batch_init(t);
	t->worker = w;
	t->prefetching = NULL;
	t->nacks_lock = &w->cores->nacks_lock;
	rc = ops_open(t, false);
	rc = steer_open(t, from->states / from->n, from->mirror) ? -ENOMEM : rc;
	for (unsigned i = 0; i < t->states; i++) {
		struct table_state *state = &t->state[i];

		rc = state->postcards && postcard_clone(state) ? -ENOMEM : rc;
		rc = state->append && append_clone(state) ? -ENOMEM : rc;
		if (!owner && state->postcards)
			state->run = send_postcards;
		if (!owner && state->append)
			state->run = send_entries;
	}
	if (!owner)
		t->send = send_ops;
	if (!rc)
		return t;
	t->reporters = NULL;
	translate_close(t);
	return NULL;
}

static void copy_close(struct translator *t, const struct translate_cores *c)
{
	if (!t)
		return;
	t->reporters = NULL;
	if (t->transport != c->t->transport)
		t->transport->close(t->transport);
	translate_close(t);
}

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "no memory for a worker");
}

static int worker_open(struct translate_cores *c, unsigned number,
		       struct error *err)
{
	struct worker *w = aligned_alloc(128, sizeof(*w));

	if (!w)
		return no_memory(err);
	memset(w, 0, sizeof(*w));
	c->worker[number] = w;
	w->cores = c;
	for (unsigned i = 0; i < TRANSLATE_CORES_BATCH; i++)
		w->identity[i] = (uint16_t)i;
	memset(w->next, 0xff, sizeof(w->next));
	w->t = copy_open(w, false);
	for (unsigned i = 0; i < THREADS_PLACES; i++) {
		struct batch *b = w->batch[i] = calloc(1, sizeof(*b));

		if (!b)
			return no_memory(err);
		b->returned = c->t->postcards ? returned_new(c->owners) : NULL;
		if (c->t->postcards && !b->returned)
			return no_memory(err);
	}
	if (number < c->owners)
		w->owner = copy_open(w, true);
	if (!w->t || (number < c->owners && !w->owner))
		return no_memory(err);
	if (!w->owner)
		return 0;
	w->owner->owner = number;
	if (c->owners == 1)
		return 0;
	return c->t->transport->clone(c->t->transport, &w->owner->transport,
				      err);
}

static void free_all(struct translate_cores *c)
{
	for (unsigned i = 0; i < c->o.workers && c->worker[i]; i++) {
		struct worker *w = c->worker[i];

		copy_close(w->t, c);
		copy_close(w->owner, c);
		for (unsigned k = 0; k < THREADS_PLACES && w->batch[k]; k++) {
			free(w->batch[k]->returned);
			free(w->batch[k]);
		}
		free(w);
	}
	pthread_mutex_destroy(&c->nacks_lock);
	free(c);
}

/* Plans the rounds that the tables need, and the owners of their parts. */
static void plan_rounds(struct translate_cores *c)
{
	const struct translator *t = c->t;
	bool writes = false;

	for (unsigned i = 0; i < t->states; i++) {
		const struct table *table = &t->state[i].t;

		writes = writes || table->kind != TABLE_APPEND;
		c->part[i] = op_part_factor(table->length, c->owners);
	}
	c->sent_tables = t->append | t->postcards;
	c->numbers = c->cache = c->write = NONE;
	if (t->reporters)
		c->numbers = c->rounds++;
	if (c->sent_tables)
		c->cache = c->rounds++;
	if (writes)
		c->write = c->rounds++;
}

static int check_tables(const struct translator *t, struct error *err)
{
	if (t->states > STATES_MAX)
		return error_set(err, -ENOTSUP,
				 "%u tables, of all collectors: "
				 "%d at most",
				 t->states, STATES_MAX);
	for (unsigned i = 0; i < t->states; i++)
		if (t->state[i].t.length >> OP_MESSAGE_OFFSET_BITS)
			return error_set(err, -ENOTSUP,
					 "%s: tables of more than 1 TiB are "
					 "for one core",
					 t->state[i].t.name);
		else if (t->state[i].t.kind != TABLE_APPEND &&
			 t->state[i].write_len > OP_MAX)
			return error_set(err, -ENOTSUP,
					 "%s: slots of %u bytes: up to %d go "
					 "from core to core",
					 t->state[i].t.name,
					 t->state[i].write_len, OP_MAX);
	return 0;
}

static int open_workers(struct translate_cores *c, struct error *err)
{
	struct threads_options threads = {.workers = c->o.workers,
					  .take = take_batch,
					  .work = run_round,
					  .receive = receive_block,
					  .ctx = c};
	int rc = check_tables(c->t, err);

	if (!rc && (rc = translate_flush(c->t)) < 0)
		error_set(err, rc, "what waits could not be written: %s",
			  strerror(-rc));
	if (rc < 0)
		return rc;
	c->owners = c->t->transport->clone ? c->o.workers : 1;
	plan_rounds(c);
	for (unsigned i = 0; i < c->o.workers && !rc; i++)
		rc = worker_open(c, i, err);
	threads.rounds = c->rounds;
	if (!rc)
		rc = threads_open(&c->threads, &threads, err);
	for (unsigned i = 0; i < c->o.workers && !rc; i++) {
		struct worker *w = c->worker[i];

		w->out = w->t->out = threads_outs(c->threads, i);
		w->t->part = c->part;
	}
	return rc;
}

int translate_cores_open(struct translate_cores **out, struct translator *t,
			 const struct translate_cores_options *o,
			 struct error *err)
{
	struct translate_cores *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c)
		return no_memory(err);
	c->o = *o;
	c->t = t;
	c->packets = t->ctr.received;
	pthread_mutex_init(&c->nacks_lock, NULL);
	if (o->workers > 1)
		rc = open_workers(c, err);
	if (rc < 0)
		free_all(c);
	else
		*out = c;
	return rc;
}

void translate_cores_close(struct translate_cores *c)
{
	if (!c)
		return;
	translate_cores_rest(c);
	threads_close(c->threads);
	free_all(c);
}
