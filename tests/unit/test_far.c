/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A region on another machine against the region itself: behind a link that
 * counts round trips, cuts, bends and fails; and over a pair of descriptors,
 * with either end hostile.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "far_rig.h"
#include "region/far_wire.h"
#include "region/region_file.h"
#include "net/be.h"

static void same(struct memory *a, struct memory *b)
{
	TEST(a->tables == SAMPLE_TABLES && a->tables == b->tables);
	TEST(a->oldest == b->oldest && a->newest == b->newest);
	TEST(!memcmp(a->table, b->table, a->tables * sizeof(a->table[0])));
	for (uint64_t e = a->oldest; e <= a->newest; e++)
		for (unsigned i = 0; i < a->tables; i++) {
			struct table_view v, w;
			uint32_t sums[2];

			memory_view(&v, a, &a->table[i], e);
			memory_view(&w, b, &b->table[i], e);
			TEST(!v.mem && w.mem && !v.values == !w.values);
			if (v.values && w.values)
				TEST(!memcmp(v.values, w.values,
					     v.t->values * sizeof(uint32_t)));
			TEST(memory_digest(a, v.t, e, &sums[0]) == 0);
			TEST(memory_digest(b, w.t, e, &sums[1]) == 0);
			TEST(sums[0] == sums[1]);
		}
}

static void scribble(void)
{
	struct rng rng = {.state = region_epoch(region)};

	for (unsigned i = 0; i < SAMPLE_TABLES; i++) {
		const struct table *t = region_table(region, i);
		uint8_t *p = (uint8_t *)region_read(region, t,
						    region_epoch(region));

		for (uint64_t k = 0; k + 8 <= t->length; k += 8)
			be64_store(p + k, rng_u64(&rng));
	}
}

static void test_same(void)
{
	struct error err = {""};
	struct memory *m, *near = region_memory(region);
	uint8_t byte;
	struct table_view v;

	if (!TEST(far(&m, region_size(region), &err) == 0))
		return;
	TEST(highest <= region->h.set_at); /* nothing of the tables */
	TEST(m->far && !near->far && !strcmp(m->path, "there"));
	for (unsigned i = 0; i < 4; i++) {
		scribble();
		TEST(memory_renew(m) == 0 && memory_renew(near) == 0);
		same(m, near);
		TEST(region_rotate(region, NULL, NULL) == 0);
	}
	memory_view(&v, m, &m->table[1], m->newest);
	TEST(memory_load(&v, v.t->length, &byte, 1) == -ERANGE);
	TEST(memory_load(&v, v.t->length - 1, &byte, 1) == 0);
	TEST(memory_broken(m) == NULL);
	fail_at = trips + 1;
	TEST(memory_renew(m) == -ECONNRESET);
	TEST(!strcmp(memory_broken(m), "the link broke"));
	TEST(memory_load(&v, 0, &byte, 1) == -ENOTCONN); /* for good */
	fail_at = 0;
	memory_close(m);
}

/* The slots of a batch of keys take one round trip, whatever they are. */
static void test_batch(void)
{
	static uint8_t room[QUERY_BATCH][64];
	static struct query_reply reply[2][QUERY_BATCH], *of[2][QUERY_BATCH];
	const uint8_t *key[QUERY_BATCH];
	struct memory *m, *near = region_memory(region);
	struct query_rule rule = {.partial = true};
	struct error err = {""};

	if (!TEST(far(&m, region_size(region), &err) == 0))
		return;
	for (unsigned i = 0; i < QUERY_BATCH; i++) {
		be32_store(room[i] + 32, i);
		key[i] = room[i] + 32;
		of[0][i] = &reply[0][i];
		of[1][i] = &reply[1][i];
	}
	for (unsigned i = 0; i < m->tables; i++) {
		struct table_view v, w;

		if (m->table[i].kind == TABLE_APPEND)
			continue;
		memory_view(&v, m, &m->table[i], m->newest);
		memory_view(&w, near, &near->table[i], m->newest);
		trips = 0;
		query_keys(&v, &rule, key, QUERY_BATCH, of[0]);
		TEST(trips == 1);
		query_keys(&w, &rule, key, QUERY_BATCH, of[1]);
		for (unsigned k = 0; k < QUERY_BATCH; k++)
			TEST(reply[0][k].answer == reply[1][k].answer &&
			     reply[0][k].copies == reply[1][k].copies &&
			     reply[0][k].agreed == reply[1][k].agreed);
		/* A link that breaks meanwhile: nothing is known. */
		fail_at = 2;
		query_keys(&v, &rule, key, QUERY_BATCH, of[0]);
		fail_at = 0;
		TEST(reply[0][7].answer == QUERY_UNREADABLE);
		TEST(memory_broken(m) != NULL);
		memory_close(m);
		if (!TEST(far(&m, region_size(region), &err) == 0))
			return;
	}
	memory_close(m);
}

/* What was not planned is not found. */
static void test_other_plan(void)
{
	struct memory *m;
	struct table_view v;
	uint64_t w = 1;

	if (!TEST(far(&m, region_size(region), NULL) == 0))
		return;
	memory_view(&v, m, &m->table[0], m->newest);
	memory_plan(m);
	TEST(memory_load(&v, 8, &w, 8) == 0 && w == 0);
	TEST(memory_load(&v, v.t->length, &w, 8) == 0);
	memory_fetch(m);
	TEST(memory_load(&v, 16, &w, 8) == -EIO);
	TEST(memory_load(&v, 8, &w, 8) == -ERANGE); /* with the other */
	memory_done(m);
	TEST(memory_load(&v, 16, &w, 8) == 0);
	memory_close(m);
}

/* Whatever size is said: nothing behind it is read. */
static void test_short(void)
{
	uint64_t size = region_size(region);
	struct memory *m;

	for (uint64_t n = 0; n < size;
	     n += n < 4096 || n > size - 4096 ? 1 : 4093) {
		struct error err = {""};

		TEST(far(&m, n, &err) < 0 && *err.text);
	}
}

static void test_failing(void)
{
	struct memory *m;
	struct error err;
	unsigned all;

	TEST(far(&m, region_size(region), &err) == 0);
	memory_close(m);
	all = trips;
	TEST(all == 3);
	for (fail_at = 1; fail_at <= all; fail_at++) {
		TEST(far(&m, region_size(region), &err) == -ECONNRESET);
		TEST(!strcmp(err.text, "the link broke"));
	}
	fail_at = 0;
}

/* Each byte of the header in turn is another; the checksum finds it. Those that
 * a stranger made right again are judged as a file's. */
static void test_bent(void)
{
	struct memory *m;
	struct error err = {""};

	use_bent = true;
	for (size_t i = 0; i < sizeof(bent); i += i < 1024 ? 1 : 37) {
		bent = region->h;
		((uint8_t *)&bent)[i] ^= 0x41;
		TEST(far(&m, region_size(region), &err) < 0);
	}
	bent = region->h;
	bent.set_at += UINT64_C(1) << 40;
	bent.crc = region_header_crc(&bent);
	TEST(far(&m, region_size(region), &err) == -EBADMSG);
	bent = region->h;
	bent.file_size = UINT64_C(1) << 62;
	bent.crc = region_header_crc(&bent);
	TEST(far(&m, region_size(region), &err) == -ESTALE);
	bent = region->h;
	bent.values_crc ^= 1;
	bent.crc = region_header_crc(&bent);
	TEST(far(&m, region_size(region), &err) == -EBADMSG);
	TEST(strstr(err.text, "sets of values") != NULL);
	use_bent = false;
}

/* A process that serves; its end of the pair is closed here. */
static pid_t serve(int *fd, int expect)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		close(pair[0]);
		_exit(far_wire_serve(region_file(region), region_size(region),
				     pair[1], pair[1], &never, NULL) != expect);
	}
	close(pair[1]);
	*fd = pair[0];
	return pid;
}

static bool ended_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void check_read(struct far_wire *w, struct memory_piece *p, size_t n)
{
	struct error err = {""};

	TEST(far_wire_read(w, p, n, &err) == 0);
	for (size_t i = 0; i < n; i++)
		TEST(!memcmp(p[i].to, region_file(region) + p[i].offset,
			     p[i].length));
}

static void test_wire(void)
{
	enum { MANY = 70000 };
	static struct memory_piece p[MANY];
	static uint8_t room[20 << 20];
	struct rng rng = {.state = 7};
	uint64_t size;
	struct far_wire w;
	int fd;
	pid_t pid = serve(&fd, 0);

	TEST(far_wire_init(&w, fd, &never) == 0);
	TEST(far_wire_hello(&w, &size, NULL) == 0 &&
	     size == region_size(region));
	for (size_t i = 0, at = 0; i < MANY; i++) {
		p[i].offset = rng_u64(&rng) % (size - 256);
		p[i].length = rng_u64(&rng) % 256;
		p[i].to = room + at;
		at += p[i].length;
	}
	check_read(&w, p, MANY);       /* more than a request holds */
	for (size_t i = 0; i < 3; i++) /* more than an answer does */
		p[i] = (struct memory_piece){
			i, (size < sizeof(room) ? size : sizeof(room)) - 3,
			room};
	for (size_t i = 0; i < 3; i++)
		check_read(&w, p + i, 1);
	check_read(&w, p, 0);
	p[0] = (struct memory_piece){size - 5, 6, room};
	TEST(far_wire_read(&w, p, 1, NULL) == -EPIPE);
	far_wire_fini(&w);
	close(fd);
	TEST(waitpid(pid, NULL, 0) == pid);
}

/* Requests that are none end it, and nothing is sent. */
static void test_hostile_asker(void)
{
	static const struct {
		uint32_t n;
		uint64_t offset;
		uint32_t len;
		int rc;
	} bad[] = {
		{0, 0, 0, -EBADMSG},
		{FAR_WIRE_PIECES + 1, 0, 1, -EBADMSG},
		{UINT32_MAX, 0, 1, -EBADMSG},
		{1, UINT64_MAX, 1, -ERANGE},
		{1, UINT64_C(1) << 40, 0, -ERANGE},
		{1, 0, FAR_WIRE_BYTES + 1, -EBADMSG},
		{1, 8, UINT32_MAX, -EBADMSG},
		{2, 0, 8, -EBADMSG}, /* cut short */
	};
	uint8_t text[16];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t request[16];
		int fd;
		pid_t pid = serve(&fd, bad[i].rc);

		be32_store(request, bad[i].n);
		be64_store(request + 4, bad[i].offset);
		be32_store(request + 12, bad[i].len);
		TEST(write(fd, request, sizeof(request)) == sizeof(request));
		shutdown(fd, SHUT_WR);
		TEST(recv(fd, text, sizeof(text), MSG_WAITALL) == 16);
		TEST(recv(fd, text, sizeof(text), MSG_WAITALL) <= 0);
		TEST(ended_well(pid));
		close(fd);
	}
}

/* What one says that was asked; the rest of it never comes. */
static int said(const void *text, size_t len, bool hello, struct error *err)
{
	struct memory_piece p = {0, 8, (uint8_t[8]){0}};
	uint64_t size;
	struct far_wire w;
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
	    far_wire_init(&w, pair[0], &never) < 0)
		exit(1);
	TEST(write(pair[1], text, len) == (ssize_t)len);
	shutdown(pair[1], SHUT_WR);
	rc = hello ? far_wire_hello(&w, &size, err)
		   : far_wire_read(&w, &p, 1, err);
	far_wire_fini(&w);
	close(pair[0]);
	close(pair[1]);
	return rc;
}

static void test_hostile_server(void)
{
	static const char good[16] = "DTAm\0\2\0\0\0\0\0\0\0\0\1";
	static const char other[16] = "DTAm\0\3\0\0\0\0\0\0\0\0\1";
	struct error err;

	TEST(said(good, 16, true, &err) == 0);
	for (size_t n = 0; n < 16; n++)
		TEST(said(good, n, true, &err) == -EPIPE);
	TEST(said(other, 16, true, &err) == -EPROTONOSUPPORT);
	TEST(strstr(err.text, "install the same") != NULL);
	TEST(said("Welcome!\n", 9, true, &err) == -EBADMSG);
	TEST(said("\0\0\0\10abcdefgh", 12, false, &err) == 0);
	for (size_t n = 0; n < 12; n++)
		TEST(said("\0\0\0\10abcdefgh", n, false, &err) == -EPIPE);
	TEST(said("\0\0\0\11abcdefghi", 13, false, &err) == -EBADMSG);
	TEST(said("\377\377\377\377abcdefghi", 13, false, &err) == -EBADMSG);
	TEST(said("\0\0\0\7abcdefg", 11, false, &err) == -EBADMSG);
}

int main(void)
{
	const char *name = sample_create(3);

	region = sample_open(name, true);
	test_same();
	test_batch();
	test_other_plan();
	test_short();
	test_failing();
	test_bent();
	test_wire();
	test_hostile_asker();
	test_hostile_server();
	region_close(region);
	region_remove(name, NULL);
	return test_end();
}
