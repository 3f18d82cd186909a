/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * INI files: sections, keys and values with their lines, comments, blanks,
 * lines that go on; what is refused, with its line. And fields by their tables.
 */
#include "base/ini.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bytes.h"
#include "test.h"

static struct error why;

/* Of bytes, from a copy of just their length. */
static struct ini open_bytes(const void *text, size_t len, uint8_t **copy)
{
	struct ini i = {.name = "x.ini", .bad_line = "strange", .err = &why};

	*copy = exact_copy(text, len);
	i.in = len ? fmemopen(*copy, len, "r") : fopen("/dev/null", "r");
	why.text[0] = '\0';
	if (!i.in)
		exit(1);
	return i;
}

/* All of it as "line@header[section]key=value|", to out; and how it ended. */
static int read_bytes(char *out, size_t room, const void *text, size_t len,
		      unsigned *empty)
{
	uint8_t *copy;
	struct ini i = open_bytes(text, len, &copy);
	size_t n = 0;
	int rc;

	out[0] = '\0';
	while ((rc = ini_next(&i)) > 0)
		n += (size_t)snprintf(out + n, n < room ? room - n : 0,
				      "%u@%u[%s]%s=%s|", i.line, i.header,
				      i.section, i.key, i.value);
	if (empty)
		*empty = i.empty_section;
	fclose(i.in);
	free(copy);
	return rc;
}

static const struct {
	const char *text, *is;
} good[] = {
	{"", ""},
	{"\n\n", ""},
	{"[a]\nk = v\n", "2@1[a]k=v|"},
	{"[a]\nk = v", "2@1[a]k=v|"}, /* no line feed at the end */
	{"[a]\nk=v\nk=w\n", "2@1[a]k=v|3@1[a]k=w|"},
	{"k = v\n", "1@0[]k=v|"},
	{"[a]\r\nk = v\r\n\r\n", "2@1[a]k=v|"},
	{"\xef\xbb\xbf[a]\nk = v\n", "2@1[a]k=v|"},
	{"[a]\nk: v\nl = a:b\nm: a=b\n", "2@1[a]k=v|3@1[a]l=a:b|4@1[a]m=a=b|"},
	{"[a]\n k \t=\t v w \t\v\f\n", "2@1[a]k=v w|"},
	{"[a]\nk =\n", "2@1[a]k=|"},
	{"[a]\n= v\n", "2@1[a]=v|"},
	{"; c\n# c\n  ; c\n[a] ; c\nk = v ; c\nl = v;w # x\n",
	 "5@4[a]k=v|6@4[a]l=v;w # x|"},
	{"[a]\nk = ; c\nl =;v\n", "2@1[a]k=|3@1[a]l=;v|"},
	{"[a] b = c\nk = \"v\"\n", "2@1[a]k=\"v\"|"},
	{"[a b]\nk = v\n[]\nk = w\n[[c]\nk = x\n",
	 "2@1[a b]k=v|4@3[]k=w|6@5[[c]k=x|"},
	/* The same section once more is another one. */
	{"[a]\nk = v\n[a]\nk = w\n", "2@1[a]k=v|4@3[a]k=w|"},
	/* Lines that go on. */
	{"[a]\nk = v\n  w = x ; c\n\n\t[b]\nl = y\n",
	 "2@1[a]k=v|3@1[a]k=w = x|5@1[a]k=[b]|6@1[a]l=y|"},
	{"[a]\n  k = v\n  w\n[b]\n  l = x\n", "2@1[a]k=v|3@1[a]k=w|5@4[b]l=x|"},
	{"  [a]\n  k = v\n", "2@1[a]k=v|"},
};

static void test_good(void)
{
	char is[512];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!TEST(!read_bytes(is, sizeof(is), good[i].text,
				      strlen(good[i].text), NULL)) ||
		    !TEST(!strcmp(is, good[i].is)))
			fprintf(stderr, "  %s: %s\n  %s\n", good[i].text, is,
				why.text);
}

static void test_bad(void)
{
#define TEXT(t) t, sizeof(t) - 1
	static const struct {
		const char *text;
		size_t len;
		const char *says;
	} bad[] = {
		{TEXT("[a]\nk\n"), "x.ini:2: strange"},
		{TEXT("[a\nk = v\n"), "x.ini:1: strange"},
		{TEXT("[a ;]\n"), "x.ini:1: strange"},
		{TEXT("\n\nk ;= v\n"), "x.ini:3: strange"},
		{TEXT("\1\2\3"), "x.ini:1: strange"},
		{TEXT("[a]\nk\0 = v\n"), "x.ini:2: the line is too long or"},
		{TEXT("[a]\nk = v\0"), "x.ini:2: the line is too long or"},
		{TEXT("\0"), "x.ini:1: the line is too long or"},
		{TEXT("; c\0\n"), "x.ini:1: the line is too long or"},
	};
#undef TEXT
	char is[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!TEST(read_bytes(is, sizeof(is), bad[i].text, bad[i].len,
				     NULL) == -EINVAL) ||
		    !TEST(!strncmp(why.text, bad[i].says, strlen(bad[i].says))))
			fprintf(stderr, "  %zu: %s\n", i, why.text);
}

/* The longest line, and one byte more, with an end and without. */
static void test_long(void)
{
	char text[INI_LINE_MAX + 3] = "k = ", is[512];

	memset(text + 4, 'v', INI_LINE_MAX - 3);
	text[INI_LINE_MAX] = '\n';
	TEST(!read_bytes(is, sizeof(is), text, INI_LINE_MAX, NULL));
	TEST(strlen(is) == strlen("1@0[]k=|") + INI_LINE_MAX - 4);
	TEST(!read_bytes(is, sizeof(is), text, INI_LINE_MAX + 1, NULL));
	text[INI_LINE_MAX] = 'v';
	text[INI_LINE_MAX + 1] = '\n';
	TEST(read_bytes(is, sizeof(is), text, INI_LINE_MAX + 1, NULL) ==
	     -EINVAL);
	TEST(read_bytes(is, sizeof(is), text, INI_LINE_MAX + 2, NULL) ==
	     -EINVAL);
	memset(text, ' ', INI_LINE_MAX + 1); /* blanks count */
	TEST(read_bytes(is, sizeof(is), text, INI_LINE_MAX + 2, NULL) ==
	     -EINVAL);
}

/* Sections without keys: the first of them, wherever it is. */
static void test_empty(void)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{"", 0},
		{"k = v\n", 0},
		{"[a]\nk = v\n", 0},
		{"[a]\n", 1},
		{"[a]\n; c\n[b]\nk = v\n[c]\n", 1},
		{"[a]\nk = v\n[b]\n[c]\nk = v\n", 3},
		{"[a]\nk = v\n[b]\n", 3},
	};
	unsigned line;
	char is[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		TEST(!read_bytes(is, sizeof(is), cases[i].text,
				 strlen(cases[i].text), &line) &&
		     line == cases[i].line);
}

static void test_unreadable(void)
{
	struct ini i = {.name = "x.ini", .in = fopen("/", "r"), .err = &why};

	TEST(i.in && ini_next(&i) == -EIO);
	TEST(!strcmp(why.text, "x.ini: Is a directory"));
	fclose(i.in);
}

struct thing {
	uint8_t small;
	uint16_t number;
	uint32_t word;
	uint64_t size;
	uint8_t mac[6], after;
	const char *other;
};

static int set_other(const struct field *field, void *object, const char *value,
		     struct error *err)
{
	if (!strcmp(value, "alone"))
		return error_set(err, -ENOENT, "left alone");
	if (!strcmp(value, "bad"))
		return -EINVAL;
	*(const char **)((char *)object + field->at) = "set";
	return 0;
}

static const char *const names[] = {"", "one", "two", NULL};
static const struct field table[] = {
	{"small", FIELD_NAME, 1, offsetof(struct thing, small), .names = names},
	{"number", FIELD_NUMBER, 2, offsetof(struct thing, number), 1, 999},
	{"word", FIELD_NUMBER, 4, offsetof(struct thing, word), 0, UINT32_MAX,
	 .want = "a word"},
	{"size", FIELD_SIZE, 8, offsetof(struct thing, size), 0, UINT64_MAX},
	{"mac", FIELD_MAC, 0, offsetof(struct thing, mac), .want = "a MAC"},
	{"other", FIELD_OTHER, 0, offsetof(struct thing, other),
	 .set = set_other, .want = "good"},
	{NULL},
};

/* By an ini file of one section. */
static int fill(struct thing *t, const char *text)
{
	uint8_t *copy;
	struct ini i = open_bytes(text, strlen(text), &copy);
	uint64_t seen = 0;
	int rc;

	*t = (struct thing){.after = 99};
	while ((rc = ini_next(&i)) > 0)
		if ((rc = ini_set(&i, table, &seen, t)) < 0)
			break;
	fclose(i.in);
	free(copy);
	return rc;
}

static void test_fields(void)
{
	static const struct {
		const char *text, *says;
		int rc;
	} bad[] = {
		{"size = 1\nthing = 1\n", "x.ini:2: no such field: 'thing'",
		 -EINVAL},
		{"size = 1\nword = 1\nsize = 1\n",
		 "x.ini:3: given twice: 'size'", -EINVAL},
		{"size = 1\n  2\n", "x.ini:2: given twice: 'size'", -EINVAL},
		{"small = three\n",
		 "x.ini:1: small: 'three' is none of one two", -EINVAL},
		{"small =\n", "x.ini:1: small: '' is none of one two", -EINVAL},
		{"number = 0\n", "x.ini:1: number: 0 is not 1 to 999", -EINVAL},
		{"number = 0x3e8\n", "x.ini:1: number: 0x3e8 is not 1 to 999",
		 -EINVAL},
		{"word = 0x100000000\n",
		 "x.ini:1: word: '0x100000000' is not a word", -EINVAL},
		{"size = x\n", "x.ini:1: size: 'x' is not a number", -EINVAL},
		{"size = 99999999T\n",
		 "x.ini:1: size: 99999999T is not 0 to 18446744073709551615",
		 -EINVAL},
		{"mac = 1:2\n", "x.ini:1: mac: '1:2' is not a MAC", -EINVAL},
		{"other = bad\n", "x.ini:1: other: 'bad' is not good", -EINVAL},
		{"other = alone\n", "x.ini:1: other: left alone", -ENOENT},
	};
	static const struct thing none = {.after = 99};
	struct thing t;

	TEST(!fill(&t, "size = 10Ki\nother = x\nmac = 02:00:00:00:00:01\n"
		       "word = 0xffffffff\nnumber = 999\nsmall = two\n"));
	TEST(t.small == 2 && t.number == 999 && t.word == UINT32_MAX &&
	     t.size == 10240 && !memcmp(t.mac, "\2\0\0\0\0\1", 6) &&
	     t.after == 99 && !strcmp(t.other, "set"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!TEST(fill(&t, bad[i].text) == bad[i].rc) ||
		    !TEST(!strcmp(why.text, bad[i].says)))
			fprintf(stderr, "  %s: %s\n", bad[i].text, why.text);
	fill(&t, "number = 1000\n");
	TEST(t.number == none.number); /* nothing is written */
}

/* A fault is cut, and the line still named, whatever the file is called. */
static void test_long_name(void)
{
	char name[400] = "";
	struct ini i = {.name = name, .err = &why};

	memset(name, 'n', sizeof(name) - 1);
	ini_error(&i, 77, -EINVAL, "%s", name);
	TEST(strstr(why.text, "n:77: n") != NULL);
}

int main(void)
{
	test_good();
	test_bad();
	test_long();
	test_empty();
	test_unreadable();
	test_fields();
	test_long_name();
	return test_end();
}
