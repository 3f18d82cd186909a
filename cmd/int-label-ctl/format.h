/* SPDX-License-Identifier: BSD-2-Clause */
/* format.h - options of what a network has agreed on: wire/label.h. */
#ifndef INT_LABEL_CTL_FORMAT_H
#define INT_LABEL_CTL_FORMAT_H

#include "cli/option.h"
#include "wire/label.h"

/* Rows of a command's table, for opts with a struct label_format at field,
 * which begins as label_format_default. */
/* clang-format off */
#define FORMAT_OPTIONS(opts, field)                                            \
	{ 0, "protocol", "N", "IP protocol of packets with labels (253)",      \
	  CLI_U64, CLI_AT(opts, field.protocol), .min = 1, .max = 255 },       \
	{ 0, "max-hop", "N", "labels of a packet at most; above: specific "    \
	  "flows (5)",                                                         \
	  CLI_U64, CLI_AT(opts, field.max_hop), .min = 1,                      \
	  .max = LABEL_MAX_HOP_MOST },                                         \
	{ 0, "export-port", "PORT", "UDP port of exported labels (54322; 0: "  \
	  "none)",                                                             \
	  CLI_U64, CLI_AT(opts, field.export_port), .max = 65535 }
/* clang-format on */

#endif
