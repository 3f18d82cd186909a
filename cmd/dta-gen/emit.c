/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.c - reports out: each one a frame, built in the sink's own buffer, and,
 * if wanted, a row of the truth.
 */
#include "emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dart.h"
#include "frame.h"
#include "link.h"
#include "truth.h"

static FILE *open_truth(const char *path)
{
	FILE *out;

	do
		out = fopen(cli_place(path), "w");
	while (!out && errno == EINTR);
	return out;
}

int emit_open(struct gen *g, struct fault *f)
{
	int rc;

	g->sequence = calloc(g->run.topology.switches + 1,
			     sizeof(*g->sequence));
	if (!g->sequence)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = frame_open(g, f);
	if (rc == 0)
		rc = dart_read(g, f);
	if (rc < 0)
		return rc;
	if (g->o.truth) {
		g->truth = strcmp(g->o.truth, "-") ? open_truth(g->o.truth)
						   : stdout;
		if (!g->truth)
			return fault_set(f, -errno, "%s: %s", g->o.truth,
					 strerror(errno));
		setvbuf(g->truth, NULL, _IOFBF, 1 << 18);
		truth_header(g->truth);
	}
	rc = link_open(g, f);
	return rc == 0 && g->o.dart ? dart_open(g, f) : rc;
}

/* DTA/0 has a field for copies in two of its reports only. */
static bool carries_copies(const struct gen *g, uint8_t opcode)
{
	if (opcode == DTA_POSTCARD)
		return g->o.format == DTA_FORMAT_1;
	return opcode != DTA_APPEND;
}

/* Built in place. Returns the payload's length, 0 if nobody takes it, -errno.
 */
static int emit_frame(struct gen *g, const struct dta_report *r,
		      unsigned reporter, uint64_t ts_ns)
{
	uint8_t *frame;
	int n, rc;

	if (!link_turn(g))
		return 0;
	frame = g->dart ? dart_room(g)
			: snk_room(g->snk, HEADER_LEN + REPORT_MAX);
	if (!frame)
		return errno ? -errno : -EIO;
	n = dta_encode(frame + HEADER_LEN, REPORT_MAX, g->o.format, r);
	if (n < 0)
		return n;
	frame_headers(g, frame, (size_t)n, reporter);
	if (!g->dart)
		snk_done(g->snk, HEADER_LEN + (size_t)n, ts_ns);
	else if ((rc = dart_done(g, HEADER_LEN + (size_t)n, ts_ns)) < 0)
		return rc;
	return n;
}

static int emit_kept(struct gen *g, const struct dta_report *r,
		     unsigned reporter, uint64_t ts_ns)
{
	uint8_t payload[REPORT_MAX];
	int n = dta_encode(payload, sizeof(payload), g->o.format, r);

	if (n < 0 || !link_report(g, reporter, payload, (size_t)n, ts_ns))
		return n < 0 ? n : 0;
	return n;
}

void emit(struct gen *g, struct dta_report *r, enum key_type type,
	  unsigned reporter, uint64_t ts_ns)
{
	int n;

	if (g->err || g->done)
		return;
	r->tracked = g->o.tracked;
	r->immediate = g->o.immediate;
	if (g->o.copies && carries_copies(g, r->opcode))
		r->copies = (uint8_t)g->o.copies;
	r->sequence = g->sequence[reporter]++;
	if (ts_ns < g->sent_ns)
		ts_ns = g->sent_ns;
	g->sent_ns = ts_ns;
	n = link_keeps(g) ? emit_kept(g, r, reporter, ts_ns)
			  : emit_frame(g, r, reporter, ts_ns);
	if (n <= 0) {
		if (n < 0 && !g->err)
			g->err = n;
		return;
	}
	if (g->truth)
		truth_row(g, r, type);
	g->ctr.report_bytes += (uint64_t)n;
	if (++g->ctr.reports == g->o.count)
		g->done = true;
}

void emit_flush(struct gen *g)
{
	int rc = g->dart ? dart_flush(g) : 0;

	if (rc == 0)
		rc = snk_flush(g->snk);
	if (rc < 0 && !g->err)
		g->err = rc;
}

int emit_close(struct gen *g)
{
	int left = dart_close(g), rc = link_close(g);

	free(g->sequence);
	g->sequence = NULL;
	g->truth_err = truth_close(g->truth, g->truth_err);
	g->truth = NULL;
	return left < 0 ? left : rc;
}
