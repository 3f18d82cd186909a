/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/shares.h"

#include "row/row.h"

void cli_shares(const struct cli_share *share, unsigned cores, const char *more,
		enum row_format format)
{
	const struct row_field field[] = {
		{"core", ROW_U64, 6, ROW_TAG}, {"batches", ROW_U64, 10},
		{"packets", ROW_U64, 12},      {"operations", ROW_U64, 12},
		{"waited", ROW_U64, 10},       {more, ROW_U64, 12},
	};
	const struct schema schema = {"cores", field, more ? 6 : 5};
	struct rows *rows = rows_print(stderr, format, &schema, true);

	for (unsigned i = 0; rows && i < cores; i++) {
		const struct cli_share *s = &share[i];
		const uint64_t value[] = {i,	  s->batches, s->packets,
					  s->ops, s->late,    s->more};

		for (unsigned k = 0; k < schema.n; k++)
			row_u64(rows, k, value[k]);
		row_end(rows);
	}
	rows_close(rows);
}
