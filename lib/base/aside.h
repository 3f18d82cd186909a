/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aside.h - files that are whole or absent. Such a file
 * is written without a name (O_TMPFILE), so that whoever is killed leaves
 * nothing; where a file system cannot, under a name of its own,
 * .NAME.PID.new.
 */
#ifndef BASE_ASIDE_H
#define BASE_ASIDE_H

#include <sys/types.h>

struct aside {
	int fd;
	const char *final; /* the caller's */
	char *name;	   /* the name of its own, or NULL */
};

/* Opens a file for what will be final. Returns 0 or -errno. */
int aside_open(struct aside *a, const char *final, mode_t mode);

/* Gives it its name: -EEXIST if that is taken. fd stays open. */
int aside_link(struct aside *a);

/* The same, in the place of what has the name now; on the disk before it
 * returns. */
int aside_replace(struct aside *a);

/* Drops what has not got its name. fd stays open. */
void aside_drop(struct aside *a);

#endif
