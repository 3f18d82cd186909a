/* SPDX-License-Identifier: BSD-2-Clause */
/* InfluxDB's line protocol, templates of keys. */
#include "row/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "row/row.h"
#include "row/outbuf.h"
#include "test.h"

enum { TIME, NODE, PORT, TEXT, U, I, F, B, LIST, BYTES, AT, N };

static const struct row_field fields[N] = {
	{"time", ROW_TIME, 0, ROW_WHEN},
	{"node", ROW_STR, 0, ROW_TAG},
	{"port", ROW_U64, 0, ROW_TAG},
	{"text", ROW_STR, 0},
	{"u", ROW_U64, 0},
	{"i", ROW_I64, 0},
	{"f", ROW_F64, 0},
	{"b", ROW_BOOL, 0},
	{"list", ROW_LIST, 0},
	{"bytes", ROW_BYTES, 0},
	{"at", ROW_TIME, 0},
};

static const struct schema schema = {"a m,e=s", fields, N};

/* A line of the row in hand. */
static void expect(struct row_batch *b, const char *want)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	struct outbuf *tag = calloc(1, sizeof(*tag));
	const char *text;
	size_t len;

	row_batch_end(b);
	line_series(tag, o, b, 0);
	line_rest(o, b, 0, line_time(b, 0, 7));
	text = outbuf_text(o, &len);
	if (!TEST(text && !strcmp(text, want)))
		fprintf(stderr, "got  %swant %s", text, want);
	free(tag);
	free(o->text);
	free(o);
	row_batch_clear(b);
}

static void test_values(struct row_batch *b)
{
	static const uint64_t list[] = {6, 5, 4};

	row_batch_set(b, TIME, ROW_TIME)->i64 = 1600000000000000001;
	row_batch_str(b, NODE, "n1");
	row_batch_set(b, PORT, ROW_U64)->u64 = 3;
	row_batch_str(b, TEXT, "two words");
	row_batch_set(b, U, ROW_U64)->u64 = UINT64_MAX;
	row_batch_set(b, I, ROW_I64)->i64 = INT64_MIN;
	row_batch_set(b, F, ROW_F64)->f64 = 0.25;
	row_batch_set(b, B, ROW_BOOL)->u64 = 1;
	row_batch_list(b, LIST, list, 3);
	row_batch_bytes(b, BYTES, "\x00\xff", 2);
	row_batch_set(b, AT, ROW_TIME)->i64 = -5;
	expect(b,
	       "a\\ m\\,e=s,node=n1,port=3 text=\"two words\","
	       "u=9223372036854775807i,i=-9223372036854775808i,f=0.25,b=true,"
	       "list=\"6,5,4\",bytes=\"00ff\",at=-5i 1600000000000000001\n");
}

static void test_escapes(struct row_batch *b)
{
	row_batch_str(b, NODE, "a b,c=d\"e\nf\\");
	row_batch_str(b, TEXT, "say \"\\\"\n, = \xff\xc3\xa4");
	expect(b, "a\\ m\\,e=s,node=a\\ b\\,c\\=d\"e\\nf "
		  "text=\"say \\\"\\\\\\\"\n, = \xef\xbf\xbd\xc3\xa4\" 7\n");
}

static void test_nothing(struct row_batch *b)
{
	row_batch_str(b, NODE, "");
	row_batch_set(b, F, ROW_F64)->f64 = 1.0 / 0.0;
	expect(b, "a\\ m\\,e=s none=true 7\n");
	row_batch_str(b, NODE, "\\\\");
	row_batch_set(b, B, ROW_BOOL)->u64 = 0;
	expect(b, "a\\ m\\,e=s b=false 7\n");
}

static void expect_key(struct row_batch *b, const char *template,
		       const char *want)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	struct error err = {""};
	const char *text;
	size_t len;

	if (row_template_check(template, &schema, &err) == 0) {
		row_template_encode(template, o, b, 0);
		text = outbuf_text(o, &len);
	} else {
		text = err.text;
	}
	if (!TEST(text && !strcmp(text, want)))
		fprintf(stderr, "%s: %s\n", template, text);
	free(o->text);
	free(o);
}

static void test_templates(struct row_batch *b)
{
	row_batch_str(b, NODE, "n");
	row_batch_set(b, PORT, ROW_U64)->u64 = 3;
	row_batch_end(b);
	expect_key(b, "", "");
	expect_key(b, "key", "key");
	expect_key(b, "{node}-{port}", "n-3");
	expect_key(b, "{}:{u}{port}.", "a m,e=s:3.");
	expect_key(b, "{}{}", "a m,e=sa m,e=s");
	expect_key(b, "{nod}", "{nod}: a m,e=s has no such field");
	expect_key(b, "x{node", "{node: a brace without the other");
	expect_key(b, "x}", "}: a brace without the other");
	row_batch_clear(b);
}

/* Texts that are longer than the buffer before them. */
static void test_memory(void)
{
	struct outbuf *o = calloc(1, sizeof(*o));
	size_t len, n = 0;
	char *text;

	for (unsigned i = 0; i < 10000; i++) {
		outbuf_u64(o, i);
		n += i < 10 ? 1 : i < 100 ? 2 : i < 1000 ? 3 : 4;
	}
	TEST(outbuf_len(o) == n);
	outbuf_cut(o, n - 3); /* in what is spilled, and in what is not */
	outbuf_word(o, "x");
	text = outbuf_take(o, &len);
	TEST(text && len == n - 2 && strlen(text) == len);
	TEST(text && !strcmp(text + len - 6, "99989x"));
	TEST(outbuf_len(o) == 0);
	free(text);
	outbuf_cut(o, 0);
	TEST(outbuf_text(o, &len) && !len);
	free(o->text);
	free(o);
}

static void test_sparse(struct row_batch *b)
{
	struct encoder *e = encoder_open(ROW_SPARSE, &schema, false);
	struct outbuf *o = calloc(1, sizeof(*o));
	size_t len;

	row_batch_set(b, PORT, ROW_U64)->u64 = 3;
	row_batch_set(b, B, ROW_BOOL)->u64 = 0;
	row_batch_end(b);
	row_batch_end(b);
	encoder_row(e, o, b, 0);
	encoder_row(e, o, b, 1);
	TEST(!strcmp(outbuf_text(o, &len), "{\"port\":3,\"b\":false}\n{}\n"));
	encoder_close(e);
	free(o->text);
	free(o);
	row_batch_clear(b);
}

int main(void)
{
	struct row_batch b;

	TEST(row_batch_init(&b, &schema, 1) == 0);
	test_values(&b);
	test_escapes(&b);
	test_nothing(&b);
	test_templates(&b);
	test_sparse(&b);
	test_memory();
	row_batch_fini(&b);
	return test_end();
}
