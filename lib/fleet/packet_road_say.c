/* SPDX-License-Identifier: BSD-2-Clause */
/* packet_road_say.c - messages. */
#include <stdarg.h>
#include <stdio.h>

#include "fleet/packet_road_private.h"

void packet_road_say(const struct packet_road *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->o.warn(p->o.ctx, text);
}

void packet_road_say_fault(const struct packet_road *p, const char *object,
			   const struct fault *why)
{
	struct fault all;

	fault_of(&all, 0, object, why);
	packet_road_say(p, "%s", all.text);
}
