/* SPDX-License-Identifier: BSD-2-Clause */
#include "bins.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "values.h"

enum {
	TEXT_MAX = 128,
};

/* "FROM:TO:N", which is written to. */
static int read_range(struct dist_shape *s, int metric, char *text,
		      struct fault *why)
{
	char *from = strsep(&text, ":"), *to = strsep(&text, ":");
	uint32_t low, high;
	uint64_t n;

	if (!text || !text_number(&n, text, DIST_BINS_MAX) || !n)
		return fault_set(why, -EINVAL,
				 "is not METRIC=FROM:TO:N with 1 to %d bins",
				 DIST_BINS_MAX);
	if (value_of(&low, metric, from) < 0 ||
	    value_of(&high, metric, to) < 0 || high <= low)
		return fault_set(why, -EINVAL,
				 "is from '%s' to '%s': not values, the lower "
				 "one first",
				 from, to);
	/* One bin of all 2^32 - 1 numbers is wide enough: it cannot fail. */
	dist_fixed(s, low, high - 1, (uint32_t)n);
	return 0;
}

int bins_read(struct bins *b, const char *text, struct fault *why)
{
	struct dist_shape shape = {0};
	char buf[TEXT_MAX], *what;
	int metric, rc = 0;

	if (strlen(text) >= sizeof(buf))
		return fault_set(why, -EINVAL, "is too long");
	memcpy(buf, text, strlen(text) + 1);
	if (!(what = strchr(buf, '=')))
		return fault_set(why, -EINVAL,
				 "is not METRIC=FROM:TO:N, METRIC=log or "
				 "METRIC=none");
	*what++ = '\0';
	metric = number_metric(buf, false, why);
	if (metric < 0)
		return metric;
	b->set &= ~(1U << metric);
	if (!strcmp(what, "log"))
		return 0;
	if (strcmp(what, "none") != 0)
		rc = read_range(&shape, metric, what, why);
	b->set |= 1U << metric;
	b->shape[metric] = shape;
	return rc;
}

void bins_use(const struct bins *b, struct dist_shape shape[METRIC_NUMBERS])
{
	for (unsigned m = 0; m < METRIC_NUMBERS; m++)
		if (b->set >> m & 1)
			shape[m] = b->shape[m];
}
