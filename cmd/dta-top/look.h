/* SPDX-License-Identifier: BSD-2-Clause */
/* look.h - the part of watch.h that looks at regions. */
#ifndef DTA_TOP_LOOK_H
#define DTA_TOP_LOOK_H

#include "watch.h"

/* Regions as they are now. */
void look_regions(struct watch *w);
void look_fini(struct watch *w);

/* Whether two names are those of one region: "/fabric" is "fabric". */
bool look_is_region(const char *a, const char *b);

/* How old a region's epoch is, in ns; false: not known. */
bool look_age(const struct seen_region *r, uint64_t *age_ns);

/* How fast something goes that was and is so much at two times of clock_ns().
 */
void speed_set(struct speed *s, uint64_t from_ns, uint64_t to_ns, uint64_t was,
	       uint64_t is);

#endif
