/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions: made, opened, and refused, whatever is wrong with them. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "hash/crc.h"
#include "query/query.h"
#include "region/region_file.h"
#include "store_sample.h"
#include "region_sums.h"

static const char *name;

/* Part by part; and it is made once. */
static void test_create_absent(void)
{
	static const char text[] =
		"[t]\nkind = keyinc\nkey = u32\nslots = 17M\n";
	const struct region_options o = {.epochs = 1};
	char path[] = "/tmp/test_region.XXXXXX";
	struct layout l;
	struct error err;
	int rc, fd = mkstemp(path);

	TEST(write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	TEST(!layout_read(&l, path, &err));
	unlink(path);
	close(fd);
	region_remove(name, NULL);
	rc = region_create_absent(name, &l, &o, &err);
	if (rc == -ENOSPC) { /* a small /dev/shm */
		layout_fini(&l);
		return;
	}
	TEST(rc == 1);
	TEST(region_create_absent(name, &l, &o, &err) == 0);
	l.table[0].copies++;
	TEST(region_create_absent(name, &l, &o, &err) == -EEXIST);
	TEST(says(&err, "table t is not as the layout says"));
	layout_fini(&l);
	region_remove(name, NULL);
}

static void test_create(void)
{
	struct region_options o = {.epochs = 2};
	struct region *r;
	struct layout l;
	struct error err;
	struct stat st;
	char path[80];

	name = sample_create(2);
	sample_layout(&l);
	TEST(region_create(NULL, name, &l, &o, &err) == -EEXIST);
	TEST(says(&err, "exists"));
	r = sample_open(name, false);
	snprintf(path, sizeof(path), "/dev/shm/%s", name);
	TEST(!strcmp(region_path(r), path));
	TEST(stat(path, &st) == 0 && (uint64_t)st.st_size == region_size(r));
	TEST((st.st_mode & 0777) == 0644);
	/* Allocated whole: no SIGBUS when /dev/shm fills up later. */
	TEST((uint64_t)st.st_blocks * 512 >= region_size(r));
	TEST(region_tables(r) == SAMPLE_TABLES && region_epochs(r) == 2);
	TEST(region_epoch(r) == 1 && region_oldest(r) == 1);
	TEST(region_live_writers(r) == 0);
	TEST(!strcmp(region_page_kind(r), "4K"));
	region_close(r);
	snprintf(path, sizeof(path), "/%s", name);
	r = sample_open(path, false); /* "/fabric" is "fabric" */
	region_close(r);
	TEST(region_remove(name, &err) == 0);
	TEST(region_remove(name, &err) == -ENOENT);
	TEST(region_open(&r, name, false, &err) == -ENOENT);
	TEST(region_open(&r, "", false, &err) == -EINVAL);
	TEST(region_open(&r, "/dev/shm/", false, &err) == -EINVAL);
	TEST(region_open(&r, "..", false, &err) == -EINVAL);
	TEST(region_open(&r, "/dev/null", false, &err) == -EBADMSG);
	TEST(region_remove("/dev/null", &err) == -EBADMSG);
	o.epochs = 65;
	TEST(region_create(NULL, name, &l, &o, &err) == -EINVAL);
	o.epochs = 64;
	l.table[SAMPLE_FLOWS].length = 1ull << 40;
	l.table[SAMPLE_FLOWS].units = 1ull << 32;
	TEST(region_create(NULL, name, &l, &o, &err) == -ENOSPC);
	TEST(says(&err, "free"));
	l.n = 0;
	TEST(region_create(NULL, name, &l, &o, &err) == -EINVAL);
	TEST(access(path, F_OK) < 0);
	l.n = SAMPLE_TABLES;
	layout_fini(&l);
}

/* Tables apart from each other, in the file, aligned; epochs apart. */
static void test_geometry(void)
{
	struct region *r;
	uint64_t end = 0;

	name = sample_create(3);
	r = sample_open(name, false);
	for (uint64_t epoch = 1; epoch <= 4; epoch++)
		for (unsigned i = 0; i < region_tables(r); i++) {
			const struct table *t = region_table(r, i);
			uint64_t at = region_offset(r, t, epoch);

			if (epoch == 4) { /* the first one's set again */
				TEST(at == region_offset(r, t, 1));
				continue;
			}
			TEST(at >= end && at % 4096 == 0);
			TEST(region_read(r, t, epoch)[t->length - 1] == 0);
			end = at + t->length;
		}
	TEST(end <= region_size(r));
	TEST(region_table(r, SAMPLE_TABLES) == NULL);
	region_close(r);
	region_remove(name, NULL);
}

/* What dta-region(5) says of the bytes: a program may go by the page alone. */
static void test_page(void)
{
	TEST(offsetof(struct region_header, order) == 8);
	TEST(offsetof(struct region_header, length) == 16);
	TEST(offsetof(struct region_header, crc) == 20);
	TEST(offsetof(struct region_header, tables) == 28);
	TEST(offsetof(struct region_header, file_size) == 40);
	TEST(offsetof(struct region_header, set_at) == 64);
	TEST(offsetof(struct region_header, set_len) == 72);
	TEST(offsetof(struct region_header, table) == 4096);
	TEST(offsetof(struct table, id) == 32);
	TEST(offsetof(struct table, copies) == 37);
	TEST(offsetof(struct table, key_len) == 40);
	TEST(offsetof(struct table, stride) == 44);
	TEST(offsetof(struct table, units) == 48);
	TEST(offsetof(struct table, batch) == 60);
	TEST(offsetof(struct table, flush_ms) == 64);
	TEST(offsetof(struct table, value_min) == 72);
	TEST(offsetof(struct table, values) == 80);
	TEST(offsetof(struct table, offset) == 96);
	TEST(offsetof(struct table, length) == 104);
	TEST(offsetof(struct table, heads) == 112);
	TEST(offsetof(struct table, show) == 120);
	TEST(offsetof(struct table, protocol) == 224);
	TEST(offsetof(struct table, reserved) == 225);
	TEST(REGION_STATE_AT == 20480 && REGION_WRITER_SLOTS_AT == 24576);
	TEST(offsetof(struct region_state, notified) == 16);
	TEST(offsetof(struct region_state, slots_taken) == 32);
	TEST(offsetof(struct region_state, began_ns) == 40);
	TEST(offsetof(struct region_state, left_ns) == 48);
	TEST(offsetof(struct region_state, ring) == 2048);
	TEST(REGION_IMMEDIATES == 256);
	TEST(sizeof(struct region_writer_slot) == 4224);
	TEST(offsetof(struct region_writer_slot, pid) == 16);
	TEST(offsetof(struct region_writer_slot, state) == 64);
	TEST(offsetof(struct region_writer_slot, offset) == 72);
	TEST(offsetof(struct region_writer_slot, payload) == 128);
	TEST(TABLE_KEYWRITE == 1 && TABLE_POSTCARD == 4);
}

static void test_pick(void)
{
	struct region *r;
	struct error err;

	name = sample_create(1);
	r = sample_open(name, false);
	TEST(region_by_id(r, 3) == region_table(r, SAMPLE_PATHS));
	TEST(region_by_id(r, 6) == NULL);
	TEST(table_pick(r->h.table, r->h.tables, TABLE_POSTCARD, NULL, &err) ==
	     region_table(r, SAMPLE_PATHS));
	TEST(table_pick(r->h.table, r->h.tables, TABLE_KEYWRITE, NULL, &err) ==
	     NULL);
	TEST(says(&err,
		  "there are 2 keywrite tables: name one of flows, dart,"));
	TEST(table_pick(r->h.table, r->h.tables, TABLE_KEYWRITE, "dart",
			&err) == region_table(r, SAMPLE_DART));
	TEST(table_pick(r->h.table, r->h.tables, TABLE_KEYWRITE, "2", &err) ==
	     region_table(r, SAMPLE_DART));
	TEST(table_pick(r->h.table, r->h.tables, TABLE_KEYWRITE, "loss",
			&err) == NULL);
	TEST(says(&err, "loss is append, not keywrite"));
	TEST(table_pick(r->h.table, r->h.tables, 0, "loss", &err) ==
	     region_table(r, SAMPLE_LOSS));
	TEST(table_pick(r->h.table, r->h.tables, 0, "02", &err) == NULL);
	region_close(r);
	region_remove(name, NULL);
}

/* Opens a file that has been tampered with; nothing but an error may come. */
static int reopen(struct error *err)
{
	struct region *r = NULL;
	int rc = region_open(&r, name, false, err);

	region_close(r);
	return rc;
}

static void test_flips(void)
{
	char path[80];
	uint8_t byte;
	struct error err;
	unsigned refused = 0, flips = 0;
	int fd;

	name = sample_create(1);
	snprintf(path, sizeof(path), "/dev/shm/%s", name);
	fd = open(path, O_RDWR);
	for (off_t at = 0; at < REGION_STATIC_LEN; at += 7) {
		uint8_t bit = (uint8_t)(1u << at % 8);

		TEST(pread(fd, &byte, 1, at) == 1);
		byte ^= bit;
		TEST(pwrite(fd, &byte, 1, at) == 1);
		refused += reopen(&err) < 0;
		flips++;
		byte ^= bit;
		TEST(pwrite(fd, &byte, 1, at) == 1);
	}
	TEST(refused == flips);
	TEST(reopen(&err) == 0);
	/* A V set. */
	TEST(pwrite(fd, "x", 1, REGION_HEAD_LEN) == 1);
	TEST(reopen(&err) == -EBADMSG && says(&err, "values"));
	close(fd);
	region_remove(name, NULL);
}

static void test_shrunk(void)
{
	char path[80];
	struct error err;
	struct stat st;

	name = sample_create(1);
	snprintf(path, sizeof(path), "/dev/shm/%s", name);
	TEST(stat(path, &st) == 0);
	TEST(truncate(path, st.st_size - 1) == 0);
	TEST(reopen(&err) == -ESTALE && says(&err, "shrank"));
	TEST(truncate(path, REGION_STATIC_LEN) == 0);
	TEST(reopen(&err) == -ESTALE);
	TEST(truncate(path, REGION_STATIC_LEN - 1) == 0);
	TEST(reopen(&err) == -EBADMSG);
	TEST(truncate(path, 0) == 0);
	TEST(reopen(&err) == -EBADMSG);
	TEST(region_remove(name, NULL) == -EBADMSG); /* no longer a region */
	unlink(path);
}

/* A look at it, while somebody cuts it short, and lets it grow again. */
static void test_look(void)
{
	char path[80], was[8], is[8];
	struct memory *m;
	struct region *r;
	struct stat st;
	struct error err;
	struct table_view v;

	name = sample_create(2);
	snprintf(path, sizeof(path), "/dev/shm/%s", name);
	TEST(region_open_untrusted(&r, name, &err) == 0);
	TEST(region_epoch(r) == 1 && region_tables(r) == SAMPLE_TABLES);
	TEST(stat(path, &st) == 0 && (uint64_t)st.st_size == region_size(r));
	m = region_memory(r);
	for (unsigned i = 0; i < m->tables; i++) {
		memory_view(&v, m, &m->table[i], m->newest);
		TEST(!v.mem && !v.values);
		TEST(memory_load(&v, 0, was, sizeof(was)) == 0);
	}
	TEST(truncate(path, REGION_HEAD_LEN) == 0);
	TEST(memory_load(&v, 0, is, sizeof(is)) == -ESTALE);
	TEST(isnan(query_load_sample(&v, 100)));
	TEST(region_epoch(r) == 1 && region_live_writers(r) == 0);
	TEST(truncate(path, st.st_size) == 0);
	TEST(memory_load(&v, 0, is, sizeof(is)) == 0 && !memcmp(is, was, 8));
	region_close(r);
	TEST(truncate(path, REGION_HEAD_LEN) == 0);
	TEST(region_open_untrusted(&r, name, &err) == -ESTALE &&
	     says(&err, "shrank"));
	region_remove(name, NULL);
	TEST(region_open_untrusted(&r, name, &err) == -ENOENT);
}

/* The bytes that are looked at are those of the table, in its epoch. */
static void test_look_bytes(void)
{
	struct region *r, *mapped;
	struct error err;
	struct table_view v;
	char got[16];

	name = sample_create(2);
	mapped = sample_open(name, true);
	TEST(region_rotate(mapped, NULL, &err) == 0);
	for (unsigned i = 0; i < region_tables(mapped); i++) {
		const struct table *t = region_table(mapped, i);
		uint8_t *to = (uint8_t *)region_read(mapped, t, 2);

		memset(to + t->length - 16, 'a' + (int)i, 16);
	}
	TEST(region_open_untrusted(&r, name, &err) == 0 &&
	     region_epoch(r) == 2);
	for (unsigned i = 0; i < region_tables(r); i++) {
		struct memory *m = region_memory(r);
		const struct table *t = &m->table[i];

		memory_view(&v, m, t, m->newest);
		TEST(memory_load(&v, t->length - 16, got, 16) == 0);
		TEST(got[0] == 'a' + (int)i && got[15] == got[0]);
		TEST(memory_load(&v, t->length - 15, got, 16) == -ERANGE);
	}
	region_close(r);
	region_close(mapped);
	region_remove(name, NULL);
}

/* How full lists are, from so many of them, evenly apart. */
static void test_look_lists(void)
{
	struct region *r, *mapped;
	const uint64_t one = htobe64(1);
	atomic_int stop = 0;
	struct query_load l;
	struct error err;
	struct table_view v;

	name = sample_create(1);
	mapped = sample_open(name, true);
	TEST(region_open_untrusted(&r, name, &err) == 0);
	for (unsigned i = 0; i < region_tables(r); i++) {
		struct memory *m = region_memory(r);
		const struct table *t = &m->table[i];

		if (t->kind != TABLE_APPEND || t->lists < 2)
			continue;
		memory_view(&v, m, t, m->newest);
		memcpy((uint8_t *)region_read(mapped, t, 1) +
			       table_head(t, t->lists - 1),
		       &one, sizeof(one));
		TEST(!query_load_of(&l, &v, &stop) && l.lists_used == 1);
		TEST(l.used_share > 0 && l.used_share < 1);
		name = NULL;
	}
	TEST(!name); /* there were some */
	TEST(!unlink(region_path(r)));
	region_close(r);
	region_close(mapped);
}

/* A header with right sums and wrong contents. */
static int forge(void (*change)(struct region_header *h), struct error *err)
{
	struct region_header h;
	char path[80];
	int fd, rc;

	name = sample_create(1);
	snprintf(path, sizeof(path), "/dev/shm/%s", name);
	fd = open(path, O_RDWR);
	TEST(pread(fd, &h, sizeof(h), 0) == sizeof(h));
	change(&h);
	h.crc = region_header_crc(&h);
	TEST(pwrite(fd, &h, sizeof(h), 0) == sizeof(h));
	close(fd);
	rc = reopen(err);
	unlink(path);
	return rc;
}

static void version_2(struct region_header *h)
{
	h->version = 2;
}

static void other_order(struct region_header *h)
{
	h->order = __builtin_bswap32(h->order);
}

static void outside(struct region_header *h)
{
	h->table[1].offset = h->set_at + h->set_len - 4096;
}

static void wraps(struct region_header *h)
{
	h->table[1].offset = -UINT64_C(64);
}

static void overlap(struct region_header *h)
{
	h->table[1].offset = h->table[0].offset + 64;
}

static void values_far(struct region_header *h)
{
	h->table[SAMPLE_PATHS].values_at = h->set_at;
}

static void values_many(struct region_header *h)
{
	h->table[SAMPLE_PATHS].values = UINT32_MAX;
}

static void long_table(struct region_header *h)
{
	h->table[0].units *= 4;
}

static void many_sets(struct region_header *h)
{
	h->epochs = 2;
}

static void huge_set(struct region_header *h)
{
	h->set_len = -UINT64_C(4096);
}

static void clones(struct region_header *h)
{
	h->table[1].id = h->table[0].id;
}

static void heads_inside(struct region_header *h)
{
	h->table[SAMPLE_LOSS].heads = 8;
}

/* A list that would keep nothing, or less. */
static void keeps_nothing(struct region_header *h)
{
	h->table[SAMPLE_LOSS].batch = 64;
	h->table[SAMPLE_LOSS].units = 64;
}

static void keeps_less(struct region_header *h)
{
	h->table[SAMPLE_LOSS].batch = 64;
	h->table[SAMPLE_LOSS].units = 16;
}

static void test_forged(void)
{
	static void (*const changes[])(struct region_header *) = {
		outside,     wraps,	   overlap,	  values_far,
		values_many, long_table,   many_sets,	  huge_set,
		clones,	     heads_inside, keeps_nothing, keeps_less,
	};
	struct error err;

	TEST(forge(version_2, &err) == -EPROTONOSUPPORT);
	TEST(says(&err, "version 2") && says(&err, "version 1"));
	TEST(forge(other_order, &err) == -EPROTONOSUPPORT);
	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (!TEST(forge(changes[i], &err) == -EBADMSG))
			fprintf(stderr, "  forged header %u\n", i);
}

/* A region of some size gets huge pages where the machine gives them. */
static void test_pages(void)
{
	struct region_options o = {.epochs = 1, .pages = REGION_PAGES_SMALL};
	struct layout l = {.n = 1};
	struct region *r;
	struct error err;
	char enabled[80] = "";
	FILE *in;

	in = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");
	if (in && !fgets(enabled, sizeof(enabled), in))
		enabled[0] = '\0';
	if (in)
		fclose(in);
	strcpy(l.table[0].name, "t");
	layout_set(&l.table[0], "kind", "keyinc", &err);
	layout_set(&l.table[0], "key", "u32", &err);
	layout_set(&l.table[0], "memory", "16Mi", &err);
	region_remove(name, NULL);
	if (!TEST(region_create(&r, name, &l, &o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		return;
	}
	TEST(!strcmp(region_page_kind(r), "4K"));
	TEST(region_offset(r, region_table(r, 0), 1) % (2 << 20) == 0);
	region_close(r);
	region_remove(name, NULL);
	o.pages = REGION_PAGES_AUTO;
	TEST(region_create(NULL, name, &l, &o, &err) == 0);
	r = sample_open(name, false);
	if (strstr(enabled, "[advise]") || strstr(enabled, "[always]"))
		TEST(strchr(region_page_kind(r), 'M') != NULL);
	region_close(r);
	region_remove(name, NULL);
}

int main(void)
{
	test_create();
	test_create_absent();
	test_geometry();
	test_page();
	test_pick();
	test_flips();
	test_shrunk();
	test_look();
	test_look_bytes();
	test_look_lists();
	test_forged();
	test_pages();
	return test_end();
}
