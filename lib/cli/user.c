/* SPDX-License-Identifier: BSD-2-Clause */
/* user.c - giving up privileges when nothing needs them any more. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/live.h"

/* Those that a program got by setcap(8), or from who started it. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &h, none) < 0)
		cli_fail("giving up capabilities: %s", strerror(errno));
}

/* The way back must be shut. */
static bool is_for_good(const struct passwd *p)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (getresuid(&r, &e, &s) || getresgid(&rg, &eg, &sg))
		return false;
	if (r != p->pw_uid || e != p->pw_uid || s != p->pw_uid ||
	    rg != p->pw_gid || eg != p->pw_gid || sg != p->pw_gid)
		return false;
	return !p->pw_uid || (setuid(0) < 0 && seteuid(0) < 0);
}

static const struct passwd *find(const char *user)
{
	const struct passwd *p;

	errno = 0;
	if (!(p = getpwnam(user)))
		cli_fail("--user: %s: %s", user,
			 errno ? strerror(errno) : "no such user");
	return p;
}

static void not_root(const char *user)
{
	cli_fail("--user: %s: only root can become another user", user);
}

/* Root, or who was given the capability. */
static bool may_become(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct mine[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &h, mine) < 0 ||
	       mine[0].effective & 1u << CAP_SETUID;
}

void cli_user_check(const char *user)
{
	if (user && find(user)->pw_uid != geteuid() && !may_become())
		not_root(user);
}

void cli_user(const char *user)
{
	const struct passwd *p;

	if (!user) {
		if (geteuid() != 0)
			drop_capabilities();
		return;
	}
	p = find(user);
	if (geteuid() != 0 && geteuid() == p->pw_uid) {
		drop_capabilities();
		return;
	}
	if (initgroups(user, p->pw_gid) < 0 ||
	    setresgid(p->pw_gid, p->pw_gid, p->pw_gid) < 0 ||
	    setresuid(p->pw_uid, p->pw_uid, p->pw_uid) < 0) {
		if (errno == EPERM)
			not_root(user);
		cli_fail("--user: %s: %s", user, strerror(errno));
	}
	if (p->pw_uid) /* who was not root has them still */
		drop_capabilities();
	if (!is_for_good(p))
		cli_fail("--user: %s: privileges could not be given up", user);
}
