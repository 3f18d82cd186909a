/* SPDX-License-Identifier: BSD-2-Clause */
/* digest: a checksum for each table, to compare memories by. */
#include <errno.h>
#include <string.h>

#include "memory.h"

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

static bool digest_row(struct rows *r, const struct memory *m,
		       const struct table *t, uint64_t epoch)
{
	char hex[12];
	uint32_t sum = 0;
	int rc = 0;

	if (m->region)
		sum = region_digest(m->region, t, epoch);
	else
		rc = snapshot_digest(m->snapshot, t, epoch, &sum);
	if (rc < 0)
		cli_warn("%s: %s: %s", m->name, t->name,
			 rc == -EBADMSG ? "a damaged block" : strerror(-rc));
	snprintf(hex, sizeof(hex), "%08x", sum);
	row_str(r, TABLE, t->name);
	row_u64(r, ID, t->id);
	row_u64(r, EPOCH, epoch);
	row_str(r, DIGEST, rc < 0 ? NULL : hex);
	row_u64(r, BYTES, t->length);
	row_write(r);
	return rc == 0;
}

int dump_digest(const struct opts *o)
{
	static const struct schema digests = {"digest", fields, FIELDS};
	struct rows *r = rows_print(stdout, o->format, &digests, true);
	struct memory m;
	bool whole = true;

	if (!r)
		cli_fail("out of memory");
	memory_open(&m, o->what, o->snapshot, o);
	for (uint64_t e = m.last; e >= m.first && e && !cli_stop; e--) {
		for (unsigned i = 0; i < memory_tables(&m); i++) {
			const struct table *t = memory_table(&m, i);

			if (memory_wanted(o, t))
				whole &= digest_row(r, &m, t, e);
		}
	}
	rows_close(r);
	memory_close(&m);
	return whole ? CLI_OK : CLI_FAIL;
}
