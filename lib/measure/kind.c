/* SPDX-License-Identifier: BSD-2-Clause */
/* kind.c - names of events. */
#include <string.h>

#include "measure/rows.h"

static const char *const kinds[EVENTS] = {
	[EVENT_NEW_KEY] = "new_key",
	[EVENT_CHANGE] = "change",
	[EVENT_RISE] = "rise",
	[EVENT_FALL] = "fall",
	[EVENT_PATH_CHANGE] = "path_change",
	[EVENT_LOOP] = "loop",
	[EVENT_REPORT_LOSS] = "report_loss",
	[EVENT_RESTART] = "restart",
	[EVENT_DROP] = "drop",
};

const char *event_name(enum telemetry_kind k)
{
	return kinds[k];
}

int event_of(const char *name)
{
	for (int k = 0; k < EVENTS; k++)
		if (!strcmp(kinds[k], name))
			return k;
	return -1;
}
