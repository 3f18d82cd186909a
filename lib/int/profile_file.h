/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile_file.h - profiles (int/int_profile.h) in files, INI:
 *
 *	[profile]
 *	like = 2.1              ; first: the shipped one to begin from, else any
 *	name = mine
 *	version = 2.1           ; 0.5, 1.0, 2.0, 2.1 or any: as headers say
 *	dscp = 0x17/0x3f        ; value and mask of 6 bits; or none
 *	udp_port = 4096         ; 0: none; the other numbers, too
 *	source_words = 0:2 3:1  ; bit:words of the domain's DS instruction
 *	ioam_fraction = us      ; ns, us, ms, or ntp: 2^-32 s
 *	any_ver = no            ; and the other things that are or are not so
 *
 *	[instructions]          ; the words of a bitmap, bit 0 the first
 *	3 = queue:1 occupancy:3 ; FIELD:BYTES, in the order of the wire
 *	4 = ingress_time:8 us   ; and its unit: ns, us, ms, ntp; x80: times 80
 *	8 = -:4                 ; bytes that say nothing
 *	9 = reserved
 *
 *	[report1]               ; RepMdBits of reports 1.0
 *	[report2]               ; and 2.0
 *
 * What a file does not say is as in the profile that it is like.
 */
#ifndef INT_PROFILE_FILE_H
#define INT_PROFILE_FILE_H

#include <stdio.h>

#include "base/fault.h"
#include "int/int_profile.h"

/* Fields by name, as files have them; NULL at the end. */
extern const char *const profile_field_names[INT_FIELDS + 1];

/* "0.5"... of each enum int_version; NULL at the end. */
extern const char *const profile_versions[INT_ANY + 2];

/* Reads a file, "-" is stdin; or an open one of that name. 0, or -errno:
 * "FILE:LINE: reason" in f, and *out is undefined. */
int profile_read(struct int_profile *out, const char *path, struct fault *f);
int profile_parse(struct int_profile *out, FILE *in, const char *name,
		  struct fault *f);

#endif
