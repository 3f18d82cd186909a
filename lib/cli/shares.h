/* SPDX-License-Identifier: BSD-2-Clause */
/* shares.h - what each core has done of a program's work, as --stats tells. */
#ifndef CLI_SHARES_H
#define CLI_SHARES_H

#include <stdint.h>

#include "row/encode.h"

struct cli_share {
	uint64_t batches, packets;
	uint64_t ops;  /* carried out */
	uint64_t late; /* of them: those that waited for others */
	uint64_t more; /* what else the program has to say */
};

/* A row each on standard error. more: the name of that; NULL: nothing. */
void cli_shares(const struct cli_share *share, unsigned cores, const char *more,
		enum row_format format);

#endif
