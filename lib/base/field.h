/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * field.h - fields of a struct that are set by name and text: a table says of
 * each what its text may be and where it goes.
 */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/guess.h"

enum field_form {
	FIELD_SIZE,   /* a number: "7", "10K" */
	FIELD_NUMBER, /* "7", "0x1f" */
	FIELD_NAME,   /* one of names, which stand for 0, 1, 2... */
	FIELD_MAC,    /* six bytes */
	FIELD_OTHER,  /* set() knows */
};

struct field {
	const char *name; /* NULL: the table ends */
	uint8_t form;	  /* enum field_form */
	uint8_t width;	  /* bytes of a number or name's: 1, 2, 4, 8 */
	uint16_t at;	  /* offset in the struct */
	uint64_t min, max;
	const char *const *names; /* up to a NULL; "" is none of them */
	/* What a value is not that is refused with -EINVAL; NULL: the reason is
	 * the form's, or set()'s. */
	const char *want;
	/* Returns 0 or -errno. */
	int (*set)(const struct field *field, void *object, const char *value,
		   struct fault *f);
	uint32_t use; /* the caller's own */
};

/* The place of a name in a table, or -ENOENT. */
int field_find(const struct field *table, const char *name);

/* "; did you mean NAME?" for one that is not there, or "". In g. */
const char *field_hint(const struct field *table, const char *name,
		       struct guess *g);

/*
 * Sets a field of an object. A value that it may not have: "NAME: reason" in f,
 * and -EINVAL, or what set() returned; the object is as it was.
 */
int field_set(const struct field *field, void *object, const char *value,
	      struct fault *f);

/* Notes the place of a field among those seen, up to 64. Whether it is the
 * first time. */
static inline bool field_once(uint64_t *seen, int place)
{
	uint64_t bit = UINT64_C(1) << place;
	bool first = !(*seen & bit);

	*seen |= bit;
	return first;
}

#endif
