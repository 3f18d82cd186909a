/* SPDX-License-Identifier: BSD-2-Clause */
/* lists.c - what there is to choose from. */
#include "lists.h"

#include "cli/cli.h"
#include "filter/filter.h"
#include "profile/profile.h"
#include "wire/int_profile.h"

static const struct row_field profile_fields[] = {
	{"profile", ROW_STR, 12, ROW_TAG},
	{"version", ROW_STR, 7},
	{"dscp", ROW_U64, 4},
	{"udp_port", ROW_U64, 8},
	{"report_port", ROW_U64, 11},
};

static const struct schema profile_rows = {"int_profile", profile_fields,
					   sizeof(profile_fields) /
						   sizeof(profile_fields[0])};

int list_profiles(enum row_format fmt)
{
	struct rows *r = rows_print(stdout, fmt, &profile_rows, true);
	const struct int_profile *p;

	if (!r)
		cli_fail("out of memory");
	for (unsigned i = 0; (p = int_profile_at(i)); i++) {
		row_str(r, 0, p->name);
		row_str(r, 1, profile_versions[p->version]);
		if (p->dscp_mask & INT_DSCP_MASK)
			row_u64(r, 2, p->dscp);
		if (p->udp_port)
			row_u64(r, 3, p->udp_port);
		if (p->report_port)
			row_u64(r, 4, p->report_port);
		row_end(r);
	}
	rows_close(r);
	return CLI_OK;
}

static const struct row_field field_fields[] = {
	{"field", ROW_STR, 20, ROW_TAG},
	{"unit", ROW_STR, 5},
	{"what", ROW_STR, 0},
};

static const struct schema field_rows = {"filter_field", field_fields,
					 sizeof(field_fields) /
						 sizeof(field_fields[0])};

int list_fields(enum row_format fmt)
{
	struct rows *r = rows_print(stdout, fmt, &field_rows, true);
	const struct expr_field *k;

	if (!r)
		cli_fail("out of memory");
	for (unsigned i = 0; (k = expr_field_at(i)); i++) {
		row_str(r, 0, k->name);
		row_str(r, 1, k->flag ? "flag" : k->unit);
		row_str(r, 2, k->help);
		row_end(r);
	}
	rows_close(r);
	return CLI_OK;
}
