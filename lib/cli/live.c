/* SPDX-License-Identifier: BSD-2-Clause */
/* live.c - options of live interfaces. */
#include "cli/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

enum {
	FILTER_MAX = 2048,
};

void cli_live_filter(struct cli_live *l, int argc, char **argv)
{
	static char text[FILTER_MAX];
	size_t n = 0;

	for (int i = 0; i < argc && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      i ? " " : "", argv[i]);
	if (n >= sizeof(text))
		cli_refuse("the filter is longer than %d characters",
			   FILTER_MAX - 1);
	if (n)
		l->options.filter = text;
}

struct cli_limit cli_limit_start(const struct cli_live *l)
{
	return (struct cli_limit){
		.left = l->count ? l->count : UINT64_MAX,
		.until_ns = l->duration_ns ? clock_ns() + l->duration_ns
					   : UINT64_MAX,
	};
}

int cli_limit_room(const struct cli_limit *m, int max)
{
	if (m->until_ns != UINT64_MAX && clock_ns() >= m->until_ns)
		return 0;
	return m->left < (uint64_t)max ? (int)m->left : max;
}

void cli_limit_took(struct cli_limit *m, int n)
{
	if (n > 0 && m->left != UINT64_MAX)
		m->left -= (uint64_t)n;
}

struct src *cli_live_open(struct cli_live *l, const uint16_t *port, bool quiet)
{
	struct fault f = {0};
	struct src *s;

	for (int i = 0; i < LIVE_PORTS && port && port[i]; i++)
		l->options.port[i] = port[i];
	if (src_open_live(&s, l->name, &l->options, &f) < 0)
		cli_fault(l->name, &f);
	if (!quiet)
		cli_warn("%s: %s", l->name, src_kind(s));
	return s;
}

static bool is_fifo(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISFIFO(st.st_mode);
}

const char *cli_place(const char *path)
{
	return cli_stop && is_fifo(path) ? "/dev/null" : path;
}

int cli_snk_open(struct snk **out, const char *path, struct fault *f)
{
	int rc;

	do {
		rc = snk_open(out, cli_place(path), f);
	} while (rc == -EINTR);
	if (!rc)
		snk_until(*out, &cli_stop);
	return rc;
}

struct drops {
	uint64_t kernel_drops;
	uint64_t unsent; /* falls where a link takes later what it did not */
};

static const struct ledger_field drop_fields[] = {
	LEDGER_FIELD(struct drops, kernel_drops, LEDGER_LOSS),
	LEDGER_LEVEL(struct drops, unsent, LEDGER_LOSS),
};

static const struct ledger drop_ledger = {"interface", "packets", drop_fields,
					  2};

static uint64_t drops_of(const struct src *s)
{
	return s ? src_drops(s) : 0;
}

static void warn_of(const char *name, const struct src *s)
{
	uint64_t drops = drops_of(s);

	if (drops)
		cli_warn("%s: %ju packets were dropped by the kernel", name,
			 (uintmax_t)drops);
}

void cli_interface(const struct cli_live *l, const struct src *s,
		   uint64_t unsent)
{
	const struct drops d = {drops_of(s) + drops_of(l->beside.s), unsent};

	cli_ledger(&drop_ledger, &d, l->format);
}

void cli_live_drops(const struct cli_live *l, const struct src *s,
		    uint64_t unsent)
{
	if (l->format != ROW_TEXT && (l->name || unsent))
		cli_interface(l, s, unsent);
	if (l->format != ROW_TEXT)
		return;
	warn_of(l->name, s);
	warn_of(l->beside.name, l->beside.s);
	if (unsent)
		cli_warn("%ju packets could not be sent", (uintmax_t)unsent);
}
