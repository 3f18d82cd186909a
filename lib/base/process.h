/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - which process a PID stands for. The kernel uses PIDs again; a PID
 * and the time at which its process started name one process for good.
 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* When a process started, in clock ticks since boot (proc(5)). 0: there is no
 * such process, or it is a zombie, or /proc cannot be read. */
uint64_t process_start(uint32_t pid);

/* What process_start() returned, in ns since 1970. */
uint64_t process_began_ns(uint64_t start);

/* The effective user of a process. False: not known. */
bool process_user(uint32_t *uid, uint32_t pid);

#endif
