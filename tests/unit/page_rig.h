/* SPDX-License-Identifier: BSD-2-Clause */
/* page_rig.h - a directory of pages, and a page of this process. */
#ifndef TESTS_UNIT_PAGE_RIG_H
#define TESTS_UNIT_PAGE_RIG_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "base/ledger_page.h"
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

static inline void name_fields(void)
{
	static char name[LEDGER_COUNTERS + 1][8];

	for (unsigned i = 0; i <= LEDGER_COUNTERS; i++) {
		snprintf(name[i], sizeof(name[i]), "c_%u", i);
		field[i] = (struct ledger_field){
			name[i], (uint16_t)(i * sizeof(uint64_t)),
			(uint8_t)(i % 5), i == 4};
	}
}

static inline const char *own_name(void)
{
	static char name[64];
	uint32_t pid = (uint32_t)getpid();

	snprintf(name, sizeof(name), "dta-ledger-%u-%llu", pid,
		 (unsigned long long)process_start(pid));
	return name;
}

static inline const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static inline bool is_there(const char *name)
{
	return !access(path_of(name), F_OK);
}

static inline int read_page(const char *name)
{
	return ledger_page_read(&page, &owner, dir, name);
}

static inline struct ledger_writer *open_page(void)
{
	struct ledger_writer *w = NULL;
	struct error err;

	TEST(ledger_page_open(&w, dir, &about, &err) == 0);
	return w;
}

static inline void write_page(struct ledger_writer *w)
{
	ledger_page_begin(w);
	ledger_page_add(w, &many, value);
	ledger_page_end(w);
}

/* Makes a file of a page's name. */
static inline void put_file(const char *name, const void *bytes, size_t len)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0640);

	TEST(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

static inline void count(void *ctx, const char *name)
{
	(void)name;
	++*(int *)ctx;
}

static inline bool rig_begin(void)
{
	umask(022);
	name_fields();
	snprintf(dir, sizeof(dir), LEDGER_DIR "/dta-test-%d-pages",
		 (int)getpid());
	if (!mkdir(dir, 0700))
		return true;
	perror(dir);
	return false;
}

#endif
