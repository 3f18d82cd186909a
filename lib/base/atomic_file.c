/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* .NAME.PID.new: a file of that name was left by a process which is dead. */
static int make_temporary_name(struct atomic_file *a)
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

int atomic_file_open(struct atomic_file *a, const char *final, mode_t mode)
{
	int rc;

	*a = (struct atomic_file){.fd = -1, .final = final};
	a->fd = open_dir(final, O_RDWR | O_TMPFILE, mode);
	if (a->fd >= 0)
		return 0;
	if (a->fd != -EOPNOTSUPP && a->fd != -EISDIR && a->fd != -EINVAL)
		return a->fd;
	rc = make_temporary_name(a);
	if (rc < 0)
		return rc;
	a->fd = open(a->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return a->fd < 0 ? -errno : 0;
}

int atomic_file_output(struct atomic_file *a, const char *path)
{
	char *real = realpath(path, NULL);
	struct stat st;
	int rc = 0;

	*a = (struct atomic_file){.fd = -1};
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		rc = atomic_file_open(a, real ? real : path, 0666);
	else if ((a->fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		rc = -errno;
	a->real = rc < 0 ? NULL : real;
	if (rc < 0)
		free(real);
	return rc;
}

static int link_to(const struct atomic_file *a, const char *name)
{
	char self[64];

	if (a->name)
		return link(a->name, name) < 0 ? -errno : 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", a->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

int atomic_file_link(struct atomic_file *a)
{
	int rc = link_to(a, a->final);

	if (!rc)
		atomic_file_drop(a);
	return rc;
}

static int sync_dir(const char *path)
{
	int fd = open_dir(path, O_RDONLY | O_DIRECTORY, 0);
	int rc;

	if (fd < 0)
		return fd;
	/* A file system that cannot sync directories does not count. */
	rc = fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
	close(fd);
	return rc;
}

int atomic_file_replace(struct atomic_file *a)
{
	struct atomic_file unnamed = *a;
	int rc;

	if (!a->final)
		return 0;
	if (fsync(a->fd) < 0 && errno != EINVAL)
		return -errno;
	/* Only rename(2) replaces a file, and it takes no descriptor. */
	if (!a->name) {
		rc = make_temporary_name(a);
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

void atomic_file_drop(struct atomic_file *a)
{
	if (a->name)
		unlink(a->name);
	free(a->name);
	free(a->real);
	a->name = a->real = NULL;
}

void atomic_file_close(struct atomic_file *a)
{
	atomic_file_drop(a);
	if (a->fd >= 0)
		close(a->fd);
}
