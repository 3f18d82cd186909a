/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * template.h - texts made of a row's fields: keys, names. "flow:{src}:{sport}"
 * is the text with each field in its place as encode_cell() writes it, nothing
 * for null; {} is the measurement. What is between [ and ] is left out where a
 * field in it is null: "{metric}[,sw_id={node}]". Of a flow (wire/key.h) there
 * are parts: {FIELD:from} and {FIELD:to}, an address and a port each, and
 * {FIELD:proto}, the protocol's number.
 */
#ifndef ROW_TEMPLATE_H
#define ROW_TEMPLATE_H

#include <stdbool.h>

#include "base/fault.h"
#include "row/batch.h"

struct outbuf;
struct template;

/* For the rows of a schema, which outlives it. 0; -EINVAL with f set: a field
 * or part that there is not, a brace or bracket without the other; or -ENOMEM.
 */
int template_open(struct template **out, const char *text,
		  const struct schema *s, struct fault *f);
void template_row(const struct template *t, struct outbuf *o,
		  const struct row_batch *b, unsigned row);
/* Whether it says this field. */
bool template_has(const struct template *t, unsigned field);
void template_close(struct template *t); /* NULL is fine */

#endif
