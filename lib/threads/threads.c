/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c - workers, their batches, and the rings between them. */
#include "threads/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/fence.h"

/* That no worker waits for another for ever while it sends was shown for two: a
 * round of the older batch, and one of the younger. */
_Static_assert(THREADS_PLACES == 2, "places");

enum {
	FAR_LINE = 128,	  /* bytes that move together: two cache lines */
	RING_BLOCKS = 64, /* of all rings to one owner; no ring has fewer than
			      RING_MIN */
	RING_MIN = 8,
	/* Looks for something to do before the thread lets others run, and then
	 * sleeps: a batch takes a hundred microseconds. */
	SPINS = 512,
	YIELDS = 64,
	SPINS_BETWEEN = 32,
};

struct block {
	uint64_t head; /* words, and whether it is the batch's last */
	uint64_t word[THREADS_WORDS];
} __attribute__((aligned(64)));

#define HEAD_LAST (UINT64_C(1) << 32)

_Static_assert(sizeof(struct block) == THREADS_BLOCK, "lines");
_Static_assert(offsetof(struct threads_out, words) == THREADS_BLOCK, "a block");

/* From one worker to one owner, in one round. Numbers of blocks, which count
 * up; each is written by one side. */
struct ring {
	struct block *block;
	uint32_t mask;
	uint64_t sent; /* by the sender */
	uint64_t room; /* the sender's knowledge of `read' */
	uint64_t read __attribute__((aligned(FAR_LINE)));
} __attribute__((aligned(FAR_LINE)));

/* A batch under way. */
struct place {
	struct threads_batch batch;
	bool busy, any;
	unsigned round; /* whose messages are sent */
	unsigned first; /* round whose messages may not have been received */
	unsigned owner; /* those before have received them */
};

struct worker {
	struct threads *threads;
	pthread_t thread; /* worker 0 has none of its own */
	uint32_t asleep;  /* a futex word */
	uint64_t over;	  /* atomic: batches of this worker that are */
	/* Atomic: the next batch that it receives as an owner, by round. */
	uint64_t next[THREADS_ROUNDS] __attribute__((aligned(FAR_LINE)));
	/* Its own. */
	uint64_t batch __attribute__((aligned(FAR_LINE))); /* to be taken */
	struct place place[THREADS_PLACES];
	unsigned oldest; /* place */
	unsigned round;	 /* in work() */
	struct threads_out *out;
} __attribute__((aligned(FAR_LINE)));

struct threads {
	struct threads_options o;
	unsigned started;  /* threads */
	struct ring *ring; /* by round, owner and worker */
	struct worker *worker;
	uint64_t taken __attribute__((aligned(FAR_LINE))); /* batches; atomic */
	bool end; /* atomic: no more batches */
};

static inline uint64_t load(const uint64_t *v)
{
	return __atomic_load_n(v, __ATOMIC_ACQUIRE);
}

static inline void store(uint64_t *v, uint64_t value)
{
	__atomic_store_n(v, value, __ATOMIC_RELEASE);
}

static inline struct ring *ring_of(const struct threads *t, unsigned round,
				   unsigned owner, unsigned worker)
{
	unsigned n = t->o.workers;

	return &t->ring[(round * n + owner) * n + worker];
}

static void wake(struct worker *w)
{
	if (__atomic_load_n(&w->asleep, __ATOMIC_RELAXED)) {
		__atomic_store_n(&w->asleep, 0, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &w->asleep, FUTEX_WAKE_PRIVATE, 1, NULL,
			NULL, 0);
	}
}

/* Behind a change that workers may wait for: who sleeps says so before it looks
 * at what was changed for the last time. */
static void wake_one(struct threads *t, unsigned worker)
{
	fence_all();
	wake(&t->worker[worker]);
}

static void wake_all(struct threads *t)
{
	fence_all();
	for (unsigned i = 0; i < t->o.workers; i++)
		wake(&t->worker[i]);
}

/* Blocks of one sender's batch that have come; whether it was the last. */
static bool receive_blocks(struct threads *t, struct ring *r, uint64_t sent,
			   struct threads_block *in, unsigned owner)
{
	uint64_t k = r->read;
	bool last = false;

	while (k != sent && !last) {
		const struct block *b = &r->block[k++ & r->mask];

		in->word = b->word;
		in->words = (uint32_t)b->head;
		last = b->head & HEAD_LAST;
		if (in->words)
			t->o.receive(t->o.ctx, owner, in);
		store(&r->read, k);
	}
	return last;
}

/* What has come for an owner, in the order of batches. Whether anything has. */
static bool receive(struct threads *t, unsigned owner, unsigned round)
{
	struct worker *w = &t->worker[owner];
	unsigned n = t->o.workers;
	bool any = false;

	for (;;) {
		uint64_t batch = w->next[round];
		unsigned from = (unsigned)(batch % n);
		struct ring *r = ring_of(t, round, owner, from);
		uint64_t sent = load(&r->sent);
		struct threads_block in = {
			.from = {.number = batch,
				 .worker = from,
				 .place = batch / n % THREADS_PLACES},
			.round = round,
		};

		if (r->read == sent)
			return any;
		any = true;
		if (receive_blocks(t, r, sent, &in, owner))
			store(&w->next[round], batch + 1);
		wake_one(t, from);
	}
}

static bool receive_all(struct threads *t, unsigned owner)
{
	bool any = false;

	for (unsigned i = t->o.rounds; i--;)
		any |= receive(t, owner, i);
	return any;
}

static inline void pause_briefly(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* Nothing to do, so many times: looks again, lets others run, or sleeps. */
static void idle(struct worker *w, unsigned times)
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
		fence_all(); /* and one more look */
	} else {
		syscall(SYS_futex, &w->asleep, FUTEX_WAIT_PRIVATE, 1, NULL,
			NULL, 0);
	}
}

static void busy(struct worker *w)
{
	if (__atomic_load_n(&w->asleep, __ATOMIC_RELAXED))
		__atomic_store_n(&w->asleep, 0, __ATOMIC_RELAXED);
}

/* A block's lines to another core, past the caches: a line that it has touched
 * last is not taken back. */
static void stream_lines(struct block *to, const struct threads_out *from,
			 size_t lines)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	const __m128i *s = (const __m128i *)&from->head;
	__m128i *d = (__m128i *)to;

	for (size_t i = 0; i < lines * 4; i++)
		_mm_stream_si128(d + i, _mm_load_si128(s + i));
	_mm_sfence();
#else
	memcpy(to, &from->head, lines * 64);
#endif
}

static void copy_block(struct block *to, const struct threads_out *from)
{
	size_t lines = (from->words + 8) / 8;

	if (from->owner == from->worker)
		memcpy(to, &from->head, lines * 64);
	else
		stream_lines(to, from, lines);
}

void threads_ship(struct threads_out *out, bool last)
{
	struct threads *t = out->threads;
	struct worker *w = &t->worker[out->worker];
	struct ring *r = ring_of(t, w->round, out->owner, out->worker);
	unsigned times = 0;

	while (r->sent - r->room > r->mask) {
		r->room = load(&r->read);
		if (r->sent - r->room <= r->mask)
			break;
		if (!times)
			wake_one(t, out->owner);
		if (receive_all(t, out->worker))
			busy(w);
		else
			idle(w, times++);
	}
	busy(w);
	out->head = out->words | (last ? HEAD_LAST : 0);
	copy_block(&r->block[r->sent & r->mask], out);
	store(&r->sent, r->sent + 1);
	out->words = 0;
}

struct threads_out *threads_outs(struct threads *t, unsigned worker)
{
	return t->worker[worker].out;
}

/* None enters a round before the one that was taken before it: all may have
 * been received between two looks. */
static bool may_enter(const struct worker *w, const struct place *p,
		      unsigned round)
{
	const struct place *older = &w->place[w->oldest];

	return older == p || round <= older->round;
}

/* A round of a batch, and what it sends; and those that need not wait. */
static void send_rounds(struct threads *t, struct worker *w, struct place *p)
{
	bool on = true;

	p->first = p->round;
	p->owner = 0;
	while (on) {
		w->round = p->round;
		on = !p->any || t->o.work(t->o.ctx, &p->batch, p->round);
		for (unsigned i = 0; i < t->o.workers; i++)
			threads_ship(&w->out[i], true);
		on = on && p->round + 1 < t->o.rounds &&
		     may_enter(w, p, p->round + 1);
		p->round += on;
	}
	wake_all(t);
}

static void end_batch(struct threads *t, struct worker *w, struct place *p)
{
	if (p->any)
		t->o.work(t->o.ctx, &p->batch, p->round);
	p->busy = false;
	w->oldest = (w->oldest + 1) % THREADS_PLACES;
	store(&w->over, w->over + 1);
	wake_one(t, 0);
}

static bool owner_received(const struct worker *owner, const struct place *p)
{
	for (unsigned i = p->first; i <= p->round; i++)
		if (load(&owner->next[i]) <= p->batch.number)
			return false;
	return true;
}

static bool is_received(struct threads *t, struct place *p)
{
	while (p->owner < t->o.workers &&
	       owner_received(&t->worker[p->owner], p))
		p->owner++;
	return p->owner == t->o.workers;
}

/* Goes on with a batch of a worker whose messages were received; whether there
 * was one. */
static bool go_on(struct threads *t, struct worker *w)
{
	for (unsigned i = 0; i < THREADS_PLACES; i++) {
		struct place *p = &w->place[(w->oldest + i) % THREADS_PLACES];

		if (!p->busy)
			break;
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

static struct place *place_of(const struct threads *t, struct worker *w)
{
	return &w->place[w->batch / t->o.workers % THREADS_PLACES];
}

static void begin(struct threads *t, struct worker *w, bool any)
{
	struct place *p = place_of(t, w);

	store(&t->taken, w->batch + 1);
	wake_one(t, (unsigned)((w->batch + 1) % t->o.workers));
	w->batch += t->o.workers;
	p->busy = true;
	p->any = any;
	p->round = 0;
	send_rounds(t, w, p);
}

static bool may_take(const struct threads *t, struct worker *w)
{
	return !place_of(t, w)->busy && load(&t->taken) == w->batch;
}

/* A worker's next batch, if it may be taken now. */
static bool take(struct threads *t, struct worker *w)
{
	struct place *p = place_of(t, w);

	if (!may_take(t, w))
		return false;
	p->batch.number = w->batch;
	begin(t, w, t->o.take(t->o.ctx, &p->batch));
	return true;
}

/* Of all workers that run, by place; 0: of none. For signal handlers. */
static _Atomic pid_t running[THREADS_MAX];

void threads_wake(void)
{
	int before = errno;

	for (unsigned i = 0; i < THREADS_MAX; i++)
		if (running[i])
			syscall(SYS_tgkill, getpid(), running[i], THREADS_WAKE);
	errno = before;
}

/* Until the end: worker 0's first batch is the first that is taken. */
static void work(struct threads *t, struct worker *w)
{
	unsigned number = (unsigned)(w - t->worker), times = 0;

	while (!__atomic_load_n(&t->end, __ATOMIC_ACQUIRE)) {
		if (go_on(t, w) || receive_all(t, number) || take(t, w)) {
			busy(w);
			times = 0;
		} else {
			idle(w, times++);
		}
	}
}

static void *run(void *worker)
{
	struct worker *w = worker;
	pid_t none = 0, own = (pid_t)syscall(SYS_gettid);
	unsigned at = 0;

	while (at < THREADS_MAX &&
	       !atomic_compare_exchange_strong(&running[at], &none, own))
		none = 0, at++;
	work(w->threads, w);
	if (at < THREADS_MAX)
		running[at] = 0;
	return NULL;
}

/* Whether all batches that were taken are over, when worker 0's is next. */
static bool at_rest(const struct threads *t)
{
	const struct worker *first = &t->worker[0];
	uint64_t each = first->batch / t->o.workers;

	if (load(&t->taken) != first->batch)
		return false;
	for (unsigned i = 0; i < t->o.workers; i++)
		if (load(&t->worker[i].over) != each)
			return false;
	return true;
}

static bool may_take_first(const struct threads *t)
{
	return may_take(t, &t->worker[0]);
}

/* Worker 0's share of the work, until something is so. */
static void work_until(struct threads *t,
		       bool (*is_so)(const struct threads *t))
{
	struct worker *w = &t->worker[0];
	unsigned times = 0;

	while (!is_so(t)) {
		if (go_on(t, w) || receive_all(t, 0)) {
			busy(w);
			times = 0;
		} else {
			idle(w, times++);
		}
	}
	busy(w);
}

unsigned threads_place(const struct threads *t)
{
	return (unsigned)(t->worker[0].batch / t->o.workers % THREADS_PLACES);
}

void threads_go(struct threads *t, bool any, bool more)
{
	struct worker *w = &t->worker[0];

	place_of(t, w)->batch.number = w->batch;
	begin(t, w, any);
	work_until(t, more ? may_take_first : at_rest);
}

void threads_rest(struct threads *t)
{
	work_until(t, at_rest);
}

static void *lines(size_t n, size_t size)
{
	void *p = aligned_alloc(FAR_LINE, n * size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

static int open_rings(struct threads *t)
{
	unsigned n = t->o.workers;
	uint32_t blocks = RING_BLOCKS;

	t->ring = lines((size_t)n * n * t->o.rounds, sizeof(*t->ring));
	if (!t->ring)
		return -ENOMEM;
	while (blocks > RING_MIN && blocks * n > RING_BLOCKS)
		blocks /= 2;
	for (unsigned i = 0; i < n * n * t->o.rounds; i++) {
		t->ring[i].mask = blocks - 1;
		t->ring[i].block = lines(blocks, sizeof(struct block));
		if (!t->ring[i].block)
			return -ENOMEM;
	}
	return 0;
}

static int open_workers(struct threads *t)
{
	unsigned n = t->o.workers;

	t->worker = lines(n, sizeof(*t->worker));
	for (unsigned i = 0; t->worker && i < n; i++) {
		struct worker *w = &t->worker[i];

		w->threads = t;
		w->batch = i;
		for (unsigned k = 0; k < THREADS_PLACES; k++)
			w->place[k].batch = (struct threads_batch){.worker = i,
								   .place = k};
		w->out = lines(n, sizeof(*w->out));
		if (!w->out)
			return -ENOMEM;
		for (unsigned k = 0; k < n; k++) {
			w->out[k].threads = t;
			w->out[k].worker = i;
			w->out[k].owner = k;
		}
	}
	return t->worker ? 0 : -ENOMEM;
}

/* What a worker does not block: what wakes it, and what it has done itself. */
static void signals_of_workers(sigset_t *set)
{
	sigfillset(set);
	sigdelset(set, THREADS_WAKE);
	sigdelset(set, SIGPIPE);
	sigdelset(set, SIGBUS);
}

static int start_threads(struct threads *t)
{
	sigset_t own, before;
	int rc = 0;

	signals_of_workers(&own);
	pthread_sigmask(SIG_SETMASK, &own, &before);
	for (unsigned i = 1; i < t->o.workers && !rc; i++) {
		rc = -pthread_create(&t->worker[i].thread, NULL, run,
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
	unsigned n = t->o.workers;

	for (unsigned i = 0; t->ring && i < n * n * t->o.rounds; i++)
		free(t->ring[i].block);
	for (unsigned i = 0; t->worker && i < n; i++)
		free(t->worker[i].out);
	free(t->ring);
	free(t->worker);
	free(t);
}

int threads_open(struct threads **out, const struct threads_options *o,
		 struct fault *f)
{
	struct threads *t = lines(1, sizeof(*t));
	int rc;

	if (!t)
		return fault_set(f, -ENOMEM, "no memory for threads");
	t->o = *o;
	rc = open_rings(t);
	if (!rc)
		rc = open_workers(t);
	if (!rc && (rc = start_threads(t)))
		end_threads(t);
	if (rc) {
		free_all(t);
		return fault_set(f, rc, "threads: %s", strerror(-rc));
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
