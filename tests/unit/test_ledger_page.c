/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of running programs: written and read at the same time; of dead
 * programs and used numbers; damaged, hostile and strange ones. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/rng.h"
#include "ledger/page.h"
#include "test.h"

enum {
	MANY = 40,
};

static char dir[64];
static struct ledger_page page;
static struct ledger_owner owner;
static uint64_t value[LEDGER_COUNTERS + 1];

static struct ledger_field field[LEDGER_COUNTERS + 1];
static struct ledger many = {"many", "things", field, MANY};

static const struct ledger_about about = {"dta-test", "1.2.3", "fabric", "eth0",
					  "t.ini"};

static void name_fields(void)
{
	static char name[LEDGER_COUNTERS + 1][8];

	for (unsigned i = 0; i <= LEDGER_COUNTERS; i++) {
		snprintf(name[i], sizeof(name[i]), "c_%u", i);
		field[i] = (struct ledger_field){
			name[i], (uint16_t)(i * sizeof(uint64_t)),
			(uint8_t)(i % 4), i == 3};
	}
}

static const char *own_name(void)
{
	static char name[64];
	uint32_t pid = (uint32_t)getpid();

	snprintf(name, sizeof(name), "dta-ledger-%u-%llu", pid,
		 (unsigned long long)process_start(pid));
	return name;
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool is_there(const char *name)
{
	return !access(path_of(name), F_OK);
}

static int read_page(const char *name)
{
	return ledger_page_read(&page, &owner, dir, name);
}

static struct ledger_writer *open_page(void)
{
	struct ledger_writer *w = NULL;
	struct fault f;

	TEST(ledger_page_open(&w, dir, &about, &f) == 0);
	return w;
}

static void write_page(struct ledger_writer *w)
{
	ledger_page_begin(w);
	ledger_page_add(w, &many, value);
	ledger_page_end(w);
}

/* Makes a file of a page's name. */
static void put_file(const char *name, const void *bytes, size_t len)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0640);

	TEST(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

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
		     page.counter[i].role == i % 4 && !page.counter[i].stage &&
		     page.counter[i].level == (i == 3) &&
		     !strcmp(page.counter[i].name, field[i].name));
	TEST(!stat(path_of(own_name()), &st) && (st.st_mode & 0777) == 0640 &&
	     st.st_size == LEDGER_PAGE_SIZE);
	/* held, as long as it is written */
	fd = open(path_of(own_name()), O_RDONLY);
	TEST(flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	close(fd);
	/* fewer than before */
	ledger_page_begin(w);
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0 && !page.stages && !page.counters);
	ledger_page_close(w);
	TEST(!is_there(own_name()));
	TEST(read_page(own_name()) == -ENOENT);
	ledger_page_close(NULL);
}

/* What is under way: in - done - drops, notes aside. */
static void test_rest(void)
{
	struct ledger_writer *w = open_page();

	for (unsigned i = 0; i < MANY; i++)
		value[i] = i % 4 == LEDGER_IN	  ? 10
			   : i % 4 == LEDGER_NOTE ? 1000
						  : 3;
	ledger_page_begin(w);
	ledger_page_add(w, &many, value);
	value[0]++;
	ledger_page_add(w, &many, value);
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0);
	TEST(ledger_page_rest(&page, 0) == 10 * (10 - 3 - 3));
	TEST(ledger_page_rest(&page, 1) == 10 * (10 - 3 - 3) + 1);
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
	struct fault f;

	TEST(ledger_page_open(&w, dir, &strange, &f) == 0);
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
	TEST(ledger_page_open(&w, "/nowhere", &about, &f) == -ENOENT);
	TEST(strstr(f.text, "/nowhere") != NULL);
	/* twice in one process is once too often, and the first one stays */
	w = open_page();
	{
		struct ledger_writer *other = NULL;

		TEST(ledger_page_open(&other, dir, &about, &f) == -EEXIST);
		TEST(!other && is_there(own_name()));
	}
	ledger_page_close(w);
}

static volatile bool enough;

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

static void count(void *ctx, const char *name)
{
	(void)name;
	++*(int *)ctx;
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
	TEST(!is_there(name));
	waitpid(child, NULL, 0);
	/* who makes a page takes dead ones away, and no others */
	child = spawn(name);
	end(spawn(other));
	TEST(is_there(other));
	w = open_page();
	TEST(!is_there(other) && is_there(name));
	TEST(ledger_pages(dir, count, &n) == 0 && n == 2);
	ledger_page_close(w);
	end(child);
	TEST(read_page(name) == -ESRCH && !is_there(name));
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
	TEST(read_page(name) == -ESRCH && !is_there(name));
	/* somebody holds it: a process that we do not see lives */
	put_file(name, &old, sizeof(old));
	fd = open(path_of(name), O_RDONLY);
	TEST(!flock(fd, LOCK_EX));
	TEST(read_page(name) == 0 && is_there(name) && !owner.since_ns);
	close(fd);
	/* the name says one thing, the page another */
	put_file(own_name(), &old, sizeof(old));
	TEST(read_page(own_name()) == -EBADMSG);
	old.start = start;
	put_file(own_name(), &old, sizeof(old));
	TEST(read_page(own_name()) == 0);
	unlink(path_of(own_name()));
}

static bool is_text(const char *text, size_t room)
{
	size_t n = strnlen(text, room);

	for (size_t i = 0; i < n; i++)
		if (text[i] < 32 || text[i] > 126)
			return false;
	return n < room;
}

/* What a reader may rely on. */
static bool holds(const struct ledger_page *p)
{
	bool ok = p->stages <= LEDGER_STAGES &&
		  p->counters <= LEDGER_COUNTERS &&
		  is_text(p->program, LEDGER_NAME) && *p->program &&
		  is_text(p->release, LEDGER_NAME) &&
		  is_text(p->region, LEDGER_PLACE) &&
		  is_text(p->input, LEDGER_PLACE) &&
		  is_text(p->output, LEDGER_PLACE) && p->sequence % 2 == 0;

	for (unsigned i = 0; ok && i < p->stages; i++)
		ok = is_text(p->stage[i].name, LEDGER_NAME) &&
		     *p->stage[i].name &&
		     is_text(p->stage[i].unit, LEDGER_NAME);
	for (unsigned i = 0; ok && i < p->counters; i++)
		ok = is_text(p->counter[i].name, LEDGER_NAME) &&
		     *p->counter[i].name && p->counter[i].stage < p->stages &&
		     p->counter[i].role <= LEDGER_NOTE &&
		     p->counter[i].level <= 1;
	return ok;
}

static struct ledger_page good_page(void)
{
	struct ledger_writer *w = open_page();

	ledger_page_begin(w);
	ledger_page_add(w, &many, value);
	ledger_page_add(w, &many, value);
	ledger_page_end(w);
	TEST(read_page(own_name()) == 0);
	ledger_page_close(w);
	return page;
}

/* Each rule by itself. */
static void test_rules(void)
{
	struct ledger_page good = good_page(), p;

#define BAD(change)                                                            \
	do {                                                                   \
		p = good;                                                      \
		change;                                                        \
		put_file(own_name(), &p, sizeof(p));                           \
		TEST(read_page(own_name()) == -EBADMSG);                       \
	} while (0)
	BAD(p.magic[0] = 'X');
	BAD(p.order = 0x04030201);
	BAD(p.version++);
	BAD(p.size--);
	BAD(p.pid++);
	BAD(p.start++);
	BAD(p.program[0] = '\0');
	BAD(p.program[0] = 'A');
	BAD(memset(p.program, 'a', sizeof(p.program)));
	BAD(p.release[0] = '\033');
	BAD(memset(p.region, 'r', sizeof(p.region)));
	BAD(p.input[1] = '\n');
	BAD(p.output[0] = (char)0xe2);
	BAD(p.stages = LEDGER_STAGES + 1);
	BAD(p.stages = UINT32_MAX);
	BAD(p.counters = LEDGER_COUNTERS + 1);
	BAD(p.counters = UINT32_MAX);
	BAD(p.stages = 1); /* counters of the second are left */
	BAD(p.stage[1] = p.stage[0]);
	BAD(p.stage[0].name[0] = '"');
	BAD(p.stage[0].name[0] = '\0');
	BAD(p.stage[0].unit[0] = '\001');
	BAD(p.counter[0].name[1] = '}');
	BAD(p.counter[0].name[0] = '\0');
	BAD(memset(p.counter[0].name, 'c', LEDGER_NAME));
	BAD(p.counter[0].stage = 2);
	BAD(p.counter[0].stage = 1); /* it is not its stage's turn */
	BAD(p.counter[0].role = LEDGER_NOTE + 1);
	BAD(p.counter[0].level = 2);
	p = good;
	p.sequence++;
	put_file(own_name(), &p, sizeof(p));
	TEST(read_page(own_name()) == -EAGAIN);
	put_file(own_name(), &good, sizeof(good));
	TEST(read_page(own_name()) == 0);
	unlink(path_of(own_name()));
}

/* Any bytes in any number. */
static void test_damaged(void)
{
	static uint8_t more[2 * LEDGER_PAGE_SIZE];
	struct ledger_page good = good_page(), p;
	struct rng rng = {7};
	int taken = 0, refused = 0;

	memcpy(more, &good, sizeof(good));
	for (size_t n = 0; n <= sizeof(more); n += 61) {
		put_file(own_name(), more, n);
		TEST(read_page(own_name()) == -EBADMSG);
	}
	for (unsigned i = 0; i < 20000; i++) {
		unsigned flips = 1 + (unsigned)(rng_u64(&rng) % 4);
		int rc;

		p = good;
		while (flips--)
			((uint8_t *)&p)[rng_u64(&rng) % 4096] = (uint8_t)
				rng_u64(&rng);
		p.sequence &= ~1ULL; /* or it would be waited for */
		put_file(own_name(), &p, sizeof(p));
		rc = read_page(own_name());
		TEST(rc == -EBADMSG || (rc == 0 && holds(&page)));
		taken += rc == 0;
		refused += rc != 0;
	}
	TEST(taken > 100 && refused > 100);
	for (unsigned i = 0; i < 20; i++) {
		for (size_t k = 0; k < sizeof(p); k++)
			((uint8_t *)&p)[k] = (uint8_t)rng_u64(&rng);
		put_file(own_name(), &p, sizeof(p));
		TEST(read_page(own_name()) == -EBADMSG);
	}
	unlink(path_of(own_name()));
}

/* What is no file of ours, and names that are none. */
static void test_strange(void)
{
	static const char *const names[] = {
		"",
		"dta-ledger-",
		"dta-ledger-1",
		"dta-ledger-1-",
		"dta-ledger-1-1x",
		"dta-ledger-01-1",
		"dta-ledger-1-01",
		"dta-ledger--1-1",
		"dta-ledger-4294967296-1",
		"dta-ledger-1-18446744073709551616",
		"dta-ledger-1-1/../x",
	};
	struct ledger_page good = good_page();
	const char *name = own_name();
	int n = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		TEST(read_page(names[i]) == -EBADMSG);
	put_file("elsewhere", &good, sizeof(good));
	TEST(!symlink("elsewhere", path_of(name)));
	TEST(read_page(name) == -EBADMSG);
	unlink(path_of(name));
	TEST(!symlink("/dev/zero", path_of(name)));
	TEST(read_page(name) == -EBADMSG);
	unlink(path_of(name));
	TEST(!mkfifo(path_of(name), 0640)); /* nobody is held up by it */
	TEST(read_page(name) == -EBADMSG);
	unlink(path_of(name));
	TEST(!mkdir(path_of(name), 0750));
	TEST(read_page(name) == -EBADMSG);
	TEST(ledger_pages(dir, count, &n) == 0 && n == 1);
	rmdir(path_of(name));
	put_file(name, &good, sizeof(good));
	TEST(read_page(name) == 0);
	if (!geteuid()) { /* our process is not nobody's */
		TEST(!chown(path_of(name), 65534, 65534));
		TEST(read_page(name) == -EPERM);
	}
	unlink(path_of(name));
	unlink(path_of("elsewhere"));
}

/* Somebody floods the place. */
static void test_flood(void)
{
	char name[64];
	int n = 0;

	for (int i = 0; i < LEDGER_PAGES_MAX + 7; i++) {
		snprintf(name, sizeof(name), "dta-ledger-%d-1", i + 1);
		put_file(name, "", 0);
	}
	TEST(ledger_pages(dir, count, &n) == 7 && n == LEDGER_PAGES_MAX);
	for (int i = 0; i < LEDGER_PAGES_MAX + 7; i++) {
		snprintf(name, sizeof(name), "dta-ledger-%d-1", i + 1);
		unlink(path_of(name));
	}
	TEST(ledger_pages("/nowhere", count, &n) == -ENOENT);
}

int main(void)
{
	umask(022);
	snprintf(dir, sizeof(dir), LEDGER_DIR "/dta-test-%d-pages",
		 (int)getpid());
	if (mkdir(dir, 0700) < 0) {
		perror(dir);
		return 1;
	}
	name_fields();
	test_process();
	test_page();
	test_rest();
	test_limits();
	test_both();
	test_dead();
	test_reuse();
	test_rules();
	test_damaged();
	test_strange();
	test_flood();
	TEST(!rmdir(dir));
	return test_end();
}
