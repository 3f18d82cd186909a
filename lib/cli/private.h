/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the files of this room share. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

/* The program's name, from cli_start(). */
const char *cli_name(void);

/* Takes a progress line off the terminal before something else is written. */
void cli_progress_clear(void);

#endif
