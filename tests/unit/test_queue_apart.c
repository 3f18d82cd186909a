/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue before a database of which a part is not there: its rows wait, in
 * order, and the others do not. */
#include "queue_rig.h"

/* Rows that others need not wait for, and then their turn, in their order. */
static void test_partly(void)
{
	struct queue_options o = options(1 << 24, false);
	struct row_sink *s;
	unsigned n = 0;

	o.end_ns = LONG_NS;
	s = start(PARTLY, &o);
	put(s, 0, 10000);
	UNTIL(status(s).ledger.written == 8000 && db.again > 3);
	TEST(db.n == 8000);
	TEST(status(s).failing && status(s).ledger.waiting == 2000);
	TEST(!strcmp(status(s).why.text, "not the fifths"));
	for (unsigned i = 0; i < 10000; i++)
		n += i % 5 && db.got[n] == i;
	TEST(n == 8000);
	/* One without such rows does not mean that all is well. */
	put(s, 10001, 4);
	UNTIL(status(s).ledger.written == 8004);
	TEST(status(s).failing && status(s).changes == 1);
	db.mode = WELL;
	TEST(s->flush(s) == 0);
	TEST(db.n == 10004);
	for (unsigned i = 0; i < 2000; i++)
		TEST(db.got[8004 + i] == 5 * i);
	put(s, 10005, 100);
	TEST(s->flush(s) == 0);
	TEST(!status(s).failing && status(s).changes == 2);
	TEST(end(s).written == 10104);
}

/* So many that there is no room for those that wait: all do, and none is lost
 * that was not counted. */
static void test_partly_full(void)
{
	struct queue_options o = options(8000, false);
	unsigned rows = 0, tries;
	struct queue_ledger l;
	struct row_sink *s;

	o.end_ns = LONG_NS;
	s = start(PARTLY, &o);
	while (rows < ROWS_MAX && (rows < 20000 || !status(s).ledger.full)) {
		put(s, rows, 100);
		rows += 100;
		usleep(1000);
	}
	TEST(status(s).ledger.full > 0);
	TEST(status(s).ledger.waiting * ROW < 8000);
	tries = db.again;
	UNTIL(db.again > tries + 3);
	db.mode = WELL;
	l = end(s);
	TEST(l.written + l.full == rows && l.written == db.n);
}

/* A block of which more waits than there is room for: it does by itself. */
static void test_partly_large(void)
{
	struct queue_options o = options(6 * GATHER, false);
	struct row_sink *s;

	o.end_ns = LONG_NS;
	s = start(PARTLY, &o);
	put(s, 0, GATHER);
	UNTIL(status(s).ledger.written == 8 && db.again > 3);
	db.mode = WELL;
	UNTIL(status(s).ledger.written == GATHER);
	TEST(end(s).written == GATHER);
}

/* At the end, those that wait go before the others, into the spool. */
static void test_partly_end(void)
{
	struct queue_options o = options(1 << 24, true);
	struct queue_ledger l;
	struct row_sink *s = start(PARTLY, &o);

	put(s, 0, 1000);
	UNTIL(status(s).ledger.written == 800 && db.again > 1);
	l = status(s).ledger;
	put(s, 1000, 100); /* by no detour */
	UNTIL(status(s).ledger.written == 880);
	TEST(status(s).ledger.spooled == l.spooled);
	db.mode = DEAD;
	put(s, 1100, 100);
	l = end(s);
	TEST(l.kept == 320 && l.unsent == 0);
	o.end_ns = LONG_NS;
	s = start(WELL, &o);
	put(s, 1200, 10);
	TEST(s->flush(s) == 0);
	TEST(end(s).written == 330 && db.n == 330);
	for (unsigned i = 0; i < 220; i++)
		TEST(db.got[i] == 5 * i);
	for (unsigned i = 0; i < 110; i++)
		TEST(db.got[220 + i] == 1100 + i);
}

/* Blocks of which a part was sent before give all of their memory back: none
 * has to go to the spool for want of it. */
static void test_parts_memory(enum mode mode)
{
	struct queue_options o = options(16000, true);
	uint64_t spooled;
	struct row_sink *s;

	o.end_ns = LONG_NS;
	s = start(WELL, &o);
	for (unsigned i = 0; i < 60; i++) {
		db.mode = mode;
		put(s, 100 * i, 100);
		UNTIL(status(s).failing);
		db.mode = WELL;
		TEST(s->flush(s) == 0);
		UNTIL(!status(s).failing);
	}
	spooled = status(s).ledger.spooled;
	put(s, 0, 100);
	TEST(s->flush(s) == 0);
	TEST(status(s).ledger.spooled == spooled);
	TEST(end(s).full == 0);
}

static void shell(const char *command)
{
	char line[128];

	snprintf(line, sizeof(line), "cd %s && %s", dir, command);
	TEST(system(line) == 0);
}

/* What waits of a block that came from the spool is in the spool. */
static void test_partly_spooled(void)
{
	struct queue_options o = options(1 << 24, true);
	struct row_sink *s = start(DEAD, &o);
	unsigned fifths = 0;

	put(s, 0, 100);
	TEST(end(s).kept == 100);
	s = start(PARTLY, &o);
	UNTIL(status(s).ledger.written == 80 && db.again > 3);
	shell("cp -r fake copy"); /* as it is after a crash, now */
	end(s);
	shell("rm -r fake && mv copy fake");
	o.end_ns = LONG_NS;
	s = start(WELL, &o);
	TEST(s->flush(s) == 0);
	end(s);
	for (unsigned i = 0; i < db.n; i++)
		fifths += db.got[i] % 5 == 0;
	TEST(fifths == 20);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_partly();
	test_partly_full();
	test_partly_large();
	test_partly_end();
	test_partly_spooled();
	test_parts_memory(PARTLY);
	test_parts_memory(LEAVES);
	if (chdir(dir) == 0)
		TEST(rmdir("fake") == 0);
	TEST(rmdir(dir) == 0);
	return test_end();
}
