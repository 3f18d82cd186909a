/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_file.c - tickets into files, whole or not at all. */
#include "ticket_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe or a device cannot be replaced. */
static int put_here(const struct ticket *t, const char *path)
{
	FILE *out = fopen(path, "we");
	int rc;

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
