/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int_profile.h - how a network speaks INT: by what its packets are known, and
 * where it departs from the specification. The numbers that P4.org has left
 * open (ports, DSCP, GRE type) are here, and what the bits stand for.
 *
 * A profile is data only; the last calls read one from a file.
 */
#ifndef INT_INT_PROFILE_H
#define INT_INT_PROFILE_H

#include <stdio.h>

#include "base/error.h"
#include "int/int.h"

enum int_version {
	INT_V0_5,
	INT_V1_0,
	INT_V2_0,
	INT_V2_1,
	INT_ANY, /* as each header says; 2.0 is taken for 2.1 */
};

struct int_profile {
	char name[32];
	uint8_t version; /* enum int_version */
	bool any_ver;	 /* the version in headers is ignored */
	/* TCP options come before INT; else INT stands behind TCP's first 20
	 * bytes. A domain has it one way or the other: INT 2.1, 5.7.2. */
	bool behind_tcp_options;
	/* Nodes do not update TCP checksums, which INT makes wrong. */
	bool tcp_sum_left;
	/* What tells that a packet carries INT (INT 2.1, section 5.7); 0: not
	 * this. dscp_mask 0: not DSCP; INT_DSCP_ANY: any DSCP may. */
	uint8_t dscp, dscp_mask;
	uint16_t udp_port; /* INT_TBD */
	uint64_t marker;   /* of probes, 8 bytes behind TCP, UDP, ICMP */
	uint16_t vxlan_gpe_port, geneve_port; /* UDP */
	uint8_t vxlan_gpe_next; /* next protocol: 5, 8, 0x80, 0x82; of INT_ANY
				   each of these */
	uint16_t geneve_class;	/* option class; of INT_ANY 0x00ab as well */
	uint16_t gre_type;	/* protocol type */
	uint16_t report_port;	/* UDP: telemetry reports; 0: none */
	/* INT 2.x: the domain whose instructions are known (0: none), and of
	 * how many words each bit of its DS instruction lets the source, and
	 * nobody else, add to the stack: section 5.8. */
	uint16_t domain;
	uint8_t source_words[16];
	/* Reports 1.0 are 16 bytes and their metadata, whatever the header's
	 * Length says; and a shim of 0.5 whose Length is 0 is as long as its
	 * hops are: INTCollector's generator has 1 and 0 there. */
	bool report_length_wrong;
	uint32_t ioam_fraction; /* unit of IOAM's fraction of a second, ns;
				   INT_SCALE_NTP; 0: 1000, as Linux */
	/* What the bits of the bitmaps stand for: instructions, and RepMdBits
	 * of reports 1.0 and 2.0. */
	struct int_word instruction[16];
	struct int_word report1[6];
	struct int_word report2[16];
};

/* Those that ship: "any", "0.5", "1.0", "2.0", "2.1", "bmv2", "geant",
 * "intcollector", "intcollector-0.5", "smartnic". NULL: there is none of that
 * name. int_profile_at() goes through them, NULL at the end. */
const struct int_profile *int_profile_named(const char *name);
const struct int_profile *int_profile_at(unsigned i);

/* What the instructions of a header of that version stand for: 16 words. Those
 * of the profile, but those of the specification for INT_ANY. */
const struct int_word *int_profile_words(const struct int_profile *p,
					 enum int_version version);

/*
 * profiles (int/int_profile.h) in files, INI:
 *
 *	[profile]
 *	like = 2.1              ; first: the shipped one to begin from, else any
 *	name = mine
 *	version = 2.1           ; 0.5, 1.0, 2.0, 2.1 or any: as headers say
 *	dscp = 0x17/0x3f        ; value and mask of 6 bits; or none
 *	udp_port = 4096         ; 0: none; the other numbers, too
 *	source_words = 0:2 3:1  ; bit:words of the domain's DS instruction
 *	ioam_fraction = us      ; ns, us, ms, or ntp: 2^-32 s
 *	any_ver = no            ; yes or no, as each bool above
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
 * What a file does not say is as in the profile of like.
 */

/* Fields by name, as files have them; NULL at the end. */
extern const char *const profile_field_names[INT_FIELDS + 1];

/* "0.5"... of each enum int_version; NULL at the end. */
extern const char *const profile_versions[INT_ANY + 2];

/* Reads a file, "-" is stdin; or an open one of that name. 0, or -errno:
 * "FILE:LINE: reason" in err, and *out is undefined. */
int profile_read(struct int_profile *out, const char *path, struct error *err);
int profile_parse(struct int_profile *out, FILE *in, const char *name,
		  struct error *err);

#endif
