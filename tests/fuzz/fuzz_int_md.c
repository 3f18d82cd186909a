/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first byte picks a profile, the second what the rest begins with. INT
 * that is found lies in the frame, what it says too, and without it the packet
 * is shorter by its bytes; a hop pushed onto it is read again. Read at once it
 * says the same.
 */
#include <stdlib.h>
#include <string.h>

#include "int/int_md.h"
#include "int/int_md.h"
#include "../tools/int_push.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	DECODERS = 32,
};

static struct int_decoder decoders[DECODERS];
static struct int_profile profiles[DECODERS];
static unsigned known;

/* Each as it ships, and changed. */
static void prepare(void)
{
	const struct int_profile *p;

	for (; (p = int_profile_at(known / 2)); known++) {
		profiles[known] = *p;
		int_decoder_init(&decoders[known], &profiles[known]);
		known++;
		profiles[known] = *p;
		profiles[known].udp_port = 0x1000;
		profiles[known].gre_type = 0x88b5;
		profiles[known].marker = 0x123456789abcdef0;
		int_decoder_init(&decoders[known], &profiles[known]);
	}
}

/* All that a view points to can be read. */
static uint64_t look(const struct int_record *v, const uint8_t *end)
{
	uint64_t sum = 0, value;

	for (unsigned i = 0; i < v->stack.n; i++) {
		const uint8_t *hop = int_hop(&v->stack, i);

		if (hop + v->stack.len > end ||
		    v->stack.layout->len > v->stack.len)
			abort();
		for (unsigned f = 0; f < INT_FIELDS; f++)
			if (int_get(v->stack.layout, hop, (enum int_field)f,
				    &value))
				sum += value;
	}
	if (v->source_len && v->source + v->source_len > end)
		abort();
	return sum + v->key[0];
}

static void push(const struct int_place *at, const struct int_record *v,
		 struct int_decoder *d, const uint8_t *frame, size_t size)
{
	static uint8_t buf[1 << 17], md[INT_HOP_MAX];
	struct int_transit t = {.md = md, .md_len = v->stack.len};
	struct int_place again;
	struct int_record w;
	int len;

	if (at->type != INT_TYPE_MD || size > sizeof(buf) - INT_HOP_MAX)
		return;
	memcpy(buf, frame, size);
	len = int_push(buf, size, sizeof(buf), d->profile, &t);
	if (len < 0 || (size_t)len == size)
		return;
	if (int_find(&again, d->profile, NET_ETHERTYPE_ETH, buf, (size_t)len) ||
	    int_decode(&w, d, &again, buf, (size_t)len) ||
	    w.stack.n != v->stack.n + 1)
		abort();
}

static bool hops_are(const struct int_hops *a, const struct int_hops *b)
{
	return a->layout == b->layout && a->data == b->data &&
	       a->len == b->len && a->n == b->n && a->at == b->at;
}

static bool views_are(const struct int_record *a, const struct int_record *b)
{
	return a->format == b->format && a->flags == b->flags &&
	       a->key_len == b->key_len &&
	       !memcmp(a->key, b->key, a->key_len) && a->ip_len == b->ip_len &&
	       !a->from.report && !b->from.report &&
	       hops_are(&a->own, &b->own) && hops_are(&a->stack, &b->stack) &&
	       a->domain == b->domain && a->domain_bits == b->domain_bits &&
	       a->source == b->source && a->source_len == b->source_len;
}

/* What int_find() and int_decode() have come to. */
static enum int_result same(enum int_result r, const struct int_record *v,
			    struct int_decoder *d, uint16_t type,
			    const uint8_t *data, size_t size)
{
	struct int_record once;

	memset(&once, 0xff, sizeof(once));
	if (int_read(&once, d, type, data, size) != r ||
	    (r == INT_OK && !views_are(&once, v)))
		abort();
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t types[] = {NET_ETHERTYPE_ETH, NET_ETHERTYPE_ETH,
					 NET_ETHERTYPE_IP4, NET_ETHERTYPE_IP6};
	static uint8_t out[1 << 17];
	static volatile uint64_t sink;
	struct int_decoder *d;
	struct int_place at;
	enum int_result r;
	struct int_record v;
	uint16_t type;

	if (!known)
		prepare();
	if (size < 2 || size > sizeof(out))
		return 0;
	d = &decoders[data[0] % known];
	type = types[data[1] % 4];
	data += 2;
	size -= 2;
	r = int_find(&at, d->profile, type, data, size);
	if (r) {
		same(r, NULL, d, type, data, size);
		return 0;
	}
	if (at.end > size || at.begin > at.shim || at.shim >= at.header ||
	    at.header >= at.stack || at.stack + at.stack_len > at.end)
		abort();
	if (int_strip(out, sizeof(out), d->profile, &at, data, size) !=
	    (int)(size - (at.end - at.begin)))
		abort();
	r = int_decode(&v, d, &at, data, size);
	if (same(r, &v, d, type, data, size))
		return 0;
	sink = look(&v, data + at.end);
	(void)sink;
	if (type == NET_ETHERTYPE_ETH)
		push(&at, &v, d, data, size);
	return 0;
}
