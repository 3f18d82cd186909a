/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h - the subcommands. Each returns the exit status. */
#ifndef QUERY_RUN_H
#define QUERY_RUN_H

#include "options.h"

/* keywrite, path, count */
int run_keys(const struct opts *o, struct places *p);
int run_list(const struct opts *o, struct places *p);
int run_verify(const struct opts *o, struct places *p);
int run_top(const struct opts *o, struct places *p);
int run_why(const struct opts *o, struct places *p);

/* One of them, by o->verb. */
int run(const struct opts *o, struct places *p);

#endif
