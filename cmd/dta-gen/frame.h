/* SPDX-License-Identifier: BSD-2-Clause */
/* frame.h - Ethernet, IPv4 and UDP headers of reports. */
#ifndef DTA_GEN_FRAME_H
#define DTA_GEN_FRAME_H

#include "base/fault.h"
#include "gen.h"

/* What all of them have in common; on an interface, with true addresses. */
int frame_open(struct gen *g, struct fault *f);

/* Those for a payload of a switch. */
void frame_headers(const struct gen *g, uint8_t *frame, size_t payload,
		   unsigned reporter);

#endif
