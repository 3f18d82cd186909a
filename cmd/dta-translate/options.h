/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - dta-translate's command line. */
#ifndef DTA_TRANSLATE_OPTIONS_H
#define DTA_TRANSLATE_OPTIONS_H

#include <stdbool.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "op/rate.h"
#include "translate/translate.h"
#include "wire/dta.h"

enum {
	SETTINGS_MAX = 256,
};

struct opts {
	const char *key_log; /* a file, or NULL */
	const char *layout;  /* of the region, if it is to be made; or NULL */
	const char *read, *region, *ticket, *write, *nacks, *cluster;
	struct cli_live live; /* -i and what goes with it */
	const char *verbs;    /* ADDRESS[:PORT] of a collector */
	const char *to;	      /* the interface of RoCEv2 packets, or NULL */
	const char *setting[SETTINGS_MAX]; /* of -T, in order */
	unsigned settings;
	uint64_t op_rate; /* 0: no limit, the default */
	unsigned ack_every, window;
	unsigned cores;
	const char *answers; /* a capture of them, or NULL */
	enum dta_format dta;
	enum dart dart;
	uint64_t seed;
	enum row_format format;
	bool quiet;
};

extern const struct cli cli;

/* Reads and checks the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

#endif
