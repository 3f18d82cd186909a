/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
	SIZE = 320,  /* of the plot, as high as wide */
	LEGEND = 18, /* curves that are named */
};

struct curve {
	char name[64];
	unsigned n;
	double (*at)[2]; /* log10 on a logarithmic axis */
};

static struct {
	const struct svg *s;
	const char *path; /* NULL: there is none */
	FILE *out;
	unsigned n;
	struct curve *curve;
	double low[2], high[2]; /* of x and y */
} fig = {.low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};

/* Room for one element behind n: it doubles at each power of two. */
static void *grow(void *p, unsigned n, size_t size)
{
	if (!(n & (n - 1)) && !(p = realloc(p, (2 * (size_t)n + 1) * size)))
		cli_fail("out of memory");
	return p;
}

void svg_open(const char *path, const struct svg *s, bool rows)
{
	bool dash = path && !strcmp(path, "-");

	if (dash && rows)
		cli_refuse("--svg: rows go to stdout already; name a file");
	fig.s = s;
	fig.path = path;
	fig.out = path && !dash ? fopen(path, "we") : stdout;
	if (!fig.out)
		cli_fail("%s: %s", path, strerror(errno));
}

void svg_point(const char *name, double x, double y)
{
	double at[2] = {x, y};
	unsigned i = fig.n;
	struct curve *c;

	for (int k = 0; fig.path && k < 2; k++)
		at[k] = fig.s->log[k] ? log10(at[k]) : at[k];
	if (!fig.path || !isfinite(at[0]) || !isfinite(at[1]))
		return;
	while (i && strcmp(fig.curve[i - 1].name, name) != 0)
		i--; /* most often the last one */
	if (!i) {
		fig.curve = grow(fig.curve, fig.n, sizeof(*c));
		i = ++fig.n;
		fig.curve[i - 1] = (struct curve){.n = 0};
		snprintf(fig.curve[i - 1].name, sizeof(c->name), "%s", name);
	}
	c = &fig.curve[i - 1];
	c->at = grow(c->at, c->n, sizeof(*c->at));
	memcpy(c->at[c->n++], at, sizeof(at));
	for (int k = 0; k < 2; k++) {
		fig.low[k] = fmin(fig.low[k], at[k]);
		fig.high[k] = fmax(fig.high[k], at[k]);
	}
}

/* Ticks are multiples of step; on a logarithmic axis 1, 2, 5, 10 and so on. */
static double tick(bool log, double step, double k)
{
	static const double part[] = {0, 0.30103, 0.69897};
	double decade = floor(k / 3);

	return log ? decade + part[(int)(k - 3 * decade)] : k * step;
}

/* Where a value is on an axis, which ends in ticks. */
static double place(int k, double v)
{
	return SIZE * (v - fig.low[k]) / (fig.high[k] - fig.low[k]);
}

/* Makes the ends of an axis ticks, and draws it. */
static void draw_axis(int y)
{
	bool log = fig.s->log[y];
	double low = fig.low[y], size = fabs(fig.high[y]);
	double range = fig.high[y] - low > size / 1000 ? fig.high[y] - low
		       : size > 0		       ? size
						       : 1;
	double ten = pow(10, floor(log10(range / 5)));
	double part = range / 5 / ten - 1e-6;
	double step = log ? 1 / 3.0
			  : ten * (part <= 1   ? 1
				   : part <= 2 ? 2
				   : part <= 5 ? 5
					       : 10);
	double first = floor(low / step + (log ? 0.1 : 1e-6)), last = first + 1;

	if (tick(log, step, first) > low + 1e-5)
		first--;
	while (tick(log, step, last) < fig.high[y] - 1e-5 * step)
		last++;
	fig.low[y] = tick(log, step, first);
	fig.high[y] = tick(log, step, last);
	for (double k = first; k <= last; k++) {
		double v = tick(log, step, k), at = place(y, v);

		fprintf(fig.out, "<path d=\"M%.1f,%.1f%c%d\"/>\n", y ? 0 : at,
			y ? SIZE - at : 0, y ? 'h' : 'v', SIZE);
		if (!log || last - first < 9 || fmod(k, 3) == 0)
			fprintf(fig.out,
				"<text class=\"%c\" x=\"%.1f\" y=\"%.1f\">%.6g"
				"</text>\n",
				y ? 'e' : 'm', y ? -6 : at,
				y ? SIZE - at + 4 : SIZE + 18,
				log ? pow(10, v) : v);
	}
	fprintf(fig.out,
		"<text class=\"m\" transform=\"translate(%d,%d)rotate(%d)\">"
		"%s</text>\n",
		y ? -60 : SIZE / 2, y ? SIZE / 2 : SIZE + 40, y ? -90 : 0,
		fig.s->label[y]);
}

void svg_close(void)
{
	if (!fig.path)
		return;
	if (!fig.n)
		cli_warn("%s: there is nothing to draw", fig.path);
	fprintf(fig.out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" "
		"height=\"420\">\n<style>svg{background:#fff;font:13px "
		"sans-serif}text{fill:#222}path{fill:none;stroke:#8886}"
		"path[style]{stroke-width:2;stroke-linecap:round}"
		".m{text-anchor:middle}.e{text-anchor:end}"
		"@media(prefers-color-scheme:dark){svg{background:#111}"
		"text{fill:#ddd}}</style>\n"
		"<g transform=\"translate(80,45)\"><text y=\"-15\">%s</text>\n",
		fig.s->title);
	for (int y = 0; fig.n && y < 2; y++)
		draw_axis(y);
	for (unsigned i = 0; i < fig.n; i++) {
		const struct curve *c = &fig.curve[i];
		unsigned hue = (i * 137 + 210) % 360; /* far apart */

		fprintf(fig.out,
			"<path style=\"stroke:hsl(%u,75%%,45%%)\" d=\"", hue);
		for (unsigned k = 0; k < c->n; k++)
			fprintf(fig.out, "%c%.2f,%.2f", k ? 'L' : 'M',
				place(0, c->at[k][0]),
				SIZE - place(1, c->at[k][1]));
		/* A single point is a dot. */
		fprintf(fig.out, "h0\"><title>%s</title></path>\n", c->name);
		if (i <= LEGEND)
			fprintf(fig.out,
				"<text x=\"%d\" y=\"%u\" style=\"fill:hsl("
				"%u,75%%,45%%)\">%s</text>\n",
				SIZE + 15, 17 * i + 12, hue,
				i < LEGEND ? c->name : "and more");
	}
	fprintf(fig.out, "</g></svg>\n");
	if (ferror(fig.out) || fflush(fig.out) ||
	    (fig.out != stdout && fclose(fig.out)))
		cli_fail("%s: %s", fig.path, strerror(errno));
}
