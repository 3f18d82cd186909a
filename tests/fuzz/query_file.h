/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query_file.h - for the fuzzer of files that dta-query reads. Its readers end
 * the program when a line is bad; here they come back. To be included before
 * their sources, which these fuzzers are built of.
 */
#ifndef TESTS_FUZZ_QUERY_FILE_H
#define TESTS_FUZZ_QUERY_FILE_H

#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/lines.h"

static jmp_buf bad_line;
static struct lines *reading; /* to be closed then */

static inline __attribute__((noreturn, format(printf, 1, 2))) void
fuzz_fail(const char *fmt, ...)
{
	(void)fmt;
	if (reading)
		lines_close(reading);
	reading = NULL;
	longjmp(bad_line, 1);
}

static inline __attribute__((format(printf, 1, 2))) void
fuzz_warn(const char *fmt, ...)
{
	(void)fmt;
}

static inline void fuzz_lines_check(const struct lines *l, int rc)
{
	(void)l;
	if (rc < 0)
		fuzz_fail("%d", rc);
}

static inline int fuzz_lines_open(struct lines *l, const char *path)
{
	int rc = lines_open(l, path);

	if (!rc)
		reading = l;
	return rc;
}

/* A file of these bytes: its path. The descriptor is to be closed. */
static inline int file_of(char path[32], const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

#define cli_fail fuzz_fail
#define cli_warn fuzz_warn

#endif
