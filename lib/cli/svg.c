/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
	SIZE = 320,    /* of the plot, as high as wide */
	LEGEND = 18,   /* curves that are named */
	POINTS = 1000, /* of a curve: the first ones */
};

struct curve {
	char name[64];
	unsigned n;
	double at[POINTS][2]; /* log10 on a logarithmic axis */
};

static struct {
	const char *path, *title, *const *label;
	const bool *log;
	FILE *out; /* NULL: there is no figure */
	unsigned n;
	struct curve *curve;
	double low[2], high[2]; /* of x and y */
} fig = {.low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};

void svg_open(const char *path, bool rows, const char *title,
	      const char *const label[2], const bool log[2])
{
	bool dash = path && !strcmp(path, "-");

	if (dash && rows)
		cli_refuse("--svg: rows go to stdout already; name a file");
	fig.path = path;
	fig.title = title;
	fig.label = label;
	fig.log = log;
	fig.out = dash ? stdout : path ? fopen(path, "we") : NULL;
	if (path && !fig.out)
		cli_fail("%s: %s", path, strerror(errno));
}

void svg_point(const char *name, double x, double y)
{
	double at[2] = {x, y};
	unsigned i = fig.n;
	struct curve *c;

	for (int k = 0; fig.out && k < 2; k++)
		at[k] = fig.log[k] ? log10(at[k]) : at[k];
	if (!fig.out || !isfinite(at[0]) || !isfinite(at[1]))
		return;
	while (i && strcmp(fig.curve[i - 1].name, name) != 0)
		i--; /* most often the last one */
	if (!i) {
		i = ++fig.n;
		fig.curve = cli_allocated(realloc(fig.curve, i * sizeof(*c)));
		fig.curve[i - 1].n = 0;
		snprintf(fig.curve[i - 1].name, sizeof(c->name), "%s", name);
	}
	c = &fig.curve[i - 1];
	for (int k = 0; k < 2 && c->n < POINTS; k++) {
		fig.low[k] = fmin(fig.low[k], at[k]);
		fig.high[k] = fmax(fig.high[k], at[k]);
		c->at[c->n][k] = at[k];
	}
	c->n += c->n < POINTS;
}

/* Where a value is on an axis: from the left, or from above. */
static double place(int y, double v)
{
	double at = SIZE * (v - fig.low[y]) / (fig.high[y] - fig.low[y]);

	return y ? SIZE - at : at;
}

/* Makes the ends of an axis ticks, and draws it; a logarithmic one has a tick a
 * decade. */
static void draw_axis(int y)
{
	double low = fig.low[y], range = fig.high[y] - low, ten, step, k, last;

	range = range > fabs(low) / 1000 ? range : low != 0 ? fabs(low) : 1;
	ten = pow(10, floor(log10(range / 5))) * (1 + 1e-9);
	step = range <= 8 * ten	   ? ten
	       : range <= 18 * ten ? 2 * ten
	       : range <= 40 * ten ? 5 * ten
				   : 10 * ten;
	step = fig.log[y] ? fmax(round(step), 1) : step;
	k = floor(low / step + 1e-6);
	last = fmax(ceil(fig.high[y] / step - 1e-6), k + 1);
	fig.low[y] = k * step;
	fig.high[y] = last * step;
	for (; k <= last; k++) {
		double at = place(y, k * step);

		fprintf(fig.out,
			"<path d=\"M%.1f,%.1f%c320\"/><text class=\"%c\" "
			"x=\"%.1f\" y=\"%.1f\">%.6g</text>\n",
			y ? 0 : at, y ? at : 0, y ? 'h' : 'v', y ? 'e' : 'm',
			y ? -6 : at, y ? at + 4 : SIZE + 18,
			fig.log[y] ? pow(10, k * step) : k * step);
	}
}

void svg_close(void)
{
	if (!fig.out)
		return;
	fprintf(fig.out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" "
		"height=\"420\">\n<style>svg{background:#fff;font:13px "
		"sans-serif}text{fill:#222}path{fill:none;stroke:#8886}"
		"path[style]{stroke-width:2;stroke-linecap:round}"
		".m{text-anchor:middle}.e{text-anchor:end}"
		"@media(prefers-color-scheme:dark){svg{background:#111}"
		"text{fill:#ddd}}</style>\n<g transform=\"translate(80,45)\">"
		"<text y=\"-15\">%s</text><text class=\"m\" x=\"160\" "
		"y=\"360\">"
		"%s</text><text class=\"m\" transform=\"translate(-60,160)"
		"rotate(-90)\">%s</text>\n",
		fig.title, fig.label[0], fig.label[1]);
	for (int y = 0; fig.n && y < 2; y++)
		draw_axis(y);
	for (unsigned i = 0; i < fig.n; i++) {
		const struct curve *c = &fig.curve[i];
		unsigned hue = (i * 137 + 210) % 360; /* far apart */

		fprintf(fig.out,
			"<path style=\"stroke:hsl(%u,75%%,45%%)\" d=\"", hue);
		for (unsigned k = 0; k < c->n; k++)
			fprintf(fig.out, "%c%.2f,%.2f", k ? 'L' : 'M',
				place(0, c->at[k][0]), place(1, c->at[k][1]));
		/* A single point is a dot. */
		fprintf(fig.out, "h0\"><title>%s</title></path>\n", c->name);
		if (i <= LEGEND)
			fprintf(fig.out,
				"<text x=\"335\" y=\"%u\" style=\"fill:hsl("
				"%u,75%%,45%%)\">%s</text>\n",
				17 * i + 12, hue,
				i < LEGEND ? c->name : "and more");
	}
	fprintf(fig.out, "</g></svg>\n");
	if (!fig.n)
		cli_warn("%s: there is nothing to draw", fig.path);
	if (fflush(fig.out) || ferror(fig.out) ||
	    (fig.out != stdout && fclose(fig.out)))
		cli_fail("%s: %s", fig.path, strerror(errno));
}
