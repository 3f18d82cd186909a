/* SPDX-License-Identifier: BSD-2-Clause */
/* orders_tell.c - lines to a switch: orders_private.h. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "orders_private.h"

static size_t line_of(char *line, const struct order *o,
		      enum label_command_form form)
{
	return label_command_s(line, form, o->port, o->before, o->s);
}

int orders_print(const struct orders_switch *sw, enum label_command_form form)
{
	char line[LABEL_COMMAND_MAX];

	for (unsigned i = 0; i < sw->said.n; i++)
		if (line_of(line, &sw->said.at[i], form))
			printf("%s\n", line);
	return fflush(stdout) ? -errno : 0; /* whoever reads acts on it */
}

/* All lines as a file without a name, to be read from its beginning. */
static int file_of(const struct orders_switch *sw, enum label_command_form form)
{
	int fd = memfd_create("label-commands", MFD_CLOEXEC);
	char line[LABEL_COMMAND_MAX];

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i < sw->said.n; i++)
		if (line_of(line, &sw->said.at[i], form))
			dprintf(fd, "%s\n", line);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

int orders_spawn(pid_t *pid, const char *command, int in, int out)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	posix_spawn_file_actions_t to;
	int rc = posix_spawn_file_actions_init(&to);

	if (rc)
		return -rc;
	rc = posix_spawn_file_actions_adddup2(&to, in, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&to, out, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn(pid, "/bin/sh", &to, NULL, (char *const *)argv,
				 environ);
	posix_spawn_file_actions_destroy(&to);
	return -rc;
}

void orders_environment(uint32_t device)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, device);
	setenv("LABEL_DEVICE", text, 1);
}

int orders_exec(struct orders_switch *sw, enum label_command_form form,
		const char *command)
{
	int fd = file_of(sw, form), rc;

	if (fd < 0)
		return fd;
	orders_environment(sw->device);
	/* The command's own output goes where messages go. */
	rc = orders_spawn(&sw->pid, command, fd, STDERR_FILENO);
	close(fd);
	if (rc)
		sw->pid = 0;
	return rc;
}

int orders_reap(struct orders_switch *sw, char *why, size_t size)
{
	int status;
	pid_t pid = waitpid(sw->pid, &status, WNOHANG);

	if (!pid)
		return 0;
	sw->pid = 0;
	if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return 1;
	if (pid < 0)
		snprintf(why, size, "%s", strerror(errno));
	else if (WIFEXITED(status))
		snprintf(why, size, "exit status %d", WEXITSTATUS(status));
	else
		snprintf(why, size, "signal %d", WTERMSIG(status));
	return -1;
}

int orders_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		cli_fail("--send: %s", strerror(errno));
	return fd;
}

void orders_socket_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* The path with the switch's number for {device}. */
static int address_of(struct sockaddr_un *a, const char *path, uint32_t device)
{
	static const char mark[] = "{device}";
	const char *at = strstr(path, mark);
	size_t room = sizeof(a->sun_path);
	int n;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (at)
		n = snprintf(a->sun_path, room, "%.*s%" PRIu32 "%s",
			     (int)(at - path), path, device, at + strlen(mark));
	else
		n = snprintf(a->sun_path, room, "%s", path);
	return n < 0 || (size_t)n >= room ? -ENAMETOOLONG : 0;
}

int orders_datagram(int fd, const char *path, uint32_t device, const char *line)
{
	struct sockaddr_un a;
	int rc = address_of(&a, path, device);

	if (!rc && sendto(fd, line, strlen(line), 0, (struct sockaddr *)&a,
			  sizeof(a)) < 0)
		rc = -errno;
	return rc;
}

int orders_send(const struct orders_switch *sw, enum label_command_form form,
		int fd, const char *path, unsigned *sent)
{
	char line[LABEL_COMMAND_MAX];
	int rc = 0;

	for (*sent = 0; *sent < sw->said.n; ++*sent) {
		if (!line_of(line, &sw->said.at[*sent], form))
			continue;
		rc = orders_datagram(fd, path, sw->device, line);
		if (rc < 0)
			return rc;
	}
	return 0;
}
