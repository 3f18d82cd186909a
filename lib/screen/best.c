/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/best.h"

#include <errno.h>
#include <stdlib.h>

int best_init(struct best *b, uint32_t room)
{
	*b = (struct best){.room = room};
	b->one = malloc((room + 1ULL) * sizeof(*b->one));
	return b->one ? 0 : -ENOMEM;
}

void best_fini(struct best *b)
{
	free(b->one);
	*b = (struct best){0};
}

/* Below 0: a is before b. */
static int compare(const void *one, const void *other)
{
	const struct best_one *a = one, *b = other;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (a->known && a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void swap(struct best *b, uint32_t i, uint32_t k)
{
	struct best_one one = b->one[i];

	b->one[i] = b->one[k];
	b->one[k] = one;
}

static void sink(struct best *b)
{
	uint32_t i = 0, k;

	while ((k = 2 * i + 1) < b->n) {
		if (k + 1 < b->n && compare(&b->one[k], &b->one[k + 1]) < 0)
			k++;
		if (compare(&b->one[k], &b->one[i]) < 0)
			return;
		swap(b, i, k);
		i = k;
	}
}

void best_add(struct best *b, struct best_one one)
{
	uint32_t i = b->n;

	if (b->n == b->room) {
		if (!b->n || compare(&one, &b->one[0]) > 0)
			return;
		b->one[0] = one;
		sink(b);
		return;
	}
	b->one[b->n++] = one;
	for (; i && compare(&b->one[i], &b->one[(i - 1) / 2]) > 0;
	     i = (i - 1) / 2)
		swap(b, i, (i - 1) / 2);
}

void best_sort(struct best *b)
{
	qsort(b->one, b->n, sizeof(*b->one), compare);
}
