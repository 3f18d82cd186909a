/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that are being written whenever somebody looks, or that have lost their
 * names; who sweeps asks who lives, and reads none. */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "page_rig.h"

static unsigned reads;

/* In the place of the C library's: what is read is counted. */
ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
	reads++;
	return syscall(SYS_pread64, fd, buf, len, at);
}

static void set_sequence(uint64_t to)
{
	int fd = open(path_of(own_name()), O_RDWR);

	TEST(pwrite(fd, &to, sizeof(to),
		    offsetof(struct ledger_page, sequence)) == sizeof(to));
	close(fd);
}

/* However often one looks, it is not whole; and yet its program lives. */
static void test_never_whole(void)
{
	struct ledger_writer *w = open_page();

	write_page(w);
	reads = 0;
	TEST(read_page(own_name()) == 0 && reads > 0);
	set_sequence(7);
	reads = 0;
	TEST(read_page(own_name()) == -EAGAIN && reads > 100);
	TEST(page.pid == (uint32_t)getpid() && owner.since_ns > 0);
	/* the next time it is written is as good as any */
	write_page(w);
	TEST(read_page(own_name()) == 0);
	ledger_page_close(w);
}

static void test_sweep(void)
{
	static const char dead[] = "dta-ledger-4194304-1"; /* above all */
	struct ledger_writer *w = open_page();

	write_page(w);
	set_sequence(7);
	put_file(dead, "x", 1);
	TEST(ledger_page_read(NULL, &owner, dir, dead) == -ENOENT);
	reads = 0;
	TEST(ledger_page_read(NULL, &owner, dir, own_name()) == 0);
	TEST(!reads);
	TEST(is_there(own_name()) && !is_there(dead));
	TEST(truncate(path_of(own_name()), 100) == 0);
	TEST(ledger_page_read(NULL, &owner, dir, own_name()) == 0);
	TEST(!reads && is_there(own_name()));
	ledger_page_close(w);
	TEST(!is_there(own_name()));
}

/* Its name is gone, or is another file's, which it does not remove. */
static void test_lost(void)
{
	struct ledger_writer *w = open_page();

	TEST(!ledger_page_is_lost(w));
	unlink(path_of(own_name()));
	TEST(ledger_page_is_lost(w));
	put_file(own_name(), "x", 1);
	TEST(ledger_page_is_lost(w));
	write_page(w);
	ledger_page_close(w);
	TEST(is_there(own_name()));
	unlink(path_of(own_name()));
}

int main(void)
{
	if (!rig_begin())
		return 1;
	test_never_whole();
	test_sweep();
	test_lost();
	TEST(!rmdir(dir));
	return test_end();
}
