/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv_reports.h - reports in CSV. The header says which column is what, and so
 * which tables the rows can be for; then each row is read as a report.
 */
#ifndef DTA_GEN_CSV_REPORTS_H
#define DTA_GEN_CSV_REPORTS_H

#include "cli/lines.h"
#include "query/show.h"
#include "region/table.h"
#include "net/key.h"

enum csv_column {
	CSV_KEY,
	CSV_SRC,
	CSV_DST,
	CSV_SPORT,
	CSV_DPORT,
	CSV_PROTO,
	CSV_SWITCH,
	CSV_LIST,
	CSV_HOP,
	CSV_PATH_LEN,
	CSV_COUNT,
	CSV_VALUE,
	CSV_TIME,
	CSV_TABLE,
	CSV_KIND,
	CSV_COPIES,
	CSV_ANSWER,
	CSV_COLUMNS,
};

/* Options about the rows. */
struct csv_options {
	/* Where the tables are described, in one of these at most. Without,
	 * tables are made of the options that follow. */
	const char *layout, *region;
	int kind;	     /* enum table_kind; 0: by the columns */
	bool key_type_given; /* else flows of both IP versions */
	int key_type;	     /* enum key_type */
	unsigned key_len;    /* of KEY_HEX */
	bool table_given;    /* all rows are for it */
	uint16_t table;	     /* its id; of IPv6: the next */
	struct show show;    /* of values; n 0: as the layout says */
};

/* A table that rows may be for, and how its values are read. */
struct csv_table {
	struct table t; /* value_len 0: any */
	struct show show;
	bool parts; /* each part of show has a column: part_at */
	int part_at[SHOW_PARTS];
};

struct csv_columns {
	char head[LINE_MAX_LEN + 1];
	char *name[CSV_FIELDS_MAX];
	int n;
	int at[CSV_COLUMNS]; /* index of each column's field; -1: none */
	bool truth;	     /* of dta-gen --truth: values are bytes in hex */
	bool made;	     /* the tables are made of the options */
	bool one_table;	     /* and --table says which one all rows are for */
	unsigned n_tables;
	struct csv_table table[TABLE_MAX];
};

/* The tables of o's layout or region, if it has one. 0, or -errno and err,
 * which names the file. */
int csv_columns_open(struct csv_columns *c, const struct csv_options *o,
		     struct error *err);

/* Then reads the header line, which is copied: sets the columns and the tables
 * that rows may be for. 0, or -errno and err. */
int csv_columns_read(struct csv_columns *c, const char *line,
		     const struct csv_options *o, struct error *err);

static inline bool csv_has(const struct csv_columns *c, enum csv_column column)
{
	return c->at[column] >= 0;
}

enum {
	CSV_HOPS = 15, /* that a report can name (dta(7), REPORTS) */
};

struct csv_row {
	const struct csv_table *table;
	uint16_t id;	      /* the report's table field */
	uint8_t key[KEY_MAX]; /* append: the list */
	uint8_t value[TABLE_VALUE_MAX];
	size_t len;
	uint8_t copies;
	bool has_time;
	uint64_t ts_ns;
	uint8_t hop, path_len; /* of a postcard */
};

/* Reads a row. 1; 0: it is no report, but an answer that was not found; or
 * -EINVAL and what is wrong. */
int csv_row_read(struct csv_row *r, const struct csv_columns *c,
		 char *const *field, int n, struct error *err);

#endif
