/* SPDX-License-Identifier: BSD-2-Clause */
/* complete.h - what the shell's Tab key does. */
#ifndef QUERY_COMPLETE_H
#define QUERY_COMPLETE_H

#include <histedit.h>
#include <wchar.h>

unsigned char complete(EditLine *el, wint_t ch);

#endif
