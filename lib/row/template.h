/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * template.h - texts made of a row's fields: keys. "flow:{src}:{sport}" is the
 * text with each field in its place as encode_cell() writes it, nothing for
 * null; {} is the measurement.
 */
#ifndef ROW_TEMPLATE_H
#define ROW_TEMPLATE_H

#include <stdbool.h>

#include "base/fault.h"
#include "row/batch.h"

struct outbuf;
struct template;

/* For the rows of a schema, which outlives it. 0; -EINVAL with f set: a field
 * that there is not, a brace without the other; or -ENOMEM. */
int template_open(struct template **out, const char *text,
		  const struct schema *s, struct fault *f);
void template_row(const struct template *t, struct outbuf *o,
		  const struct row_batch *b, unsigned row);
/* Whether it says this field. */
bool template_has(const struct template *t, unsigned field);
void template_close(struct template *t); /* NULL is fine */

#endif
