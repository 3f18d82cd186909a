/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int error_set(struct error *err, int rc, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return rc;
}

int error_about(struct error *err, int rc, const char *object,
		const struct error *why)
{
	size_t n = strlen(object);

	/* strchr() also finds '\0': the reason is the object alone */
	if (!strncmp(why->text, object, n) && strchr(": ", why->text[n]))
		return error_set(err, rc, "%s", why->text);
	return error_set(err, rc, "%s: %.400s", object, why->text);
}

int error_opening(struct error *err, int rc, const char *path)
{
	struct passwd entry, *owner = NULL;
	char text[1024], number[16];
	struct stat st;

	if (rc != -EACCES || stat(path, &st) < 0)
		return error_set(err, rc, "%s", strerror(-rc));
	snprintf(number, sizeof(number), "%u", (unsigned)st.st_uid);
	getpwuid_r(st.st_uid, &entry, text, sizeof(text), &owner);
	return error_set(err, rc, "%s: it belongs to %s, with mode %04o",
			 strerror(-rc), owner ? owner->pw_name : number,
			 (unsigned)st.st_mode & 07777);
}
