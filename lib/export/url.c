/* SPDX-License-Identifier: BSD-2-Clause */
/* url.c - parses URLs of exports, and hands out their options. */
#include "export/url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Decodes %XX in place (RFC 3986, section 2.1), but leaves %m. False: no
 * hexadecimal digits, or a NUL. */
static bool decode_percent(char *text)
{
	char *to = text;
	uint8_t byte;

	for (; *text; text++) {
		if (*text != '%' || text[1] == 'm') {
			*to++ = *text;
			continue;
		}
		if (!text_hex(&byte, text + 1, 1) || !byte)
			return false;
		*to++ = (char)byte;
		text += 2;
	}
	*to = '\0';
	return true;
}

static int decode_part(char *text, const char *what, struct error *err)
{
	if (!text || decode_percent(text))
		return 0;
	return error_set(err, -EINVAL, "%s: not %%XX", what);
}

/* Ends a text at a character, and returns what is behind it; or NULL. */
static char *split_at(char *text, char at)
{
	char *found = text ? strchr(text, at) : NULL;

	if (found)
		*found++ = '\0';
	return found;
}

static int read_options(struct url *u, char *text, struct error *err)
{
	char *next, *value;

	for (; text && *text; text = next) {
		next = split_at(text, '&');
		value = split_at(text, '=');
		if (!value)
			return error_set(err, -EINVAL, "%s: no value", text);
		if (decode_part(value, text, err) < 0)
			return -EINVAL;
		if (u->n_options == EXPORT_OPTIONS_MAX)
			return error_set(err, -EINVAL, "more than %d options",
					 EXPORT_OPTIONS_MAX);
		u->option[u->n_options++] = (struct url_option){text, value,
								false};
	}
	return 0;
}

/* Splits the port off a single host; several hosts keep theirs. */
static int read_port(struct url *u, struct error *err)
{
	char *behind = u->host[0] == '[' ? strchr(u->host, ']') : u->host;
	char *port = behind ? strchr(behind, ':') : NULL;
	uint64_t v;

	if (!behind)
		return error_set(err, -EINVAL, "'%s' is not a host", u->host);
	if (strchr(u->host, ',') || !port)
		return 0;
	*port++ = '\0';
	if (!text_u64(&v, port, UINT16_MAX))
		return error_set(err, -EINVAL, "'%s' is not a port", port);
	u->port = (uint16_t)v;
	return 0;
}

/* Reads authority and path: what follows the double slash (RFC 3986, 3.2). */
static int read_authority(struct url *u, char *text, struct error *err)
{
	char *path = split_at(text, '/'), *at = strrchr(text, '@');

	if (at) {
		*at = '\0';
		u->password = split_at(text, ':');
		u->user = text;
		text = at + 1;
		if (decode_part(u->user, "user", err) < 0 ||
		    decode_part(u->password, "user", err) < 0)
			return -EINVAL;
	}
	if (decode_part(path, "path", err) < 0)
		return -EINVAL;
	if (path)
		u->path = path;
	snprintf(u->hosts, sizeof(u->hosts), "%s", text);
	u->host = text;
	return read_port(u, err);
}

/* The URL as it may be seen: no password, no options. */
static void make_shown(struct url *u)
{
	if (!strcmp(u->scheme, "file"))
		snprintf(u->shown, sizeof(u->shown), "file:%.900s", u->path);
	else
		snprintf(u->shown, sizeof(u->shown), "%s://%.500s%s%.400s",
			 u->scheme, u->hosts, *u->path ? "/" : "", u->path);
}

int url_parse(struct url *out, const char *text, struct error *err)
{
	char *rest, *options;
	int rc = 0;

	*out = (struct url){
		.scheme = out->text, .host = out->hosts, .path = ""};
	if (strlen(text) >= EXPORT_URL_MAX)
		return error_set(err, -EINVAL, "longer than %d characters",
				 EXPORT_URL_MAX - 1);
	memcpy(out->text, text, strlen(text) + 1);
	if (!(rest = split_at(out->text, ':')))
		return error_set(err, -EINVAL,
				 "'%s': no scheme, as in file:PATH or "
				 "influx://HOST/DB",
				 text);
	options = split_at(rest, '?');
	if (!strcmp(out->scheme, "file")) {
		out->path = rest;
		rc = decode_part(rest, "path", err);
	} else {
		if (!strncmp(rest, "http:", 5) || !strncmp(rest, "https:", 6)) {
			out->http_scheme = rest;
			rest = split_at(rest, ':');
		}
		if (strncmp(rest, "//", 2) != 0)
			return error_set(err, -EINVAL,
					 "%s: no // before a host",
					 out->scheme);
		rc = read_authority(out, rest + 2, err);
	}
	make_shown(out);
	return rc < 0 ? rc : read_options(out, options, err);
}

void url_strip_brackets(struct url *u)
{
	if (*u->host != '[')
		return;
	u->host++;
	u->host[strcspn(u->host, "]")] = '\0';
}

int url_set_fields(struct url *u, const struct field *table, void *object,
		   struct error *err)
{
	int place, rc;

	for (unsigned i = 0; i < u->n_options; i++) {
		place = field_find(table, u->option[i].name);
		if (place < 0)
			continue;
		u->option[i].used = true;
		rc = field_set(&table[place], object, u->option[i].value, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

const char *url_option(const struct url *u, const char *prefix,
		       const char *name)
{
	char option[EXPORT_URL_MAX];

	snprintf(option, sizeof(option), "%s.%s", prefix, name);
	for (unsigned i = 0; i < u->n_options; i++)
		if (!strcmp(u->option[i].name, option))
			return u->option[i].value;
	return NULL;
}

void url_use_options(struct url *u, const char *prefix)
{
	size_t n = strlen(prefix);

	for (unsigned i = 0; i < u->n_options; i++)
		if (!strncmp(u->option[i].name, prefix, n) &&
		    u->option[i].name[n] == '.')
			u->option[i].used = true;
}

int url_check_all_used(const struct url *u, struct error *err)
{
	for (unsigned i = 0; i < u->n_options; i++)
		if (!u->option[i].used)
			return error_set(err, -EINVAL,
					 "%s: %s has no such option",
					 u->option[i].name, u->scheme);
	return 0;
}

int export_set_duration(const struct field *field, void *object,
			const char *value, struct error *err)
{
	uint64_t ns;

	if (!text_duration_ns(&ns, value))
		return error_set(err, -EINVAL, "'%s' is not a time", value);
	if (ns < field->min)
		return -EINVAL; /* field->want says it */
	memcpy((char *)object + field->at, &ns, sizeof(ns));
	return 0;
}

int export_set_text(const struct field *field, void *object, const char *value,
		    struct error *err)
{
	(void)err;
	memcpy((char *)object + field->at, &value, sizeof(value));
	return 0;
}
