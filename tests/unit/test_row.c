/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows: what each format looks like, to the byte. */
#include "row/row.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "test.h"

static const struct row_field all[] = {
	{"name", ROW_STR, 6},  {"u", ROW_U64, 0},	{"i", ROW_I64, 4},
	{"f", ROW_F64, 0},     {"bytes", ROW_BYTES, 0}, {"b", ROW_BOOL, 5},
	{"list", ROW_LIST, 0},
};

enum { N = sizeof(all) / sizeof(all[0]) };

static char *text; /* what the rows of a test have made */
static size_t text_len;

static const struct schema everything = {"all", all, N};

static struct rows *start(enum row_format fmt, const struct schema *s,
			  FILE **out)
{
	*out = open_memstream(&text, &text_len);
	return rows_print(*out, fmt, s, true);
}

static void expect(struct rows *r, FILE *out, const char *want)
{
	rows_close(r);
	fclose(out);
	if (!TEST(!strcmp(text, want)))
		fprintf(stderr, "got:\n%swant:\n%s", text, want);
	free(text);
}

static void fill(struct rows *r)
{
	static const uint64_t list[] = {7, UINT64_MAX};

	row_list(r, 6, list, 2);
	row_str(r, 0, "s1");
	row_u64(r, 1, UINT64_MAX);
	row_batch_set(&r->b, 2, ROW_I64)->i64 = INT64_MIN;
	row_f64(r, 3, 0.25);
	row_bytes(r, 4, "\x00\xff\x1a", 3);
	row_bool(r, 5, true);
	TEST(row_end(r) == 0);
	TEST(row_end(r) == 0); /* all null */
	row_list(r, 6, list, 1);
	row_u64(r, 1, 0);
	row_batch_set(&r->b, 2, ROW_I64)->i64 = 0;
	row_f64(r, 3, NAN);
	row_bytes(r, 4, "", 0);
	row_bool(r, 5, false);
	row_str(r, 0, "");
	TEST(row_end(r) == 0);
	row_list(r, 6, list, 0);
	TEST(row_end(r) == 0);
}

static void test_formats(void)
{
	FILE *out;
	struct rows *r = start(ROW_TEXT, &everything, &out);

	fill(r);
	expect(r, out,
	       "NAME    U     I  F  BYTES  B      LIST\n"
	       "s1      18446744073709551615  -9223372036854775808  0.25  "
	       "00ff1a  true   7,18446744073709551615\n"
	       "-       -     -  -  -      -      -\n"
	       "\"\"      0     0  -  \"\"     false  7\n"
	       "-       -     -  -  -      -      -\n");
	r = start(ROW_CSV, &everything, &out);
	fill(r);
	expect(r, out,
	       "name,u,i,f,bytes,b,list\n"
	       "s1,18446744073709551615,-9223372036854775808,0.25,00ff1a,true,"
	       "\"7,18446744073709551615\"\n"
	       ",,,,,,\n"
	       "\"\",0,0,,\"\",false,7\n"
	       ",,,,,,\n");
	r = start(ROW_NDJSON, &everything, &out);
	fill(r);
	expect(r, out,
	       "{\"name\":\"s1\",\"u\":18446744073709551615,"
	       "\"i\":-9223372036854775808,\"f\":0.25,\"bytes\":\"00ff1a\","
	       "\"b\":true,\"list\":[7,18446744073709551615]}\n"
	       "{\"name\":null,\"u\":null,\"i\":null,\"f\":null,"
	       "\"bytes\":null,\"b\":null,\"list\":null}\n"
	       "{\"name\":\"\",\"u\":0,\"i\":0,\"f\":null,\"bytes\":\"\","
	       "\"b\":false,\"list\":[7]}\n"
	       "{\"name\":null,\"u\":null,\"i\":null,\"f\":null,"
	       "\"bytes\":null,\"b\":null,\"list\":[]}\n");
}

/* Strings that break naive formatters; the last column is a string too. */
static const struct row_field strings[] = {
	{"first", ROW_STR, 8},
	{"last", ROW_STR, 8},
};

static const struct schema both = {"strings", strings, 2};
static const struct schema first = {"first", strings, 1};

static void one(enum row_format fmt, const char *v, const char *want)
{
	FILE *out = open_memstream(&text, &text_len);
	struct rows *r = rows_print(out, fmt, &both, false);

	row_str(r, 0, v);
	row_str(r, 1, v);
	row_end(r);
	expect(r, out, want);
}

static void test_strings(void)
{
	one(ROW_TEXT, "a b", "a\\x20b    a b\n");
	one(ROW_TEXT, "\n\033[2J\x7f",
	    "\\x0a\\x1b[2J\\x7f  "
	    "\\x0a\\x1b[2J\\x7f\n");
	one(ROW_TEXT, "h\xc3\xa9t\xc3\xa9",
	    "h\xc3\xa9t\xc3\xa9      "
	    "h\xc3\xa9t\xc3\xa9\n");
	one(ROW_TEXT, "\xc2\x9b", "\\x9b      \\x9b\n"); /* C1: CSI */
	one(ROW_CSV, "a,b", "\"a,b\",\"a,b\"\n");
	one(ROW_CSV, "\"", "\"\"\"\",\"\"\"\"\n");
	one(ROW_CSV, "a\r\nb", "\"a\r\nb\",\"a\r\nb\"\n");
	one(ROW_CSV, " a", "\" a\",\" a\"\n");
	one(ROW_CSV, "\xff", "\"\xef\xbf\xbd\",\"\xef\xbf\xbd\"\n");
	one(ROW_NDJSON, "\"\\/\b\x01",
	    "{\"first\":\"\\\"\\\\/\\u0008\\u0001\","
	    "\"last\":\"\\\"\\\\/\\u0008\\u0001\"}\n");
	one(ROW_NDJSON, "\xf0\x9f\x99\x82",
	    "{\"first\":\"\xf0\x9f\x99\x82\",\"last\":\"\xf0\x9f\x99\x82\"}\n");
}

/* RFC 3629: overlong forms, surrogates, beyond U+10FFFF, cut short. */
static void test_bad_utf8(void)
{
	static const struct {
		const char *in;
		unsigned replaced; /* bytes */
	} bad[] = {
		{"\x80", 1},
		{"\xc0\xaf", 2},
		{"\xc1\xbf", 2},
		{"\xe0\x80\xaf", 3},
		{"\xed\xa0\x80", 3},
		{"\xf0\x80\x80\x80", 4},
		{"\xf4\x90\x80\x80", 4},
		{"\xf8\x88\x80\x80\x80", 5},
		{"\xe2\x82", 2},
		{"\xc3", 1},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char want[128] = "{\"first\":\"";
		const char *mark = "\xef\xbf\xbd";
		FILE *out = open_memstream(&text, &text_len);
		struct rows *r = rows_print(out, ROW_NDJSON, &first, false);
		/* On the heap, exact: a read past the NUL is caught. */
		char *copy = strdup(bad[i].in);

		for (unsigned k = 0; k < bad[i].replaced; k++)
			memcpy(want + strlen(want), mark, 4);
		memcpy(want + strlen(want), "\"}\n", 4);
		row_str(r, 0, copy);
		row_end(r);
		expect(r, out, want);
		free(copy);
	}
}

/* Our digits against snprintf's. */
static void test_numbers(void)
{
	static const struct row_field fields[] = {
		{"u", ROW_U64, 0}, {"i", ROW_I64, 0}, {"f", ROW_F64, 0}};
	static const struct schema numbers = {"numbers", fields, 3};
	struct rng rng = {1};

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t u = rng_u64(&rng) >> (i % 64);
		int64_t s = (int64_t)(rng_u64(&rng) >> (i % 64));
		double f = ldexp(rng_unit(&rng), (int)(i % 200) - 100);
		char want[256];
		FILE *out = open_memstream(&text, &text_len);
		struct rows *r = rows_print(out, ROW_CSV, &numbers, false);

		if (i % 2)
			s = -s;
		snprintf(want, sizeof(want),
			 f >= 1e6 && f < 1e15 ? "%ju,%jd,%.0f\n"
					      : "%ju,%jd,%.6g\n",
			 (uintmax_t)u, (intmax_t)s, f);
		row_u64(r, 0, u);
		row_batch_set(&r->b, 1, ROW_I64)->i64 = s;
		row_f64(r, 2, f);
		row_end(r);
		expect(r, out, want);
	}
}

/* A locale with a decimal comma, where the machine has one. */
static void test_locale(void)
{
	static const struct row_field f = {"f", ROW_F64, 0};
	static const struct schema one_number = {"one", &f, 1};
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8",
					    "de_DE", "ps_AF.UTF-8"};
	FILE *out;
	struct rows *r;
	bool set = false;

	for (unsigned i = 0; i < 4 && !set; i++)
		set = setlocale(LC_ALL, names[i]) != NULL;
	r = start(ROW_NDJSON, &one_number, &out);
	row_f64(r, 0, -1234.5);
	row_end(r);
	row_f64(r, 0, 1e-30);
	row_end(r);
	row_f64(r, 0, -INFINITY);
	row_end(r);
	expect(r, out, "{\"f\":-1234.5}\n{\"f\":1e-30}\n{\"f\":null}\n");
	setlocale(LC_ALL, "C");
}

/* Headers: once, and also where there are no rows; none for NDJSON. */
static void test_headers(void)
{
	FILE *out;
	struct rows *r = start(ROW_TEXT, &both, &out);

	expect(r, out, "FIRST     LAST\n");
	r = start(ROW_CSV, &both, &out);
	expect(r, out, "first,last\n");
	r = start(ROW_NDJSON, &both, &out);
	expect(r, out, "");
	TEST(!strcmp(row_format_names[ROW_TEXT], "text"));
	TEST(!strcmp(row_format_names[ROW_CSV], "csv"));
	TEST(!strcmp(row_format_names[ROW_NDJSON], "ndjson"));
}

/* Fields longer than any buffer come out whole. */
static void test_long(void)
{
	enum { LONG = 100000 };
	FILE *out;
	struct rows *r = start(ROW_CSV, &both, &out);
	char *big = malloc(LONG + 1), *want = malloc(4 * LONG);

	memset(big, 'x', LONG);
	big[LONG] = 0;
	sprintf(want, "first,last\n%s,%s\n", big, big);
	row_str(r, 0, big);
	row_str(r, 1, big);
	row_end(r);
	expect(r, out, want);

	r = start(ROW_TEXT, &both, &out);
	sprintf(want, "FIRST     LAST\n%s  %s\n", big, big);
	row_str(r, 0, big);
	row_str(r, 1, big);
	row_end(r);
	expect(r, out, want);

	r = start(ROW_NDJSON, &first, &out);
	memset(want, 0, 4 * LONG);
	strcpy(want, "{\"first\":\"");
	for (unsigned i = 0; i < LONG; i++)
		memcpy(want + 10 + 2 * i, "78", 2);
	strcpy(want + 10 + 2 * LONG, "\"}\n");
	row_bytes(r, 0, big, LONG);
	row_end(r);
	expect(r, out, want);
	free(big);
	free(want);
}

/* A full disk is told by the row that meets it. */
static void test_full(void)
{
	FILE *out = fopen("/dev/full", "w");
	struct rows *r;
	int rc = 0;

	if (!TEST(out != NULL))
		return;
	r = rows_print(out, ROW_CSV, &both, true);
	for (unsigned i = 0; i < 10000 && !rc; i++) {
		row_str(r, 0, "x");
		rc = row_end(r);
	}
	TEST(rc == -ENOSPC);
	TEST(row_end(r) == -ENOSPC);
	rows_close(r);
	fclose(out);
	rows_close(NULL);
}

/* Times: seconds and nine digits, also before 1970 and at both ends. */
static void test_times(void)
{
	static const struct row_field f = {"time", ROW_TIME, 0, ROW_WHEN};
	static const struct schema times = {"times", &f, 1};
	static const int64_t ns[] = {0,	       1,	    1700000000066854259,
				     -1,       -1500000000, INT64_MAX,
				     INT64_MIN};
	FILE *out;
	struct rows *r = start(ROW_CSV, &times, &out);

	for (unsigned i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		row_time(r, 0, ns[i]);
		row_end(r);
	}
	expect(r, out,
	       "time\n0.000000000\n0.000000001\n1700000000.066854259\n"
	       "-0.000000001\n-1.500000000\n9223372036.854775807\n"
	       "-9223372036.854775808\n");
	r = start(ROW_NDJSON, &times, &out);
	row_time(r, 0, ns[2]);
	row_end(r);
	expect(r, out, "{\"time\":\"1700000000.066854259\"}\n");
}

/* A sink that keeps what it is given, as one in a thread of its own would. */
struct keeper {
	struct row_sink sink;
	struct row_batch kept[8];
	unsigned n, flushes;
};

static int keep(struct row_sink *s, struct row_batch *b)
{
	struct keeper *k = (struct keeper *)s;

	return k->n < 8 ? row_batch_copy(&k->kept[k->n++], b) : -ENOSPC;
}

static int count_flush(struct row_sink *s)
{
	((struct keeper *)s)->flushes++;
	return 0;
}

/* Batches own their bytes: they say the same when the rows' texts, and the rows
 * themselves, are long gone. */
static void test_batches(void)
{
	enum { GATHER = 3, ROWS = 8 };
	struct keeper k = {.sink = {.put = keep, .flush = count_flush}};
	struct rows *r = rows_open(&k.sink, &everything, GATHER);
	struct row_sink *stream;
	uint64_t list[2];
	char name[32], *want = NULL;
	size_t len;
	FILE *out = open_memstream(&want, &len);

	for (unsigned i = 0; i < ROWS; i++) {
		snprintf(name, sizeof(name), "row %u", i);
		list[0] = i;
		list[1] = i * i;
		row_str(r, 0, name);
		row_bytes(r, 4, name, 5);
		row_list(r, 6, list, 2);
		row_u64(r, 1, i);
		TEST(row_end(r) == 0);
		fprintf(out,
			"{\"name\":\"%s\",\"u\":%u,\"i\":null,\"f\":null,"
			"\"bytes\":\"726f77203%u\",\"b\":null,"
			"\"list\":[%u,%u]}\n",
			name, i, i, i, i * i);
	}
	TEST(k.n == 2);
	TEST(rows_flush(r) == 0 && k.n == 3 && k.flushes == 1);
	rows_close(r);
	fclose(out);
	memset(name, 'x', sizeof(name));
	out = open_memstream(&text, &text_len);
	stream = stream_sink_open(out, ROW_NDJSON, true, false);
	for (unsigned i = 0; i < k.n; i++) {
		TEST(stream->put(stream, &k.kept[i]) == 0);
		row_batch_fini(&k.kept[i]);
	}
	TEST(stream->flush(stream) == 0 && stream->close(stream) == 0);
	fclose(out);
	TEST(!strcmp(text, want));
	free(text);
	free(want);
}

/* Rows of two kinds into one sink: each kind with its header. */
static void test_kinds(void)
{
	FILE *out = open_memstream(&text, &text_len);
	struct row_sink *stream = stream_sink_open(out, ROW_CSV, true, false);
	struct rows *a = rows_open(stream, &both, 2);
	struct rows *b = rows_open(stream, &first, 1);

	for (unsigned i = 0; i < 3; i++) {
		row_str(a, 1, i ? "1" : "0");
		row_end(a);
		row_str(b, 0, "b");
		row_end(b);
	}
	rows_close(a);
	rows_close(b);
	TEST(stream->close(stream) == 0);
	fclose(out);
	TEST(!strcmp(text, "first\nb\nfirst,last\n,0\n,1\nfirst\nb\nb\n"
			   "first,last\n,1\n"));
	free(text);
}

/* Rows of two kinds in NDJSON say which. */
static void test_mixed(void)
{
	FILE *out = open_memstream(&text, &text_len);
	struct row_sink *stream = stream_sink_open(out, ROW_NDJSON, true, true);
	struct rows *a = rows_open(stream, &both, 2);
	struct rows *b = rows_open(stream, &first, 1);

	for (unsigned i = 0; i < 2; i++) {
		row_str(a, 1, i ? "1" : "0");
		row_end(a);
	}
	row_str(b, 0, "b");
	row_end(b);
	rows_close(a);
	rows_close(b);
	TEST(stream->close(stream) == 0);
	fclose(out);
	TEST(!strcmp(text, "{\"measurement\":\"strings\",\"first\":null,"
			   "\"last\":\"0\"}\n"
			   "{\"measurement\":\"strings\",\"first\":null,"
			   "\"last\":\"1\"}\n"
			   "{\"measurement\":\"first\",\"first\":\"b\"}\n"));
	free(text);
}

/* Times before 1970, flows that are none; other cells stay as they are. */
static void test_style(void)
{
	static const struct row_field fields[] = {
		{"time", ROW_TIME},
		{"flow", ROW_STR, .flow = 1},
		{"path", ROW_LIST},
		{"key", ROW_STR, .flow = 1},
	};
	static const struct schema s = {"styled", fields, 4};
	static const char *const flow[] = {"10.0.0.1:1>10.0.0.2:65535/17",
					   "[::1]:443>[fd00::a]:2/tcp",
					   "7@10.0.0.1:1>10.0.0.2:2/udp",
					   "10.0.0.1",
					   "a>b:1/c",
					   "1:2>3/4:",
					   "",
					   NULL};
	FILE *out = open_memstream(&text, &text_len);
	struct rows *r = rows_print(out, ROW_CSV, &s, true);

	row_style = (struct row_style){true, true};
	for (unsigned i = 0; i < sizeof(flow) / sizeof(flow[0]); i++) {
		if (i < 2)
			row_time(r, 0, i ? -1 : 1764383978123456789);
		row_str(r, 1, flow[i]);
		row_list(r, 2, (const uint64_t[]){7, 8}, i < 1 ? 2 : 0);
		row_str(r, 3, i ? NULL : "1.1.1.1:1>2.2.2.2:2/tcp");
		row_end(r);
	}
	rows_close(r);
	fclose(out);
	row_style = (struct row_style){false, false};
	TEST(!strcmp(text,
		     "time,src,sport,dst,dport,proto,path,key\n"
		     "2025-11-29T02:39:38.123456789Z,10.0.0.1,1,10.0.0.2,"
		     "65535,17,\"7,8\",1.1.1.1:1>2.2.2.2:2/tcp\n"
		     "1969-12-31T23:59:59.999999999Z,::1,443,fd00::a,2,tcp,,\n"
		     ",7@10.0.0.1,1,10.0.0.2,2,udp,,\n"
		     ",10.0.0.1,,,,,,\n,a>b:1/c,,,,,,\n,1:2>3/4:,,,,,,\n"
		     ",\"\",,,,,,\n,,,,,,,\n"));
	free(text);
}

int main(void)
{
	test_times();
	test_batches();
	test_kinds();
	test_mixed();
	test_style();
	test_formats();
	test_strings();
	test_bad_utf8();
	test_numbers();
	test_locale();
	test_headers();
	test_long();
	test_full();
	return test_end();
}
