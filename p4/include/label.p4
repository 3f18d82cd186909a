/* SPDX-License-Identifier: BSD-2-Clause */
/* label.p4 - INT-label, section 2; the format: lib/label/label.h. */
#ifndef P4_LABEL
#define P4_LABEL

const bit<8> LABEL_PROTOCOL = 253; /* IP; none is assigned: RFC 3692, 4727 */
const bit<16> LABEL_EXPORT_PORT = 54322; /* UDP; none is assigned */
const bit<8> LABEL_MAX_HOP = 5;
const bit<16> LABEL_OPTION_LEN = 2;
const bit<16> LABEL_ITEM_LEN = 32;

/* INT OPTION. */
header label_option_h {
	bit<8> next; /* the protocol before */
	bit<8> count; /* items; above LABEL_MAX_HOP: of a specific flow */
}

header label_item_h {
	bit<32> device;
	bit<16> ingress;
	bit<16> egress;
	bit<48> time; /* us */
	bit<16> reserved;
	bit<32> latency; /* ns */
	bit<32> queue;
	bit<32> number;
	bit<32> reserved2;
}

#endif
