/* SPDX-License-Identifier: BSD-2-Clause */
/* sums.p4 - the checksum of an IPv4 header without options. */
#ifndef TNA_SUMS
#define TNA_SUMS

#define IP4_FIELDS(ip) \
	ip.plain, ip.tos, ip.len, ip.id, ip.fragment, ip.ttl, ip.proto, \
	ip.src, ip.dst

#endif
