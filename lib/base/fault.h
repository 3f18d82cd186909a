/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - why a call failed, in words, for the one place that prints them.
 *
 * A library call that can fail for reasons errno cannot tell takes a
 * struct fault * (NULL: not wanted) and returns fault_set(): the -errno it was
 * given. The text names the object and, where there is one, the cure:
 * "fabric.ini:12: stride: 24 is not a power of two; say stride = packed".
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

struct fault {
	char text[512];
};

/* Formats into f->text (cut if too long) and returns err. err < 0. */
int fault_set(struct fault *f, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "object: why", the object once: why, another fault than f, may begin with it.
 * Returns err. */
int fault_of(struct fault *f, int err, const char *object,
	     const struct fault *why);

/*
 * Why a file could not be opened: strerror(-err); and where permission is
 * denied, whose it is and its mode. Returns err.
 */
int fault_open(struct fault *f, int err, const char *path);

#endif
