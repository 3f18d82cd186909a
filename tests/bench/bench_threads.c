/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the engine for several cores costs (lib/threads), for dta-plan cores:
 * messages of 16 bytes, a slot of 8 bytes and where it goes, sent by 1 to 8
 * workers to owners that store them in 4 GiB. Times are of the thread at work,
 * but where another had its core: so 8 workers on two cores tell something,
 * too.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"
#include "bench_two.h"
#include "threads/threads.h"

enum {
	BATCH = 4096,
	BATCHES = 2048, /* of all workers */
	WORKERS = 8,	/* at most */
	MEMORY_SHIFT = 32,
};

#define PREEMPTED 1e-3

struct job {
	struct threads *threads;
	unsigned workers;
	uint8_t *memory;
	bool one;	/* owner for all */
	unsigned left;	/* batches that are not taken */
	unsigned shift; /* of an offset: its owner */
	struct part {
		uint64_t state; /* random numbers */
		double send, receive;
		uint64_t sent, received; /* messages */
	} __attribute__((aligned(128))) part[WORKERS];
};

/* Time since began, but 0 where another thread had this core meanwhile. */
static double since(double began)
{
	double took = bench_now() - began;

	return took < PREEMPTED ? took : 0;
}

static bool take(void *ctx, const struct threads_batch *b)
{
	struct job *j = ctx;

	(void)b;
	j->left -= j->left > 0;
	return j->left > 0;
}

static uint64_t next(struct part *p)
{
	p->state = p->state * UINT64_C(6364136223846793005) +
		   1442695040888963407;
	return p->state;
}

static bool work(void *ctx, const struct threads_batch *b, unsigned round)
{
	struct job *j = ctx;
	struct part *p = &j->part[b->worker];
	struct threads_out *out = threads_outs(j->threads, b->worker);
	double began, took;

	if (round)
		return false;
	began = bench_now();
	for (unsigned i = 0; i < BATCH; i++) {
		uint64_t offset = next(p) >> (64 - MEMORY_SHIFT) & ~7ull;
		unsigned owner = j->one ? 0 : (unsigned)(offset >> j->shift);
		uint64_t *at = threads_send(&out[owner], 2);

		at[0] = offset;
		at[1] = p->state;
	}
	took = since(began);
	p->send += took;
	p->sent += took > 0 ? BATCH : 0;
	return false;
}

static void receive(void *ctx, unsigned owner, const struct threads_block *in)
{
	struct job *j = ctx;
	struct part *p = &j->part[owner];
	double began = bench_now(), took;

	for (size_t i = 0; i < in->words; i += 2)
		__builtin_prefetch(j->memory + in->word[i], 1);
	for (size_t i = 0; i < in->words; i += 2)
		memcpy(j->memory + in->word[i], &in->word[i + 1], 8);
	took = since(began);
	p->receive += took;
	p->received += took > 0 ? in->words / 2 : 0;
}

static void row(const char *path, unsigned workers, const char *what,
		double each)
{
	printf("{\"path\":\"Messages: %s, %u workers, %s\",\"rate_mps\":%.3f,"
	       "\"limit_mps\":null,\"ratio\":null,\"each_ns\":%.2f}\n",
	       path, workers, what, 1e3 / each, each);
	fflush(stdout);
}

static void run(uint8_t *memory, unsigned workers, bool one)
{
	struct job *j = aligned_alloc(128, sizeof(*j));
	const struct threads_options o = {.workers = workers,
					  .rounds = 1,
					  .take = take,
					  .work = work,
					  .receive = receive,
					  .ctx = j};
	double send = 0, get = 0, began;
	uint64_t sent = 0, got = 0;
	struct error err;

	memset(j, 0, sizeof(*j));
	j->workers = workers;
	j->memory = memory;
	j->one = one;
	j->shift = MEMORY_SHIFT - (unsigned)__builtin_ctz(workers);
	for (unsigned i = 0; i < WORKERS; i++)
		j->part[i].state = i * 77 + 1;
	if (threads_open(&j->threads, &o, &err) < 0)
		bench_die(err.text);
	began = bench_now();
	j->left = BATCHES;
	do
		threads_go(j->threads, true, true);
	while (take(j, NULL));
	threads_close(j->threads);
	began = bench_now() - began;
	for (unsigned i = 0; i < workers; i++) {
		send += j->part[i].send;
		get += j->part[i].receive;
		sent += j->part[i].sent;
		got += j->part[i].received;
	}
	row(one ? "one owner" : "owners", workers, "sent", send / sent * 1e9);
	row(one ? "one owner" : "owners", workers, "received", get / got * 1e9);
	row(one ? "one owner" : "owners", workers, "all",
	    began / BATCHES / BATCH * 1e9);
	free(j);
}

int main(void)
{
	uint8_t *memory = mmap(NULL, 1ull << MEMORY_SHIFT,
			       PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bench_die("no memory");
	madvise(memory, 1ull << MEMORY_SHIFT, MADV_HUGEPAGE);
	for (uint64_t i = 0; i < 1ull << MEMORY_SHIFT; i += 4096)
		memory[i] = 1;
	bench_line();
	for (unsigned n = 1; n <= WORKERS; n *= 2)
		run(memory, n, false);
	for (unsigned n = 2; n <= WORKERS; n *= 2)
		run(memory, n, true);
	munmap(memory, 1ull << MEMORY_SHIFT);
	return 0;
}
