/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - which process a number stands for. Numbers are used again; with
 * the time of its start a process is named for good.
 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When a process began, in clock ticks since the machine did, as proc(5) has
 * it. 0: there is none of that number, or it is a zombie, or /proc cannot be
 * read.
 */
uint64_t process_start(uint32_t pid);

/* The same since 1970, in ns. */
uint64_t process_began_ns(uint64_t start);

/* Its effective user. False: not known. */
bool process_user(uint32_t *uid, uint32_t pid);

#endif
