/* SPDX-License-Identifier: BSD-2-Clause */
#include "places/ssh.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "query/far_wire.h"

struct ssh {
	pid_t pid; /* 0: ended */
	const char *host;
	struct wire wire;
};

static int start(pid_t *pid, const char *host, const char *region, int fd,
		 struct fault *f)
{
	const char *const argv[] = {
		"ssh",
		"-o",
		"BatchMode=yes",
		"-o",
		"ConnectTimeout=10",
		"-o",
		"ServerAliveInterval=5",
		host,
		"dta-dump",
		"serve",
		region,
		NULL,
	};
	posix_spawn_file_actions_t to;
	int rc;

	rc = posix_spawn_file_actions_init(&to);
	if (rc)
		return fault_set(f, -rc, "%s", strerror(rc));
	rc = posix_spawn_file_actions_adddup2(&to, fd, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&to, fd, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnp(pid, argv[0], &to, NULL, (char *const *)argv,
				  environ);
	posix_spawn_file_actions_destroy(&to);
	return rc ? fault_set(f, -rc, "%s: %s", argv[0], strerror(rc)) : 0;
}

/* Ends it; its exit status, 128 and more for a signal. */
static int end(struct ssh *s, bool at_once)
{
	pid_t pid = s->pid;
	int status = 0;

	if (!pid)
		return 0;
	s->pid = 0;
	close(s->wire.fd);
	wire_fini(&s->wire);
	if (at_once || *s->wire.stop) /* nobody waits for what it is at */
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A machine that went away tells by its exit status why. */
static int lost(struct ssh *s, int rc, const struct fault *why, struct fault *f)
{
	int status = end(s, rc != -EPIPE);

	if (rc == -EPIPE)
		return fault_set(f, rc,
				 "%s: cannot be asked (ssh ended with status "
				 "%d)",
				 s->host, status);
	return fault_set(f, rc, "%s: %.400s", s->host, why->text);
}

int ssh_start(struct ssh **out, const char *host, const char *region,
	      const atomic_int *stop, struct fault *f)
{
	struct ssh *s = calloc(1, sizeof(*s));
	int fd[2], rc;

	if (!s)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0) {
		rc = fault_set(f, -errno, "%s", strerror(errno));
		free(s);
		return rc;
	}
	rc = wire_init(&s->wire, fd[0], stop);
	if (rc < 0)
		fault_set(f, rc, "%s", strerror(-rc));
	else
		rc = start(&s->pid, host, region, fd[1], f);
	close(fd[1]);
	if (rc < 0) {
		close(fd[0]);
		wire_fini(&s->wire);
		free(s);
		return rc;
	}
	s->host = host;
	*out = s;
	return 0;
}

static int read_pieces(void *ctx, const struct memory_piece *p, size_t n,
		       struct fault *f)
{
	struct ssh *s = ctx;
	struct fault why = {""};
	int rc = wire_read(&s->wire, p, n, &why);

	return rc < 0 ? lost(s, rc, &why, f) : 0;
}

static void close_ssh(void *ctx)
{
	end(ctx, false);
	free(ctx);
}

int ssh_memory(struct memory **out, struct ssh *s, struct fault *f)
{
	struct memory_link link = {read_pieces, close_ssh, s};
	const char *host = s->host;
	struct fault why = {""};
	int rc = wire_hello(&s->wire, &link.size, &why);

	if (rc < 0) {
		lost(s, rc, &why, f);
		free(s);
		return rc;
	}
	rc = memory_of_link(out, s->host, &link, s->wire.stop, &why);
	return rc < 0 ? fault_of(f, rc, host, &why) : 0;
}
