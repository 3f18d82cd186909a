/* SPDX-License-Identifier: BSD-2-Clause */
#include "ssh.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "query/far_wire.h"
#include "words.h"

enum {
	ARGS_MAX = 64,
	COMMAND_MAX = 8192,
};

struct ssh {
	pid_t pid; /* 0: none */
	const char *command, *host;
	struct wire wire;
};

/* In the child. */
_Noreturn static void become(const char *command, const char *host,
			     const char *region)
{
	const char *const words[] = {
		"-o",	 "BatchMode=yes",
		"-o",	 "ConnectTimeout=10",
		"-o",	 "ServerAliveInterval=5",
		host,	 "dta-dump",
		"serve", region,
		NULL,
	};
	char *argv[ARGS_MAX + 1], text[COMMAND_MAX];
	int n = -1;

	if (strlen(command) < sizeof(text)) {
		strncpy(text, command, sizeof(text));
		n = words_split(text, argv, ARGS_MAX / 2);
	}
	if (n < 1) {
		cli_warn("--ssh: '%s': no command", command);
		_exit(CLI_USAGE);
	}
	for (unsigned i = 0; words[i]; i++)
		argv[n++] = (char *)words[i];
	argv[n] = NULL;
	execvp(argv[0], argv);
	cli_warn("%s: %s", argv[0], strerror(errno));
	_exit(127);
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
	if (at_once || cli_stop) /* nobody waits for what it is at */
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
				 "%s: cannot be asked (%s ended with status "
				 "%d)",
				 s->host, s->command, status);
	return fault_set(f, rc, "%s: %.400s", s->host, why->text);
}

int ssh_start(struct ssh **out, const char *command, const char *host,
	      const char *region, struct fault *f)
{
	struct ssh *s = calloc(1, sizeof(*s));
	int fd[2], rc = -ENOMEM;

	if (!s || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0) {
		rc = s ? -errno : rc;
		goto fail;
	}
	rc = wire_init(&s->wire, fd[0], &cli_stop);
	fflush(stdout); /* or the child had it, too */
	s->pid = rc < 0 ? -1 : fork();
	if (s->pid == 0) {
		dup2(fd[1], STDIN_FILENO);
		dup2(fd[1], STDOUT_FILENO);
		become(command, host, region);
	}
	if (!rc && s->pid < 0)
		rc = -errno;
	close(fd[1]);
	if (rc < 0) {
		close(fd[0]);
		wire_fini(&s->wire);
		goto fail;
	}
	s->command = command;
	s->host = host;
	*out = s;
	return 0;
fail:
	free(s);
	return fault_set(f, rc, "%s", strerror(-rc));
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
	rc = memory_of_link(out, s->host, &link, &cli_stop, &why);
	return rc < 0 ? fault_of(f, rc, host, &why) : 0;
}
