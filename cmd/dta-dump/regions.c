/* SPDX-License-Identifier: BSD-2-Clause */
/* regions.c - the verb regions: a row for each region of this machine. */
#include <errno.h>

#include "base/clock.h"
#include "cli/table.h"
#include "query/query.h"
#include "dump.h"
#include "region/region.h"

enum field {
	NAME,
	SIZE,
	TABLES,
	EPOCH,
	AGE,
	FILL,
	WRITERS,
	WRITER,
	SINCE,
	WRITTEN,
	PATH,
	FIELDS,
};

static const struct row_field fields[FIELDS] = {
	[NAME] = {"name", ROW_STR, 16, ROW_TAG},
	[SIZE] = {"size", ROW_U64, 12, ROW_VALUE, "bytes"},
	[TABLES] = {"tables", ROW_U64, 6},
	[EPOCH] = {"epoch", ROW_U64, 5},
	[AGE] = {"age", ROW_U64, 8, ROW_VALUE, "s"},
	[FILL] = {"fill", ROW_F64, 8, ROW_VALUE, "ratio"},
	[WRITERS] = {"writers", ROW_U64, 7},
	[WRITER] = {"writer", ROW_STR, 24},
	[SINCE] = {"since", ROW_TIME, 20},
	[WRITTEN] = {"last_write", ROW_TIME, 20},
	[PATH] = {"path", ROW_STR, 20, .spare = 1},
};

static const struct schema schema = {"region", fields, FIELDS};

struct listing {
	const struct opts *o;
	struct rows *rows;
	unsigned shown;
	bool failed;
};

static void show_region(void *ctx, const char *path, const char *name)
{
	struct listing *l = ctx;
	struct rows *rows = l->rows;
	struct error err = {""};
	struct region *r;
	struct region_writer w;
	uint64_t began, written, since = UINT64_MAX, now = clock_wall_ns();
	char writers[256] = "";
	unsigned at = 0, n = 0;
	size_t len = 0;
	int rc;

	if (cli_stop)
		return;
	rc = region_open_untrusted(&r, path, &err);
	if (rc < 0) {
		cli_warn_error(path, &err);
		/* Other users' files are not this user's failure. */
		l->failed |= rc != -EACCES;
		return;
	}
	began = region_epoch_began(r);
	row_str(rows, NAME, name);
	row_u64(rows, SIZE, region_size(r));
	row_u64(rows, TABLES, region_tables(r));
	row_u64(rows, EPOCH, region_epoch(r));
	if (began && began <= now)
		row_u64(rows, AGE, (now - began) / 1000000000);
	if (!l->o->no_load)
		row_f64(rows, FILL, query_fill(region_memory(r)));
	written = region_writer_left_ns(r);
	/* "1234:dta-translate,1240:dta-collect": columns end at blanks. */
	for (; region_writer(r, &at, &w); n++) {
		if (len < sizeof(writers))
			len += (size_t)snprintf(
				writers + len, sizeof(writers) - len, "%s%u:%s",
				n ? "," : "", w.pid, w.program);
		since = w.since_ns < since ? w.since_ns : since;
		written = clock_wall_ns(); /* it may write just now */
	}
	row_u64(rows, WRITERS, n);
	if (n) {
		row_str(rows, WRITER, writers);
		row_time(rows, SINCE, (int64_t)since);
	}
	if (written)
		row_time(rows, WRITTEN, (int64_t)written);
	row_str(rows, PATH, path);
	cli_row_end(rows);
	l->shown++;
	region_close(r);
}

int dump_regions(const struct opts *o)
{
	struct listing l = {.o = o, .rows = cli_rows(o->format, &schema)};

	region_list(show_region, &l);
	rows_close(l.rows);
	return l.failed ? CLI_FAIL : l.shown ? CLI_OK : CLI_NOTHING;
}
