/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -i: the subcommands again, without the region. Each runs in a child of its
 * own, so that neither its errors nor an interrupt end the shell.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "sources.h"
#include "shell.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void catch_interrupts(void)
{
	struct sigaction a = {.sa_handler = on_interrupt};

	sigaction(SIGINT, &a, NULL);
}

/* In the child, which asks by connections of its own. */
static int run_command(struct shell *sh)
{
	static struct places p;
	struct opts *o = &sh->o;

	cli_signals();
	for (int i = sh->argc; i > 0; i--) /* room for argv[0] */
		sh->argv[i] = sh->argv[i - 1];
	sh->argv[0] = (char *)cli.name;
	sh->argv[sh->argc + 1] = NULL;
	optind = 0; /* getopt: from the start */
	o->in_shell = true;
	options_read(o, sh->argc + 1, sh->argv);
	if (!sh->terminal && o->keys.file && !strcmp(o->keys.file, "-"))
		cli_usage(&cli, "--keys -: standard input holds the commands");
	sources_open(&p, o);
	return run(o, &p);
}

static int run_in_child(struct shell *sh)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		cli_warn("fork: %s", strerror(errno));
		return CLI_FAIL;
	}
	if (pid == 0)
		exit(run_command(sh));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_FAIL;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	cli_warn("ended by signal %d", WTERMSIG(status));
	return CLI_FAIL;
}

static void run_line(struct shell *sh, char *line)
{
	sh->argc = words_split(line, sh->argv, WORDS_MAX - 1);
	if (sh->argc < 0) {
		cli_warn("a quote is not closed");
		sh->status = CLI_USAGE;
		return;
	}
	if (!sh->argc)
		return;
	for (const struct builtin *b = builtins; b->name; b++)
		if (!strcmp(sh->argv[0], b->name)) {
			sh->status = b->run(sh);
			return;
		}
	if (!is_verb(sh->argv[0]) && sh->argv[0][0] != '-') {
		no_command(sh->argv[0]);
		sh->status = CLI_USAGE;
		return;
	}
	sh->status = run_in_child(sh);
}

static void run_terminal(struct shell *sh)
{
	struct terminal *t = terminal_open(sh);
	char *line;
	size_t len;

	if (!t)
		cli_fail("out of memory");
	while (!sh->quit && !cli_stop) {
		fflush(stdout);
		interrupted = 0;
		line = terminal_line(t, &len);
		if (interrupted) {
			putchar('\n');
			continue; /* the line is given up */
		}
		if (!line) {
			putchar('\n');
			break;
		}
		run_line(sh, line);
	}
	terminal_close(t);
}

static void run_script(struct shell *sh)
{
	struct lines l;
	size_t len;
	char *line;
	int rc = lines_open(&l, "-");

	while (!rc && !sh->quit && !cli_stop && !interrupted) {
		while (!sh->quit && (line = lines_next(&l, &len)))
			run_line(sh, line);
		if (sh->quit)
			break;
		rc = lines_more(&l);
		if (rc == 0)
			break;
		rc = rc == -EINTR || rc > 0 ? 0 : rc;
	}
	lines_check(&l, rc);
	lines_close(&l);
}

int run_shell(const struct opts *o, struct places *p)
{
	static struct shell sh;

	sh.o = *o;
	sh.o.interactive = false;
	sh.p = p;
	sh.interrupted = &interrupted;
	settings_begin(&sh);
	sh.terminal = isatty(STDIN_FILENO);
	catch_interrupts();
	if (sh.terminal)
		run_terminal(&sh);
	else
		run_script(&sh);
	return sh.status;
}
