/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - what the controller can be asked, as tables (screen/browse.h):
 *
 * ports   label_port     the newest state of every port: the worst queues
 * silent  label_silence  ports that fell silent, and since when
 * links   label_link     suspected loss: labels that are missing by their
 *                        numbers, or ports that are silent
 * paths   label_path     specific flows: the latency of each hop on their way
 */
#ifndef INT_LABEL_CTL_TABLES_H
#define INT_LABEL_CTL_TABLES_H

#include "screen/browse.h"
#include "label/control.h"

extern const char *const table_names[]; /* NULL behind the last */

/* For browse_open(). */
struct tables {
	struct label_control *c;
	void *run;	  /* whose tables they are */
	const char *from; /* where packets come from, for the screen */
	struct label_control_ledger before; /* when it was drawn last, */
	uint64_t before_ns;
};

extern const struct browse_tables tables;

#endif
