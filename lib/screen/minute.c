/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/minute.h"

#include <string.h>

#define PART_NS UINT64_C(4000000000)
#define SOON_NS UINT64_C(1000000000)

enum {
	LEVELS = 8,
};

/* Parts that nothing came in yet are there, too; a level is as it was. */
static void go_on(struct minute *m, uint64_t to)
{
	float as = m->level ? m->part[m->last % MINUTE_PARTS] : 0;
	uint64_t i = m->last + 1;

	if (!m->last)
		m->first = i = to;
	else if (to - m->last > MINUTE_PARTS)
		i = to - MINUTE_PARTS + 1;
	for (; i <= to; i++)
		m->part[i % MINUTE_PARTS] = as;
	m->last = to;
}

/* What came in a long while is spread over its parts. */
void minute_add(struct minute *m, uint64_t from_ns, uint64_t to_ns,
		double amount)
{
	uint64_t from = from_ns / PART_NS, to = to_ns / PART_NS;
	double each = amount / (double)(to - from + 1);

	if (!m->last)
		go_on(m, from);
	if (to > m->last)
		go_on(m, to);
	/* A page may say that it was written at the end of time. */
	if (to - from >= MINUTE_PARTS)
		from = to - MINUTE_PARTS + 1;
	for (uint64_t i = from; i <= to; i++)
		if (i >= m->first && i + MINUTE_PARTS > m->last)
			m->part[i % MINUTE_PARTS] += (float)each;
}

void minute_level(struct minute *m, uint64_t now_ns, double height)
{
	uint64_t now = now_ns / PART_NS;

	m->level = true;
	if (now > m->last)
		go_on(m, now);
	m->part[now % MINUTE_PARTS] = (float)height;
}

static bool is_known(const struct minute *m, uint64_t i)
{
	return m->last && i >= m->first && i + MINUTE_PARTS > m->last;
}

void minute_sum(struct minute *m, const struct minute *other)
{
	if (!other->last)
		return;
	if (!m->last)
		go_on(m, other->first);
	if (other->last > m->last)
		go_on(m, other->last);
	if (other->first < m->first)
		m->first = other->first;
	for (uint64_t n = 0; n < MINUTE_PARTS; n++)
		if (is_known(other, m->last - n))
			m->part[(m->last - n) % MINUTE_PARTS] +=
				other->part[(m->last - n) % MINUTE_PARTS];
}

/* Of a part that is not over, as much as it will be; a level stays. */
static double value_of(const struct minute *m, uint64_t i, uint64_t now_ns)
{
	double v = m->part[i % MINUTE_PARTS];
	uint64_t begun_ns = now_ns - i * PART_NS;

	if (m->level)
		return m->part[(i < m->last ? i : m->last) % MINUTE_PARTS];
	if (i > m->last)
		return 0;
	return begun_ns >= SOON_NS && begun_ns < PART_NS
		       ? v * (double)PART_NS / (double)begun_ns
		       : v;
}

/* The lowest is for nothing alone. */
static unsigned level(double v, double most)
{
	return v > 0 ? 1 + (unsigned)(v / most * (LEVELS - 2) + 0.5) : 0;
}

static char *put_level(char *out, unsigned level, bool plain)
{
	if (plain) {
		*out++ = "_.:-=+*#"[level];
		return out;
	}
	*out++ = (char)0xe2; /* UTF-8 of U+2581 and those behind it */
	*out++ = (char)0x96;
	*out++ = (char)(0x81 + level);
	return out;
}

void minute_text(char out[MINUTE_TEXT], const struct minute *m, uint64_t now_ns,
		 double least, bool plain)
{
	uint64_t first = now_ns / PART_NS - MINUTE_PARTS + 1;
	double most = least;

	/* One that has just begun tells nothing of how much will come. */
	first -= !m->level && now_ns % PART_NS < SOON_NS;
	for (unsigned n = 0; n < MINUTE_PARTS; n++)
		if (is_known(m, first + n) &&
		    value_of(m, first + n, now_ns) > most)
			most = value_of(m, first + n, now_ns);
	for (unsigned n = 0; n < MINUTE_PARTS; n++) {
		if (is_known(m, first + n))
			out = put_level(
				out,
				level(value_of(m, first + n, now_ns), most),
				plain);
		else
			*out++ = ' ';
	}
	*out = '\0';
}
