/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/query.h"

#include <errno.h>
#include <string.h>

const char *answer_name(enum answer a)
{
	static const char *const name[] = {
		[ANSWER_FOUND] = "found",
		[ANSWER_NOT_FOUND] = "not_found",
		[ANSWER_AMBIGUOUS] = "ambiguous",
		[ANSWER_UNREADABLE] = "unreadable",
	};

	return name[a];
}

int query_policy_of(const char *text, struct query_rule *r)
{
	static const char *const name[QUERY_POLICIES] = {
		[QUERY_PLURALITY] = "plurality",
		[QUERY_FIRST] = "first",
		[QUERY_CONSENSUS] = "consensus:",
		[QUERY_UNIQUE] = "unique",
	};

	for (unsigned p = 0; p < QUERY_POLICIES; p++) {
		size_t len = strlen(name[p]);

		if (strncmp(text, name[p], len) != 0)
			continue;
		text += len;
		if (p != QUERY_CONSENSUS) {
			if (*text)
				return -EINVAL;
		} else if (*text < '2' || *text > '0' + HASH_COPIES ||
			   text[1]) {
			return -EINVAL;
		} else {
			r->threshold = (uint8_t)(*text - '0');
		}
		r->policy = (uint8_t)p;
		return 0;
	}
	return -EINVAL;
}
