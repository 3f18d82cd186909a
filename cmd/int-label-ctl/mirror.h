/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mirror.h - the database in Redis, for other programs, where the published
 * prototype has it (wire-facts 4.4): by the key DEVICE-PORT
 *
 *	0	list of label time and latency, gone after a telemetry interval
 *	1	the same, which stays
 *	2	list of S, as Pro has it
 *	3	numbers since we began, of packets that came with the option:
 *		"receive" all, "int" those with labels, "0" to "5" by the number
 *		of their labels (5: or more); "all" labels, "extra" those that
 *		came while database 0 still had the port. "send" is not known
 *	4	"coverage": list of the shares of all intervals, the newest last
 */
#ifndef INT_LABEL_CTL_MIRROR_H
#define INT_LABEL_CTL_MIRROR_H

#include "cli/databases.h"
#include "label/control.h"
#include "row/row.h"

struct mirror;

/* Its sinks are added to d. Exits if the URL is none. */
struct mirror *mirror_open(struct databases *d, const char *url,
			   uint64_t interval_ns);
void mirror_port(struct mirror *m, const struct label_record *r);
void mirror_s(struct mirror *m, const struct label_record *r);
void mirror_interval(struct mirror *m, const struct label_interval_sum *s);
void mirror_flush(struct mirror *m);
void mirror_close(struct mirror *m); /* NULL is fine */

#endif
