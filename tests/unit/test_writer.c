/* SPDX-License-Identifier: BSD-2-Clause */
/* Writers: what they write, their death, rotation under them, immediates. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "hash/crc.h"
#include "region/region_file.h"
#include "store_sample.h"
#include "region_sums.h"

static const char *name;

/* Every length and alignment, against memcpy. */
static void test_put(void)
{
	static uint8_t data[9000], want[9000 + 64];
	const struct table *t;
	struct region *r;
	struct writer *w;
	uint8_t *mem;

	name = sample_create(1);
	r = sample_open(name, true);
	t = region_table(r, SAMPLE_FLOWS);
	TEST(writer_open(&w, r, NULL) == 0);
	TEST(region_live_writers(r) == 1);
	TEST(writer_enter(w) == 1);
	mem = writer_mem(w, t);
	TEST(mem == region_read(r, t, 1));
	for (size_t len = 1; len < sizeof(data); len += len < 140 ? 1 : 997)
		for (size_t at = 0; at < 64; at += 3) {
			for (size_t i = 0; i < len; i++)
				data[i] = (uint8_t)(i * 7 + len + at);
			memset(mem, 0xee, sizeof(want));
			memset(want, 0xee, sizeof(want));
			memcpy(want + at, data, len);
			writer_put(w, t, at, data, len);
			if (!TEST(!memcmp(mem, want, sizeof(want))))
				return;
		}
	writer_leave(w);
	writer_close(w);
	TEST(region_live_writers(r) == 0);
	region_close(r);
	r = sample_open(name, false);
	TEST(writer_open(&w, r, NULL) == -EBADF);
	TEST(region_rotate(r, NULL, NULL) == -EBADF);
	region_close(r);
	region_remove(name, NULL);
}

/* A process that runs once to its end and leaves its slot as a killed one. */
static pid_t dead_writer(void (*work)(struct region *r, struct writer *w))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct region *r;
		struct writer *w;

		if (region_open(&r, name, true, NULL) < 0 ||
		    writer_open(&w, r, NULL) < 0)
			_exit(1);
		writer_enter(w);
		work(r, w);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	TEST(WIFSIGNALED(status));
	return pid;
}

static void fill_journal(struct region *r, struct writer *w)
{
	struct region_writer_slot *s = &r->slot[0];

	(void)w;
	memset(s->payload, 0x5a, 100);
	s->length = 100;
	s->offset = region_offset(r, region_table(r, SAMPLE_DART), 1) + 24;
	s->state = JOURNAL_FULL;
}

/* It is the neighbours' memory that must not be reached. */
static void bad_journal(struct region *r, struct writer *w)
{
	fill_journal(r, w);
	r->slot[0].offset = 0;
}

static void far_journal(struct region *r, struct writer *w)
{
	fill_journal(r, w);
	r->slot[0].offset = r->h.file_size - 50;
}

static void long_journal(struct region *r, struct writer *w)
{
	fill_journal(r, w);
	r->slot[0].length = UINT32_MAX;
}

static void test_journal(void)
{
	static void (*const bad[])(struct region *, struct writer *) = {
		bad_journal,
		far_journal,
		long_journal,
	};
	const struct table *t;
	const uint8_t *mem;
	struct region *r;
	uint32_t digest;

	name = sample_create(1);
	dead_writer(fill_journal);
	r = sample_open(name, false); /* readers replay nothing */
	t = region_table(r, SAMPLE_DART);
	mem = region_read(r, t, 1);
	TEST(mem[24] == 0 && region_live_writers(r) == 0);
	region_close(r);
	r = sample_open(name, true);
	mem = region_read(r, t = region_table(r, SAMPLE_DART), 1);
	TEST(mem[23] == 0 && mem[24] == 0x5a && mem[123] == 0x5a &&
	     mem[124] == 0);
	TEST(r->slot[0].pid == 0 && r->slot[0].state == JOURNAL_IDLE);
	digest = region_digest(r, t, 1);
	TEST(digest == crc(CRC_CHECKSUM, mem, t->length));
	for (int i = 0; i < 3; i++) {
		dead_writer(bad[i]);
		region_close(r);
		r = sample_open(name, true);
		TEST(r->slot[0].pid == 0);
		TEST(region_digest(r, region_table(r, SAMPLE_DART), 1) ==
		     digest);
	}
	region_close(r);
	region_remove(name, NULL);
}

static void nothing(struct region *r, struct writer *w)
{
	(void)r, (void)w;
}

/* Slots: no more than there are; the dead make room. */
static void test_writer_slots(void)
{
	struct writer *w[REGION_WRITERS], *more;
	struct region *r;
	struct error err;

	name = sample_create(1);
	dead_writer(nothing);
	r = sample_open(name, true);
	for (int i = 0; i < REGION_WRITERS; i++)
		TEST(writer_open(&w[i], r, &err) == 0);
	TEST(region_live_writers(r) == 1); /* one process */
	TEST(writer_open(&more, r, &err) == -EUSERS &&
	     says(&err, "64 writers"));
	for (int i = 0; i < REGION_WRITERS; i++)
		writer_close(w[i]);
	TEST(region_live_writers(r) == 0);
	/* A slot of a process number that another process has now. */
	r->slot[3].pid = (uint32_t)getpid();
	r->slot[3].start = 1;
	TEST(region_live_writers(r) == 0);
	TEST(writer_open(&more, r, &err) == 0);
	TEST(r->slot[3].pid == 0);
	writer_close(more);
	region_close(r);
	region_remove(name, NULL);
}

/* A counter: its byte order is the machine's. */
static uint64_t first_in(const struct region *r, const struct table *t,
			 uint64_t epoch)
{
	return *(const uint64_t *)region_read(r, t, epoch);
}

static void test_rotate(void)
{
	struct region *r;
	const struct table *t;
	struct writer *w;
	struct error err;
	uint64_t old = 0;

	name = sample_create(1);
	r = sample_open(name, true);
	TEST(region_rotate(r, &old, &err) == -EINVAL &&
	     says(&err, "one epoch"));
	region_close(r);
	region_remove(name, NULL);

	name = sample_create(3);
	r = sample_open(name, true);
	t = region_table(r, SAMPLE_FLOWS);
	TEST(writer_open(&w, r, &err) == 0);
	for (uint64_t e = 1; e <= 7; e++) {
		TEST(writer_enter(w) == e);
		writer_put(w, t, 0, &e, 8);
		writer_leave(w);
		for (uint64_t k = region_oldest(r); k <= e; k++)
			TEST(first_in(r, t, k) == k);
		TEST(region_oldest(r) == (e > 3 ? e - 2 : 1));
		TEST(region_rotate(r, &old, &err) == 0 && old == e);
		TEST(region_epoch(r) == e + 1);
		TEST(first_in(r, t, e + 1) == 0);
	}
	/* The header's words are anybody's: no epoch is out of bounds. */
	r->state->oldest = UINT64_MAX;
	TEST(region_oldest(r) == region_epoch(r));
	r->state->oldest = 0;
	TEST(region_oldest(r) == region_epoch(r) - 2);
	r->state->epoch = UINT64_MAX;
	TEST(region_read(r, t, region_epoch(r)) != NULL);
	writer_close(w);
	region_close(r);
	region_remove(name, NULL);
}

/* What a writer left half done in an old epoch is not done in the next one that
 * has its set. */
static void test_rotate_journal(void)
{
	struct region *r;

	name = sample_create(2);
	r = sample_open(name, true);
	TEST(region_rotate(r, NULL, NULL) == 0);
	dead_writer(fill_journal); /* into epoch 1 */
	TEST(region_rotate(r, NULL, NULL) == 0);
	TEST(region_epoch(r) == 3 && r->slot[0].pid == 0);
	TEST(region_read(r, region_table(r, SAMPLE_DART), 3)[24] == 0);
	region_close(r);
	region_remove(name, NULL);
}

/* A thread that rotates, and what it saw when it was done. */
struct rotation {
	struct region *r;
	int left;    /* the writer says that it leaves */
	int done_at; /* left, when the rotation was over */
	int rc;
};

static void *rotate_aside(void *ctx)
{
	struct rotation *x = ctx;

	x->rc = region_rotate(x->r, NULL, NULL);
	x->done_at = __atomic_load_n(&x->left, __ATOMIC_SEQ_CST);
	return NULL;
}

/* A rotation is not over before the last writer has left the old epoch. */
static void test_rotate_waits(void)
{
	struct rotation x = {.done_at = -1};
	uint64_t value = 7;
	struct writer *w;
	pthread_t thread;

	name = sample_create(2);
	x.r = sample_open(name, true);
	TEST(writer_open(&w, x.r, NULL) == 0);
	TEST(writer_enter(w) == 1);
	TEST(pthread_create(&thread, NULL, rotate_aside, &x) == 0);
	while (region_epoch(x.r) == 1)
		;
	usleep(20000); /* time enough to go wrong */
	writer_put(w, region_table(x.r, SAMPLE_FLOWS), 0, &value, 8);
	__atomic_store_n(&x.left, 1, __ATOMIC_SEQ_CST);
	writer_leave(w);
	pthread_join(thread, NULL);
	TEST(x.rc == 0 && x.done_at == 1);
	TEST(first_in(x.r, region_table(x.r, SAMPLE_FLOWS), 1) == 7);
	TEST(first_in(x.r, region_table(x.r, SAMPLE_FLOWS), 2) == 0);
	writer_close(w);
	region_close(x.r);
	region_remove(name, NULL);
}

/*
 * Another process writes all the time, the epoch into each slot; a set that has
 * come to rest holds nothing else, and does not change any more.
 */
static void test_rotate_live(void)
{
	const struct table *t;
	struct region *r;
	struct error err;
	uint64_t old;
	pid_t pid;
	int status;

	name = sample_create(2);
	r = sample_open(name, true);
	t = region_table(r, SAMPLE_SUMS);
	pid = fork();
	if (!pid) {
		struct writer *w;

		if (writer_open(&w, r, NULL) < 0)
			_exit(1);
		for (uint64_t i = 0;; i++) {
			uint64_t e = writer_enter(w);

			for (int k = 0; k < 64; k++)
				writer_put(w, t, (i * 64 + k) % t->units * 8,
					   &e, 8);
			writer_leave(w);
		}
	}
	for (int i = 0; i < 20; i++) {
		const uint64_t *mem;
		unsigned wrong = 0, written = 0;
		uint32_t digest;

		/* Something is to be in the set before it comes to rest. */
		mem = (const uint64_t *)region_read(r, t, region_epoch(r));
		while (!__atomic_load_n(&mem[0], __ATOMIC_RELAXED))
			;
		if (!TEST(region_rotate(r, &old, &err) == 0))
			break;
		digest = region_digest(r, t, old);
		for (uint64_t k = 0; k < t->units; k++) {
			written += mem[k] != 0;
			wrong += mem[k] != 0 && mem[k] != old;
		}
		TEST(written > 0 && wrong == 0);
		TEST(region_digest(r, t, old) == digest);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	/* Killed within an epoch, it holds nothing up. */
	TEST(region_rotate(r, &old, &err) == 0);
	region_close(r);
	region_remove(name, NULL);
}

static void test_notify(void)
{
	struct region *r;

	name = sample_create(1);
	r = sample_open(name, true);
	TEST(region_notified(r) == 0);
	TEST(region_notify(r, 7) == 1 && region_notify(r, 8) == 2);
	TEST(region_notified(r) == 2);
	region_close(r);
	region_remove(name, NULL);
}

enum {
	TELLERS = 4,
	TOLD = REGION_IMMEDIATES / TELLERS,
};

/* Several notify at once: none of the last is lost, none comes twice. */
static void test_immediates(void)
{
	uint8_t seen[TELLERS * TOLD] = {0};
	struct region *r;
	uint32_t imm;
	unsigned wrong = 0;

	name = sample_create(1);
	r = sample_open(name, true);
	TEST(region_immediate(r, 1, &imm) == -EAGAIN);
	for (unsigned i = 0; i < TELLERS; i++)
		if (!fork()) {
			for (unsigned k = 0; k < TOLD; k++)
				region_notify(r, i * TOLD + k);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	for (uint64_t n = 1; n <= REGION_IMMEDIATES; n++)
		if (region_immediate(r, n, &imm) || imm >= sizeof(seen) ||
		    seen[imm]++)
			wrong++;
	TEST(wrong == 0);
	TEST(region_notify(r, UINT32_MAX) == REGION_IMMEDIATES + 1);
	TEST(region_immediate(r, 1, &imm) == -ENODATA);
	TEST(region_immediate(r, 2, &imm) == 0);
	TEST(region_immediate(r, REGION_IMMEDIATES + 1, &imm) == 0 &&
	     imm == UINT32_MAX);
	/* Of a writer that was killed between counting and telling. */
	__atomic_add_fetch(&r->state->notified, 1, __ATOMIC_SEQ_CST);
	TEST(region_immediate(r, REGION_IMMEDIATES + 2, &imm) == -EAGAIN);
	/* Numbers above 32 bits. */
	r->state->notified = (UINT64_C(5) << 32) - 1;
	TEST(region_notify(r, 77) == UINT64_C(5) << 32);
	TEST(region_immediate(r, UINT64_C(5) << 32, &imm) == 0 && imm == 77);
	region_close(r);
	region_remove(name, NULL);
}

int main(void)
{
	test_put();
	test_journal();
	test_writer_slots();
	test_rotate();
	test_rotate_journal();
	test_rotate_waits();
	test_rotate_live();
	test_notify();
	test_immediates();
	return test_end();
}
