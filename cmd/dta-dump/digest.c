/* SPDX-License-Identifier: BSD-2-Clause */
/* digest: a checksum for each table, to compare memories by. */
#include <errno.h>
#include <string.h>

#include "whole.h"
#include "cli/table.h"

enum field {
	TABLE,
	ID,
	EPOCH,
	DIGEST,
	BYTES,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[TABLE] = {"table", ROW_STR, 16, ROW_TAG},
	[ID] = {"id", ROW_U64, 5},
	[EPOCH] = {"epoch", ROW_U64, 5},
	[DIGEST] = {"digest", ROW_STR, 8},
	[BYTES] = {"bytes", ROW_U64, 12, ROW_VALUE, "bytes"},
};

static bool digest_row(struct rows *r, const struct whole *w,
		       const struct view *v)
{
	const struct table *t = v->t;
	char hex[12];
	uint32_t sum = 0;
	int rc = memory_digest(w->memory, t, v->epoch, &sum);

	if (rc < 0)
		cli_warn("%s: %s: %s", w->name, t->name,
			 rc == -EBADMSG ? "a damaged block" : strerror(-rc));
	snprintf(hex, sizeof(hex), "%08x", sum);
	row_str(r, TABLE, t->name);
	row_u64(r, ID, t->id);
	row_u64(r, EPOCH, v->epoch);
	row_str(r, DIGEST, rc < 0 ? NULL : hex);
	row_u64(r, BYTES, t->length);
	row_write(r);
	return rc == 0;
}

int dump_digest(const struct opts *o)
{
	static const struct schema digests = {"digest", fields, FIELDS};
	struct rows *r = cli_rows(o->format, &digests);
	struct view v = {NULL};
	struct whole w;
	bool good = true;

	if (!r)
		cli_fail("out of memory");
	whole_open(&w, o->what, o->snapshot, o);
	while (whole_next(&w, o, &v))
		good &= digest_row(r, &w, &v);
	rows_close(r);
	whole_close(&w);
	return good ? CLI_OK : CLI_FAIL;
}
