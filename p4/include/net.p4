/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net.p4 - Ethernet, IPv4, UDP, TCP.
 *
 * In all files of this folder: a constant has the name and the value that it
 * has in lib/, a header NAME_h the fields of the same format there.
 * tests/unit/test_p4.c compares them; it reads constants by lines, as those of
 * lib/net/proto.h: one constant a line.
 */
#ifndef P4_NET
#define P4_NET

const bit<16> NET_ETHERTYPE_IP4 = 0x0800;
const bit<8> NET_IP4_PLAIN = 0x45; /* version 4, no options */
const bit<16> NET_IP4_DF = 0x4000;
const bit<16> NET_IP4_FRAGMENT = 0x3fff; /* more fragments, offset */
const bit<16> NET_IP4_LEN = 20;
const bit<8> NET_PROTO_TCP = 6;
const bit<8> NET_PROTO_UDP = 17;
const bit<16> NET_UDP_LEN = 8;
const bit<16> NET_TCP_LEN = 20; /* without options */
const bit<16> NET_ETH_LEN = 14;
const bit<8> NET_TCP_FIN = 0x01;
const bit<8> NET_TCP_SYN = 0x02;
const bit<8> NET_TCP_RST = 0x04;
const bit<8> NET_TCP_ACK = 0x10;

header ethernet_h {
	bit<48> dst;
	bit<48> src;
	bit<16> type;
}

header ipv4_h {
	bit<8> plain; /* version, header length */
	bit<8> tos;
	bit<16> len;
	bit<16> id;
	bit<16> fragment; /* flags, offset */
	bit<8> ttl;
	bit<8> proto;
	bit<16> sum;
	bit<32> src;
	bit<32> dst;
}

header udp_h {
	bit<16> src_port;
	bit<16> dst_port;
	bit<16> len;
	bit<16> sum;
}

header tcp_h {
	bit<16> src_port;
	bit<16> dst_port;
	bit<32> seq;
	bit<32> ack;
	bit<8> offset;
	bit<8> flags;
	bit<16> window;
	bit<16> sum;
	bit<16> urgent;
}

#endif
