/* SPDX-License-Identifier: BSD-2-Clause */
#include "ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "shell.h"

enum {
	ARGS_MAX = 64,
};

/* In the child. */
_Noreturn static void become(const char *command, const char *host,
			     const char *const *words)
{
	static const char *const careful[] = {
		"-o", "BatchMode=yes",	       "-o", "ConnectTimeout=10",
		"-o", "ServerAliveInterval=5", NULL,
	};
	char *argv[ARGS_MAX + 1], text[LINE_MAX_LEN];
	int n;

	snprintf(text, sizeof(text), "%s", command);
	n = words_split(text, argv, ARGS_MAX / 2);
	if (n < 1) {
		cli_warn("--ssh: '%s': no command", command);
		_exit(CLI_USAGE);
	}
	for (unsigned i = 0; careful[i] && n < ARGS_MAX; i++)
		argv[n++] = (char *)careful[i];
	argv[n++] = (char *)host;
	while (*words && n < ARGS_MAX)
		argv[n++] = (char *)*words++;
	argv[n] = NULL;
	execvp(argv[0], argv);
	cli_warn("%s: %s", argv[0], strerror(errno));
	_exit(127);
}

static int reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int ssh_start(struct ssh *s, const char *command, const char *host,
	      const char *const *words, struct fault *f)
{
	int in[2], out[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0)
		return fault_set(f, -errno, "%s", strerror(errno));
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return fault_set(f, -errno, "%s", strerror(errno));
	}
	fflush(stdout); /* or the child had it, too */
	s->pid = fork();
	if (s->pid == 0) {
		dup2(in[1], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		become(command, host, words);
	}
	close(in[1]);
	close(out[1]);
	if (s->pid < 0 || lines_attach(&s->from, out[0], host) < 0) {
		close(in[0]);
		close(out[0]);
		if (s->pid > 0 && kill(s->pid, SIGTERM) == 0)
			reap(s->pid);
		s->pid = 0;
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	}
	s->to = in[0];
	return 0;
}

int ssh_send(struct ssh *s, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(s->to, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR && !cli_stop)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

char *ssh_line(struct ssh *s)
{
	char *line;
	size_t len;
	int rc;

	while (!(line = lines_next(&s->from, &len))) {
		rc = lines_more(&s->from);
		if (rc == -EINTR && !cli_stop)
			continue;
		if (rc <= 0)
			return NULL;
	}
	return line;
}

int ssh_end(struct ssh *s)
{
	pid_t pid = s->pid;

	if (!pid)
		return 0;
	close(s->to);
	lines_close(&s->from);
	if (cli_stop) /* nobody waits for what it is at */
		kill(pid, SIGTERM);
	s->pid = 0;
	return reap(pid);
}
