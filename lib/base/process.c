/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* Reads the beginning of /proc/PID/FILE; "" if it cannot be read. */
static void read_text(char *text, size_t size, uint32_t pid, const char *file)
{
	char path[48];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

/* The start time is field 22 of /proc/PID/stat; field 2, the name in
 * parentheses, may itself hold spaces and parentheses (proc(5)). */
uint64_t process_start(uint32_t pid)
{
	unsigned long long start = 0;
	char text[1024], state, *p;

	read_text(text, sizeof(text), pid, "stat");
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1,
			 " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
			 "%*d %*d %*d %*d %*d %*d %llu",
			 &state, &start) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : start;
}

uint64_t process_began_ns(uint64_t start)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t up = clock_boot_ns();
	uint64_t at = start / hz * 1000000000 + start % hz * 1000000000 / hz;

	return clock_wall_ns() - (up > at ? up - at : 0);
}

/* A process cannot forge this line: its name has newlines escaped (proc(5)). */
bool process_user(uint32_t *uid, uint32_t pid)
{
	char text[4096], *p;

	read_text(text, sizeof(text), pid, "status");
	p = strstr(text, "\nUid:");
	return p && sscanf(p, "\nUid: %*u %u", uid) == 1;
}
