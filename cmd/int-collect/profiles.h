/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles.h - how the network speaks INT, as the command line says. */
#ifndef INT_COLLECT_PROFILES_H
#define INT_COLLECT_PROFILES_H

#include "options.h"
#include "wire/int_profile.h"

/* That of --profile, with the ports of the command line; exits if it is none.
 */
void profile_choose(struct int_profile *out, const struct opts *o);

/* Those that are built in, a row each; a profile as a file. They return the
 * exit status. */
int profiles_list(enum row_format fmt);
int profile_show(const struct int_profile *p);

#endif
