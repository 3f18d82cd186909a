/* SPDX-License-Identifier: BSD-2-Clause */
/* confine.c - by Landlock's system calls (landlock(7)): libc has no functions
 * for them. */
#include "cli/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live.h"

enum {
	TO_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	TO_WRITE = TO_READ | LANDLOCK_ACCESS_FS_WRITE_FILE |
		   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE,
	/* The rights of all kernels that have it, and REFER and TRUNCATE, which
	 * are newer than the oldest header. */
	ALL_OF_ABI_1 = (1 << 13) - 1,
	REFER = 1 << 13,
	TRUNCATE = 1 << 14,
};

static int rules = -1; /* a descriptor */
static uint64_t known; /* rights that the kernel knows */

/* Returns a descriptor, or -1. */
static int make_rules(uint64_t rights)
{
	return (int)syscall(SYS_landlock_create_ruleset, &rights,
			    sizeof(rights), 0);
}

static void begin_rules(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);

	if (rules >= 0 || abi < 1)
		return;
	known = ALL_OF_ABI_1 | (abi > 1 ? REFER : 0) | (abi > 2 ? TRUNCATE : 0);
	rules = make_rules(known);
}

/* A directory that is not there stays closed. */
static void allow(const char *dir, uint64_t rights)
{
	struct landlock_path_beneath_attr beneath = {.parent_fd = -1};

	begin_rules();
	beneath.allowed_access = rights & known;
	beneath.parent_fd = open(dir, O_PATH | O_CLOEXEC);
	if (beneath.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH,
		&beneath, 0);
	close(beneath.parent_fd);
}

/* The directory of a file, and of that to which it is a link now. */
static void allow_beside(const char *file, uint64_t rights)
{
	char *path[2];

	if (!file || !*file || !strcmp(file, "-"))
		return;
	path[0] = strdup(file);
	path[1] = realpath(file, NULL);
	for (int i = 0; i < 2; i++) {
		if (path[i])
			allow(dirname(path[i]), rights);
		free(path[i]);
	}
}

void cli_may_read(const char *file)
{
	allow_beside(file, TO_READ);
}

void cli_may_write(const char *file)
{
	allow_beside(file, TO_WRITE | TRUNCATE);
}

/* 0 or an errno. */
static int restrict_thread(int fd)
{
	int rc = fd < 0 ? ENOSYS : 0;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	/* A sanitizer opens files when it has found something. */
	if (!rc && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    syscall(SYS_landlock_restrict_self, fd, 0) < 0))
		rc = errno;
#endif
	if (fd >= 0)
		close(fd);
	return rc;
}

void cli_no_exec(void)
{
	restrict_thread(make_rules(LANDLOCK_ACCESS_FS_EXECUTE));
}

void cli_confine(bool quiet)
{
	int rc;

	allow("/proc", TO_READ); /* whether other writers of a region live */
	allow(cli_page_dir(), TO_WRITE);
	if (access(cli_page_dir(), F_OK) < 0)
		cli_may_write(cli_page_dir()); /* it may be made later */
	rc = restrict_thread(rules);
	rules = -1;
	if (rc && !quiet)
		cli_warn("not confined by Landlock: %s", strerror(rc));
}
