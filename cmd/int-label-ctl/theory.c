/* SPDX-License-Identifier: BSD-2-Clause */
/* theory.c - int-label-ctl theory: the closed forms of model/label.h. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "commands.h"
#include "label/policy.h"
#include "model/label.h"
#include "traffic/topo.h"

struct theory_options {
	uint64_t arity, label_ns, telemetry_ns, gap_ns, sigma_ns;
	double ratio, want;
	struct label_policy policy; /* f of it */
	enum row_format fmt;
};

enum labels_field {
	L_ARITY,
	L_HOPS,
	L_RATIO,
	L_LABELS,
	L_A,
	L_B,
	L_MEAN_A,
	L_MEAN_B,
	L_FIELDS
};

static const struct row_field labels_fields[L_FIELDS] = {
	[L_ARITY] = {"arity", ROW_U64, 5, ROW_TAG},
	[L_HOPS] = {"hops", ROW_F64, 7},
	[L_RATIO] = {"ratio", ROW_F64, 5},
	[L_LABELS] = {"labels", ROW_U64, 6},
	[L_A] = {"base_a", ROW_F64, 11},
	[L_B] = {"base_b", ROW_F64, 11},
	[L_MEAN_A] = {"mean_a", ROW_F64, 9},
	[L_MEAN_B] = {"mean_b", ROW_F64, 9},
};

enum times_field {
	T_LABEL,
	T_TELEMETRY,
	T_GAP,
	T_SIGMA,
	T_WANT,
	T_NEXT,
	T_WINDOW,
	T_FIELDS
};

static const struct row_field coverage_fields[T_FIELDS] = {
	[T_LABEL] = {"label", ROW_F64, 8, ROW_VALUE, "s"},
	[T_TELEMETRY] = {"telemetry", ROW_F64, 9, ROW_VALUE, "s"},
	[T_GAP] = {"gap", ROW_F64, 8, ROW_VALUE, "s"},
	[T_SIGMA] = {"sigma", ROW_F64, 8, ROW_VALUE, "s"},
	[T_WANT] = {"want", ROW_F64, 5, ROW_VALUE, "%"},
	[T_NEXT] = {"next", ROW_F64, 8, ROW_VALUE, "%"},
	[T_WINDOW] = {"window", ROW_F64, 8, ROW_VALUE, "%"},
};

static const struct schema labels_schema = {"label_labels", labels_fields,
					    L_FIELDS};
static const struct schema coverage_schema = {"label_coverage", coverage_fields,
					      T_FIELDS};

#define AT(field) CLI_AT(struct theory_options, field)

/* f3 depends on time, which is not in the forms. */
static int read_f(void *opts, const char *text, struct fault *why)
{
	struct theory_options *o = opts;

	if (!text)
		return 0;
	if (!strcmp(text, "f3"))
		return fault_set(why, -EINVAL,
				 "depends on time, as no closed form does");
	return label_policy_f(&o->policy, text, why);
}

/* clang-format off */
static const struct cli_option options[] = {
	{ 'a', "arity", "K", "labels: of the fat tree (20)",
	  CLI_U64, AT(arity), .min = 4, .max = TOPO_ARITY_MAX,
	  .verbs = "labels" },
	{ 'r', "ratio", "R",
	  "labels: Ts/T, packets' interval to that of labels (0.01)",
	  CLI_F64, AT(ratio), .low = 0, .high = 1, .verbs = "labels" },
	{ 'f', "chance", "F", "labels: of base B, f1, f2 or f(0),f(1),... "
	  "(0,.2,.4,.6,.8,1)",
	  CLI_CALL, .read = read_f, .verbs = "labels" },
	{ 't', "label", "TIME", "coverage: labelling interval, T (50ms)",
	  CLI_TIME, AT(label_ns), .min = 1, .verbs = "coverage" },
	{ 'T', "telemetry", "TIME", "telemetry interval, Ti (100ms)",
	  CLI_TIME, AT(telemetry_ns), .min = 1, .verbs = "coverage interval" },
	{ 'g', "gap", "TIME", "until a port's next packet, Tp, mean (1ms)",
	  CLI_TIME, AT(gap_ns), .verbs = "coverage interval" },
	{ 0, "sigma", "TIME", "deviation of the delay to the controller (0)",
	  CLI_TIME, AT(sigma_ns), .verbs = "coverage interval" },
	{ 'w', "want", "PERCENT", "interval: coverage that is wanted (99)",
	  CLI_F64, AT(want), .low = 0.001, .high = 99.999999,
	  .verbs = "interval" },
	{ 'o', "output", "FORMAT", "text, csv or ndjson", CLI_FORMAT, AT(fmt) },
	{ 0 },
};
/* clang-format on */

static const char *const verbs[] = {"labels", "coverage", "interval", NULL};

static const struct cli cli_theory = {
	.name = "int-label-ctl theory",
	.summary = "INT-label in closed forms",
	.usage = "int-label-ctl theory labels [-a K] [-r R] [-f F]\n"
		 "int-label-ctl theory coverage [-t TIME] [-T TIME] [-g TIME] "
		 "[--sigma TIME]\n"
		 "int-label-ctl theory interval [-w PERCENT] [-T TIME] "
		 "[-g TIME] [--sigma TIME]",
	.options = options,
	.verbs = verbs,
};

static struct theory_labels model(const struct theory_options *o)
{
	struct theory_labels l = {.r = o->ratio};

	for (unsigned i = 0; i < THEORY_HOPS_MAX; i++)
		l.f[i] = label_probability(&o->policy, 0, i, 0);
	return l;
}

/* A row for each number of labels. */
static int labels(struct rows *r, const struct theory_options *o)
{
	struct theory_labels l = model(o);
	double a[THEORY_HOPS + 1], b[THEORY_HOPS + 1];
	double far[THEORY_HOPS + 1];
	unsigned n = THEORY_HOPS + 1;
	int rc = 0;

	theory_tree_a(&l, (unsigned)o->arity, a);
	theory_tree_b(&l, (unsigned)o->arity, b);
	theory_hops((unsigned)o->arity, far);
	for (unsigned i = 0; i < n && !rc; i++) {
		row_u64(r, L_ARITY, o->arity);
		row_f64(r, L_HOPS, theory_mean(far, n));
		row_f64(r, L_RATIO, o->ratio);
		row_u64(r, L_LABELS, i);
		row_f64(r, L_A, a[i]);
		row_f64(r, L_B, b[i]);
		row_f64(r, L_MEAN_A, theory_mean(a, n));
		row_f64(r, L_MEAN_B, theory_mean(b, n));
		rc = row_end(r);
	}
	return rc;
}

static int coverage_row(struct rows *r, const struct theory_times *t)
{
	row_f64(r, T_LABEL, t->interval);
	row_f64(r, T_TELEMETRY, t->telemetry);
	row_f64(r, T_GAP, t->gap);
	row_f64(r, T_SIGMA, t->sigma);
	row_f64(r, T_NEXT, 100 * theory_next(t));
	row_f64(r, T_WINDOW, 100 * theory_window(t));
	return row_end(r);
}

/* By one of the forms: what that gives, or why there is nothing: 1. */
static int longest(struct rows *r, const struct theory_options *o,
		   struct theory_times t, double interval, const char *form)
{
	int rc;

	t.interval = interval;
	row_f64(r, T_WANT, o->want);
	if (interval >= 1e-9) /* less is what rounding leaves of nothing */
		return coverage_row(r, &t);
	cli_warn("by %s no labelling interval gives %g %% in %g s, when a "
		 "port's next packet is %g s away",
		 form, o->want, t.telemetry, t.gap);
	rc = row_end(r);
	return rc ? rc : 1;
}

/* The longest interval that suffices by either form: a row each, whose other
 * form says what that would give. */
static int interval(struct rows *r, const struct theory_options *o,
		    const struct theory_times *t)
{
	double want = o->want / 100;
	int window = longest(r, o, *t, theory_interval_window(t, want),
			     "window"),
	    next;

	if (window < 0)
		return window;
	next = longest(r, o, *t, theory_interval_next(t, want), "next");
	return next ? next : window;
}

static int answer(struct rows *r, const struct theory_options *o, int verb)
{
	struct theory_times t = {
		.interval = (double)o->label_ns / 1e9,
		.telemetry = (double)o->telemetry_ns / 1e9,
		.gap = (double)o->gap_ns / 1e9,
		.sigma = (double)o->sigma_ns / 1e9,
	};

	if (verb == 0)
		return labels(r, o);
	return verb == 1 ? coverage_row(r, &t) : interval(r, o, &t);
}

int theory_main(int argc, char **argv)
{
	struct theory_options o = {
		.arity = 20,
		.ratio = 0.01,
		.want = 99,
		.label_ns = 50000000,
		.telemetry_ns = 100000000,
		.gap_ns = 1000000,
		.policy = {.kind = LABEL_BASE_B,
			   .f = LABEL_F_TABLE,
			   .max_hop = 5,
			   .table_len = 6,
			   .table = {0, .2, .4, .6, .8, 1}},
	};
	struct rows *r;
	int n, verb, rc;

	cli_start(&cli_theory);
	n = cli_read(&cli_theory, &o, argc, argv);
	verb = cli_verb(&cli_theory, argv[n]);
	if (n + 1 < argc)
		cli_usage(&cli_theory, "say one of labels, coverage, interval");
	cli_check(&cli_theory, &o, verb);
	if (o.arity % 2)
		cli_usage(&cli_theory, "--arity: %ju is odd",
			  (uintmax_t)o.arity);
	r = cli_rows(o.fmt, verb ? &coverage_schema : &labels_schema);
	if (!r)
		cli_fail("%s", strerror(ENOMEM));
	rc = answer(r, &o, verb);
	rows_close(r);
	if (rc < 0)
		cli_fail("%s: %s", cli_stdout, strerror(-rc));
	return rc ? CLI_FAIL : CLI_OK;
}
