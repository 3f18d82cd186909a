/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/ini.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\n\v\f\r";

int ini_error(const struct ini *i, unsigned line, int err, const char *fmt, ...)
{
	struct error why;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.text, sizeof(why.text), fmt, ap);
	va_end(ap);
	if (!line)
		return error_set(i->err, err, "%.200s: %.300s", i->name,
				 why.text);
	return error_set(i->err, err, "%.200s:%u: %.280s", i->name, line,
			 why.text);
}

/* One line without its end. Returns 1, 0: there is none, or -errno. */
static int take_line(struct ini *i)
{
	size_t n = 0;
	int c, rc;

	errno = 0;
	c = getc_unlocked(i->in);
	rc = c != EOF;
	i->line += (unsigned)rc;
	for (; c != EOF && c != '\n'; c = getc_unlocked(i->in)) {
		if (!c || n == INI_LINE_MAX)
			return ini_error(i, i->line, -EINVAL,
					 "the line is too long or binary");
		i->text[n++] = (char)c;
	}
	i->text[n] = '\0';
	if (ferror(i->in))
		return ini_error(i, 0, -EIO, "%s",
				 errno ? strerror(errno) : "cannot be read");
	return rc;
}

static void cut_blanks(char *text)
{
	size_t n = strlen(text);

	while (n && strchr(blanks, text[n - 1]))
		n--;
	text[n] = '\0';
}

static char *skip_blanks(char *text)
{
	return text + strspn(text, blanks);
}

/* The first of the characters `stops`, or a comment (a ; behind a blank), or
 * the end. */
static char *find_end(char *p, const char *stops)
{
	for (bool blank = false; *p && !strchr(stops, *p); p++) {
		if (blank && *p == ';')
			break;
		blank = strchr(blanks, *p);
	}
	return p;
}

/* The text without blanks around it, and without a comment behind it. */
static char *take_value(char *text)
{
	*find_end(text, "") = '\0';
	cut_blanks(text);
	return skip_blanks(text);
}

/* A section ends. Notes it if it is the first that had no key. */
static void note_empty(struct ini *i)
{
	if (!i->empty_section && i->used != i->header)
		i->empty_section = i->header;
}

static bool take_section(struct ini *i, char *text)
{
	char *end = find_end(text, "]");

	if (*end != ']')
		return false;
	*end = '\0';
	memcpy(i->section, text, strlen(text) + 1);
	i->key[0] = '\0';
	note_empty(i);
	i->header = i->line;
	return true;
}

static bool take_key(struct ini *i, char *text)
{
	char *end = find_end(text, "=:");

	if (*end != '=' && *end != ':')
		return false;
	*end = '\0';
	cut_blanks(text);
	memcpy(i->key, text, strlen(text) + 1);
	i->value = take_value(end + 1);
	return true;
}

/* Returns 1: the line gave a key and its value; 0: it gave none; or -EINVAL. */
static int parse_line(struct ini *i)
{
	char *text = i->text;

	if (i->line == 1 && !strncmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	text = skip_blanks(text);
	cut_blanks(text);
	if (strchr(";#", *text)) /* or nothing at all */
		return 0;
	if (i->key[0] && text > i->text) {
		i->value = take_value(text);
		return 1;
	}
	if (*text == '[' ? take_section(i, text + 1) : take_key(i, text))
		return *text != '[';
	return ini_error(i, i->line, -EINVAL, "%s", i->bad_line);
}

int ini_next(struct ini *i)
{
	int rc;

	while ((rc = take_line(i)) > 0 && !(rc = parse_line(i)))
		;
	if (rc > 0)
		i->used = i->header;
	else if (!rc)
		note_empty(i);
	return rc;
}

int ini_set(const struct ini *i, const struct field *table, uint64_t *seen,
	    void *object)
{
	int index = field_find(table, i->key), rc;
	struct error why = {""};
	struct guess g;

	if (index < 0)
		return ini_error(i, i->line, -EINVAL,
				 "no such field: '%.100s'%s", i->key,
				 field_hint(table, i->key, &g));
	if (!field_once(seen, index))
		return ini_error(i, i->line, -EINVAL, "given twice: '%s'",
				 i->key);
	rc = field_set(&table[index], object, i->value, &why);
	return rc < 0 ? ini_error(i, i->line, rc, "%s", why.text) : index;
}
