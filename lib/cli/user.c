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

/* Those that a program got by setcap(8). */
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

void cli_user(const char *user)
{
	const struct passwd *p;

	if (!user) {
		if (geteuid() != 0)
			drop_capabilities();
		return;
	}
	errno = 0;
	if (!(p = getpwnam(user)))
		cli_fail("--user: %s: %s", user,
			 errno ? strerror(errno) : "no such user");
	if (geteuid() != 0 && geteuid() == p->pw_uid) {
		drop_capabilities();
		return;
	}
	if (initgroups(user, p->pw_gid) < 0 ||
	    setresgid(p->pw_gid, p->pw_gid, p->pw_gid) < 0 ||
	    setresuid(p->pw_uid, p->pw_uid, p->pw_uid) < 0)
		cli_fail("--user: %s: %s", user,
			 errno == EPERM ? "only root can become another user"
					: strerror(errno));
	if (!is_for_good(p))
		cli_fail("--user: %s: privileges could not be given up", user);
}
