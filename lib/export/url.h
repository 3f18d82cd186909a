/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * url.h - where rows go, in one word:
 *
 *	SCHEME:[http:|https:]//[USER[:PASSWORD]@]HOST[:PORT][/PATH][?OPTIONS]
 *	file:PATH[?OPTIONS]	NAME=VALUE&NAME=VALUE...
 *
 * %XX stands for a byte in user, password, path and values; an IPv6 host is in
 * brackets. HOST may be several, for those that take it: a:1,b:2.
 */
#ifndef EXPORT_URL_H
#define EXPORT_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum {
	EXPORT_URL_MAX = 1024, /* bytes, and a NUL */
	EXPORT_OPTIONS_MAX = 32,
};

struct url {
	const char *scheme;    /* "influx" */
	const char *web;       /* "http", "https"; NULL: not said */
	char *user, *password; /* NULL: none */
	char *host;	       /* with brackets; all of several; "" */
	uint16_t port;	       /* of one host; 0: not said */
	const char *path;      /* without the first slash; "" */
	struct export_pair {
		const char *name, *value;
		bool used;
	} option[EXPORT_OPTIONS_MAX];
	unsigned options;
	char shown[EXPORT_URL_MAX]; /* without password, for messages */
	char hosts[EXPORT_URL_MAX]; /* host and port, as written */
	char text[EXPORT_URL_MAX];  /* what the pointers lead to */
};

/* 0, or -EINVAL with err set. */
int url_read(struct url *out, const char *text, struct error *err);

/* Takes the brackets off the host, which are not the resolver's. */
void url_bare_host(struct url *u);

/* Sets the fields of an object by the options that are in the table. 0, or
 * -EINVAL with err set. */
int url_set(struct url *u, const struct field *table, void *object,
	    struct error *err);

/* Options of the family PREFIX.NAME: the value of this name's, or NULL. */
const char *url_of(const struct url *u, const char *prefix, const char *name);
/* All options of a family count as used. */
void url_family(struct url *u, const char *prefix);

/* All options have been used: 0; or -EINVAL with err set. */
int url_rest(const struct url *u, struct error *err);

/* For FIELD_OTHER: a duration in ns, uint64_t; a text, const char *, which
 * lives as long as the URL. */
int export_set_duration(const struct field *field, void *object,
			const char *value, struct error *err);
/* A field of a time that cannot be 0: of waiting, which then would not end, or
 * not be any. */
#define EXPORT_WAIT(option, type, member)                                      \
	{                                                                      \
		.name = option, .form = FIELD_OTHER,                           \
		.at = offsetof(type, member), .min = 1000000,                  \
		.want = "a time of 1ms or more", .set = export_set_duration    \
	}
int export_set_text(const struct field *field, void *object, const char *value,
		    struct error *err);

#endif
