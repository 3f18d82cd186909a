/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first byte picks the format, the rest is a payload: what is decoded must
 * lie inside it, and encode to what decodes the same.
 */
#include <stdlib.h>
#include <string.h>

#include "net/dta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct dta_report *a, const struct dta_report *b)
{
	if (a->opcode != b->opcode || a->copies != b->copies ||
	    a->hop != b->hop || a->path_len != b->path_len ||
	    a->immediate != b->immediate || a->tracked != b->tracked ||
	    a->table != b->table || a->sequence != b->sequence ||
	    a->key_len != b->key_len || a->data_len != b->data_len ||
	    memcmp(a->key, b->key, a->key_len) ||
	    memcmp(a->data, b->data, a->data_len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[1 << 17];
	struct dta_report r, again;
	enum dta_format f;
	int len;

	if (!size)
		return 0;
	f = (enum dta_format)(*data++ % DTA_FORMATS);
	if (dta_decode(&r, f, data, --size))
		return 0;
	if (r.key < data || r.data < r.key ||
	    r.data + r.data_len != data + size)
		abort();
	if (data[0] >> 4 == 1)
		f = DTA_FORMAT_1;
	len = dta_encode(buf, sizeof(buf), f, &r);
	if (len < 0) { /* a hop that the published system does not have */
		if (f == DTA_FORMAT_1 || r.opcode != DTA_POSTCARD || r.hop < 5)
			abort();
		return 0;
	}
	if ((size_t)len != size || dta_decode(&again, f, buf, size))
		abort();
	same(&r, &again);
	return 0;
}
