/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of running programs: written and read at the same time; of dead
 * programs and used numbers. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "page_rig.h"

static void test_process(void)
{
	uint32_t uid = 12345, own = (uint32_t)getpid();
	pid_t child;
	siginfo_t info;

	TEST(process_start(own) > 0);
	TEST(process_user(&uid, own) && uid == geteuid());
	child = fork();
	if (!child)
		_exit(0);
	/* it has ended, and nobody has waited for it: a number, no process */
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	TEST(process_start((uint32_t)child) == 0);
	waitpid(child, NULL, 0);
	TEST(process_start((uint32_t)child) == 0);
	TEST(!process_user(&uid, (uint32_t)child));
}

static void test_page(void)
{
	struct ledger_writer *w = open_page();
	struct stat st;
	int fd;

	for (unsigned i = 0; i < MANY; i++)
		value[i] = i * 1000003ULL << 20;
	write_page(w);
	TEST(read_page(own_name()) == 0);
	TEST(page.pid == (uint32_t)getpid() && owner.uid == geteuid());
	TEST(owner.since_ns > 0 && page.at_ns > 0);
	TEST(!strcmp(page.program, "dta-test") &&
	     !strcmp(page.release, "1.2.3") && !strcmp(page.region, "fabric") &&
	     !strcmp(page.input, "eth0") && !strcmp(page.output, "t.ini"));
	TEST(page.stages == 1 && page.counters == MANY);
	TEST(!strcmp(page.stage[0].name, "many") &&
	     !strcmp(page.stage[0].unit, "things"));
	for (unsigned i = 0; i < MANY; i++)
		TEST(page.counter[i].value == value[i] &&
		     page.counter[i].role == i % 5 && !page.counter[i].stage &&
		     page.counter[i].level == (i == 4) &&
		     !strcmp(page.counter[i].name, field[i].name));
	TEST(!stat(path_of(own_name()), &st) && (st.st_mode & 0777) == 0640 &&
	     st.st_size == LEDGER_PAGE_SIZE);
	/* held, as long as it is written */
	fd = open(path_of(own_name()), O_RDONLY);
	TEST(flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	close(fd);
	TEST(read_page(own_name()) == 0 && !page.ended_by);
	ledger_page_note_signal(w, SIGABRT);
	TEST(read_page(own_name()) == 0 && page.ended_by == SIGABRT);
	/* fewer than before */
	ledger_page_begin(w);
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0 && !page.stages && !page.counters);
	ledger_page_close(w);
	TEST(!is_there(own_name()));
	TEST(read_page(own_name()) == -ENOENT);
	ledger_page_close(NULL);
}

/* What is under way: in - done - drops, notes aside; what may fall is of it. */
static void test_rest(void)
{
	struct ledger_writer *w = open_page();

	for (unsigned i = 0; i < MANY; i++)
		value[i] = i % 5 == LEDGER_IN	  ? 10
			   : i % 5 == LEDGER_NOTE ? 1000
						  : 3;
	ledger_page_begin(w);
	ledger_page_add(w, &many, value);
	value[0]++;
	ledger_page_add(w, &many, value);
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0);
	TEST(ledger_page_rest(&page, 0) == 8 * (10 - 3 - 3 - 3));
	TEST(ledger_page_rest(&page, 1) == 8 * (10 - 3 - 3 - 3) + 1);
	field[LEDGER_DONE].level = field[LEDGER_LOSS].level = 1;
	write_page(w);
	field[LEDGER_DONE].level = field[LEDGER_LOSS].level = 0;
	TEST(read_page(own_name()) == 0);
	TEST(ledger_page_rest(&page, 0) == 8 * (10 - 3 - 3 - 3) + 1 + 3 + 3);
	ledger_page_close(w);
}

/* What was lost before it came in is of a stage without a sum. */
static void test_before(void)
{
	static const struct ledger_field of[] = {
		{"missing", 0, LEDGER_LOSS, .level = 1, .before = 1},
		{"received", 8, LEDGER_IN},
		{"lost", 16, LEDGER_LOSS, .before = 1},
		{"stored", 24, LEDGER_DONE}};
	static const struct ledger l = {"first", "things", of, 4};
	static const uint64_t is[] = {7, 5, 9, 5};
	struct ledger_writer *w = open_page();
	uint64_t most;

	TEST(ledger_balanced(&l, is) && !*ledger_largest_loss(&l, is, &most));
	ledger_page_begin(w);
	ledger_page_add(w, &l, is);
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0 && page.counters == 4 &&
	     page.stages == 2);
	TEST(!strcmp(page.stage[1].name, "arrival") &&
	     !strcmp(page.counter[2].name, "missing") &&
	     page.counter[2].stage == 1 && page.counter[3].stage == 1 &&
	     page.counter[3].value == 9 && page.counter[1].value == 5);
	ledger_page_close(w);
}

static void test_limits(void)
{
	static const struct ledger_about strange = {
		.program = "a-name-that-has-more-than-thirty-one-letters",
		.region = "f\xc3\xa4"
			  "bric\n",
	};
	struct ledger big = {"big", "things", field, LEDGER_COUNTERS};
	struct ledger_writer *w;
	struct error err;

	TEST(ledger_page_open(&w, dir, &strange, &err) == 0);
	ledger_page_begin(w);
	big.n = LEDGER_COUNTERS + 1; /* no room for it */
	ledger_page_add(w, &big, value);
	for (unsigned i = 0; i < LEDGER_STAGES + 1; i++) {
		many.n = 1;
		ledger_page_add(w, &many, value);
	}
	many.n = MANY;
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0);
	TEST(strlen(page.program) == LEDGER_NAME - 1 &&
	     !strncmp(page.program, strange.program, LEDGER_NAME - 1));
	TEST(!strcmp(page.region, "f??bric?"));
	TEST(page.stages == LEDGER_STAGES && page.counters == LEDGER_STAGES);
	TEST(!strcmp(page.stage[0].name, "many") &&
	     !strcmp(page.stage[1].name, "many_2") &&
	     !strcmp(page.stage[15].name, "many_16"));
	ledger_page_begin(w);
	big.n = LEDGER_COUNTERS; /* all of it */
	ledger_page_add(w, &big, value);
	ledger_page_add(w, &many, value);
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0 && page.stages == 1 &&
	     page.counters == LEDGER_COUNTERS);
	ledger_page_close(w);
	TEST(ledger_page_open(&w, "/nowhere", &about, &err) == -ENOENT);
	TEST(strstr(err.text, "/nowhere") != NULL);
	/* twice in one process is once too often, and the first one stays */
	w = open_page();
	{
		struct ledger_writer *other = NULL;

		TEST(ledger_page_open(&other, dir, &about, &err) == -EEXIST);
		TEST(!other && is_there(own_name()));
	}
	ledger_page_close(w);
}

static atomic_bool enough;

/* All counters are the same, whenever somebody looks. */
static void *write_on(void *arg)
{
	for (uint64_t n = 1; !enough; n++) {
		for (unsigned i = 0; i < MANY; i++)
			value[i] = n;
		write_page(arg);
	}
	return NULL;
}

static void test_both(void)
{
	struct ledger_writer *w = open_page();
	uint64_t last = 0;
	pthread_t thread;
	int good = 0;

	memset(value, 0, sizeof(value));
	write_page(w);
	TEST(!pthread_create(&thread, NULL, write_on, w));
	while (good < 5000) {
		int rc = read_page(own_name());
		bool same = true;

		if (rc == -EAGAIN)
			continue; /* a writer that never rests */
		TEST(rc == 0 && page.counters == MANY);
		for (unsigned i = 1; i < page.counters; i++)
			same = same &&
			       page.counter[i].value == page.counter[0].value;
		TEST(same && page.counter[0].value >= last);
		last = page.counter[0].value;
		good++;
	}
	enough = true;
	pthread_join(thread, NULL);
	TEST(last > 1);
	ledger_page_close(w);
}

/* A child that has made its page, and waits for its end. */
static pid_t spawn(char *name)
{
	int ready[2];
	pid_t child;
	char c;

	TEST(!pipe(ready));
	child = fork();
	if (!child) {
		write_page(open_page());
		c = (char)write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	TEST(read(ready[0], &c, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	snprintf(name, 64, "dta-ledger-%d-%llu", (int)child,
		 (unsigned long long)process_start((uint32_t)child));
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_dead(void)
{
	char name[64], other[64];
	struct ledger_writer *w;
	pid_t child = spawn(name);
	siginfo_t info;
	int n = 0;

	TEST(read_page(name) == 0 && page.pid == (uint32_t)child);
	kill(child, SIGSTOP);
	TEST(read_page(name) == 0); /* it lives */
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	TEST(read_page(name) == -ESRCH); /* a zombie does not */
	waitpid(child, NULL, 0);
	/* its last counters stay for ten minutes */
	TEST(read_page(name) == -ESRCH && page.pid == (uint32_t)child &&
	     page.counters == MANY && is_there(name));
	page.at_ns -= LEDGER_KEEP_NS;
	put_file(name, &page, sizeof(page));
	TEST(read_page(name) == -ENOENT && !is_there(name));
	/* who makes a page takes old ones away, and no others */
	child = spawn(name);
	end(spawn(other));
	TEST(read_page(other) == -ESRCH);
	page.at_ns -= LEDGER_KEEP_NS;
	put_file(other, &page, sizeof(page));
	w = open_page();
	TEST(!is_there(other) && is_there(name));
	TEST(ledger_pages(dir, count, &n) == 0 && n == 2);
	ledger_page_close(w);
	end(child);
	TEST(read_page(name) == -ESRCH && is_there(name));
	put_file(name, &page, 64); /* not whole: of no use */
	TEST(read_page(name) == -ENOENT && !is_there(name));
}

/* A page of our number, but of another start: the number was used before. */
static void test_reuse(void)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t start = process_start(pid);
	struct ledger_page old;
	char name[64];
	int fd;

	{
		struct ledger_writer *w = open_page();

		write_page(w);
		TEST(read_page(own_name()) == 0);
		old = page;
		ledger_page_close(w);
	}
	old.start = start + 1;
	snprintf(name, sizeof(name), "dta-ledger-%u-%llu", pid,
		 (unsigned long long)old.start);
	put_file(name, &old, sizeof(old));
	TEST(read_page(name) == -ESRCH && is_there(name));
	/* somebody holds it: a process that we do not see lives */
	put_file(name, &old, sizeof(old));
	fd = open(path_of(name), O_RDONLY);
	TEST(!flock(fd, LOCK_EX));
	TEST(read_page(name) == 0 && is_there(name) && !owner.since_ns);
	close(fd);
	TEST(read_page(name) == -ESRCH && is_there(name));
	unlink(path_of(name));
	/* the name says one thing, the page another */
	put_file(own_name(), &old, sizeof(old));
	TEST(read_page(own_name()) == -EBADMSG);
	old.start = start;
	put_file(own_name(), &old, sizeof(old));
	TEST(read_page(own_name()) == 0);
	unlink(path_of(own_name()));
}

/* What the kernel dropped has no sum: nobody counts what came to it. */
static void test_no_input(void)
{
	static const struct ledger_field fields[] = {
		{"kernel_drops", 0, LEDGER_LOSS},
		{"copies", sizeof(uint64_t), LEDGER_NOTE},
	};
	static const struct ledger no_input = {"interface", "packets", fields,
					       2};
	static const uint64_t counters[] = {7, 1};

	TEST(ledger_balanced(&no_input, counters));
}

int main(void)
{
	if (!rig_begin())
		return 1;
	test_process();
	test_no_input();
	test_page();
	test_rest();
	test_before();
	test_limits();
	test_both();
	test_dead();
	test_reuse();
	TEST(!rmdir(dir));
	return test_end();
}
