/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owners receive batches in order, messages of a batch in theirs, rounds one
 * after the other; whoever waits, and however long.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "threads/threads.h"

enum {
	WORKERS = 4, /* at most */
	BATCHES = 600,
	ROUNDS = 3,
	MESSAGES = 700, /* of a batch, at most: several blocks to an owner */
};

/* What a batch says, which any thread can work out. */
static unsigned messages_of(uint64_t batch)
{
	return batch % 7 == 3 ? 0 : (unsigned)(batch * 37 % MESSAGES);
}

static bool has_any(uint64_t batch)
{
	return batch % 5 != 4;
}

static unsigned owner_of(unsigned message, unsigned workers)
{
	return message * 13 / 4 % workers;
}

/* 1 to 5 words: number of batch and message, then its number again. */
static unsigned words_of(unsigned message)
{
	return 1 + message % 5;
}

static struct job {
	unsigned workers, pace;
	struct threads *threads;
	uint64_t taken, asked;
	/* What owners answer, by worker and place; and who has not yet. */
	unsigned answer[WORKERS][THREADS_PLACES][WORKERS];
	struct {
		uint64_t batch;
		unsigned message;
		uint64_t heard;
	} owner[WORKERS][ROUNDS];
	/* Batches that are not empty, and messages of one of their rounds. */
	uint64_t given, begun[WORKERS], messages[WORKERS], over[WORKERS];
	bool wrong;
} job;

static void wrong(bool is_wrong)
{
	if (is_wrong)
		__atomic_store_n(&job.wrong, true, __ATOMIC_RELAXED);
}

static void dawdle(uint64_t batch)
{
	if (job.pace && batch % job.pace == 0)
		usleep(1500);
}

static bool take(void *ctx, const struct threads_batch *b)
{
	(void)ctx;
	wrong(b->number != job.taken);
	dawdle(b->number + 1);
	if (++job.asked % 5 == 0) /* there is nothing, this time */
		return false;
	job.taken++;
	job.given++;
	return true;
}

static void send(const struct threads_batch *b)
{
	struct threads_out *out = threads_outs(job.threads, b->worker);

	for (unsigned i = 0; i < messages_of(b->number); i++) {
		unsigned words = words_of(i);
		uint64_t *at = threads_send(&out[owner_of(i, job.workers)],
					    words);

		at[0] = b->number << 16 | i;
		for (unsigned k = 1; k < words; k++)
			at[k] = i;
	}
}

/* A batch whose rounds hang on nothing that owners write. */
static bool goes_on(uint64_t batch)
{
	return batch % 3 == 0;
}

/* Messages of the batch before a round, that all owners have received. */
static void check_answers(const struct threads_batch *b, unsigned round)
{
	unsigned *answer = job.answer[b->worker][b->place];
	unsigned sum = 0;

	for (unsigned i = 0; i < job.workers; i++)
		sum += answer[i];
	wrong(sum != round * messages_of(b->number));
}

static bool work(void *ctx, const struct threads_batch *b, unsigned round)
{
	(void)ctx;
	if (!round) {
		memset(job.answer[b->worker][b->place], 0,
		       sizeof(job.answer[0][0]));
		job.begun[b->worker]++;
		job.messages[b->worker] += messages_of(b->number);
	}
	if (round == ROUNDS || !goes_on(b->number))
		check_answers(b, round);
	dawdle(b->number + round);
	if (round < ROUNDS)
		send(b);
	else
		job.over[b->worker]++;
	return goes_on(b->number);
}

static unsigned next_message(unsigned from, unsigned owner)
{
	while (owner_of(from, job.workers) != owner)
		from++;
	return from;
}

static void hear(unsigned owner, const struct threads_block *in, size_t at,
		 unsigned message)
{
	uint64_t *batch = &job.owner[owner][in->round].batch;
	unsigned *last = &job.owner[owner][in->round].message;

	wrong(in->word[at] >> 16 != in->from.number);
	wrong(in->from.number < *batch);
	if (in->from.number > *batch)
		*last = 0;
	*batch = in->from.number;
	wrong(message != next_message(*last, owner));
	*last = message + 1;
	for (unsigned k = 1; k < words_of(message); k++)
		wrong(in->word[at + k] != message);
	job.owner[owner][in->round].heard++;
	job.answer[in->from.worker][in->from.place][owner]++;
}

static void receive(void *ctx, unsigned owner, const struct threads_block *in)
{
	(void)ctx;
	dawdle(in->from.number + owner);
	for (size_t at = 0; at < in->words;) {
		unsigned message = (unsigned)(in->word[at] & 0xffff);

		hear(owner, in, at, message);
		at += words_of(message);
	}
}

static uint64_t sum_of(const uint64_t *each)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < job.workers; i++)
		sum += each[i];
	return sum;
}

static uint64_t heard(unsigned round)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < job.workers; i++)
		sum += job.owner[i][round].heard;
	return sum;
}

/* Whether what was taken with worker 0's batch is through, without the next. */
static bool is_all_over(void)
{
	return sum_of(job.begun) == job.given && sum_of(job.over) == job.given;
}

/* Worker 0 rests now and then, and takes nothing meanwhile. */
static void go(void)
{
	while (job.taken < BATCHES) {
		uint64_t n = job.taken++;
		bool any = has_any(n), more = n % 64 > 3;

		job.given += any;
		wrong(threads_go(job.threads, any, more) != 0);
		wrong(!more && !is_all_over());
	}
	wrong(threads_rest(job.threads) != 0);
}

static void run(unsigned workers, unsigned pace)
{
	const struct threads_options o = {
		.workers = workers,
		.rounds = ROUNDS,
		.take = take,
		.work = work,
		.receive = receive,
	};
	struct error err;

	memset(&job, 0, sizeof(job));
	job.workers = workers;
	job.pace = pace;
	TEST(threads_open(&job.threads, &o, &err) == 0);
	go();
	for (unsigned i = 0; i < ROUNDS; i++)
		TEST(heard(i) == sum_of(job.messages));
	TEST(is_all_over());
	TEST(job.given > BATCHES / 2 && (workers == 1 || job.asked > 0));
	threads_close(job.threads);
	TEST(!job.wrong);
}

int main(void)
{
	for (unsigned n = 1; n <= WORKERS; n++) {
		run(n, 0);
		run(n, 53); /* the others fall asleep now and then */
	}
	return test_end();
}
