/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int field_find(const struct field *table, const char *name)
{
	for (int i = 0; table[i].name; i++)
		if (!strcmp(name, table[i].name))
			return i;
	return -ENOENT;
}

const char *field_hint(const struct field *table, const char *name,
		       struct guess *g)
{
	*g = (struct guess){.word = name};
	for (; table->name; table++)
		guess_try(g, table->name);
	return guess_hint(g);
}

/* The place of a text among names. */
static int name_of(uint64_t *out, const struct field *field, const char *text,
		   struct error *err)
{
	char list[128] = "";
	size_t len = 0;

	for (unsigned i = 0; field->names[i]; i++) {
		if (!*field->names[i])
			continue;
		if (!strcmp(text, field->names[i])) {
			*out = i;
			return 0;
		}
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len,
						" %s", field->names[i]);
	}
	return error_set(err, -EINVAL, "'%s' is none of%s", text, list);
}

static int number_of(uint64_t *out, const struct field *field, const char *text,
		     struct error *err)
{
	int rc = -ERANGE;

	if (field->form == FIELD_SIZE)
		rc = text_size(out, text);
	else if (text_number(out, text, UINT64_MAX))
		rc = 0;
	if (rc == -EINVAL)
		return error_set(err, rc, "'%s' is not a number", text);
	if (rc < 0 || *out < field->min || *out > field->max)
		return error_set(err, -EINVAL, "%s is not %llu to %llu", text,
				 (unsigned long long)field->min,
				 (unsigned long long)field->max);
	return 0;
}

static int set_checked(const struct field *field, void *object,
		       const char *text, struct error *err)
{
	uint64_t v = 0;
	int rc;

	switch (field->form) {
	case FIELD_OTHER:
		return field->set(field, object, text, err);
	case FIELD_MAC:
		return text_mac((uint8_t *)object + field->at, text) ? 0
								     : -EINVAL;
	case FIELD_NAME:
		rc = name_of(&v, field, text, err);
		break;
	default:
		rc = number_of(&v, field, text, err);
		break;
	}
	if (rc == 0) /* the machine is little-endian */
		memcpy((char *)object + field->at, &v, field->width);
	return rc;
}

int field_set(const struct field *field, void *object, const char *value,
	      struct error *err)
{
	struct error why = {""};
	int rc = set_checked(field, object, value, &why);

	if (rc == -EINVAL && field->want)
		return error_set(err, rc, "%s: '%.200s' is not %s", field->name,
				 value, field->want);
	return rc < 0 ? error_set(err, rc, "%s: %.400s", field->name, why.text)
		      : 0;
}
