/* SPDX-License-Identifier: BSD-2-Clause */
/* Where rows go, in one word. */
#include "export/url.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "export/export.h"
#include "test.h"

static struct url u;
static struct error err;

static void refuse(const char *text, const char *why)
{
	TEST(url_parse(&u, text, &err) < 0);
	if (!TEST(!strcmp(err.text, why)))
		fprintf(stderr, "%s: %s\n", text, err.text);
}

static void test_whole(void)
{
	TEST(url_parse(&u,
		       "influx:https://me:p%40ss:@db.example:8086/a%20b"
		       "?create=yes&names=x%26y",
		       &err) == 0);
	TEST(!strcmp(u.scheme, "influx") && !strcmp(u.http_scheme, "https"));
	TEST(!strcmp(u.user, "me") && !strcmp(u.password, "p@ss:"));
	TEST(!strcmp(u.host, "db.example") && u.port == 8086);
	TEST(!strcmp(u.path, "a b") && u.n_options == 2);
	TEST(!strcmp(u.option[1].value, "x&y"));
	TEST(!strcmp(u.shown, "influx://db.example:8086/a b"));
}

static void test_parts(void)
{
	TEST(url_parse(&u, "redis://[::1]:7000", &err) == 0);
	TEST(!strcmp(u.host, "[::1]") && u.port == 7000 && !u.http_scheme &&
	     !u.user);
	TEST(url_parse(&u, "redis://[::1]/2", &err) == 0);
	TEST(!strcmp(u.host, "[::1]") && !u.port && !strcmp(u.path, "2"));
	TEST(url_parse(&u, "redis://:secret@h", &err) == 0);
	TEST(!*u.user && !strcmp(u.password, "secret"));
	TEST(!strstr(u.shown, "secret"));
	TEST(url_parse(&u, "kafka://a:1,b:2/t", &err) == 0);
	TEST(!strcmp(u.hosts, "a:1,b:2") && !u.port && !strcmp(u.path, "t"));
	TEST(url_parse(&u, "file:/x%3fy?format=csv", &err) == 0);
	TEST(!strcmp(u.path, "/x?y") && u.n_options == 1);
}

static void test_refused(void)
{
	char text[EXPORT_URL_MAX + 8];

	refuse("here",
	       "'here': no scheme, as in file:PATH or influx://HOST/DB");
	refuse("influx:here", "influx: no // before a host");
	refuse("influx://h:65536/x", "'65536' is not a port");
	refuse("influx://h:/x", "'' is not a port");
	refuse("influx://[::1/x", "'[::1' is not a host");
	refuse("influx://h/x?create", "create: no value");
	refuse("influx://h/x?a=%4", "a: not %XX");
	refuse("influx://h/%00", "path: not %XX");
	refuse("file:%zz", "path: not %XX");
	memset(text, 'x', sizeof(text));
	memcpy(text, "file:", 5);
	text[EXPORT_URL_MAX - 1] = '\0';
	TEST(url_parse(&u, text, &err) == 0);
	text[EXPORT_URL_MAX - 1] = 'x';
	text[EXPORT_URL_MAX] = '\0';
	refuse(text, "longer than 1023 characters");
}

static void test_options(void)
{
	struct {
		uint64_t n, wait;
		const char *text;
	} o = {0};
	const struct field fields[] = {
		{"n", FIELD_NUMBER, 8, offsetof(__typeof__(o), n), 1, 10},
		{"wait", FIELD_OTHER, 0, offsetof(__typeof__(o), wait),
		 .set = export_set_duration},
		{"text", FIELD_OTHER, 0, offsetof(__typeof__(o), text),
		 .set = export_set_text},
		{NULL},
	};

	TEST(url_parse(&u, "x://h?n=7&wait=5ms&text=a&key.b=c", &err) == 0);
	TEST(url_set_fields(&u, fields, &o, &err) == 0);
	TEST(o.n == 7 && o.wait == 5000000 && !strcmp(o.text, "a"));
	TEST(url_check_all_used(&u, &err) < 0);
	TEST(!strcmp(err.text, "key.b: x has no such option"));
	url_use_options(&u, "ke");
	TEST(url_check_all_used(&u, &err) < 0);
	url_use_options(&u, "key");
	TEST(!strcmp(url_option(&u, "key", "b"), "c"));
	TEST(!url_option(&u, "key", "c"));
	TEST(url_check_all_used(&u, &err) == 0);
	TEST(url_parse(&u, "x://h?n=11", &err) == 0);
	TEST(url_set_fields(&u, fields, &o, &err) < 0 && o.n == 7);
	TEST(url_parse(&u, "x://h?wait=soon", &err) == 0);
	TEST(url_set_fields(&u, fields, &o, &err) < 0);
}

/* Of waiting that would not end, or not be any. */
static void test_no_time(void)
{
	struct row_sink *s;

	TEST(export_open(&s, "file:/dev/null?retry=0", NULL, &err) == -EINVAL);
	TEST(!strcmp(err.text,
		     "file:/dev/null: retry: '0' is not a time of 1ms "
		     "or more"));
}

int main(void)
{
	test_no_time();
	test_whole();
	test_parts();
	test_refused();
	test_options();
	return test_end();
}
