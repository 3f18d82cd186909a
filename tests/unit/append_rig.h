/* SPDX-License-Identifier: BSD-2-Clause */
/* append_rig.h - Append reports, for the translator's tests. */
#ifndef TESTS_UNIT_APPEND_RIG_H
#define TESTS_UNIT_APPEND_RIG_H

#include "test.h"
#include "translate_transport.h"
#include "net/be.h"

static struct frames fed;

static inline void report(uint32_t list, const uint8_t *data, uint16_t len,
			  bool immediate, uint64_t ts_ns)
{
	uint8_t key[4], frame[FRAME_ROOM];
	struct dta_report r = {.opcode = DTA_APPEND,
			       .immediate = immediate,
			       .table = 2,
			       .sequence = 5,
			       .key_len = 4,
			       .data_len = len,
			       .key = key,
			       .data = data};

	be32_store(key, list);
	frames_add(&fed, frame, frame_of(frame, DTA_FORMAT_1, &r, 1, 0), ts_ns);
}

static inline void feed(struct translator *tr)
{
	TEST(translate_rx(tr, fed.pkt, fed.n) == 0);
	frames_clear(&fed);
}

#endif
