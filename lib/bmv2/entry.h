/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entry.h - entries of a switch's table of specific flows. simple_switch_CLI
 * changes and deletes them by their handles, which the switch tells: ask it for
 * a flow's, read the answer, say what is to become of it.
 */
#ifndef BMV2_ENTRY_H
#define BMV2_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "label/command.h"

/* A line without its end, for a key of flow4 or flow6; returns its length. */
size_t bmv2_entry_ask(char buf[LABEL_COMMAND_MAX], const uint8_t *key,
		      size_t len);
/* Of what was answered. 0; -ENOENT: there is no such entry; -EPROTO: this is no
 * answer to that. */
int bmv2_entry_handle(uint32_t *handle, const char *answer);
/* period_us 0: the entry goes; else it has this period. A line as above. */
size_t bmv2_entry_change(char buf[LABEL_COMMAND_MAX], size_t key_len,
			 uint32_t handle, uint64_t period_us);

/* simple_switch_CLI exits with 0 whatever the switch says. What of an answer
 * tells of a failure, *len bytes, up to its line's end; or NULL. */
const char *bmv2_refused(const char *answer, size_t *len);

#endif
