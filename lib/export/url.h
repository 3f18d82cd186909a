/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * url.h - the URL of a database, to which rows are exported:
 *
 *	SCHEME:[http:|https:]//[USER[:PASSWORD]@]HOST[:PORT][/PATH][?OPTIONS]
 *	file:PATH[?OPTIONS]	NAME=VALUE&NAME=VALUE...
 *
 * %XX stands for a byte in user, password, path and values; an IPv6 host is in
 * brackets. Some schemes take several hosts: a:1,b:2.
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
	const char *scheme;	 /* "influx" */
	const char *http_scheme; /* "http", "https"; NULL: not given */
	char *user, *password;	 /* NULL: none */
	char *host;	  /* IPv6 in brackets; or hosts, as below; or "" */
	uint16_t port;	  /* of one host; 0: not given */
	const char *path; /* without the first slash; "": none */
	struct url_option {
		const char *name, *value;
		bool used;
	} option[EXPORT_OPTIONS_MAX];
	unsigned n_options;
	char shown[EXPORT_URL_MAX]; /* without password, for messages */
	char hosts[EXPORT_URL_MAX]; /* host and port, as written */
	char text[EXPORT_URL_MAX];  /* what the pointers above point into */
};

/* 0, or -EINVAL with err set. */
int url_parse(struct url *out, const char *text, struct error *err);

/* Takes the brackets off the host, as the resolver wants it. */
void url_strip_brackets(struct url *u);

/* Sets fields of an object from options in the table. 0 or -EINVAL. */
int url_set_fields(struct url *u, const struct field *table, void *object,
		   struct error *err);

/* The value of option PREFIX.NAME, or NULL: it is not given. */
const char *url_option(const struct url *u, const char *prefix,
		       const char *name);
/* Marks all options PREFIX.* as used. */
void url_use_options(struct url *u, const char *prefix);

/* 0 if every option was used; or -EINVAL, and err names one that was not. */
int url_check_all_used(const struct url *u, struct error *err);

/* Setters for FIELD_OTHER: of a duration in ns (uint64_t), and of a text (const
 * char *), which lives as long as the URL. */
int export_set_duration(const struct field *field, void *object,
			const char *value, struct error *err);
/* An option for a time to wait, which must not be 0. */
#define EXPORT_WAIT(option, type, member)                                      \
	{                                                                      \
		.name = option, .form = FIELD_OTHER,                           \
		.at = offsetof(type, member), .min = 1000000,                  \
		.want = "a time of 1ms or more", .set = export_set_duration    \
	}
int export_set_text(const struct field *field, void *object, const char *value,
		    struct error *err);

#endif
