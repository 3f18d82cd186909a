/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

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
