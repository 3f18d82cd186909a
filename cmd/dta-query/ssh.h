/* SPDX-License-Identifier: BSD-2-Clause */
/* ssh.h - a command on another machine, by ssh: its standard input and output.
 */
#ifndef QUERY_SSH_H
#define QUERY_SSH_H

#include <sys/types.h>

#include "base/fault.h"
#include "lines.h"

struct ssh {
	pid_t pid; /* 0: none */
	int to;	   /* a socket: writing to one that is gone raises nothing */
	struct lines from;
};

/*
 * Starts command (as "ssh", or words like "ssh -p 22") HOST with these words
 * behind it; NULL ends them. They reach a shell over there: each must be plain.
 * It never asks for a password, and gives up on a machine that is silent.
 */
int ssh_start(struct ssh *s, const char *command, const char *host,
	      const char *const *words, struct fault *f);

int ssh_send(struct ssh *s, const char *text, size_t len);

/* The next line, NULL at the end or on an error. */
char *ssh_line(struct ssh *s);

/* Ends it; its exit status, 128 and more for a signal. */
int ssh_end(struct ssh *s);

#endif
