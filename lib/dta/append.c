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
	LINE = 64,
};

struct list {
	uint64_t count;	     /* entries written to the ring, ever */
	uint64_t at;	     /* count modulo the ring */
	uint64_t oldest_ns;  /* when the oldest waiting entry came */
	uint64_t generation; /* of the transport that count is from */
	uint32_t prev, next; /* in the queue of lists that wait */
	bool asked;	     /* count and at are set */
};

struct lists {
	bool shared; /* the arrays are another's; the queue is its own */
	struct list *list;
	uint16_t *waiting; /* entries of each list: all that every entry needs,
			      close together in the cache */
	uint8_t *entries;  /* batch entries a list, each stride bytes */
	size_t span;	   /* bytes of a list's batch */
	uint32_t value_len, stride, batch;
	bool plain, swapped;  /* plain: one word, as it came */
	uint32_t first, last; /* the queue, oldest first */
	uint64_t flush_ns;
};

static void queue_add(struct lists *a, uint32_t i)
{
	struct list *s = &a->list[i];

	s->prev = a->last;
	s->next = NO_LIST;
	if (a->last == NO_LIST)
		a->first = i;
	else
		a->list[a->last].next = i;
	a->last = i;
}

static void queue_remove(struct lists *a, uint32_t i)
{
	struct list *s = &a->list[i];

	if (s->prev == NO_LIST)
		a->first = s->next;
	else
		a->list[s->prev].next = s->next;
	if (s->next == NO_LIST)
		a->last = s->prev;
	else
		a->list[s->next].prev = s->prev;
}

/* Where the list goes on; asked again when the transport's epoch has changed.
 */
static void list_locate(struct translator *t, const struct table_state *l,
			uint32_t i)
{
	struct list *s = &l->append->list[i];

	if (s->asked && s->generation == t->generation)
		return;
	s->count = t->transport->head(t->transport, l->index, i);
	s->at = s->count % l->t.units;
	s->generation = t->generation;
	s->asked = true;
}

/* Writes a list's waiting entries and its count. Behind the end of several
 * cores it stands in a queue that is gone: append_flush() knows of that. */
static void list_write(struct translator *t, const struct table_state *l,
		       uint32_t i)
{
	struct lists *a = l->append;
	struct list *s = &a->list[i];
	uint32_t n = a->waiting[i], fits, len = n * a->stride;
	uint8_t *p;

	ops_reserve(t, 3, len + 16); /* the count, and padding */
	list_locate(t, l, i);
	p = op_buffer_alloc(t->ops, len);
	memcpy(p, a->entries + i * a->span, len);
	fits = l->t.units - s->at < n ? (uint32_t)(l->t.units - s->at) : n;
	op_write(t, l, table_entry(&l->t, i, s->at), p, fits * a->stride);
	if (fits < n)
		op_write(t, l, table_entry(&l->t, i, 0), p + fits * a->stride,
			 (n - fits) * a->stride);
	s->count += n;
	s->at = fits < n ? n - fits : s->at + n;
	if (s->at == l->t.units)
		s->at = 0;
	p = op_buffer_alloc(t->ops, 8);
	be64_store(p, s->count);
	op_write(t, l, table_head(&l->t, i), p, 8);
	a->waiting[i] = 0;
	queue_remove(a, i);
	t->ctr.batches++;
	if (n < a->batch)
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

/* to: a copy of l->append, which stays in registers while entries are written.
 */
static inline void list_add(struct translator *t, const struct table_state *l,
			    const struct lists *to, uint32_t i, unsigned packet,
			    const uint8_t *entry)
{
	unsigned n = to->waiting[i];
	uint8_t *p = to->entries + i * to->span + (size_t)n * to->stride;

	if (to->plain)
		memcpy(p, entry, 4);
	else if (to->swapped)
		copy_swapped(p, entry, to->value_len);
	else
		memcpy(p, entry, to->value_len);
	if (!n) {
		l->append->list[i].oldest_ns = t->pkts[packet].ts_ns;
		queue_add(l->append, i);
	}
	to->waiting[i] = (uint16_t)++n;
	if (n < to->batch)
		return;
	t->stamp_ns = t->pkts[packet].ts_ns;
	list_write(t, l, i);
}

/* Whether each report is one entry of one word without an immediate. */
static bool are_words(const struct lists *to, const struct report_batch *j)
{
	return to->plain && !desc_immediate(j->any) &&
	       desc_data_len(j->all) == to->value_len &&
	       desc_data_len(j->any) == to->value_len &&
	       desc_data_at(j->all) == desc_data_at(j->any);
}

static void append_words(struct translator *t, const struct table_state *l,
			 const struct lists *to, const struct report_batch *j)
{
	const struct report_batch in = *j; /* in registers */
	unsigned at = desc_data_at(in.any);

	for (unsigned k = 0; k < in.n; k++)
		list_add(t, l, to, be32_load(in.key[k]), in.at[k],
			 in.key[k] + at);
}

static void append_any(struct translator *t, const struct table_state *l,
		       const struct lists *to, const struct report_batch *j)
{
	for (unsigned k = 0; k < j->n; k++) {
		const uint8_t *key = j->key[k];
		uint64_t desc = j->desc[k];
		const uint8_t *data = key + desc_data_at(desc);
		const uint8_t *end = data + desc_data_len(desc);
		uint32_t i = be32_load(key);

		do {
			list_add(t, l, to, i, j->at[k], data);
			data += to->value_len;
		} while (data < end);
		if (!desc_immediate(desc))
			continue;
		t->stamp_ns = t->pkts[j->at[k]].ts_ns;
		if (to->waiting[i])
			list_write(t, l, i);
		/* the last operation is the count that covers the report */
		op_make_immediate(t, l, &t->ops->op[t->ops->n - 1],
				  desc_sequence(desc));
	}
}

void append_run(struct translator *t, struct table_state *l,
		const struct report_batch *j)
{
	const struct lists to = *l->append;

	if (are_words(&to, j))
		append_words(t, l, &to, j);
	else
		append_any(t, l, &to, j);
}

/* Writes the lists out whose oldest entry has waited for the flush time.
 * t->due_ns: when the next one has, if that is sooner. */
static void append_flush_due(struct translator *t, struct table_state *l,
			     uint64_t now_ns)
{
	struct lists *a = l->append;

	while (a->first != NO_LIST) {
		uint64_t oldest = a->list[a->first].oldest_ns;
		uint64_t due = oldest + a->flush_ns;

		/* An entry from later than now: its time was wrong. */
		if (now_ns - oldest < a->flush_ns) {
			if (due < t->due_ns)
				t->due_ns = due;
			t->waiting = true;
			return;
		}
		/* what is written bears the time at which it was due */
		t->stamp_ns = due < t->last_ns ? due : t->last_ns;
		list_write(t, l, a->first);
	}
}

void append_flush(struct translator *t, struct table_state *l)
{
	struct lists *a = l->append;

	while (a->first != NO_LIST)
		list_write(t, l, a->first);
	/* Those of queues that are gone; a queue of several knows of its own.
	 */
	for (uint32_t i = 0; i < l->t.lists && !a->shared; i++)
		if (a->waiting[i])
			list_write(t, l, i);
	a->first = a->last = NO_LIST;
}

void clock_to(struct translator *t, uint64_t now_ns)
{
	bool set = clock_was_set(t->last_ns, now_ns);

	if (set && t->waiting) { /* for an unknown time */
		t->stamp_ns = t->last_ns;
		for (unsigned i = 0; i < t->states; i++)
			if (t->state[i].append)
				append_flush(t, &t->state[i]);
		ops_run(t);
		t->waiting = false;
	}
	if (set || t->idle_ns)
		t->due_ns = 0; /* to be reckoned anew */
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

/*
 * On several cores, entries of one word are sent as one word each, the list's
 * number and the entry as in the packet, behind a word with their count. An
 * owner has a range of lists, whose words are adjacent.
 */
bool append_send_words(struct translator *t, const struct table_state *l,
		       const struct report_batch *j, uint64_t factor)
{
	const struct lists to = *l->append;
	uint64_t *desc[THREADS_MAX] = {NULL}, *m;

	if (t->transport->stamped || !are_words(&to, j))
		return false;
	for (unsigned i = 0; i < j->n; i++) {
		unsigned owner = be32_load(j->key[i]) * factor >> 32;
		struct threads_out *out = &t->out[owner];

		if (!desc[owner] || out->used == THREADS_WORDS) {
			m = threads_send(out, 2);
			desc[owner] = m++;
			*desc[owner] = DESC_WORDS | (uint64_t)l->index
							    << DESC_TABLE;
		} else {
			m = threads_send(out, 1);
		}
		memcpy(m, j->key[i], sizeof(*m));
		++*desc[owner];
	}
	return true;
}

/* Adds the entries behind such a word; returns how many. */
size_t append_receive_words(struct translator *t, const struct table_state *l,
			    const uint64_t *desc)
{
	const struct lists to = *l->append;
	size_t n = *desc & 0xffff;

	for (size_t i = 1; i <= n; i++) {
		const uint8_t *p = (const uint8_t *)(desc + i);

		list_add(t, l, &to, be32_load(p), 0, p + 4);
	}
	return n;
}

int append_clone(struct table_state *l)
{
	struct lists *a = malloc(sizeof(*a));

	if (a) {
		*a = *l->append;
		a->shared = true;
	}
	l->append = a;
	return a ? 0 : -ENOMEM;
}

int append_open(struct table_state *l, size_t *room, struct error *err)
{
	uint64_t batch = l->t.batch; /* less than a ring: table_check() */
	uint64_t each = sizeof(struct list) + sizeof(uint16_t) +
			batch * l->t.stride;
	size_t bytes = (l->t.lists * batch * l->t.stride + LINE - 1) & -LINE;
	struct lists *a = calloc(1, sizeof(*a));

	l->append = a;
	if (batch * l->t.stride + 16 > ARENA)
		return error_set(err, -EINVAL,
				 "%s: batch: %u entries of %u bytes", l->t.name,
				 l->t.batch, l->t.stride);
	if (a && *room / each < l->t.lists)
		return error_set(err, -EINVAL,
				 "%s: batch: %u lists with %u entries of %u "
				 "bytes waiting take more than the %zu bytes "
				 "there are; choose a smaller batch",
				 l->t.name, l->t.lists, l->t.batch, l->t.stride,
				 *room);
	if (!a || !(a->list = calloc(l->t.lists, sizeof(*a->list))) ||
	    !(a->waiting = calloc(l->t.lists, sizeof(*a->waiting))) ||
	    !(a->entries = aligned_alloc(LINE, bytes)))
		return error_set(err, -ENOMEM, "%s: no memory for the batches",
				 l->t.name);
	memset(a->entries, 0, bytes); /* what is behind a value stays so */
	a->batch = l->t.batch;
	a->first = a->last = NO_LIST;
	a->value_len = l->t.value_len;
	a->stride = l->t.stride;
	a->span = (size_t)a->batch * a->stride;
	a->swapped = l->t.hash == HASH_DTA0;
	a->plain = a->value_len == 4 && !a->swapped;
	a->flush_ns = l->t.flush_ms * UINT64_C(1000000);
	*room -= l->t.lists * each;
	return 0;
}

void append_close(struct table_state *l)
{
	if (l->append && !l->append->shared) {
		free(l->append->list);
		free(l->append->waiting);
		free(l->append->entries);
	}
	free(l->append);
	l->append = NULL;
}
