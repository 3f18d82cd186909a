/* SPDX-License-Identifier: BSD-2-Clause */
/* svg.h - the figure of an option --svg; a program has one. */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include <stdbool.h>

/* Opens a file, "-" is stdout, which is refused where rows have it. NULL: there
 * is no figure. Exits on errors, as all of these do. label: of the axes x and
 * y; log: they are logarithmic, without what is not above 0. */
void svg_open(const char *path, bool rows, const char *title,
	      const char *const label[2], const bool log[2]);

/* Adds a point to the curve of this name, which has no character of XML. */
void svg_point(const char *curve, double x, double y);

/* Draws the figure, if there is one. */
void svg_close(void);

#endif
