/* SPDX-License-Identifier: BSD-2-Clause */
/* The shell on a terminal: editing, history and completion by libedit. */
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complete.h"
#include "shell.h"

enum {
	HISTORY_MAX = 1000,
	PATH_ROOM = 4096,
};

struct terminal {
	EditLine *el;
	History *history;
	char path[PATH_ROOM]; /* of the history; "": none */
	char line[LINE_MAX_LEN + 1];
};

static const char *prompt(EditLine *el)
{
	(void)el;
	return "dta> ";
}

/* Signals that give up a line. terminal_line() keeps them back, so that they
 * come while a character is waited for, and never just before. */
static sigset_t set_of_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

/* libedit's way to get a character. In the C locale it is a byte. */
static int get_char(EditLine *el, wchar_t *out)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct shell *sh = NULL;
	sigset_t open;
	uint8_t byte;
	ssize_t n;

	el_get(el, EL_CLIENTDATA, &sh);
	sigemptyset(&open);
	do
		if (*sh->interrupted || cli_stop)
			return -1;
	while (ppoll(&p, 1, NULL, &open) < 0 && errno == EINTR);
	n = read(STDIN_FILENO, &byte, 1);
	if (n == 1)
		*out = byte;
	return (int)n;
}

/* $XDG_STATE_HOME/dta/history, or ~/.local/state; the folders are made. */
static void find_history(struct terminal *t)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = 0;

	if (state && state[0] == '/')
		n = snprintf(t->path, PATH_ROOM, "%s/dta/history", state);
	else if (home && home[0] == '/')
		n = snprintf(t->path, PATH_ROOM, "%s/.local/state/dta/history",
			     home);
	if (n <= 0 || n >= PATH_ROOM) {
		t->path[0] = '\0';
		return;
	}
	for (char *p = strchr(t->path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(t->path, 0700); /* it may be there; load and save tell */
		*p = '/';
	}
}

struct terminal *terminal_open(struct shell *sh)
{
	struct terminal *t = calloc(1, sizeof(*t));
	HistEvent ev;

	if (!t)
		return NULL;
	t->el = el_init(cli.name, stdin, stdout, stderr);
	t->history = history_init();
	if (!t->el || !t->history) {
		terminal_close(t);
		return NULL;
	}
	find_history(t);
	history(t->history, &ev, H_SETSIZE, HISTORY_MAX);
	history(t->history, &ev, H_SETUNIQUE, 1);
	if (t->path[0])
		history(t->history, &ev, H_LOAD, t->path);
	el_set(t->el, EL_EDITOR, "emacs");
	el_set(t->el, EL_PROMPT, prompt);
	el_set(t->el, EL_HIST, history, t->history);
	el_set(t->el, EL_CLIENTDATA, sh);
	el_wset(t->el, EL_GETCFN, get_char);
	/* Wide: el_set() would make copies, and never free them. */
	el_wset(t->el, EL_ADDFN, L"dta-complete", L"complete", complete);
	el_set(t->el, EL_BIND, "^I", "dta-complete", NULL);
	el_source(t->el, NULL); /* ~/.editrc has the last word */
	return t;
}

char *terminal_line(struct terminal *t, size_t *len)
{
	sigset_t back = set_of_signals(), before;
	const char *text;
	HistEvent ev;
	int n = 0;

	sigprocmask(SIG_BLOCK, &back, &before);
	text = el_gets(t->el, &n);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!text || n <= 0)
		return NULL;
	if (n > LINE_MAX_LEN)
		n = LINE_MAX_LEN;
	memcpy(t->line, text, (size_t)n);
	t->line[n] = '\0';
	*len = (size_t)n;
	if (strspn(t->line, " \t\r\n") < (size_t)n)
		history(t->history, &ev, H_ENTER, text);
	return t->line;
}

void terminal_close(struct terminal *t)
{
	HistEvent ev;

	if (t->history && t->path[0])
		history(t->history, &ev, H_SAVE, t->path);
	if (t->el)
		el_end(t->el);
	if (t->history)
		history_end(t->history);
	free(t);
}
