/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the files of this room share. */
#ifndef LEDGER_PRIVATE_H
#define LEDGER_PRIVATE_H

#include "ledger/page.h"

extern const char ledger_magic[8];

enum {
	LEDGER_FILE = 64, /* bytes of a page's name */
};

/* The name of a process's page, and the process of a name; false: it is not
 * such a name. */
void ledger_name(char out[LEDGER_FILE], uint32_t pid, uint64_t start);
bool ledger_name_read(const char *name, uint32_t *pid, uint64_t *start);

/* Removes the pages of a directory whose programs are dead. */
void ledger_sweep(const char *dir);

#endif
