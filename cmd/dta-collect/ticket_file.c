/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_file.c - tickets into files, whole or not at all. */
#include "ticket_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"

/* A pipe or a device cannot be replaced. */
static int put_here(const struct ticket *t, const char *path)
{
	FILE *out;
	int rc;

	do
		out = fopen(cli_place(path), "we");
	while (!out && errno == EINTR);
	if (!out)
		return -errno;
	rc = ticket_write(t, out);
	if (fclose(out) != 0 && !rc)
		rc = -errno;
	return rc;
}

static int put_aside(const struct ticket *t, const char *path)
{
	char *aside;
	int rc;

	if (asprintf(&aside, "%s.%d.new", path, (int)getpid()) < 0)
		return -ENOMEM;
	rc = put_here(t, aside);
	if (!rc && rename(aside, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(aside);
	free(aside);
	return rc;
}

/* Where put_aside() makes its file. */
static int can_replace(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1)
			     : strdup(".");
	int rc;

	if (!folder)
		return -ENOMEM;
	rc = access(folder, W_OK | X_OK) < 0 ? -errno : 0;
	free(folder);
	return rc;
}

int ticket_can_put(const char *path)
{
	struct stat st;
	char *real;
	int rc;

	if (!path || !strcmp(path, "-"))
		return 0;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return access(path, W_OK) < 0 ? -errno : 0;
	real = realpath(path, NULL);
	rc = can_replace(real ? real : path);
	free(real);
	return rc;
}

int ticket_put(const struct ticket *t, const char *path)
{
	struct stat st;
	char *real;
	int rc;

	if (!strcmp(path, "-"))
		return ticket_write(t, stdout);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return put_here(t, path);
	real = realpath(path, NULL); /* what a link names, not the link */
	rc = put_aside(t, real ? real : path);
	free(real);
	return rc;
}
