/* SPDX-License-Identifier: BSD-2-Clause */
/* report_group.h - datagrams of several reports of version 2.0. */
#ifndef TESTS_UNIT_REPORT_GROUP_H
#define TESTS_UNIT_REPORT_GROUP_H

#include <string.h>

#include "int/treport.h"

/* Adds a report to a datagram that has len bytes: of the second and those
 * behind it the group's header is left out. Returns how many more it has. */
static inline int add_report(uint8_t *buf, size_t len, size_t cap,
			     const struct treport_fields *s)
{
	uint8_t one[2048];
	size_t skip = len ? TREPORT_V2_GROUP_LEN : 0;
	int n = treport_encode(one, sizeof(one), s);

	if (n < 0)
		return n;
	if ((size_t)n - skip > cap - len)
		return -1;
	memcpy(buf + len, one + skip, (size_t)n - skip);
	return n - (int)skip;
}

#endif
