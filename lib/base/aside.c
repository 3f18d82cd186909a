/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the directory's part of a path, its slash included. */
static int dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

static int open_dir(const char *path, int flags, mode_t mode)
{
	int len = dir_len(path), fd;
	char *dir = len ? strndup(path, (size_t)len) : strdup(".");

	if (!dir)
		return -ENOMEM;
	fd = open(dir, flags | O_CLOEXEC, mode);
	free(dir);
	return fd < 0 ? -errno : fd;
}

/* .NAME.PID.new: an older one is of an earlier process of that number. */
static int own_name(struct aside *a)
{
	int len = dir_len(a->final);

	if (asprintf(&a->name, "%.*s.%s.%d.new", len, a->final, a->final + len,
		     (int)getpid()) < 0) {
		a->name = NULL;
		return -ENOMEM;
	}
	unlink(a->name);
	return 0;
}

int aside_open(struct aside *a, const char *final, mode_t mode)
{
	int rc;

	*a = (struct aside){.fd = -1, .final = final};
	a->fd = open_dir(final, O_RDWR | O_TMPFILE, mode);
	if (a->fd >= 0)
		return 0;
	if (a->fd != -EOPNOTSUPP && a->fd != -EISDIR && a->fd != -EINVAL)
		return a->fd;
	rc = own_name(a);
	if (rc < 0)
		return rc;
	a->fd = open(a->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return a->fd < 0 ? -errno : 0;
}

static int link_to(const struct aside *a, const char *name)
{
	char self[64];

	if (a->name)
		return link(a->name, name) < 0 ? -errno : 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", a->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

int aside_link(struct aside *a)
{
	int rc = link_to(a, a->final);

	if (!rc)
		aside_drop(a);
	return rc;
}

static int sync_dir(const char *path)
{
	int fd = open_dir(path, O_RDONLY | O_DIRECTORY, 0);
	int rc;

	if (fd < 0)
		return fd;
	/* Not every file system can sync a directory; then there is no need. */
	rc = fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
	close(fd);
	return rc;
}

int aside_replace(struct aside *a)
{
	struct aside unnamed = *a;
	int rc;

	if (fsync(a->fd) < 0 && errno != EINVAL)
		return -errno;
	/* rename(2) wants a name. */
	if (!a->name) {
		rc = own_name(a);
		if (!rc)
			rc = link_to(&unnamed, a->name);
		if (rc < 0)
			return rc;
	}
	if (rename(a->name, a->final) < 0)
		return -errno;
	free(a->name);
	a->name = NULL;
	return sync_dir(a->final);
}

void aside_drop(struct aside *a)
{
	if (a->name)
		unlink(a->name);
	free(a->name);
	a->name = NULL;
}
