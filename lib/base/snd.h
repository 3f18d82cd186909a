/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snd.h - the send sequence space of a go-back-N sender, in the words of
 * RFC 793, section 3.2. What is sent is numbered from 0, for good:
 *
 *	una <= nxt <= max <= end
 *
 * What is before una is confirmed; nxt goes out next; what is before max went
 * out once at least; from end on there is nothing yet.
 */
#ifndef BASE_SND_H
#define BASE_SND_H

#include <stdbool.h>
#include <stdint.h>

struct snd {
	uint64_t una, nxt, max, end;
};

/* nxt goes out. Returns whether it does so for the first time. */
static inline bool snd_next(struct snd *s)
{
	bool first = s->nxt++ == s->max;

	s->max += first;
	return first;
}

/* All before una is confirmed. */
static inline void snd_confirm(struct snd *s, uint64_t una)
{
	s->una = una;
	if (s->nxt < una)
		s->nxt = una;
}

/* Everything that is not confirmed goes out again. */
static inline void snd_back(struct snd *s)
{
	s->nxt = s->una;
}

/* Sent and not confirmed. */
static inline uint64_t snd_under_way(const struct snd *s)
{
	return s->max - s->una;
}

#endif
