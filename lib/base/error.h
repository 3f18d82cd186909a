/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.h - why a call failed, in words, for the one place that prints them.
 *
 * A library call that can fail for reasons errno cannot tell takes a
 * struct error * (NULL: not wanted) and returns error_set(): the -errno it was
 * given. The text names the object and, where there is one, the cure:
 * "fabric.ini:12: stride: not a power of two; say stride = packed".
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

struct error {
	char text[512];
};

/* Formats into err->text (cut if too long) and returns rc. rc < 0. */
int error_set(struct error *err, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Says "OBJECT: WHY", or just WHY if that begins with the object. why must not
 * be err itself. Returns rc. */
int error_about(struct error *err, int rc, const char *object,
		const struct error *why);

/* Why a file could not be opened: strerror(-rc); and where permission is
 * denied, its owner and mode. Returns rc. */
int error_opening(struct error *err, int rc, const char *path);

#endif
