/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - dta-collect's command line. */
#ifndef DTA_COLLECT_OPTIONS_H
#define DTA_COLLECT_OPTIONS_H

#include <stdbool.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "responder/responder.h"
#include "op/ticket.h"
#include "verbs/verbs_target.h"
#include "store/region.h"

struct opts {
	const char *region, *layout, *ticket, *read, *write, *snapshot;
	const char *restore, *verbs;
	bool create, if_absent, remove, rotate, notify, quiet;
	bool readable;
	uint16_t cm_port;  /* 0: do not listen */
	uint64_t grace_ns; /* of an old epoch's R_Keys */
	uint64_t cores;	   /* of the responder; 0: one */
	struct region_options make;
	struct responder_options responder;
	struct cli_live live; /* -i and what goes with it */
	struct ticket at;     /* addresses and MTU, as given */
	enum row_format format;
};

static inline bool is_dash(const char *path)
{
	return path && !strcmp(path, "-");
}

/*
 * An IP address, of the family *version unless that is 0. Returns 0, or -EINVAL
 * and what is wrong, to be said behind the text.
 */
int options_ip(const char *text, uint8_t *version, uint8_t out[16],
	       struct fault *why);

/* Whether an option was given. */
bool options_given(const char *option);

/* Reads and checks the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

extern const struct cli cli;

#endif
