/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * append.c - batches of list entries (dta(7), MEMORY).
 *
 * A full batch becomes one write of consecutive entries (two where it meets the
 * ring's end), then one of the list's count, on the same table and so on the
 * same queue pair: a reader that sees the count sees the entries.
 *
 * Lists that hold waiting entries are queued by the time of their oldest entry.
 * The clock is the packets' times (packet/clock.h).
 */
#include "dta/private.h"

#include <errno.h>
#include <stdlib.h>

#include "packet/clock.h"
#include "threads/threads.h"
#include "net/be.h"

enum {
	NO_LIST = UINT32_MAX,
	CACHE_LINE = 64,
};

struct list {
	uint64_t count;	     /* entries written to the ring, ever */
	uint64_t at;	     /* count modulo the ring */
	uint64_t oldest_ns;  /* when the oldest waiting entry came */
	uint64_t generation; /* the transport's, at which count was read */
	uint32_t prev, next; /* in the queue of lists that wait */
	bool located;	     /* count and at are set */
};

struct lists {
	bool shared; /* the arrays are another's, but the queue is not */
	struct list *list;
	uint16_t *waiting; /* entries of each list; not in struct list, so that
			      it is close together in the cache */
	uint8_t *entries;  /* batch entries a list, each stride bytes */
	size_t span;	   /* bytes of a list's batch */
	uint32_t value_len, stride, batch;
	bool plain, swapped;  /* entries: 4 bytes copied; words swapped */
	uint32_t first, last; /* the queue, oldest first */
	uint64_t flush_ns;
};

static void queue_add(struct lists *lists, uint32_t i)
{
	struct list *list = &lists->list[i];

	list->prev = lists->last;
	list->next = NO_LIST;
	if (lists->last == NO_LIST)
		lists->first = i;
	else
		lists->list[lists->last].next = i;
	lists->last = i;
}

static void queue_remove(struct lists *lists, uint32_t i)
{
	struct list *list = &lists->list[i];

	if (list->prev == NO_LIST)
		lists->first = list->next;
	else
		lists->list[list->prev].next = list->next;
	if (list->next == NO_LIST)
		lists->last = list->prev;
	else
		lists->list[list->next].prev = list->prev;
}

/* Finds where list i goes on, again whenever the transport's generation has
 * changed. */
static void list_locate(struct translator *t, const struct table_state *state,
			uint32_t i)
{
	struct list *list = &state->append->list[i];

	if (list->located && list->generation == t->generation)
		return;
	list->count = t->transport->head(t->transport, state->index, i);
	list->at = list->count % state->t.units;
	list->generation = t->generation;
	list->located = true;
}

/* Writes list i's waiting entries and its count. */
static void list_write(struct translator *t, const struct table_state *state,
		       uint32_t i)
{
	struct lists *lists = state->append;
	struct list *list = &lists->list[i];
	uint32_t n = lists->waiting[i], fits, len = n * lists->stride;
	uint8_t *p;

	ops_reserve(t, 3, len + 16); /* the count, and padding */
	list_locate(t, state, i);
	p = op_buffer_alloc(t->ops, len);
	memcpy(p, lists->entries + i * lists->span, len);
	fits = state->t.units - list->at < n
		       ? (uint32_t)(state->t.units - list->at)
		       : n;
	op_write(t, state, table_entry(&state->t, i, list->at), p,
		 fits * lists->stride);
	if (fits < n)
		op_write(t, state, table_entry(&state->t, i, 0),
			 p + fits * lists->stride, (n - fits) * lists->stride);
	list->count += n;
	list->at = fits < n ? n - fits : list->at + n;
	if (list->at == state->t.units)
		list->at = 0;
	p = op_buffer_alloc(t->ops, 8);
	be64_store(p, list->count);
	op_write(t, state, table_head(&state->t, i), p, 8);
	lists->waiting[i] = 0;
	queue_remove(lists, i);
	t->ctr.batches++;
	if (n < lists->batch)
		t->ctr.partial_batches++;
}

/* The published DTA translator swaps each word of an entry. */
static void copy_swapped(uint8_t *to, const uint8_t *from, uint32_t len)
{
	for (; len >= 4; to += 4, from += 4, len -= 4) {
		uint32_t v = htole32(be32_load(from));

		memcpy(to, &v, 4);
	}
	memcpy(to, from, len);
}

/* Adds an entry to list i. to: a copy of state->append, kept in registers.
 * plain: to->plain, or a constant where it is known. */
static inline void list_add(struct translator *t,
			    const struct table_state *state,
			    const struct lists *to, bool plain, uint32_t i,
			    unsigned packet, const uint8_t *entry)
{
	unsigned n = to->waiting[i];
	uint8_t *p = to->entries + i * to->span + (size_t)n * to->stride;

	if (plain)
		memcpy(p, entry, 4);
	else if (to->swapped)
		copy_swapped(p, entry, to->value_len);
	else
		memcpy(p, entry, to->value_len);
	if (!n) {
		state->append->list[i].oldest_ns = t->pkts[packet].ts_ns;
		queue_add(state->append, i);
	}
	to->waiting[i] = (uint16_t)++n;
	if (n < to->batch)
		return;
	t->stamp_ns = t->pkts[packet].ts_ns;
	list_write(t, state, i);
}

/* Whether each report is one entry of one word without an immediate. */
static bool are_words(const struct lists *to,
		      const struct report_batch *reports)
{
	return to->plain && !desc_immediate(reports->any) &&
	       desc_data_len(reports->all) == to->value_len &&
	       desc_data_len(reports->any) == to->value_len &&
	       desc_data_at(reports->all) == desc_data_at(reports->any);
}

static void append_words(struct translator *t, const struct table_state *state,
			 const struct lists *to,
			 const struct report_batch *reports)
{
	const struct report_batch in = *reports; /* kept in registers */
	unsigned at = desc_data_at(in.any);

	for (unsigned k = 0; k < in.n; k++)
		list_add(t, state, to, true, be32_load(in.key[k]), in.at[k],
			 in.key[k] + at);
}

static void append_any(struct translator *t, const struct table_state *state,
		       const struct lists *to,
		       const struct report_batch *reports)
{
	for (unsigned k = 0; k < reports->n; k++) {
		const uint8_t *key = reports->key[k];
		uint64_t desc = reports->desc[k];
		const uint8_t *data = key + desc_data_at(desc);
		const uint8_t *end = data + desc_data_len(desc);
		uint32_t i = be32_load(key);

		do {
			list_add(t, state, to, to->plain, i, reports->at[k],
				 data);
			data += to->value_len;
		} while (data < end);
		if (!desc_immediate(desc))
			continue;
		t->stamp_ns = t->pkts[reports->at[k]].ts_ns;
		if (to->waiting[i])
			list_write(t, state, i);
		/* The last operation writes the count that has this report. */
		op_make_immediate(t, state, &t->ops->op[t->ops->n - 1],
				  desc_sequence(desc));
	}
}

void append_run(struct translator *t, struct table_state *state,
		const struct report_batch *reports)
{
	const struct lists to = *state->append;

	if (are_words(&to, reports))
		append_words(t, state, &to, reports);
	else
		append_any(t, state, &to, reports);
}

/* Writes out the lists whose oldest entry has waited for the flush time. Lowers
 * t->due_ns to when the next list's will have. */
static void append_flush_due(struct translator *t, struct table_state *state,
			     uint64_t now_ns)
{
	struct lists *lists = state->append;

	while (lists->first != NO_LIST) {
		uint64_t oldest = lists->list[lists->first].oldest_ns;
		uint64_t due = oldest + lists->flush_ns;

		/* If oldest is after now, its time was wrong: the difference
		 * is huge, and the list is written. */
		if (now_ns - oldest < lists->flush_ns) {
			if (due < t->due_ns)
				t->due_ns = due;
			t->waiting = true;
			return;
		}
		/* The write's time is when it was due. */
		t->stamp_ns = due < t->last_ns ? due : t->last_ns;
		list_write(t, state, lists->first);
	}
}

void append_flush(struct translator *t, struct table_state *state)
{
	struct lists *lists = state->append;

	while (lists->first != NO_LIST)
		list_write(t, state, lists->first);
	/* After translate_cores_close(), lists may wait that were in the queue
	 * of an owner that is gone. */
	for (uint32_t i = 0; i < state->t.lists && !lists->shared; i++)
		if (lists->waiting[i])
			list_write(t, state, i);
	lists->first = lists->last = NO_LIST;
}

void clock_to(struct translator *t, uint64_t now_ns)
{
	bool set = clock_was_set(t->last_ns, now_ns);

	if (set && t->waiting) { /* how long they waited is unknown */
		t->stamp_ns = t->last_ns;
		for (unsigned i = 0; i < t->states; i++)
			if (t->state[i].append)
				append_flush(t, &t->state[i]);
		ops_run(t);
		t->waiting = false;
	}
	if (set || t->idle_ns)
		t->due_ns = 0; /* clock_flush() works it out again */
	clock_step(&t->last_ns, now_ns);
	t->idle_ns = 0;
}

void clock_flush(struct translator *t)
{
	uint64_t now = t->last_ns + t->idle_ns;
	bool waiting = t->waiting;

	if (now < t->due_ns)
		return;
	/* A list that begins to wait from now on is not due before. */
	t->due_ns = now + t->flush_ns;
	t->waiting = false;
	for (unsigned i = 0; i < t->states && waiting; i++)
		if (t->state[i].append)
			append_flush_due(t, &t->state[i], now);
	ops_run(t);
}

/* Whether a packet comes when a list is due, or with a clock that was set. */
static bool comes_later(const struct translator *t, const struct pkt *p)
{
	return p->ts_ns >= t->due_ns || clock_was_set(t->last_ns, p->ts_ns);
}

size_t clock_until_due(const struct translator *t, const struct pkt *pkts,
		       size_t n)
{
	size_t k = 1;

	if (!comes_later(t, &pkts[n - 1]))
		return n;
	while (k < n && !comes_later(t, &pkts[k]))
		k++;
	return k;
}

/* On several cores, entries of 4 bytes are sent as one word each, the list's
 * number and the entry as in the packet, behind a word with their count. */
bool append_send_words(struct translator *t, const struct table_state *state,
		       const struct report_batch *reports, uint64_t factor)
{
	const struct lists to = *state->append;
	uint64_t *count[THREADS_MAX] = {NULL}, *word;

	if (t->transport->stamped || !are_words(&to, reports))
		return false;
	for (unsigned i = 0; i < reports->n; i++) {
		unsigned owner = be32_load(reports->key[i]) * factor >> 32;
		struct threads_out *out = &t->out[owner];

		if (!count[owner] || out->used == THREADS_WORDS) {
			word = threads_send(out, 2);
			count[owner] = word++;
			*count[owner] = DESC_WORDS | (uint64_t)state->index
							     << DESC_TABLE;
		} else {
			word = threads_send(out, 1);
		}
		memcpy(word, reports->key[i], sizeof(*word));
		++*count[owner];
	}
	return true;
}

/* Adds the entries of a message, behind their number; returns how many. They
 * are plain: append_send_words(). */
size_t append_receive_words(struct translator *t,
			    const struct table_state *state,
			    const uint64_t *message)
{
	const struct lists to = *state->append;
	size_t n = *message & 0xffff;

	for (size_t i = 1; i <= n; i++) {
		const uint8_t *p = (const uint8_t *)(message + i);

		list_add(t, state, &to, true, be32_load(p), 0, p + 4);
	}
	return n;
}

int append_clone(struct table_state *state)
{
	struct lists *lists = malloc(sizeof(*lists));

	if (lists) {
		*lists = *state->append;
		lists->shared = true;
	}
	state->append = lists;
	return lists ? 0 : -ENOMEM;
}

int append_open(struct table_state *state, size_t *room, struct error *err)
{
	uint64_t batch = state->t.batch; /* less than a ring: table_check() */
	uint64_t each = sizeof(struct list) + sizeof(uint16_t) +
			batch * state->t.stride;
	size_t bytes = (state->t.lists * batch * state->t.stride + CACHE_LINE -
			1) &
		       -CACHE_LINE;
	struct lists *lists = calloc(1, sizeof(*lists));

	state->append = lists;
	if (batch * state->t.stride + 16 > ARENA)
		return error_set(
			err, -EINVAL, "%s: batch: %u entries of %u bytes",
			state->t.name, state->t.batch, state->t.stride);
	if (lists && *room / each < state->t.lists)
		return error_set(err, -EINVAL,
				 "%s: batch: %u lists with %u entries of %u "
				 "bytes waiting take more than the %zu bytes "
				 "there are; choose a smaller batch",
				 state->t.name, state->t.lists, state->t.batch,
				 state->t.stride, *room);
	if (!lists ||
	    !(lists->list = calloc(state->t.lists, sizeof(*lists->list))) ||
	    !(lists->waiting = calloc(state->t.lists,
				      sizeof(*lists->waiting))) ||
	    !(lists->entries = aligned_alloc(CACHE_LINE, bytes)))
		return error_set(err, -ENOMEM, "%s: no memory for the batches",
				 state->t.name);
	memset(lists->entries, 0, bytes); /* padding behind values stays 0 */
	lists->batch = state->t.batch;
	lists->first = lists->last = NO_LIST;
	lists->value_len = state->t.value_len;
	lists->stride = state->t.stride;
	lists->span = (size_t)lists->batch * lists->stride;
	lists->swapped = state->t.hash == HASH_DTA0;
	lists->plain = lists->value_len == 4 && !lists->swapped;
	lists->flush_ns = state->t.flush_ms * UINT64_C(1000000);
	*room -= state->t.lists * each;
	return 0;
}

void append_close(struct table_state *state)
{
	if (state->append && !state->append->shared) {
		free(state->append->list);
		free(state->append->waiting);
		free(state->append->entries);
	}
	free(state->append);
	state->append = NULL;
}
