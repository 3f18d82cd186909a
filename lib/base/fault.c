/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
