/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CSV for dta-gen: a header and rows, of a kind and with types that the first
 * byte picks. A row that is taken is a report.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/lines.h"
#include "net/dta.h"

#include "../../cmd/dta-gen/csv_reports.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct csv_row *row)
{
	const struct table *t = &row->table->t;
	uint8_t value[4] = {0}, payload[DTA_HEADER_LEN + KEY_MAX + 1024];
	struct dta_report r = {
		.opcode = t->kind,
		.copies = t->kind == TABLE_APPEND ? 0 : row->copies,
		.table = row->id,
		.key = row->key,
		.key_len = t->key_len,
		.data = row->value,
		.data_len = (uint16_t)row->len,
	};

	if (t->kind != TABLE_POSTCARD) {
		if (dta_encode(payload, sizeof(payload), DTA_FORMAT_1, &r) <= 0)
			abort();
		return;
	}
	r.hop = row->hop;
	r.path_len = row->path_len;
	r.data = value;
	r.data_len = sizeof(value);
	if (dta_encode(payload, sizeof(payload), DTA_FORMAT_1, &r) <= 0)
		abort();
}

static void read_rows(const struct csv_options *o, char *text)
{
	static struct csv_columns c;
	static struct csv_row row;
	char *field[CSV_FIELDS_MAX], *line = strsep(&text, "\n");
	struct error err;

	if (strlen(line) > LINE_MAX_LEN || csv_columns_open(&c, o, &err) < 0 ||
	    csv_columns_read(&c, line, o, &err) < 0)
		return;
	while ((line = strsep(&text, "\n"))) {
		int n = csv_split(line, field, CSV_FIELDS_MAX);

		if (n > 0 && csv_row_read(&row, &c, field, n, &err) > 0)
			judge(&row);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const as[] = {
		NULL, "u32", "flow4,u8:ttl", "text", "u16s", "hex3:id,src6,us",
	};
	static const int types[] = {KEY_FLOW4, KEY_HOP6, KEY_SRC4, KEY_U32};
	struct csv_options o = {.table = 1};
	unsigned pick = size ? data[0] : 0;
	struct error err;
	char *text;

	if (!size)
		return 0;
	o.kind = (int)(pick % 5);
	o.key_type = types[pick / 5 % 4];
	o.key_type_given = pick / 20 % 2;
	if (as[pick / 40 % 6])
		query_show_parse(&o.show, as[pick / 40 % 6], &err);
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	read_rows(&o, text);
	free(text);
	return 0;
}
