/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv.c - reports from rows of CSV: the user's keys, values and times, the
 * output of dta-query -o csv, or a truth file.
 */
#include "gen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	BAD_ROWS = 10, /* after so many, this is not the file that was meant */
	REPORTER = 1,  /* the switch: rows do not name one */
	SECOND = 1000000000,
};

const struct workload csv_workload = {
	.name = "csv",
	.kind = DTA_KEYWRITE,
	.needs = NEEDS_ROWS,
	.key_type = {KEY_FLOW4, KEY_FLOW6},
	.system = "keys and values of one's own",
};

struct csv_input {
	struct gen *g;
	struct lines lines;
	struct csv_columns columns;
	struct csv_row row;
	char *field[CSV_FIELDS_MAX];
};

/* The next line that is not empty; NULL: the end (*rc 0), or *rc is -errno. */
static char *next_line(struct csv_input *c, int *rc)
{
	char *line;
	size_t len;

	for (;;) {
		while ((line = lines_next(&c->lines, &len)))
			if (len)
				return line;
		if (!c->lines.regular && c->g->snk)
			emit_flush(c->g); /* reading a pipe may take long */
		*rc = lines_more(&c->lines);
		if (*rc <= 0)
			return NULL;
	}
}

static int lines_failed(const struct csv_input *c, int rc, struct error *err)
{
	if (rc == -E2BIG)
		return error_set(
			err, rc, "%s:%llu: a line longer than %d bytes",
			c->lines.path, (unsigned long long)c->lines.number + 1,
			LINE_MAX_LEN);
	return rc < 0 ? error_set(err, rc, "%s", strerror(-rc)) : 0;
}

int csv_open(struct csv_input **out, struct gen *g, struct error *err)
{
	struct csv_input *c = calloc(1, sizeof(*c));
	struct error why;
	char *line;
	int rc;

	if (!c)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	c->g = g;
	if (csv_columns_open(&c->columns, &g->o.csv, err) < 0)
		cli_fail("%s", err->text);
	if ((rc = lines_open(&c->lines, g->o.from)) < 0) {
		csv_close(c);
		return error_opening(err, rc, g->o.from);
	}
	*out = c;
	do
		line = next_line(c, &rc);
	while (!line && rc == -EINTR && !cli_stop);
	if (!line && rc < 0)
		return lines_failed(c, rc, err);
	if (!line)
		return error_set(err, -EINVAL, "empty: not even a header");
	if (!strncmp(line, "\xef\xbb\xbf", 3))
		line += 3; /* the mark that some programs put before UTF-8 */
	rc = csv_columns_read(&c->columns, line, &g->o.csv, &why);
	if (rc < 0)
		return error_set(err, rc, "%s:%llu: %.480s", c->lines.path,
				 (unsigned long long)c->lines.number, why.text);
	return 0;
}

void csv_close(struct csv_input *c)
{
	if (!c)
		return;
	lines_close(&c->lines);
	free(c);
}

static void report_row(struct csv_input *c)
{
	const struct csv_row *row = &c->row;
	/* The row's time, or as if reports came at --rate. */
	uint64_t ts_ns = row->has_time
				 ? row->ts_ns
				 : GEN_START_NS +
					   (uint64_t)((double)c->g->ctr.used *
						      SECOND /
						      (double)c->g->o.rate);
	const struct table *t = &row->table->t;
	struct dta_report r = {
		.opcode = t->kind,
		.table = row->id,
		.copies = t->kind == TABLE_APPEND ? 0 : row->copies,
		.key = row->key,
		.key_len = t->key_len,
		.hop = row->hop,
		.path_len = c->g->o.work.no_path_len ? 0 : row->path_len,
		.data = row->value,
		.data_len = (uint16_t)row->len,
	};

	emit_dta_report(c->g, &r, (enum key_type)t->key_type, REPORTER, ts_ns);
}

int csv_next(struct csv_input *c, struct error *err)
{
	struct error why = {""};
	const struct table *t;
	int rc = 0, n;
	char *line = next_line(c, &rc);

	if (!line)
		return rc == -EINTR ? rc : lines_failed(c, rc, err);
	c->g->ctr.traffic.packets++;
	n = csv_split(line, c->field, CSV_FIELDS_MAX);
	rc = n < 0 ? error_set(&why, n, "a quote that is not closed")
		   : csv_row_read(&c->row, &c->columns, c->field, n, &why);
	if (rc > 0 && c->g->o.format != DTA_FORMAT_1) {
		t = &c->row.table->t;
		if (t->key_len != 4 ||
		    (c->row.len != 4 && t->kind != TABLE_KEYINC))
			rc = error_set(&why, -EINVAL,
				       "does not fit %s: keys and values of 4 "
				       "bytes do",
				       dta_format_names[c->g->o.format]);
	}
	if (rc < 0) {
		c->g->ctr.traffic.malformed++;
		cli_warn("%s:%llu: %s", c->lines.path,
			 (unsigned long long)c->lines.number, why.text);
		if (c->g->ctr.traffic.malformed < BAD_ROWS)
			return 1;
		return error_set(err, -EINVAL,
				 "%d rows are no reports: stopped there",
				 BAD_ROWS);
	}
	if (rc == 0) {
		c->g->ctr.unanswered++;
		return 1;
	}
	report_row(c);
	c->g->ctr.used++;
	return 1;
}
