/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket.c - a region's ticket, and where it goes: whole or not at all. */
#include "collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"

void ticket_for(struct ticket *t, const struct opts *o, const struct region *r)
{
	struct error err = {0};

	*t = o->at;
	if (ticket_check_mtu(region_table(r, 0), region_tables(r), t->mtu,
			     &err) < 0 ||
	    ticket_of_region(t, r, &err) < 0)
		cli_error(o->region, &err);
}

/* A pipe or a device cannot be replaced. */
static bool is_other(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* Writes and closes out. */
static int write_to(const struct ticket *t, FILE *out)
{
	int rc = out ? ticket_write(t, out) : -errno;

	if (out && fclose(out) != 0 && !rc)
		rc = -errno;
	return rc;
}

static int put_here(const struct ticket *t, const char *path)
{
	FILE *out;

	do
		out = fopen(cli_place(path), "we");
	while (!out && errno == EINTR);
	return write_to(t, out);
}

static int replace_file(const struct ticket *t, const char *path)
{
	struct atomic_file a;
	int rc = atomic_file_open(&a, path, 0666);

	if (!rc) {
		rc = write_to(t, fdopen(dup(a.fd), "w"));
		rc = rc ? rc : atomic_file_replace(&a);
	}
	atomic_file_drop(&a);
	if (a.fd >= 0)
		close(a.fd);
	return rc;
}

int ticket_put(const struct ticket *t, const char *path)
{
	char *real;
	int rc;

	if (is_dash(path))
		return ticket_write(t, stdout);
	if (is_other(path))
		return put_here(t, path);
	real = realpath(path, NULL); /* what a link names, not the link */
	rc = replace_file(t, real ? real : path);
	free(real);
	return rc;
}

int ticket_can_put(const char *path)
{
	struct atomic_file a;
	struct stat st;
	char *real;
	int rc;

	if (!path || is_dash(path))
		return 0;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (is_other(path))
		return access(path, W_OK) < 0 ? -errno : 0;
	real = realpath(path, NULL);
	rc = atomic_file_open(&a, real ? real : path, 0666);
	atomic_file_drop(&a);
	if (a.fd >= 0)
		close(a.fd);
	free(real);
	return rc;
}
