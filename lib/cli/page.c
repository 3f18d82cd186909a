/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/page.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/private.h"
#include "ledger/page.h"

#define EVERY_NS UINT64_C(250000000)
#define AGAIN_NS UINT64_C(2000000000) /* where none could be made */

static struct {
	struct cli_page_about about;
	struct ledger_writer *page;
	pid_t owner;
	uint64_t due_ns; /* of clock_coarse_ns(); UINT64_MAX: never */
	bool writing;
	bool said; /* that there is none */
} own = {.due_ns = UINT64_MAX};

const char *cli_page_dir(void)
{
	const char *dir = cli_env("DTA_LEDGERS");

	return dir ? dir : LEDGER_DIR;
}

void cli_page_start(const struct cli_page_about *a)
{
	own.about = *a;
	own.due_ns = clock_coarse_ns() + EVERY_NS;
}

/* Also where the program ends by cli_fail(). */
static void remove_page(void)
{
	if (own.owner == getpid())
		ledger_page_close(own.page);
	own.page = NULL;
}

static bool make(void)
{
	const struct cli_page_about *a = &own.about;
	const struct ledger_about about = {cli_name(), VERSION, a->region,
					   a->input, a->output};
	struct fault f;

	if (ledger_page_open(&own.page, cli_page_dir(), &about, &f) < 0) {
		if (!a->quiet && !own.said)
			cli_warn("dta-top does not see this program: %s; "
				 "it is tried again",
				 f.text);
		own.said = true;
		return false;
	}
	if (!own.owner)
		atexit(remove_page);
	own.owner = getpid();
	return true;
}

/* Whether there is a page: one that somebody has removed is made anew. */
static bool have_page(void)
{
	if (own.page && ledger_page_is_lost(own.page))
		remove_page();
	return own.page || make();
}

bool cli_page_begin(void)
{
	uint64_t now;

	if (own.due_ns == UINT64_MAX || (now = clock_coarse_ns()) < own.due_ns)
		return false;
	if (!have_page()) {
		own.due_ns = now + AGAIN_NS;
		return false;
	}
	own.due_ns = now + EVERY_NS;
	own.writing = true;
	ledger_page_begin(own.page);
	return true;
}

void cli_page_end(void)
{
	ledger_page_end(own.page);
	own.writing = false;
}

bool cli_page_takes(const struct ledger *l, const void *ctr)
{
	if (own.writing)
		ledger_page_add(own.page, l, ctr);
	return own.writing;
}
