/* SPDX-License-Identifier: BSD-2-Clause */
/* show_int.c - in-band telemetry of a packet: INT, IOAM, telemetry reports. */
#include <inttypes.h>
#include <stdio.h>

#include "inband/intake.h"
#include "packets.h"
#include "profile/profile.h"
#include "wire/key.h"

enum {
	HOPS_TEXT = 1 << 16, /* of 255 hops with 15 fields, more than that */
};

struct hops_text {
	char text[HOPS_TEXT];
	size_t len;
	unsigned hops;
};

static void add(struct hops_text *t, const char *name, uint64_t v, bool first)
{
	int n = snprintf(t->text + t->len, HOPS_TEXT - t->len, "%s%s=%" PRIu64,
			 !first	   ? ","
			 : t->hops ? ";"
				   : "",
			 name, v);

	if (n > 0 && t->len + (size_t)n < HOPS_TEXT)
		t->len += (size_t)n;
	t->hops += first;
}

/* node: of the reporter, whose metadata do not repeat it; NULL: none. */
static void add_hop(struct hops_text *t, const struct int_hops *h, unsigned i,
		    const uint32_t *node)
{
	bool first = true;
	uint64_t v;

	if (node) {
		add(t, profile_field_names[INT_NODE], *node, true);
		first = false;
	}
	for (unsigned f = 0; h->plan && i < h->n && f < INT_FIELDS; f++) {
		if ((node && f == INT_NODE) ||
		    !int_get(h->plan, int_hop(h, i), (enum int_field)f, &v))
			continue;
		add(t, profile_field_names[f], v, first);
		first = false;
	}
}

/* In the order of the path: the reporter is its last node. */
static void write_hops(struct hops_text *t, const struct int_view *v)
{
	t->len = t->hops = 0;
	t->text[0] = '\0';
	for (unsigned i = v->stack.n; i--;)
		add_hop(t, &v->stack, i, NULL);
	if (v->own.n || (v->from.has_node && !v->stack.n))
		add_hop(t, &v->own, 0, v->from.has_node ? &v->from.node : NULL);
}

static void show_flags(struct show *s, unsigned flags)
{
	static const char letters[] = "DQFIEMC"; /* by enum int_flag */
	char text[sizeof(letters)];
	size_t n = 0;

	for (unsigned i = 0; letters[i]; i++)
		if (flags >> i & 1)
			text[n++] = letters[i];
	text[n] = '\0';
	if (n)
		show_str(s, SHOW_FLAGS, text);
}

static void show_view(struct show_int *x, const struct int_view *v)
{
	static const char *const formats[] = {"md", "mx", "xd"};
	static struct hops_text hops;
	struct show *s = x->s;
	char key[KEY_TEXT_MAX];

	if (x->rows++) {
		show_u64(s, SHOW_NUMBER, x->number);
		show_time(s, x->p->ts_ns);
	}
	write_hops(&hops, v);
	show_head(s, x->src, x->dst,
		  v->from.report	  ? "report"
		  : v->format == INT_IOAM ? "ioam"
					  : "int");
	if (v->format != INT_IOAM)
		show_str(s, SHOW_OPCODE, formats[v->format]);
	if (v->key_len) {
		key_format(key,
			   v->key_len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6,
			   v->key, v->key_len);
		show_str(s, SHOW_KEY, key);
	}
	show_u64(s, SHOW_PATH_LEN, hops.hops);
	if (v->from.report)
		show_u64(s, SHOW_SEQUENCE, v->from.sequence);
	show_flags(s, v->flags);
	show_u64(s, SHOW_LENGTH, x->p->wire_len);
	if (hops.hops)
		show_str(s, SHOW_HOPS, hops.text);
	show_end(s);
}

static int show_views(void *ctx, const struct int_view *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		show_view(ctx, &v[i]);
	return 0;
}

void show_int_open(struct show_int *x, struct show *s)
{
	const struct intake_options o = {
		.profile = int_profile_named("any"),
		.views = show_views,
		.ctx = x,
	};

	x->s = s;
	if (intake_open(&x->in, &o) < 0)
		cli_fail("out of memory");
}

bool show_int(struct show_int *x)
{
	x->rows = 0;
	x->reports = intake_report_counters(x->in)->reports;
	intake_take(x->in, x->p, 1);
	return x->rows > 0;
}

bool show_int_refused(const struct show_int *x)
{
	return intake_report_counters(x->in)->reports > x->reports;
}
