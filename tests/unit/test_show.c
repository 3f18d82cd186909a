/* SPDX-License-Identifier: BSD-2-Clause */
/* Values from text: what is shown is read back, and what is none is refused. */
#include "query/show.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "cli/lines.h"
#include "test.h"

static void fill(uint8_t *p, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)rng_mix(seed * 1000 + i);
}

/* Every type, of values as long as it is, as text and back. */
static void test_round(void)
{
	static struct show_scratch room;
	uint8_t value[64], back[64];
	struct error err;

	static const char *const types[] = {
		"hex",	"u8",	"u16",	 "u32",	  "u64",  "u8s",  "u16s",
		"u32s", "text", "flow4", "flow6", "hop4", "hop6", "src4",
		"src6", "ip4",	"ip6",	 "ns",	  "us",	  "ms"};

	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const struct render *r;
		size_t len = 40;
		struct show s;

		room.escape_blank = i % 2;
		TEST(query_show_parse(&s, types[i], &err) == 0);
		r = &s.part[0].render;
		if (r->as == RENDER_NUMBER) {
			len = r->width;
		} else if (r->as == RENDER_KEY) {
			s.part[0].len = 0; /* and what is behind it */
			len = key_type_len((enum key_type)r->key) + i % 3;
		}
		for (uint64_t seed = 0; seed < 50; seed++) {
			const char *text;

			fill(value, len, seed);
			value[len - 1] |= 1; /* no zeros that pad a text */
			memset(back, 0xee, sizeof(back));
			text = show_part_text(&s.part[0], &room, value, len);
			TEST(show_read(r, back, len, 0, text, &err) ==
			     (int)len);
			TEST(!memcmp(value, back, len) && back[len] == 0xee);
			TEST(show_read(r, back, 0, sizeof(back), text, &err) ==
			     (int)len);
			TEST(!memcmp(value, back, len));
		}
	}
}

static int read_as(const char *type, size_t len, const char *text,
		   struct error *err)
{
	struct show s;
	uint8_t out[8];

	TEST(query_show_parse(&s, type, err) == 0);
	err->text[0] = '\0';
	return show_read(&s.part[0].render, out, len, sizeof(out), text, err);
}

static void test_refused(void)
{
	static const struct {
		const char *type;
		size_t len;
		const char *text, *why;
	} bad[] = {
		{"u8", 1, "256", "is above 255"},
		{"u8", 1, "", "is empty"},
		{"u8", 1, "-1", "is no number from 0 to 255"},
		{"u64", 8, "18446744073709551616", "is no number from"},
		{"u16s", 4, "1,2,3", "is more than the 4 bytes"},
		{"u16s", 4, "1,65536", "is above 65535"},
		{"u16s", 0, "1,2,3,4,5", "is more than the 8 bytes"},
		{"text", 3, "abcd", "is more than the 3 bytes"},
		{"hex", 4, "0102", "is 2 bytes of 4"},
		{"hex", 4, "010203040", "is no bytes in hexadecimal"},
		{"hex", 4, "01020g04", "is no bytes in hexadecimal"},
		{"hex", 4, "0102030405", "is more than the 4 bytes"},
		{"src4", 4, "10.0.0.256", "is no src4 key"},
		{"src4", 8, "10.0.0.1+ff", "is 5 bytes of 8"},
		{"src4", 4, "10.0.0.1+ff", "is more than the 4 bytes"},
		{"flow4", 0, "10.0.0.1:1>10.0.0.2:2/tcp", "is more than the 8"},
	};
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int rc = read_as(bad[i].type, bad[i].len, bad[i].text, &err);

		if (!TEST(rc == -EINVAL &&
			  !strncmp(err.text, bad[i].why, strlen(bad[i].why))))
			fprintf(stderr, "  %s '%s': %d %s\n", bad[i].type,
				bad[i].text, rc, err.text);
	}
}

/* Lists and texts may be shorter than their place: zeros behind. */
static void test_padded(void)
{
	static const struct render list = {.as = RENDER_LIST, .width = 2};
	static const struct render text = {.as = RENDER_TEXT};
	uint8_t out[6];
	struct error err;

	TEST(show_read(&list, out, 6, 0, "1, 0x203", &err) == 6);
	TEST(!memcmp(out, "\0\1\2\3\0\0", 6));
	TEST(show_read(&text, out, 6, 0, "a\\x01\\\\", &err) == 6);
	TEST(!memcmp(out, "a\1\\\0\0\0", 6));
}

static int split(const char *line, char **field, int max)
{
	static char copy[256];

	snprintf(copy, sizeof(copy), "%s", line);
	return csv_split(copy, field, max);
}

static void test_csv(void)
{
	char *f[8];

	TEST(split("a,,\"b,c\",\"d\"\"e\",", f, 8) == 5);
	TEST(!strcmp(f[0], "a") && !*f[1] && !strcmp(f[2], "b,c") &&
	     !strcmp(f[3], "d\"e") && !*f[4]);
	TEST(csv_find(f, 5, "b,c") == 2 && csv_find(f, 5, "x") == -1);
	TEST(split("", f, 8) == 1 && !*f[0]);
	TEST(split("\"\"", f, 8) == 1 && !*f[0]);
	TEST(split("a,b,c", f, 2) == 2 && !strcmp(f[1], "b"));
	TEST(split("a,\"b", f, 8) == -EINVAL);
	TEST(split("a,\"b\"c,d", f, 8) == -EINVAL);
	TEST(split("\"a\"\"", f, 8) == -EINVAL);
}

int main(void)
{
	test_round();
	test_refused();
	test_padded();
	test_csv();
	return test_end();
}
