/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots: what was written is read, block by block; what is damaged is
 * refused, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "hash/crc.h"
#include "query/query.h"
#include "ask_one.h"
#include "region/snapshot_file.h"
#include "store_sample.h"
#include "region_sums.h"

enum {
	KEY_LEN = 13,
	KEYS = 3000,
};

static const char *name;
static char path[64], pipe_path[80];
static uint8_t *file; /* the good snapshot */
static size_t file_len;

static void key_of(uint8_t *key, uint64_t i)
{
	struct rng r = {.state = i};
	uint64_t w[2] = {rng_u64(&r), rng_u64(&r)};

	memcpy(key, w, KEY_LEN);
}

/* Epochs 2 and 3 of three, with something in them. */
static void fill(struct region *r)
{
	const struct table *t = region_table(r, SAMPLE_FLOWS);
	struct rng rng = {.state = 5};
	struct writer *w;

	TEST(region_rotate(r, NULL, NULL) == 0);
	TEST(writer_open(&w, r, NULL) == 0);
	for (uint64_t epoch = 2; epoch <= 3; epoch++) {
		TEST(writer_enter(w) == epoch);
		for (uint64_t i = 0; i < KEYS; i++) {
			uint8_t key[KEY_LEN], slot[8];
			uint32_t sum, value = (uint32_t)(epoch * 1000000 + i);

			key_of(key, i);
			sum = htobe32(crc(CRC_CHECKSUM, key, KEY_LEN));
			memcpy(slot, &sum, 4);
			memcpy(slot + 4, &value, 4);
			writer_put(w, t,
				   crc(CRC_SLOT0, key, KEY_LEN) % t->units * 8,
				   slot, 8);
		}
		/* Bytes that do not deflate. */
		for (unsigned i = 0; i < region_table(r, SAMPLE_DART)->length;
		     i++)
			writer_mem(w, region_table(r, SAMPLE_DART))[i] =
				(uint8_t)rng_u64(&rng);
		writer_leave(w);
		if (epoch == 2)
			TEST(region_rotate(r, NULL, NULL) == 0);
	}
	writer_close(w);
}

static void load_file(void)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	TEST(fstat(fd, &st) == 0);
	file_len = (size_t)st.st_size;
	file = malloc(file_len);
	TEST(read(fd, file, file_len) == (ssize_t)file_len);
	close(fd);
}

static void save_file(const uint8_t *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	TEST(write(fd, data, len) == (ssize_t)len);
	close(fd);
}

/* All memory of a snapshot's epoch is the region's, through the view. */
static bool same_table(struct snapshot *s, const struct region *r, unsigned i,
		       uint64_t epoch)
{
	struct memory *m = snapshot_memory(s);
	const struct table *t = &m->table[i];
	const uint8_t *mem = region_read(r, region_table(r, i), epoch);
	uint8_t *copy = malloc(t->length);
	uint32_t digest = 0;
	struct table_view v;
	bool same;

	memory_view(&v, m, t, epoch);
	same = memory_load(&v, 0, copy, t->length) == 0 &&
	       !memcmp(copy, mem, t->length) &&
	       memory_digest(m, t, epoch, &digest) == 0 &&
	       digest == region_digest(r, region_table(r, i), epoch);
	free(copy);
	return same;
}

static void test_all_tables(struct snapshot *s, const struct region *r)
{
	for (uint64_t epoch = 2; epoch <= 3; epoch++)
		for (unsigned i = 0; i < SAMPLE_TABLES; i++)
			TEST(same_table(s, r, i, epoch));
}

/* What was read once is not read, and inflated, again. */
static void test_once(const struct region *r)
{
	struct snapshot *s;
	struct error err;

	if (!TEST(snapshot_open(&s, path, &err) == 0))
		return;
	test_all_tables(s, r);
	TEST(truncate(path, 0) == 0);
	test_all_tables(s, r);
	snapshot_close(s);
	save_file(file, file_len);
}

static void test_whole(const struct region *r)
{
	struct query_rule rule = {.copies = 1, .policy = QUERY_UNIQUE};
	struct query_reply a;
	struct snapshot *s;
	struct error err = {""};
	struct memory *m;
	struct table_view v;
	uint64_t blocks, damaged, wrong = 0;
	uint8_t byte;

	if (!TEST(snapshot_open(&s, path, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		return;
	}
	m = snapshot_memory(s);
	TEST(m->tables == SAMPLE_TABLES);
	TEST(m->oldest == 2 && m->newest == 3);
	TEST(table_pick(m->table, m->tables, TABLE_APPEND, NULL, &err) ==
	     &m->table[SAMPLE_LOSS]);
	memory_view(&v, m, &m->table[SAMPLE_PATHS], 2);
	TEST(v.values[1] == 7);
	test_all_tables(s, r);
	for (uint64_t epoch = 2; epoch <= 3; epoch++) {
		memory_view(&v, m, &m->table[SAMPLE_FLOWS], epoch);
		for (uint64_t i = 0; i < KEYS; i++) {
			struct table_view live = {
				.t = region_table(r, SAMPLE_FLOWS),
				.mem = region_read(
					r, region_table(r, SAMPLE_FLOWS),
					epoch),
			};
			struct query_reply b;
			uint8_t key[KEY_LEN];

			key_of(key, i);
			a = ask_one(&v, &rule, key);
			b = ask_one(&live, &rule, key);
			wrong += a.answer != b.answer ||
				 (a.answer == QUERY_FOUND &&
				  memcmp(a.value, b.value, 4) != 0);
		}
	}
	TEST(wrong == 0 && a.answer == QUERY_FOUND);
	memory_view(&v, m, &m->table[SAMPLE_FLOWS], 1);
	TEST(memory_load(&v, 0, &byte, 1) == -ERANGE);
	memory_view(&v, m, &m->table[SAMPLE_FLOWS], 2);
	TEST(memory_load(&v, v.t->length, &byte, 1) == -ERANGE);
	TEST(snapshot_verify(s, &blocks, &damaged, &err) == 0);
	/* 512 KiB are 8 blocks; the others one each; two epochs. */
	TEST(blocks == 24 && damaged == 0);
	snapshot_close(s);
}

/*
 * One flipped bit: the file is refused, or at most one block is. All others
 * read as they were. Returns unreadable blocks, -1 if refused.
 */
static int check_flipped(const struct region *r, bool *wrong)
{
	struct snapshot *s;
	uint8_t *room;
	int bad = 0;

	if (snapshot_open(&s, path, NULL) < 0)
		return -1;
	room = malloc(SNAPSHOT_BLOCK);
	for (uint64_t i = 0; i < s->plan.blocks; i++) {
		struct snapshot_place at = snapshot_place(&s->plan, i);
		const uint8_t *mem = region_read(r, region_table(r, at.table),
						 at.epoch);

		if (snapshot_block_read(s, i, room) < 0)
			bad++;
		else if (memcmp(room, mem + at.offset, at.length) != 0)
			*wrong = true;
	}
	free(room);
	snapshot_close(s);
	return bad;
}

static void test_flips(const struct region *r)
{
	const struct snapshot_header *h = (const struct snapshot_header *)file;
	const size_t index_at = file_len - sizeof(struct snapshot_trailer) -
				24 * sizeof(struct snapshot_entry);
	struct snapshot *s;
	uint64_t blocks, damaged;
	unsigned refused = 0, one = 0;
	bool wrong = false;

	for (size_t at = 0; at < file_len; at += 97) {
		int bad;

		file[at] ^= (uint8_t)(1u << at % 8);
		save_file(file, file_len);
		bad = check_flipped(r, &wrong);
		TEST(bad <= 1);
		/* The head is refused, and the index and what is behind. */
		TEST((bad < 0) == (at < h->data_at || at >= index_at));
		refused += bad < 0;
		one += bad == 1;
		/* Within the blocks, verification sees it in any case. */
		if (bad >= 0 && TEST(snapshot_open(&s, path, NULL) == 0)) {
			TEST(snapshot_verify(s, &blocks, &damaged, NULL) == 0);
			TEST(damaged >= 1);
			snapshot_close(s);
		}
		file[at] ^= (uint8_t)(1u << at % 8);
	}
	TEST(!wrong);
	TEST(refused > 0 && one > 0);
}

/* Blocks cannot be found without the index, or where it lies. */
static void test_no_index(void)
{
	size_t at = file_len - sizeof(struct snapshot_trailer);
	struct snapshot *s;
	struct error err;

	for (size_t back = 1; back <= 21; back += 20) {
		file[at - 1 + back] ^= 1;
		save_file(file, file_len);
		file[at - 1 + back] ^= 1;
		TEST(snapshot_open(&s, path, &err) == -EBADMSG);
		TEST(!!strstr(err.text, "the index is damaged"));
	}
}

/* A file that was cut is not a snapshot, wherever it was cut. */
static void test_prefixes(void)
{
	struct snapshot *s;

	save_file(file, file_len);
	for (size_t n = file_len; n-- > 0;)
		if (!TEST(truncate(path, (off_t)n) == 0) ||
		    !TEST(snapshot_open(&s, path, NULL) == -EBADMSG)) {
			fprintf(stderr, "  cut at %zu\n", n);
			break;
		}
}

/* Right sums, and a list that would keep so many of its ring's entries. */
static int keeping(uint64_t ring, uint16_t batch, struct error *err)
{
	struct snapshot_header *h;
	struct region_header *r;
	uint8_t *copy = malloc(file_len);
	struct snapshot *s;
	int rc;

	memcpy(copy, file, file_len);
	h = (struct snapshot_header *)copy;
	r = (struct region_header *)(h + 1);
	r->table[SAMPLE_LOSS].units = ring;
	r->table[SAMPLE_LOSS].batch = batch;
	r->crc = region_header_crc(r);
	h->crc = snapshot_header_crc(h, r, (const uint8_t *)(r + 1));
	save_file(copy, file_len);
	free(copy);
	rc = snapshot_open(&s, path, err);
	if (!rc)
		snapshot_close(s);
	return rc;
}

static void test_promises(void)
{
	struct error err = {""};

	TEST(keeping(100, 16, &err) == 0); /* as it was */
	TEST(keeping(17, 16, &err) == 0);
	TEST(keeping(16, 16, &err) == -EBADMSG && strstr(err.text, "ring: "));
	TEST(keeping(8, 16, &err) == -EBADMSG && strstr(err.text, "ring: "));
	TEST(keeping(UINT64_MAX, 16, &err) == -EBADMSG);
}

static void test_restore(const struct region *r)
{
	struct region_options o = {.epochs = 1};
	struct region *copy;
	struct snapshot *s;
	struct error err = {""};
	char other[80];
	const struct snapshot_header *h = (const struct snapshot_header *)file;

	snprintf(other, sizeof(other), "%s-copy", name);
	region_remove(other, NULL);
	save_file(file, file_len);
	TEST(snapshot_open(&s, path, &err) == 0);
	if (!TEST(snapshot_restore(s, other, &o, &err) == 0))
		fprintf(stderr, "%s\n", err.text);
	TEST(snapshot_restore(s, other, &o, &err) == -EEXIST);
	snapshot_close(s);
	copy = sample_open(other, true);
	TEST(region_epoch(copy) == 3 && region_oldest(copy) == 2);
	TEST(region_epochs(copy) == 3);
	for (unsigned i = 0; i < SAMPLE_TABLES; i++)
		for (uint64_t epoch = 2; epoch <= 3; epoch++)
			TEST(region_digest(copy, region_table(copy, i),
					   epoch) ==
			     region_digest(r, region_table(r, i), epoch));
	TEST(region_rotate(copy, NULL, &err) == 0 && region_epoch(copy) == 4);
	region_close(copy);
	TEST(region_remove(other, NULL) == 0);

	file[h->data_at + 100] ^= 1; /* in the first block's bytes */
	save_file(file, file_len);
	file[h->data_at + 100] ^= 1;
	TEST(snapshot_open(&s, path, &err) == 0);
	TEST(snapshot_restore(s, other, &o, &err) == -EBADMSG);
	TEST(!!strstr(err.text, "1 of 24 blocks"));
	snapshot_close(s);
	TEST(region_open(&copy, other, false, NULL) == -ENOENT);
}

static void test_refusals(struct region *r)
{
	struct writer *w;
	struct error err;
	struct stat before, after;
	struct snapshot *s;

	TEST(stat(path, &before) == 0);
	TEST(snapshot_write(r, 1, 3, path, &err) == 0);
	TEST(snapshot_write(r, 0, 3, path, &err) == -ERANGE);
	TEST(snapshot_write(r, 2, 4, path, &err) == -ERANGE);
	TEST(snapshot_write(r, 3, 2, path, &err) == -ERANGE);
	TEST(writer_open(&w, r, NULL) == 0);
	TEST(snapshot_write(r, 2, 3, path, &err) == -EBUSY);
	TEST(strstr(err.text, "rotate first") != NULL);
	TEST(snapshot_write(r, 2, 2, path, &err) == 0);
	writer_close(w);
	/* A full disk: said, and what was there stays. */
	TEST(snapshot_write(r, 2, 3, "/dev/full", &err) == -ENOSPC);
	TEST(stat("/dev/full", &after) == 0 && S_ISCHR(after.st_mode));
	TEST(snapshot_write(r, 2, 3, "/nonexistent/s", &err) == -ENOENT);
	TEST(snapshot_open(&s, "/nonexistent/s", &err) == -ENOENT);
	TEST(snapshot_open(&s, "/dev/zero", &err) == -EBADMSG);
	TEST(snapshot_open(&s, region_path(r), &err) == -EBADMSG);
	TEST(strstr(err.text, "not a snapshot") != NULL);
}

static void *write_to_pipe(void *region)
{
	struct region *r = region;
	uint64_t epoch = region_epoch(r);
	struct error err = {""};

	TEST(snapshot_write(r, epoch, epoch, pipe_path, &err) == -EBUSY);
	TEST(strstr(err.text, "a writer came") != NULL);
	return NULL;
}

/* A writer comes and goes, and the epoch with it, while a snapshot is made: it
 * has begun, and waits for the pipe's reader. */
static void write_and_rotate(struct region *r)
{
	uint64_t epoch = region_epoch(r);
	struct writer *w;
	pthread_t thread;
	char some[4096];
	int first, fd;

	snprintf(pipe_path, sizeof(pipe_path), "%s-pipe", path);
	TEST(mkfifo(pipe_path, 0600) == 0);
	first = open(pipe_path, O_RDWR);
	TEST(fcntl(first, F_SETPIPE_SZ, 4096) >= 0);
	fd = open(pipe_path, O_RDONLY);
	pthread_create(&thread, NULL, write_to_pipe, r);
	TEST(read(fd, some, 1) == 1);
	close(first);
	TEST(writer_open(&w, r, NULL) == 0);
	writer_enter(w);
	writer_put(w, region_table(r, SAMPLE_FLOWS), 0, "torn", 4);
	writer_close(w);
	TEST(region_rotate(r, NULL, NULL) == 0);
	while (read(fd, some, sizeof(some)) > 0)
		;
	pthread_join(thread, NULL);
	close(fd);
	unlink(pipe_path);
	TEST(region_epoch(r) == epoch + 1);
}

/* What could be half written is not taken for what the region held. */
static void test_half_written(struct region *r)
{
	uint64_t epoch = region_epoch(r);
	struct region_writer_slot *slot;
	struct writer *w;
	struct error err;

	write_and_rotate(r);
	TEST(snapshot_write(r, epoch, epoch, path, &err) == 0);
	/* A rotation waits for a writer that is still in the old epoch. */
	TEST(writer_open(&w, r, NULL) == 0);
	slot = w->slot;
	slot->epoch = epoch;
	TEST(snapshot_write(r, epoch, epoch, path, &err) == -EBUSY);
	TEST(strstr(err.text, "at work in epoch") != NULL);
	TEST(snapshot_write(r, epoch - 1, epoch - 1, path, &err) == 0);
	writer_close(w);
	/* A killed one, whose last operation nobody has completed. */
	slot->start = 1;
	slot->state = JOURNAL_FULL;
	slot->pid = (uint32_t)getpid();
	TEST(snapshot_write(r, epoch, epoch, path, &err) == -EBUSY);
	TEST(strstr(err.text, "killed") != NULL);
	slot->state = JOURNAL_IDLE;
	TEST(snapshot_write(r, epoch, epoch, path, &err) == 0);
	slot->pid = 0;
}

int main(void)
{
	struct region *r;
	struct error err = {""};

	name = sample_create(3);
	snprintf(path, sizeof(path), "/dev/shm/dta-test-%d-snapshot",
		 (int)getpid());
	r = sample_open(name, true);
	fill(r);
	if (!TEST(snapshot_write(r, 2, 3, path, &err) == 0))
		fprintf(stderr, "%s\n", err.text);
	load_file();
	test_once(r);
	test_whole(r);
	test_flips(r);
	test_no_index();
	test_prefixes();
	test_promises();
	test_restore(r);
	test_refusals(r);
	test_half_written(r);
	region_close(r);
	region_remove(name, NULL);
	unlink(path);
	free(file);
	return test_end();
}
