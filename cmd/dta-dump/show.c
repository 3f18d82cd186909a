/* SPDX-License-Identifier: BSD-2-Clause */
#include "show.h"

#include <errno.h>

#include "dump.h"
#include "cli/table.h"

static const struct row_field fields[SHOW_FIELDS] = {
	[SHOW_NUMBER] = {"number", ROW_U64, 0},
	[SHOW_TIME] = {"time", ROW_TIME, 0, ROW_WHEN},
	[SHOW_SRC] = {"src", ROW_STR, 0},
	[SHOW_DST] = {"dst", ROW_STR, 0},
	[SHOW_PROTOCOL] = {"protocol", ROW_STR, 0, ROW_TAG},
	[SHOW_OPCODE] = {"opcode", ROW_STR, 0, ROW_TAG},
	[SHOW_TABLE] = {"table", ROW_STR, 0, ROW_TAG},
	[SHOW_KEY] = {"key", ROW_STR, 0},
	[SHOW_LIST] = {"list", ROW_U64, 0},
	[SHOW_HOP] = {"hop", ROW_U64, 0},
	[SHOW_PATH_LEN] = {"path_len", ROW_U64, 0},
	[SHOW_COPIES] = {"copies", ROW_U64, 0},
	[SHOW_SEQUENCE] = {"sequence", ROW_U64, 0},
	[SHOW_FLAGS] = {"flags", ROW_STR, 0},
	[SHOW_QP] = {"qp", ROW_U64, 0},
	[SHOW_PSN] = {"psn", ROW_U64, 0},
	[SHOW_VA] = {"va", ROW_STR, 0},
	[SHOW_RKEY] = {"rkey", ROW_STR, 0},
	[SHOW_LENGTH] = {"length", ROW_U64, 0, ROW_VALUE, "bytes"},
	[SHOW_SLOT] = {"slot", ROW_U64, 0},
	[SHOW_ENTRY] = {"entry", ROW_U64, 0},
	[SHOW_IMM] = {"imm", ROW_U64, 0},
	[SHOW_ADD] = {"add", ROW_U64, 0},
	[SHOW_COMPARE] = {"compare", ROW_U64, 0},
	[SHOW_SYNDROME] = {"syndrome", ROW_STR, 0},
	[SHOW_MSN] = {"msn", ROW_U64, 0},
	[SHOW_ORIGINAL] = {"original", ROW_U64, 0},
	[SHOW_ICRC] = {"icrc", ROW_STR, 0},
	[SHOW_DATA] = {"data", ROW_BYTES, 0},
	[SHOW_REASON] = {"reason", ROW_STR, 0, ROW_TAG},
	[SHOW_LABELS] = {"labels", ROW_STR, 0},
	[SHOW_HOPS] = {"hops", ROW_STR, 0},
};

const char show_wrong_checksum[] = "wrong IPv4 header or UDP checksum";
const char show_malformed[] = "malformed or cut short";

static const struct schema packets = {"packet", fields, SHOW_FIELDS};

void show_open(struct show *s, enum row_format format)
{
	s->rows = NULL;
	if (format == ROW_TEXT)
		return;
	s->rows = cli_rows(format, &packets);
	if (!s->rows)
		cli_fail("out of memory");
}

void show_close(struct show *s)
{
	rows_close(s->rows);
}

/* What goes before a field's value in a line. */
static void lead(enum show_field f)
{
	if (f == SHOW_DST)
		fputs(" > ", stdout);
	else if (f == SHOW_REASON)
		fputs(" ! ", stdout);
	else if (f > SHOW_OPCODE)
		printf(" %s=", fields[f].name);
	else if (f > SHOW_NUMBER)
		putchar(' ');
}

void show_u64(struct show *s, enum show_field f, uint64_t v)
{
	if (s->rows) {
		row_u64(s->rows, f, v);
		return;
	}
	lead(f);
	printf("%llu", (unsigned long long)v);
}

void show_time(struct show *s, uint64_t ns)
{
	if (s->rows) {
		row_time(s->rows, SHOW_TIME, (int64_t)ns);
		return;
	}
	lead(SHOW_TIME);
	printf("%llu.%09llu", (unsigned long long)(ns / 1000000000),
	       (unsigned long long)(ns % 1000000000));
}

void show_str(struct show *s, enum show_field f, const char *v)
{
	if (s->rows) {
		row_str(s->rows, f, v);
		return;
	}
	lead(f);
	fputs(v, stdout);
}

void show_bytes(struct show *s, enum show_field f, const void *p, size_t n)
{
	const uint8_t *byte = p;

	if (s->rows) {
		row_bytes(s->rows, f, p, n);
		return;
	}
	lead(f);
	for (size_t i = 0; i < n; i++)
		printf("%02x", byte[i]);
}

void show_end(struct show *s)
{
	if (s->rows)
		row_write(s->rows);
	else if (putchar('\n') == EOF)
		cli_fail("%s: %s", cli_stdout, strerror(errno));
}

void show_head(struct show *s, const char *src, const char *dst,
	       const char *protocol)
{
	if (src) {
		show_str(s, SHOW_SRC, src);
		show_str(s, SHOW_DST, dst);
	}
	show_str(s, SHOW_PROTOCOL, protocol);
}
