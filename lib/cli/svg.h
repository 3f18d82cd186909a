/* SPDX-License-Identifier: BSD-2-Clause */
/* svg.h - the figure of an option --svg; a program has one. */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include <stdbool.h>

/* What is x and what is y has the indexes 0 and 1. */
struct svg {
	const char *title, *label[2];
	bool log[2]; /* without what is not above 0 */
};

/* Opens a file, "-" is stdout, which is refused where rows have it. NULL: there
 * is no figure. Exits on errors, as all of these do. *s is static. */
void svg_open(const char *path, const struct svg *s, bool rows);

/* Adds a point to the curve of this name, which has no character of XML. */
void svg_point(const char *curve, double x, double y);

/* Draws the figure, if there is one. */
void svg_close(void);

#endif
