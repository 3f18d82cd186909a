/* SPDX-License-Identifier: BSD-2-Clause */
/* hop_control.c - what the controller says to this device. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/cli.h"
#include "hop.h"
#include "label/command.h"

static int make_socket(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stat st;
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		cli_refuse("--control: '%s' is too long for a socket", path);
	memcpy(a.sun_path, path, strlen(path) + 1);
	/* What an earlier run has left. */
	if (!stat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		cli_fail("%s: %s", path, strerror(errno));
	return fd;
}

void hop_control_open(struct hop_control *c, const char *path, bool quiet)
{
	struct stat st;

	*c = (struct hop_control){.path = path, .fd = -1};
	if (!path)
		return;
	if (!strcmp(path, "-")) {
		/* It may be a terminal, which others write to, too: whether
		 * reading it waits is not changed, but asked each time. */
		c->fd = dup(STDIN_FILENO);
	} else if (!stat(path, &st) && !S_ISSOCK(st.st_mode)) {
		/* A FIFO for writing, too: it does not end with its writer. */
		c->fd = open(path, (S_ISFIFO(st.st_mode) ? O_RDWR : O_RDONLY) |
					   O_NONBLOCK | O_CLOEXEC);
	} else {
		c->fd = make_socket(path);
		c->socket = true;
		if (!quiet)
			cli_warn("--control: a socket is at %s, for commands",
				 path);
	}
	if (c->fd < 0)
		cli_fail("%s: %s", path, strerror(errno));
}

static void obey(struct hop_control *c, struct label_hop *h, const char *line)
{
	struct label_command what;
	struct fault f;
	int rc = label_command_read(&what, line, &f);

	if (!rc && what.kind == LABEL_COMMAND_S)
		label_hop_set_s(h, what.port, what.s);
	else if (!rc && what.kind == LABEL_COMMAND_FLOW_ADD)
		rc = label_hop_flow_add(h, what.key, what.key_len,
					what.period_us);
	else if (!rc)
		rc = label_hop_flow_del(h, what.key, what.key_len);
	if (rc == -ENOSPC)
		fault_set(&f, rc, "is one flow above %d", LABEL_FLOWS_MAX);
	if (rc == -ENOENT)
		fault_set(&f, rc, "names a flow that is not there");
	if (rc) {
		c->refused++;
		cli_warn("--control: '%s' %s", line, f.text);
	} else {
		c->taken++;
	}
}

static void too_long(struct hop_control *c)
{
	cli_warn("--control: a line is too long");
	c->refused++;
}

/* The lines in what came, the last one perhaps not whole yet. */
static void obey_lines(struct hop_control *c, struct label_hop *h, bool whole)
{
	char *line = c->line, *end;

	c->line[c->used] = '\0';
	while ((end = strchr(line, '\n')) || (whole && *line)) {
		if (end)
			*end = '\0';
		if (*line && !c->skip)
			obey(c, h, line);
		c->skip = false;
		line = end ? end + 1 : line + strlen(line);
	}
	c->used = strlen(line);
	memmove(c->line, line, c->used);
	if (c->used == sizeof(c->line) - 1) {
		if (!c->skip)
			too_long(c);
		c->skip = true;
		c->used = 0;
	}
}

/* A datagram is its lines, whole; one that is cut is none. */
static void obey_datagrams(struct hop_control *c, struct label_hop *h)
{
	ssize_t n;

	while ((n = recv(c->fd, c->line, sizeof(c->line) - 1,
			 MSG_DONTWAIT | MSG_TRUNC)) >= 0) {
		if ((size_t)n >= sizeof(c->line)) {
			too_long(c);
			continue;
		}
		c->used = (size_t)n;
		obey_lines(c, h, true);
	}
}

static bool is_ready(const struct hop_control *c)
{
	struct pollfd p = {c->fd, POLLIN, 0};

	return poll(&p, 1, 0) > 0;
}

void hop_control_look(struct hop_control *c, struct label_hop *h)
{
	ssize_t n;

	if (c->socket)
		obey_datagrams(c, h);
	while (c->fd >= 0 && !c->socket && is_ready(c)) {
		n = read(c->fd, c->line + c->used,
			 sizeof(c->line) - 1 - c->used);
		if (n < 0)
			return;
		if (n == 0) { /* stdin has ended */
			obey_lines(c, h, true);
			close(c->fd);
			c->fd = -1;
			return;
		}
		c->used += (size_t)n;
		obey_lines(c, h, false);
	}
}

void hop_control_begin(struct hop_control *c, struct label_hop *h,
		       const char *capture)
{
	struct pollfd p = {c->fd, POLLIN, 0};
	struct stat st;

	if (c->socket || isatty(c->fd) || stat(capture, &st) ||
	    !S_ISREG(st.st_mode))
		return;
	while (c->fd >= 0 && strcmp(c->path, "-") == 0 && !cli_stop) {
		poll(&p, 1, -1);
		hop_control_look(c, h);
	}
}

void hop_control_close(struct hop_control *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->socket)
		unlink(c->path);
}
