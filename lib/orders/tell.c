/* SPDX-License-Identifier: BSD-2-Clause */
#include "orders/tell.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* All lines as a file without a name, to be read from its beginning. */
static int file_of(const struct label_orders_switch *sw,
		   enum label_command_form form)
{
	int fd = memfd_create("label-commands", MFD_CLOEXEC);
	char line[LABEL_COMMAND_MAX];

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i < sw->said.n; i++) {
		label_order_line(line, form, &sw->said.at[i]);
		dprintf(fd, "%s\n", line);
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* An environment with LABEL_DEVICE in it, to be freed. Ours itself is not
 * changed: other threads read it. */
static char **with_device(char *const *was, char *device)
{
	size_t n = 0, kept = 0;
	char **env;

	while (was[n])
		n++;
	if (!(env = malloc((n + 2) * sizeof(*env))))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncmp(was[i], device, strcspn(device, "=") + 1) != 0)
			env[kept++] = was[i];
	env[kept++] = device;
	env[kept] = NULL;
	return env;
}

/* By sh, as the leader of a group, so that a signal reaches what it has begun,
 * and it cannot ask on the terminal. Its output goes where messages go. */
static int spawn(pid_t *pid, const char *command, int in, char **env)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	posix_spawn_file_actions_t to;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&to);

	if (rc)
		return -rc;
	posix_spawnattr_init(&attr); /* neither fails in Linux */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	rc = posix_spawn_file_actions_adddup2(&to, in, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&to, STDERR_FILENO,
						      STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn(pid, "/bin/sh", &to, &attr,
				 (char *const *)argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&to);
	return -rc;
}

static int run(pid_t *pid, const char *command, char *const *environment,
	       uint32_t device, int in)
{
	char text[32], **env;
	int rc = -ENOMEM;

	snprintf(text, sizeof(text), "LABEL_DEVICE=%" PRIu32, device);
	if ((env = with_device(environment, text)))
		rc = spawn(pid, command, in, env);
	free(env);
	return rc;
}

int orders_exec(struct label_orders_switch *sw, enum label_command_form form,
		const char *command, char *const *environment)
{
	int fd = file_of(sw, form), rc;
	pid_t pid = 0;

	if (fd < 0)
		return fd;
	rc = run(&pid, command, environment, sw->device, fd);
	close(fd);
	sw->run = rc ? 0 : pid;
	return rc ? rc : LABEL_ORDERS_UNDER_WAY;
}

int orders_reap(struct label_orders_switch *sw, char *why, size_t size)
{
	int status;
	pid_t pid = waitpid((pid_t)sw->run, &status, WNOHANG);

	if (!pid)
		return 0;
	sw->run = 0;
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

void orders_kill(struct label_orders_switch *sw)
{
	pid_t pid = (pid_t)sw->run;
	bool ours = kill(pid, SIGKILL) == 0;

	kill(-pid, SIGKILL);
	/* What has become another user's, as by sudo, is not waited for. */
	waitpid(pid, NULL, ours ? 0 : WNOHANG);
	sw->run = 0;
}

int orders_socket_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
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

int orders_send(const struct label_orders_switch *sw,
		enum label_command_form form, int fd, const char *path,
		unsigned *sent)
{
	char line[LABEL_COMMAND_MAX];

	for (*sent = 0; *sent < sw->said.n; ++*sent) {
		int rc;

		label_order_line(line, form, &sw->said.at[*sent]);
		rc = orders_datagram(fd, path, sw->device, line);
		if (rc < 0)
			return rc == -EAGAIN ? LABEL_ORDERS_FULL : rc;
	}
	return 0;
}
