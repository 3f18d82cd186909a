/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket.c - a region's ticket, and where it goes: whole or not at all. */
#include "collect.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"

void ticket_for(struct ticket *t, const struct opts *o, const struct region *r)
{
	struct error err = {0};

	*t = o->want;
	if (ticket_check_mtu(region_table(r, 0), region_tables(r), t->mtu,
			     &err) < 0 ||
	    ticket_of_region(t, r, &err) < 0)
		cli_error(o->region, &err);
}

static int write_to(const struct ticket *t, FILE *out)
{
	int rc = out ? ticket_write(t, out) : -errno;

	if (out && fclose(out) != 0 && !rc)
		rc = -errno;
	return rc;
}

int ticket_put(const struct ticket *t, const char *path)
{
	struct atomic_file a;
	int rc;

	if (is_dash(path))
		return ticket_write(t, stdout);
	do /* a pipe may wait for its reader */
		rc = atomic_file_output(&a, cli_path_to_open(path));
	while (rc == -EINTR);
	if (!rc)
		rc = write_to(t, fdopen(dup(a.fd), "w"));
	if (!rc)
		rc = atomic_file_replace(&a);
	atomic_file_close(&a);
	return rc;
}

int ticket_can_put(const char *path)
{
	struct atomic_file a;
	struct stat st;
	int rc;

	if (!path || is_dash(path))
		return 0;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return access(path, W_OK) < 0 ? -errno : 0;
	rc = atomic_file_output(&a, path);
	atomic_file_close(&a);
	return rc;
}
