/* SPDX-License-Identifier: BSD-2-Clause */
/* error.h - what Redis says when it does not do what it was told. */
#ifndef REDIS_ERROR_H
#define REDIS_ERROR_H

#include <stdbool.h>
#include <string.h>

/* Errors that pass, of one slot of a cluster: the others are served. */
static inline bool redis_passes_slot(const char *text)
{
	return !strncmp(text, "CLUSTERDOWN Hash slot", 21) ||
	       !strncmp(text, "TRYAGAIN", 8);
}

/* Errors that pass (Redis: server.c, cluster.c). What a user may not do is that
 * user's rows' fault: others need not wait. */
static inline bool redis_passes(const char *text)
{
	static const char *const begins[] = {
		"LOADING",
		"CLUSTERDOWN",
		"TRYAGAIN",
		"MASTERDOWN",
		"READONLY",
		"NOAUTH",
		"WRONGPASS",
		"OOM",
		"NOREPLICAS",
		"BUSY",
		"MISCONF",
		"ERR max number of clients",
		"ERR invalid password",
		"ERR DB index",
		"ERR Client sent AUTH",
		"ERR AUTH",
	};

	for (unsigned i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

#endif
