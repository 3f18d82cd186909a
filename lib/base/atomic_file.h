/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * atomic_file.h - files that are whole or absent. Such a file is written
 * without a name (O_TMPFILE), so that a killed process leaves nothing behind;
 * where the file system has no such files, under a temporary name,
 * .NAME.PID.new. A pipe or a device cannot be replaced: it is written itself.
 */
#ifndef BASE_ATOMIC_FILE_H
#define BASE_ATOMIC_FILE_H

#include <sys/types.h>

struct atomic_file {
	int fd;
	const char *final; /* its name; NULL: fd is the pipe or device itself */
	char *name;	   /* the temporary name, or NULL */
	char *real; /* the memory of final, if atomic_file_output() got it */
};

/* Opens a file that is to get the name final, a string which the caller keeps
 * until then. Returns 0 or -errno. */
int atomic_file_open(struct atomic_file *a, const char *final, mode_t mode);

/* The same for a program's output: if path is a symbolic link, its target is to
 * be replaced; a pipe or a device is opened to be written itself. */
int atomic_file_output(struct atomic_file *a, const char *path);

/* Gives the file its name: -EEXIST if that is taken. fd stays open. */
int atomic_file_link(struct atomic_file *a);

/* The same, and replaces what has the name now; all is on the disk when it
 * returns. */
int atomic_file_replace(struct atomic_file *a);

/* Drops a file that did not get its name. fd stays open. */
void atomic_file_drop(struct atomic_file *a);
void atomic_file_close(struct atomic_file *a); /* the same, and closes fd */

#endif
