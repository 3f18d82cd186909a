/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"

enum {
	BLOCK = 1 << 18,
};

int lines_open(struct lines *l, const char *path)
{
	struct stat st;
	int rc;

	*l = (struct lines){.fd = STDIN_FILENO, .path = path};
	if (!strcmp(path, "-"))
		l->path = "standard input";
	else
		do
			l->fd = open(cli_path_to_open(path),
				     O_RDONLY | O_CLOEXEC);
		while (l->fd < 0 && errno == EINTR);
	if (l->fd < 0)
		return -errno;
	if (fstat(l->fd, &st) < 0)
		goto fail;
	l->regular = S_ISREG(st.st_mode);
	l->buf = malloc(BLOCK + 2); /* the last line's NUL may need one more */
	l->at = l->stop = l->buf;
	if (l->buf)
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
	l->cut = !end;
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

int lines_init(struct lines *l)
{
	*l = (struct lines){.fd = -1, .buf = malloc(BLOCK + 2)};
	l->at = l->stop = l->buf;
	return l->buf ? 0 : -ENOMEM;
}

void lines_unread(struct lines *l, char *line, size_t len)
{
	char *end = line + len;

	*end = end + 1 == l->at ? '\n' : ' ';
	l->at = line;
	l->number--;
}

/* The end of the whole line at `at', after its \n; NULL: it is not whole. */
static char *line_end(const struct lines *l, char *at)
{
	char *end = memchr(at, '\n', (size_t)(l->stop - at));

	if (!end && (!l->end || at == l->stop))
		return NULL;
	if ((end ? end : l->stop) - at > LINE_MAX_LEN)
		return NULL;
	return end ? end + 1 : l->stop;
}

bool lines_move(struct lines *l, struct lines *to, size_t max)
{
	char *at = l->at, *end;
	uint64_t lines = 0;

	while ((end = line_end(l, at)) && (size_t)(end - l->at) <= max) {
		at = end;
		lines++;
	}
	if (at == l->at)
		return false;
	memcpy(to->buf, l->at, (size_t)(at - l->at));
	to->at = to->buf;
	to->stop = to->buf + (at - l->at);
	to->end = true; /* the last line may end without a \n */
	to->number = l->number;
	to->path = l->path;
	l->number += lines;
	l->at = at;
	return true;
}

/* --- CSV ------------------------------------------------------------------ */

/* Takes the quotes off a field. Returns what follows; NULL: no end quote. */
static char *unquote(char *p)
{
	char *out = p++;

	for (;; p++) {
		if (!*p)
			return NULL;
		if (*p == '"' && *++p != '"')
			break;
		*out++ = *p;
	}
	*out = '\0';
	return p;
}

int csv_split(char *line, char **field, int max)
{
	int n = 0;

	for (char *p = line; p && n < max; n++) {
		char *end = p;

		field[n] = p;
		if (*p == '"' && !(end = unquote(p)))
			return -EINVAL;
		if (end != p && *end && *end != ',')
			return -EINVAL;
		end = strchr(end, ',');
		p = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
	}
	return n;
}

int csv_find(char *const *field, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(field[i], name))
			return i;
	return -1;
}
