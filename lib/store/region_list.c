/* SPDX-License-Identifier: BSD-2-Clause */
/* region_list.c - the regions of this machine, and who writes one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "store/region_file.h"

/* Whether a file begins as a region does, or we may not read it and it is large
 * enough: who looks at it is told why it cannot be. */
static bool is_region(const char *path)
{
	char magic[sizeof(region_magic)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	bool is;

	if (fd < 0)
		return errno == EACCES && !lstat(path, &st) &&
		       S_ISREG(st.st_mode) && st.st_size > REGION_STATIC_LEN;
	is = read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	     !memcmp(magic, region_magic, sizeof(magic));
	close(fd);
	return is;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

void region_list_dir(const char *dir, region_each *each, void *ctx)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, by_name);
	char path[4096];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
		if (is_region(path))
			each(ctx, path, entry[i]->d_name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

static void read_program(char out[16], uint32_t pid)
{
	char path[32];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, out, 15);
		close(fd);
	}
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

bool region_writer(const struct region *r, unsigned *at,
		   struct region_writer *out)
{
	for (; *at < REGION_WRITERS; ++*at) {
		struct region_seat s = {
			.pid = r->seat[*at].pid,
			.start = r->seat[*at].start,
		};

		if (!s.pid || !region_seat_lives(&s))
			continue;
		++*at;
		out->pid = s.pid;
		out->since_ns = process_began_ns(s.start);
		read_program(out->program, s.pid);
		return true;
	}
	return false;
}

uint64_t region_epoch_began(const struct region *r)
{
	return __atomic_load_n(&r->state->began_ns, __ATOMIC_RELAXED);
}

uint64_t region_left(const struct region *r)
{
	return __atomic_load_n(&r->state->left_ns, __ATOMIC_RELAXED);
}
