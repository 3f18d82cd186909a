/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fault.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int fault_set(struct fault *f, int err, const char *fmt, ...)
{
	va_list ap;

	if (!f)
		return err;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return err;
}

int fault_of(struct fault *f, int err, const char *object,
	     const struct fault *why)
{
	size_t n = strlen(object);

	/* before a '\0', too: the object is all there is to say */
	if (!strncmp(why->text, object, n) && strchr(": ", why->text[n]))
		return fault_set(f, err, "%s", why->text);
	return fault_set(f, err, "%s: %.400s", object, why->text);
}

int fault_open(struct fault *f, int err, const char *path)
{
	struct passwd entry, *owner = NULL;
	char text[1024], number[16];
	struct stat st;

	if (err != -EACCES || stat(path, &st) < 0)
		return fault_set(f, err, "%s", strerror(-err));
	snprintf(number, sizeof(number), "%u", (unsigned)st.st_uid);
	getpwuid_r(st.st_uid, &entry, text, sizeof(text), &owner);
	return fault_set(f, err, "%s: it belongs to %s, with mode %04o",
			 strerror(-err), owner ? owner->pw_name : number,
			 (unsigned)st.st_mode & 07777);
}
