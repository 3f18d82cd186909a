/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input is a frame: what is read of it lies inside. Without IOAM it has
 * none, and stays so; put in again, and pushed onto, it comes out as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "int/ioam.h"
#include "../tools/ioam_push.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	ROOM = 1 << 16,
};

static struct ioam_decoder d;

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

/* Returns how many options were read. */
static unsigned read_all(const uint8_t *data, size_t size)
{
	struct ioam_reader r;
	enum ioam_reason why;
	struct ioam t;
	unsigned n = 0;
	uint64_t v;

	ioam_begin(&r, &d, data, size);
	for (; (why = ioam_next(&r, &t)) != IOAM_END; n++) {
		must(n <= size);
		if (why != IOAM_OK)
			continue;
		must(t.option >= data &&
		     t.option + t.option_len <= data + size);
		must(t.record.stack.n <= IOAM_NODES_MAX);
		for (unsigned i = 0; i < t.record.stack.n; i++) {
			for (unsigned f = 0; f < INT_FIELDS; f++)
				if (int_get(t.record.stack.layout,
					    int_hop(&t.record.stack, i), f, &v))
					use(v);
			if (t.opaque) {
				struct ioam_snapshot s = ioam_snapshot_of(
					&t.record.stack, i);

				must(s.data + s.len <= data + size);
			}
		}
	}
	return n;
}

/* A node more on the first trace. */
static size_t push(uint8_t *frame, size_t len)
{
	static const uint8_t bytes[16] = {0};
	struct ioam_node node = {.has = 0x12345, .snapshot = {1, bytes, 8}};
	struct ioam_reader r;
	struct ioam t;
	int n;

	ioam_begin(&r, &d, frame, len);
	if (ioam_next(&r, &t) != IOAM_OK)
		return len;
	n = ioam_push(frame, len, ROOM, &t, &node);
	return n < 0 ? len : (size_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t plain[ROOM], a[ROOM], b[ROOM];
	struct ioam_request ask = {
		.type = IOAM_INCREMENTAL, .bitmap = 0xfff002, .words = 40};
	const struct int_profile *p = int_profile_at(0);
	size_t len;
	int n;

	if (!d.words[0].len)
		ioam_init(&d, p);
	if (size > ROOM / 2)
		return 0;
	read_all(data, size);
	memcpy(a, data, size);
	len = push(a, size);
	n = ioam_strip(plain, sizeof(plain), a, len);
	if (n < 0)
		return 0;
	must((size_t)n <= len);
	must(read_all(plain, (size_t)n) == 0);
	len = (size_t)n;
	ask.type = len & 1;
	n = ioam_insert(a, sizeof(a), plain, len, &ask);
	if (n < 0)
		return 0;
	n = (int)push(a, (size_t)n);
	n = ioam_strip(b, sizeof(b), a, (size_t)n);
	must((size_t)n == len && !memcmp(b, plain, len));
	return 0;
}
