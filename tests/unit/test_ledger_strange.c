/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that are none: damaged, hostile and strange ones. */
#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"
#include "page_rig.h"

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
	if (!rig_begin())
		return 1;
	test_rules();
	test_damaged();
	test_strange();
	test_flood();
	TEST(!rmdir(dir));
	return test_end();
}
