/* SPDX-License-Identifier: BSD-2-Clause */
/* theory.c - int-label-ctl theory: the closed forms of model/model.h. */
#include "cli/cli.h"
#include "cli/svg.h"
#include "cli/table.h"
#include "commands.h"
#include "label/rows.h"
#include "model/model.h"
#include "sim/traffic.h"

struct theory_options {
	uint64_t arity, label_ns, telemetry_ns, gap_ns;
	double ratio;
	const char *svg;
	enum row_format fmt;
};

static const struct row_field labels_fields[] = {
	{"arity", ROW_U64, 5, ROW_TAG}, {"hops", ROW_F64, 7},
	{"ratio", ROW_F64, 5},		{"labels", ROW_U64, 6},
	{"base_a", ROW_F64, 11},	{"base_b", ROW_F64, 11},
	{"mean_a", ROW_F64, 9},		{"mean_b", ROW_F64, 9},
};

static const struct row_field coverage_fields[] = {
	{"label", ROW_F64, 8, ROW_VALUE, "s"},
	{"telemetry", ROW_F64, 9, ROW_VALUE, "s"},
	{"gap", ROW_F64, 8, ROW_VALUE, "s"},
	{"window", ROW_F64, 8, ROW_VALUE, "ratio"},
};

static const struct schema labels_schema = LABEL_SCHEMA("label_labels",
							labels_fields);
static const struct schema coverage_schema = LABEL_SCHEMA("label_coverage",
							  coverage_fields);

#define AT(field) CLI_AT(struct theory_options, field)

/* clang-format off */
static const struct cli_option options[] = {
	{ 'a', "arity", "K", "labels: of the fat tree (20)",
	  CLI_U64, AT(arity), .min = 4, .max = TOPO_ARITY_MAX,
	  .verbs = "labels" },
	{ 'r', "ratio", "R",
	  "labels: Ts/T, packets' interval to that of labels (0.01)",
	  CLI_F64, AT(ratio), .low = 0, .high = 1, .verbs = "labels" },
	{ 't', "label", "TIME", "coverage: labelling interval, T (50ms)",
	  CLI_TIME, AT(label_ns), .min = 1, .verbs = "coverage" },
	{ 'T', "telemetry", "TIME", "telemetry interval, Ti (100ms)",
	  CLI_TIME, AT(telemetry_ns), .min = 1, .verbs = "coverage" },
	{ 'g', "gap", "TIME", "until a port's next packet, Tp, mean (1ms)",
	  CLI_TIME, AT(gap_ns), .verbs = "coverage" },
	{ 0, "svg", "FILE", "labels: draw the chances of both bases",
	  CLI_OUT, AT(svg), .verbs = "labels" },
	{ 'o', "output", "FORMAT", "text, csv or ndjson", CLI_FORMAT, AT(fmt) },
	{ 0 },
};
/* clang-format on */

static const char *const verbs[] = {"labels", "coverage", NULL};

static const struct cli cli_theory = {
	.name = "int-label-ctl theory",
	.summary = "INT-label in closed forms",
	.usage = "int-label-ctl theory labels [-a K] [-r R]\n"
		 "int-label-ctl theory coverage [-t TIME] [-T TIME] [-g TIME]",
	.options = options,
	.verbs = verbs,
};

/* A row for each number of labels. */
static void print_labels(struct rows *r, const struct theory_options *o)
{
	/* f(i) = i/5, as of the paper's figures. */
	struct model_label_chances base_b = {.r = o->ratio,
					     .f = {0, .2, .4, .6, .8, 1}};
	struct model_label_chances base_a = {.r = o->ratio};
	double a[MODEL_TREE_HOPS + 1], b[MODEL_TREE_HOPS + 1];
	double far[MODEL_TREE_HOPS + 1];
	unsigned n = MODEL_TREE_HOPS + 1;

	model_label_tree(&base_a, (unsigned)o->arity, a);
	model_label_tree(&base_b, (unsigned)o->arity, b);
	model_tree_hops((unsigned)o->arity, far);
	for (unsigned i = 0; i < n; i++) {
		unsigned f = 0;

		row_u64(r, f++, o->arity);
		row_f64(r, f++, model_mean(far, n));
		row_f64(r, f++, o->ratio);
		row_u64(r, f++, i);
		row_f64(r, f++, a[i]);
		row_f64(r, f++, b[i]);
		row_f64(r, f++, model_mean(a, n));
		row_f64(r, f++, model_mean(b, n));
		svg_point("base A", i, a[i]);
		svg_point("base B", i, b[i]);
		cli_row_end(r);
	}
}

static void print_coverage(struct rows *r, const struct theory_options *o)
{
	struct model_label_times t = {
		.interval = (double)o->label_ns / 1e9,
		.telemetry = (double)o->telemetry_ns / 1e9,
		.gap = (double)o->gap_ns / 1e9,
	};
	unsigned f = 0;

	row_f64(r, f++, t.interval);
	row_f64(r, f++, t.telemetry);
	row_f64(r, f++, t.gap);
	row_f64(r, f++, model_label_coverage(&t));
	cli_row_end(r);
}

int theory_main(int argc, char **argv)
{
	struct theory_options o = {.arity = 20,
				   .ratio = 0.01,
				   .label_ns = 50000000,
				   .telemetry_ns = 100000000,
				   .gap_ns = 1000000};
	static const char *const axes[] = {"labels", "probability"};
	static const bool log[] = {false, true};
	struct rows *r;
	int n, verb;

	cli_start(&cli_theory);
	n = cli_read(&cli_theory, &o, argc, argv);
	verb = cli_verb(&cli_theory, argv[n]);
	if (n + 1 < argc)
		cli_usage(&cli_theory, "say labels or coverage");
	cli_check(&cli_theory, &o, verb);
	if (o.arity % 2)
		cli_usage(&cli_theory, "--arity: %ju is odd",
			  (uintmax_t)o.arity);
	r = cli_rows(o.fmt, verb ? &coverage_schema : &labels_schema);
	svg_open(o.svg, true, "Labels of a packet", axes, log);
	(verb ? print_coverage : print_labels)(r, &o);
	rows_close(r);
	svg_close();
	return CLI_OK;
}
