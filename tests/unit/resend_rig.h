/* SPDX-License-Identifier: BSD-2-Clause */
/* resend_rig.h - what the tests of reporters that send again share. */
#ifndef TESTS_UNIT_RESEND_RIG_H
#define TESTS_UNIT_RESEND_RIG_H

#include "test.h"
#include "dta/resend.h"
#include "net/be.h"
#include "net/dta.h"
#include "net/net.h"

enum {
	MS = 1000000,
	ADDRESS = 0x0a010000,
};

/* A report of a switch that holds a number; for the list of its own. */
static inline void add(struct resend *w, unsigned reporter, uint32_t n)
{
	uint8_t payload[64], value[4];
	uint8_t list[4] = {0, 0, 0, (uint8_t)reporter};
	struct dta_report r = {.opcode = DTA_APPEND,
			       .tracked = true,
			       .table = 1,
			       .key_len = 4,
			       .key = list,
			       .data_len = 4,
			       .data = value};

	be32_store(value, n);
	TEST(resend_add(w, reporter, payload,
			(size_t)dta_encode(payload, sizeof(payload),
					   DTA_FORMAT_1, &r),
			1) == 0);
}

#endif
