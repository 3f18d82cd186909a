/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c - workers, their batches, and the messages between them. */
#include "threads/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/fence.h"

enum {
	FAR_LINE = 128, /* bytes that move together: two cache lines */
	NUMBERS = 256,	/* batches under way, at most */
	PIECES = 16,	/* that worker 0 does in threads_go(), times workers */
	CHUNK = 256,	/* blocks, 1 MiB */
	CHUNKS = 1024,	/* of a batch, at most */
	/* How often an idle worker looks for work before it first lets others
	 * run, how often it does that before it sleeps, and the looks between:
	 * a batch takes a hundred microseconds. */
	SPINS = 512,
	YIELDS = 64,
	SPINS_BETWEEN = 32,
};

_Static_assert(NUMBERS >= THREADS_MAX * THREADS_PLACES, "batches");

struct message_block {
	struct message_block *next;
	uint64_t words;
	uint64_t word[THREADS_WORDS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct message_block) == THREADS_BLOCK, "lines");
_Static_assert(offsetof(struct threads_out, used) == THREADS_BLOCK, "a block");

/* A batch under way, and its messages. */
struct threads_slot {
	struct threads_batch batch;
	bool any;
	unsigned round; /* the one that is sent */
	unsigned first; /* that owners may not have received yet */
	unsigned owner; /* owners before it have received rounds up to round */
	struct message_block *chunk[CHUNKS]; /* NULL: it never needed so many */
	size_t used;			     /* blocks */
	/* The first block by round and owner; NULL: none. */
	struct message_block **chain;
	/* Atomic: rounds whose messages are all there. */
	unsigned sent __attribute__((aligned(FAR_LINE)));
} __attribute__((aligned(FAR_LINE)));

struct worker {
	struct threads *threads;
	pthread_t thread; /* worker 0 has none of its own */
	uint32_t asleep;  /* a futex word */
	uint64_t ended;	  /* atomic: how many of its batches have ended */
	/* Atomic: the next batch that it receives as an owner, by round. */
	uint64_t next[THREADS_ROUNDS] __attribute__((aligned(FAR_LINE)));
	/* Only the worker itself uses these: places under way, from the oldest
	 * on. */
	struct threads_slot place[THREADS_PLACES];
	unsigned oldest, under_way;
	struct threads_slot *sending;
	struct threads_out *out;
} __attribute__((aligned(FAR_LINE)));

struct threads {
	struct threads_options o;
	unsigned started; /* threads */
	struct worker *worker;
	int error;		    /* atomic */
	struct message_block spare; /* where there is no memory: never read */
	/* Atomic: how many batches were taken. */
	uint64_t taken __attribute__((aligned(FAR_LINE)));
	struct threads_slot *by_number[NUMBERS]; /* modulo NUMBERS */
	/* Atomic: a worker takes; worker 0 wants to; there is nothing to take
	 * until worker 0 has looked. */
	bool taking __attribute__((aligned(FAR_LINE)));
	bool wanted, dry;
	bool end; /* atomic: no more batches */
};

static inline uint64_t load_acquire(const uint64_t *v)
{
	return __atomic_load_n(v, __ATOMIC_ACQUIRE);
}

static inline void store_release(uint64_t *v, uint64_t value)
{
	__atomic_store_n(v, value, __ATOMIC_RELEASE);
}

static void wake_worker(struct worker *w)
{
	if (__atomic_load_n(&w->asleep, __ATOMIC_RELAXED)) {
		__atomic_store_n(&w->asleep, 0, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &w->asleep, FUTEX_WAKE_PRIVATE, 1, NULL,
			NULL, 0);
	}
}

/* After a change that workers may wait for: a worker sets asleep, and then
 * looks once more at what may have changed, before it sleeps. */
static void wake_one(struct threads *t, unsigned worker)
{
	fence_all();
	wake_worker(&t->worker[worker]);
}

static void wake_all(struct threads *t)
{
	fence_all();
	for (unsigned i = 0; i < t->o.workers; i++)
		wake_worker(&t->worker[i]);
}

/* An owner receives what the next batch sends it in a round, if it is there. */
static bool receive_next(struct threads *t, unsigned owner, unsigned round)
{
	struct worker *w = &t->worker[owner];
	uint64_t batch = w->next[round];
	const struct message_block *b;
	struct threads_slot *p;

	if (batch == load_acquire(&t->taken))
		return false;
	p = t->by_number[batch % NUMBERS];
	if (__atomic_load_n(&p->sent, __ATOMIC_ACQUIRE) <= round)
		return false;
	b = p->chain[round * t->o.workers + owner];
	for (; b; b = b->next) {
		const struct threads_block in = {p->batch, round, b->word,
						 b->words};

		if (in.words)
			t->o.receive(t->o.ctx, owner, &in);
	}
	store_release(&w->next[round], batch + 1);
	wake_one(t, p->batch.worker);
	return true;
}

static bool receive_all(struct threads *t, unsigned owner)
{
	bool any = false;

	for (unsigned i = t->o.rounds; i--;)
		any |= receive_next(t, owner, i);
	return any;
}

static inline void pause_briefly(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* After so many looks in vain: pauses, lets others run, or sleeps. */
static void wait_idle(struct worker *w, unsigned times)
{
	if (times < SPINS) {
		pause_briefly();
	} else if (times < SPINS + YIELDS * SPINS_BETWEEN) {
		if (times % SPINS_BETWEEN)
			pause_briefly();
		else
			sched_yield();
	} else if (!__atomic_load_n(&w->asleep, __ATOMIC_RELAXED)) {
		__atomic_store_n(&w->asleep, 1, __ATOMIC_SEQ_CST);
		fence_all(); /* the caller looks once more */
	} else {
		syscall(SYS_futex, &w->asleep, FUTEX_WAIT_PRIVATE, 1, NULL,
			NULL, 0);
	}
}

static void mark_busy(struct worker *w)
{
	if (__atomic_load_n(&w->asleep, __ATOMIC_RELAXED))
		__atomic_store_n(&w->asleep, 0, __ATOMIC_RELAXED);
}

/* Copies a block's lines for another core, past the caches, so that lines which
 * that core has touched last need not be fetched from it. */
static void stream_lines(struct message_block *to,
			 const struct threads_out *from, size_t lines)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	const __m128i *s = (const __m128i *)from;
	__m128i *d = (__m128i *)to;

	for (size_t i = 0; i < lines * 4; i++)
		_mm_stream_si128(d + i, _mm_load_si128(s + i));
#else
	memcpy(to, from, lines * 64);
#endif
}

static inline void stream_fence(void)
{
#ifdef __x86_64__
	_mm_sfence();
#endif
}

static void copy_block(const struct threads_out *from)
{
	size_t lines = (from->words + 2 + 7) / 8;

	if (from->owner == from->worker)
		memcpy(from->to, from, lines * 64);
	else
		stream_lines(from->to, from, lines);
}

static struct message_block *chunk_new(void)
{
	void *mem = mmap(NULL, CHUNK * sizeof(struct message_block),
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static struct message_block *block_new(struct threads *t,
				       struct threads_slot *p)
{
	size_t chunk = p->used / CHUNK;

	if (chunk < CHUNKS && !p->chunk[chunk])
		p->chunk[chunk] = chunk_new();
	if (chunk < CHUNKS && p->chunk[chunk])
		return &p->chunk[chunk][p->used++ % CHUNK];
	__atomic_store_n(&t->error, -ENOMEM, __ATOMIC_RELAXED);
	return &t->spare;
}

/* Moves a full block, or the last of a round, to the batch's memory. */
static void ship(struct threads_out *out, bool last)
{
	struct threads *t = out->threads;
	struct threads_slot *p = t->worker[out->worker].sending;
	struct message_block *b, *first;

	if (!out->to) {
		out->to = first = block_new(t, p);
		p->chain[p->round * t->o.workers + out->owner] =
			first == &t->spare ? NULL : first;
	}
	b = last ? NULL : block_new(t, p);
	out->next = b == &t->spare ? NULL : b;
	out->words = out->used;
	copy_block(out);
	out->to = b;
	out->used = 0;
}

void threads_ship(struct threads_out *out)
{
	ship(out, false);
}

struct threads_out *threads_outs(struct threads *t, unsigned worker)
{
	return t->worker[worker].out;
}

/* A worker's batches go from round to round in their order. */
static bool may_enter(const struct worker *w, const struct threads_slot *p,
		      unsigned round)
{
	const struct threads_slot *older = p == w->place
						   ? p + THREADS_PLACES - 1
						   : p - 1;

	return p == &w->place[w->oldest] || round <= older->round;
}

/* Works on a batch's round and sends its messages; then on the next rounds, as
 * long as they need not wait. */
static void send_rounds(struct threads *t, struct worker *w,
			struct threads_slot *p)
{
	bool next = true;

	p->first = p->round;
	p->owner = 0;
	w->sending = p;
	while (next) {
		next = !p->any || t->o.work(t->o.ctx, &p->batch, p->round);
		for (unsigned i = 0; i < t->o.workers; i++)
			if (w->out[i].to || w->out[i].used)
				ship(&w->out[i], true);
		stream_fence();
		__atomic_store_n(&p->sent, p->round + 1, __ATOMIC_RELEASE);
		next = next && p->round + 1 < t->o.rounds &&
		       may_enter(w, p, p->round + 1);
		p->round += next;
	}
	wake_all(t);
}

static void end_batch(struct threads *t, struct worker *w,
		      struct threads_slot *p)
{
	if (p->any)
		t->o.work(t->o.ctx, &p->batch, p->round);
	w->oldest = (w->oldest + 1) % THREADS_PLACES;
	w->under_way--;
	store_release(&w->ended, w->ended + 1);
	wake_one(t, 0);
}

static bool owner_received(const struct worker *owner,
			   const struct threads_slot *p)
{
	for (unsigned i = p->first; i <= p->round; i++)
		if (load_acquire(&owner->next[i]) <= p->batch.number)
			return false;
	return true;
}

static bool is_received(struct threads *t, struct threads_slot *p)
{
	while (p->owner < t->o.workers &&
	       owner_received(&t->worker[p->owner], p))
		p->owner++;
	return p->owner == t->o.workers;
}

/* Continues a batch of a worker whose messages were received; false: there is
 * none. */
static bool resume_batch(struct threads *t, struct worker *w)
{
	for (unsigned i = 0; i < w->under_way; i++) {
		struct threads_slot *p =
			&w->place[(w->oldest + i) % THREADS_PLACES];

		if (!may_enter(w, p, p->round + 1) || !is_received(t, p))
			continue;
		if (++p->round == t->o.rounds)
			end_batch(t, w, p);
		else
			send_rounds(t, w, p);
		return true;
	}
	return false;
}

/* Where the batch goes that a worker takes next. */
static struct threads_slot *slot_next(struct worker *w)
{
	return &w->place[(w->oldest + w->under_way) % THREADS_PLACES];
}

/* Whether the caller may take, until taking_end(). */
static bool taking_begin(struct threads *t)
{
	return !__atomic_load_n(&t->taking, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&t->taking, true, __ATOMIC_ACQUIRE);
}

static void taking_end(struct threads *t)
{
	__atomic_store_n(&t->taking, false, __ATOMIC_RELEASE);
	wake_all(t);
}

/* Counts the batch in a worker's next place as taken. */
static void begin_batch(struct threads *t, struct worker *w, bool any)
{
	struct threads_slot *p = slot_next(w);

	p->any = any;
	p->round = 0;
	p->used = 0;
	p->sent = 0;
	memset(p->chain, 0, t->o.rounds * t->o.workers * sizeof(*p->chain));
	w->under_way++;
	t->by_number[t->taken % NUMBERS] = p;
	store_release(&t->taken, t->taken + 1);
}

/* A worker other than 0 takes a batch, if there is one. */
static bool take_batch(struct threads *t, struct worker *w)
{
	struct threads_slot *p = slot_next(w);

	if (w->under_way == THREADS_PLACES ||
	    __atomic_load_n(&t->dry, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&t->wanted, __ATOMIC_RELAXED) || !taking_begin(t))
		return false;
	p->batch.number = t->taken;
	if (!t->o.take(t->o.ctx, &p->batch)) {
		__atomic_store_n(&t->dry, true, __ATOMIC_RELAXED);
		taking_end(t);
		return false;
	}
	begin_batch(t, w, true);
	taking_end(t);
	send_rounds(t, w, p);
	return true;
}

/* Thread ids of all workers that run; 0: unused. For signal handlers. */
static _Atomic pid_t running[THREADS_MAX];

void threads_wake(void)
{
	int before = errno;

	for (unsigned i = 0; i < THREADS_MAX; i++)
		if (running[i])
			syscall(SYS_tgkill, getpid(), running[i], THREADS_WAKE);
	errno = before;
}

static void work_until_end(struct threads *t, struct worker *w)
{
	unsigned number = (unsigned)(w - t->worker), times = 0;

	while (!__atomic_load_n(&t->end, __ATOMIC_ACQUIRE)) {
		if (resume_batch(t, w) || receive_all(t, number) ||
		    take_batch(t, w)) {
			mark_busy(w);
			times = 0;
		} else {
			wait_idle(w, times++);
		}
	}
}

static void *run_thread(void *worker)
{
	struct worker *w = worker;
	pid_t none = 0, own = (pid_t)syscall(SYS_gettid);
	unsigned at = 0;

	while (at < THREADS_MAX &&
	       !atomic_compare_exchange_strong(&running[at], &none, own))
		none = 0, at++;
	work_until_end(w->threads, w);
	if (at < THREADS_MAX)
		running[at] = 0;
	return NULL;
}

/* Whether all batches that were taken have ended, while no worker takes. */
static bool at_rest(struct threads *t)
{
	uint64_t ended = 0;

	for (unsigned i = 0; i < t->o.workers; i++)
		ended += load_acquire(&t->worker[i].ended);
	return ended == t->taken;
}

static bool may_take_first(struct threads *t)
{
	if (t->worker[0].under_way == THREADS_PLACES)
		return false;
	__atomic_store_n(&t->wanted, true, __ATOMIC_RELAXED);
	if (!taking_begin(t))
		return false;
	__atomic_store_n(&t->wanted, false, __ATOMIC_RELAXED);
	return true;
}

/* Worker 0 works until a condition holds and there is nothing to do. After many
 * pieces of work the condition suffices. */
static void work_until(struct threads *t, bool (*holds)(struct threads *t))
{
	struct worker *w = &t->worker[0];
	unsigned times = 0, pieces = PIECES * t->o.workers;

	for (;;) {
		if (pieces && (resume_batch(t, w) || receive_all(t, 0))) {
			mark_busy(w);
			times = 0;
			pieces--;
		} else if (holds(t)) {
			break;
		} else if (!pieces) {
			pieces = 1;
		} else {
			wait_idle(w, times++);
		}
	}
	mark_busy(w);
}

unsigned threads_place(const struct threads *t)
{
	return slot_next(&t->worker[0])->batch.place;
}

int threads_go(struct threads *t, bool any, bool more)
{
	struct worker *w = &t->worker[0];
	struct threads_slot *p = slot_next(w);

	p->batch.number = t->taken;
	begin_batch(t, w, any);
	__atomic_store_n(&t->dry, false, __ATOMIC_RELAXED);
	if (more)
		taking_end(t);
	send_rounds(t, w, p);
	work_until(t, more ? may_take_first : at_rest);
	return __atomic_load_n(&t->error, __ATOMIC_RELAXED);
}

int threads_rest(struct threads *t)
{
	work_until(t, at_rest);
	return __atomic_load_n(&t->error, __ATOMIC_RELAXED);
}

static void *alloc_lines(size_t n, size_t size)
{
	void *p = aligned_alloc(FAR_LINE, n * size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

static int worker_open(struct threads *t, unsigned number)
{
	struct worker *w = &t->worker[number];
	unsigned n = t->o.workers;

	w->threads = t;
	w->out = alloc_lines(n, sizeof(*w->out));
	if (!w->out)
		return -ENOMEM;
	for (unsigned k = 0; k < n; k++) {
		w->out[k].threads = t;
		w->out[k].worker = number;
		w->out[k].owner = k;
	}
	for (unsigned k = 0; k < THREADS_PLACES; k++) {
		struct threads_slot *p = &w->place[k];

		p->batch.worker = number;
		p->batch.place = k;
		p->chain = calloc((size_t)t->o.rounds * n, sizeof(*p->chain));
		p->chunk[0] = chunk_new();
		if (!p->chain || !p->chunk[0])
			return -ENOMEM;
	}
	return 0;
}

static int start_threads(struct threads *t)
{
	sigset_t own, before;
	int rc = 0;

	/* What a worker does not block: what wakes it, and what it has done
	 * itself. */
	sigfillset(&own);
	sigdelset(&own, THREADS_WAKE);
	sigdelset(&own, SIGPIPE);
	sigdelset(&own, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &own, &before);
	for (unsigned i = 1; i < t->o.workers && !rc; i++) {
		rc = -pthread_create(&t->worker[i].thread, NULL, run_thread,
				     &t->worker[i]);
		t->started += !rc;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void end_threads(struct threads *t)
{
	__atomic_store_n(&t->end, true, __ATOMIC_RELEASE);
	wake_all(t);
	for (unsigned i = 1; i <= t->started; i++)
		pthread_join(t->worker[i].thread, NULL);
}

static void free_all(struct threads *t)
{
	for (unsigned i = 0; t->worker && i < t->o.workers; i++) {
		for (unsigned k = 0; k < THREADS_PLACES; k++) {
			struct threads_slot *p = &t->worker[i].place[k];

			for (unsigned c = 0; c < CHUNKS && p->chunk[c]; c++)
				munmap(p->chunk[c],
				       CHUNK * sizeof(struct message_block));
			free(p->chain);
		}
		free(t->worker[i].out);
	}
	free(t->worker);
	free(t);
}

int threads_open(struct threads **out, const struct threads_options *o,
		 struct error *err)
{
	struct threads *t = alloc_lines(1, sizeof(*t));
	int rc = 0;

	if (!t)
		return error_set(err, -ENOMEM, "no memory for threads");
	t->o = *o;
	t->taking = true; /* worker 0 */
	t->worker = alloc_lines(o->workers, sizeof(*t->worker));
	if (!t->worker)
		rc = -ENOMEM;
	for (unsigned i = 0; i < o->workers && !rc; i++)
		rc = worker_open(t, i);
	if (!rc && (rc = start_threads(t)))
		end_threads(t);
	if (rc) {
		free_all(t);
		return error_set(err, rc, "threads: %s", strerror(-rc));
	}
	*out = t;
	return 0;
}

void threads_close(struct threads *t)
{
	if (!t)
		return;
	threads_rest(t);
	end_threads(t);
	free_all(t);
}
