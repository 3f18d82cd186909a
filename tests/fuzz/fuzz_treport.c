/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first byte picks a profile, the rest is a UDP payload: what is read of it
 * lies inside, ends, and is written as what reads the same.
 */
#include <stdlib.h>
#include <string.h>

#include "int/treport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct treport_decoder *decoder(uint8_t which)
{
	static struct treport_decoder d[16];
	const struct int_profile *p = int_profile_at(which & 15);

	if (!p)
		return NULL;
	if (!d[which & 15].profile)
		treport_init(&d[which & 15], p);
	return &d[which & 15];
}

/* So that the loads are made. */
static void use(uint64_t v)
{
	__asm__ volatile("" : : "r"(v));
}

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void inside(const uint8_t *p, size_t len, const uint8_t *data,
		   size_t size)
{
	must(!p || (p >= data && p + len <= data + size));
}

static uint64_t read_hops(const struct int_hops *h)
{
	uint64_t sum = 0, v;

	for (unsigned i = 0; i < h->n; i++)
		for (unsigned f = 0; f < INT_FIELDS; f++)
			if (int_get(h->layout, int_hop(h, i), f, &v))
				sum += v;
	return sum;
}

/* Of 2.0, alone in a group, as far as it was read: without a domain's data. */
static void again(const struct treport *t, struct treport_decoder *d)
{
	static uint8_t buf[1 << 17];
	struct treport_fields s = {
		.from = t->record->from,
		.flags = t->record->flags,
		.metadata = t->record->own.n,
		.md = t->record->own.data,
		.md_len = t->record->own.len,
		.inner_type = t->inner_type,
		.inner = t->inner,
		.inner_len = t->inner_len,
	};
	struct treport_reader r;
	struct int_record view;
	struct treport u;
	int len;

	if (t->record->from.version != 2)
		return;
	if (t->record->own.n)
		s.bits = (uint16_t)t->record->own.layout->bitmap;
	len = treport_encode(buf, sizeof(buf), &s);
	must(len > 0);
	must(treport_begin(&r, d, buf, (size_t)len) == TREPORT_OK);
	must(treport_next(&r, &u, &view) == TREPORT_OK);
	must(u.record->own.n == t->record->own.n &&
	     u.inner_type == t->inner_type);
	must(u.record->own.len == t->record->own.len);
	must(!u.record->own.n ||
	     !memcmp(u.record->own.data, t->record->own.data,
		     u.record->own.len));
	must(u.inner_len == (t->inner_len + 3) / 4 * 4);
	must(u.record->from.node == t->record->from.node);
	must(u.record->from.sequence == t->record->from.sequence);
	must(treport_next(&r, &u, &view) == TREPORT_END);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct treport_decoder *d;
	struct treport_reader r;
	enum treport_reason why;
	struct int_record view;
	struct treport t;

	if (!size || !(d = decoder(*data++)))
		return 0;
	if (treport_begin(&r, d, data, --size) != TREPORT_OK)
		return 0;
	for (size_t n = 0; (why = treport_next(&r, &t, &view)) != TREPORT_END;
	     n++) {
		must(n <= size / 4);
		if (why != TREPORT_OK)
			continue;
		inside(t.record->own.data, t.record->own.len, data, size);
		inside(t.inner, t.inner_len, data, size);
		inside(t.record->source, t.record->source_len, data, size);
		use(read_hops(&t.record->own) + read_hops(&t.record->stack));
		again(&t, d);
	}
	return 0;
}
