/* SPDX-License-Identifier: BSD-2-Clause */
/* pace.c - so many packets a second. */
#include <time.h>

#include "base/clock.h"
#include "cli/live.h"

enum {
	SECOND = 1000000000,
	STEP_NS = 1000000, /* at high rates, as many at once as this long */
};

static void sleep_ns(uint64_t ns)
{
	struct timespec t = {
		.tv_sec = (time_t)(ns / SECOND),
		.tv_nsec = (long)(ns % SECOND),
	};

	nanosleep(&t, NULL);
}

/* Packets due that long after the start: the first one at once. */
static uint64_t due(const struct cli_pace *p, uint64_t ns)
{
	return (uint64_t)(p->rate * ((double)ns / SECOND)) + 1;
}

/* How long after ns the next packets are due: at high rates several. */
static uint64_t until_due(const struct cli_pace *p, uint64_t ns)
{
	double step = p->rate * STEP_NS / SECOND;
	double at = ((double)p->sent + (step > 1 ? step - 1 : 0)) / p->rate *
		    SECOND;

	return at > (double)ns ? (uint64_t)(at - (double)ns) + 1 : 1;
}

int cli_pace(struct cli_pace *p, int max, uint64_t *wait_ns)
{
	uint64_t now = clock_ns(), n, wait;

	if (!p->start_ns)
		p->start_ns = now;
	now -= p->start_ns;
	if ((p->count && p->sent >= p->count) ||
	    (p->duration_ns && now >= p->duration_ns))
		return CLI_PACE_OVER;
	n = p->rate > 0 ? due(p, now) : UINT64_MAX;
	n = n > p->sent ? n - p->sent : 0;
	if (p->count && n > p->count - p->sent)
		n = p->count - p->sent;
	if (n > (uint64_t)max)
		n = (uint64_t)max;
	p->sent += n;
	if (n)
		return (int)n;
	wait = until_due(p, now);
	if (p->duration_ns && wait > p->duration_ns - now)
		wait = p->duration_ns - now;
	if (wait_ns)
		*wait_ns = wait;
	else
		sleep_ns(wait);
	return 0;
}

void cli_pace_change(struct cli_pace *p, double rate)
{
	uint64_t now = clock_ns();
	double since = 0; /* the last one was due, s */

	if (p->sent && p->rate > 0)
		since = (double)(now - p->start_ns) / SECOND -
			(double)(p->sent - 1) / p->rate;
	if (since > 1 / rate)
		since = 1 / rate;
	p->rate = rate;
	if (!p->sent)
		return;
	p->sent = 1;
	p->start_ns = now - (since > 0 ? (uint64_t)(since * SECOND) : 0);
}
