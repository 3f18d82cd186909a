/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - dta-gen's options: what goes together; defaults filled in. */
#include <inttypes.h>
#include <string.h>

#include "options.h"
#include "workload.h"

enum {
	FLOWS_DEFAULT = 10000,
	RESEND_DEFAULT = 1024,
	RATE_DEFAULT = 1000000,
	COPIES0 = 2, /* what the published reporter says */
};

/* DTA/0 carries 4-byte keys and 4-byte data, nothing else. */
static bool fits_dta0(const struct workload *w, const struct gen_options *o)
{
	bool uniform = w->needs == NEEDS_NOTHING;
	unsigned kind = uniform ? (unsigned)o->kind : w->kind;
	size_t key = uniform ? o->key_len : key_type_len(w->key[0]);
	size_t value = uniform ? o->value_len : w->value[0];

	return (key == 4 || kind == DTA_APPEND) &&
	       (value == 4 || kind == DTA_KEYINC);
}

static void check_dta0(const struct workload *w, const struct gen_options *o)
{
	char names[256] = "uniform with --key-type u32";
	size_t n = strlen(names);

	if (o->format == DTA_FORMAT_1 || fits_dta0(w, o))
		return;
	for (unsigned i = 0; i < n_workloads; i++)
		if (workloads[i].needs != NEEDS_NOTHING &&
		    fits_dta0(&workloads[i], o))
			n += (size_t)snprintf(names + n, sizeof(names) - n,
					      ", %s", workloads[i].name);
	cli_refuse("%s does not fit %s, which holds 4-byte keys and values; "
		   "these do: %s",
		   w->name, dta_format_name(o->format), names);
}

static void complete(struct settings *s, struct gen_options *o)
{
	const struct workload *w = s->workload;

	o->stream = synth_stream(o->seed);
	if (!o->kind)
		o->kind = DTA_KEYWRITE;
	if (o->kind == DTA_APPEND)
		o->key_type = KEY_U32;
	if (!o->copies && o->format != DTA_FORMAT_1)
		o->copies = COPIES0; /* it cannot say "the default" */
	/* A capture ends with its flows, a wire when somebody says so. */
	o->repeat = o->count || o->duration_ns || (o->live.name && !o->flows);
	if (!o->flows)
		o->flows = w->per_flow && o->count ? o->count : FLOWS_DEFAULT;
	o->rate = o->pace ? o->pace : RATE_DEFAULT;
	if ((!o->live.name && !o->nacks) || o->format != DTA_FORMAT_1)
		o->resend = 0;
	else if (o->resend == UINT64_MAX)
		o->resend = RESEND_DEFAULT;
	if (!o->link_rate)
		o->link_rate = o->from ? 20000000 : 9200 * o->rate;
}

void options_check(struct settings *s)
{
	struct gen_options *o = &s->gen;
	const struct workload *w = s->workload;

	if (!o->out && !o->live.name)
		cli_usage(&cli, "say with -w or -i where the reports shall go");
	if (o->format != DTA_FORMAT_1 &&
	    (o->nacks || o->wait || o->resend != UINT64_MAX))
		cli_usage(&cli, "--nacks, --wait and --resend need --format "
				"dta1: NACKs tell of no other");
	if (o->from && w->needs == NEEDS_NOTHING)
		cli_usage(&cli, "uniform makes its own keys: no --from");
	if (o->tracked && o->format == DTA_FORMAT_0A)
		cli_usage(&cli, "--tracked: dta0a has no sequence");
	if (o->arity % 2)
		cli_refuse("--arity: '%" PRIu64 "' is not an even number",
			   o->arity);
	if (o->hops % 2 == 0 && o->hops)
		cli_refuse("--hops: '%" PRIu64 "' is not 1, 3 or 5", o->hops);
	if (w->needs != NEEDS_NOTHING &&
	    (o->kind || o->key_type != KEY_FLOW4 || o->value_len != 4))
		cli_usage(&cli, "--kind, --key-type and --value are for "
				"uniform");
	complete(s, o);
	check_dta0(w, o);
}
