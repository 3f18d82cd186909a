/* SPDX-License-Identifier: BSD-2-Clause */
#include "reading/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"

enum {
	BLOCK = 1 << 18,
};

static int open_it(const char *path)
{
	int fd;

	do
		fd = open(cli_place(path), O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int lines_open(struct lines *l, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat st;
	int rc;

	*l = (struct lines){.fd = STDIN_FILENO, .path = path};
	if (is_stdin)
		l->path = "standard input";
	else if ((l->fd = open_it(path)) < 0)
		return -errno;
	if (fstat(l->fd, &st) < 0)
		goto fail;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		goto fail;
	}
	l->regular = S_ISREG(st.st_mode);
	l->buf = malloc(BLOCK + 2); /* one to end a line that has no end */
	if (!l->buf)
		goto fail;
	l->at = l->stop = l->buf;
	return 0;
fail:
	rc = -errno;
	lines_close(l);
	return rc;
}

void lines_close(struct lines *l)
{
	if (l->fd > STDIN_FILENO)
		close(l->fd);
	free(l->buf);
	l->buf = NULL;
	l->fd = -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

char *lines_next(struct lines *l, size_t *len)
{
	char *line = l->at, *end;

	if (line == l->stop)
		return NULL;
	end = memchr(line, '\n', (size_t)(l->stop - line));
	if (!end && !l->end)
		return NULL;
	if ((end ? end : l->stop) - line > LINE_MAX_LEN) {
		l->too_long = true;
		return NULL;
	}
	if (end)
		l->at = end + 1;
	else
		l->at = end = l->stop;
	l->number++;
	while (line < end && is_blank(*line))
		line++;
	while (line < end && is_blank(end[-1]))
		end--;
	*end = '\0';
	*len = (size_t)(end - line);
	return line;
}

int lines_more(struct lines *l)
{
	size_t left = (size_t)(l->stop - l->at);
	ssize_t n;

	if (l->too_long || left > LINE_MAX_LEN)
		return -E2BIG;
	if (l->end)
		return 0;
	memmove(l->buf, l->at, left);
	l->at = l->buf;
	l->stop = l->buf + left;
	n = read(l->fd, l->stop, BLOCK - left);
	if (n < 0)
		return -errno;
	l->stop += n;
	if (!n)
		l->end = true;
	return n > 0 || left > 0;
}

void lines_check(const struct lines *l, int rc)
{
	if (rc == -E2BIG)
		cli_fail("%s:%llu: a line longer than %d bytes", l->path,
			 (unsigned long long)l->number + 1, LINE_MAX_LEN);
	if (rc < 0 && rc != -EINTR)
		cli_fail("%s: %s", l->path, strerror(-rc));
}

bool lines_wait(const struct lines *l)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};

	return !l->regular && poll(&p, 1, 0) <= 0;
}

int lines_room(struct lines *l)
{
	*l = (struct lines){.fd = -1, .buf = malloc(BLOCK + 2)};
	l->at = l->stop = l->buf;
	return l->buf ? 0 : -ENOMEM;
}

bool lines_share(struct lines *l, struct lines *to, size_t most)
{
	size_t n = (size_t)(l->stop - l->at);
	const char *last;

	if (most > BLOCK)
		most = BLOCK;
	if (n > most || !l->end) {
		last = memrchr(l->at, '\n', n < most ? n : most);
		n = last ? (size_t)(last + 1 - l->at) : 0;
	}
	if (!n)
		return false;
	memcpy(to->buf, l->at, n);
	to->at = to->buf;
	to->stop = to->buf + n;
	to->end = true; /* the last one may have none of its own */
	to->too_long = false;
	to->number = 0;
	to->path = l->path;
	l->at += n;
	return true;
}

bool lines_peek(const struct lines *l, char *line, size_t size)
{
	size_t left = (size_t)(l->stop - l->at);
	const char *at = l->at, *end = memchr(at, '\n', left);

	if (!left || (!end && !l->end && left <= LINE_MAX_LEN))
		return false;
	if (!end)
		end = l->stop;
	while (at < end && is_blank(*at))
		at++;
	snprintf(line, size, "%.*s", (int)(end - at), at);
	return true;
}
