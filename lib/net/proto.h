/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto.h - the numbers of the protocols: ports, codes, bits, lengths, offsets.
 * It includes nothing: C, BPF C and the check of the P4 programs share it.
 *
 * That check reads it by lines: one constant a line, NAME = NUMBER, decimal or
 * hexadecimal, no expressions; what follows from others is made elsewhere.
 * Lengths (LEN) and offsets in a header (AT) are bytes; codes, ports and bits
 * are in host order.
 */
#ifndef NET_PROTO_H
#define NET_PROTO_H

enum {
	/* Ethernet, VLAN tags: IEEE 802.3, 802.1Q. */
	NET_ETH_LEN = 14,
	NET_ETH_AT_SRC = 6,
	NET_ETH_AT_TYPE = 12,
	NET_VLAN_LEN = 4, /* of a tag, which stands where the type was */
	NET_VLAN_AT_TYPE = 2,
	NET_VLAN_MAX = 2, /* tags that we look behind */
	NET_ETHERTYPE_IP4 = 0x0800,
	NET_ETHERTYPE_IP6 = 0x86dd,
	NET_ETHERTYPE_VLAN = 0x8100, /* 802.1Q */
	NET_ETHERTYPE_QINQ = 0x88a8, /* 802.1ad */
	NET_ETHERTYPE_ETH = 0x6558,  /* in tunnels: a frame, RFC 1701 */

	/* MPLS: RFC 3032. */
	NET_ETHERTYPE_MPLS = 0x8847,
	NET_ETHERTYPE_MPLS_UP = 0x8848, /* labels of upstream: RFC 5332 */
	NET_MPLS_LEN = 4,
	NET_MPLS_AT_BOTTOM = 2, /* the lowest bit: the last label */
	NET_MPLS_MAX = 8,	/* labels that we look behind */

	/* IPv4: RFC 791. */
	NET_IP4_LEN = 20, /* without options */
	NET_IP4_AT_TOS = 1,
	NET_IP4_AT_LEN = 2,
	NET_IP4_AT_ID = 4,
	NET_IP4_AT_FRAGMENT = 6,
	NET_IP4_AT_TTL = 8,
	NET_IP4_AT_PROTO = 9,
	NET_IP4_AT_SUM = 10,
	NET_IP4_AT_SRC = 12,
	NET_IP4_AT_DST = 16,
	NET_IP4_PLAIN = 0x45, /* the first byte: version 4, no options */
	NET_IP4_DF = 0x4000,
	NET_IP4_FRAGMENT = 0x3fff, /* more fragments, offset */
	NET_IP4_OFFSET = 0x1fff,

	/* IPv6: RFC 8200; its extension headers: section 4. */
	NET_IP6_LEN = 40,
	NET_IP6_AT_LEN = 4, /* of what follows the header */
	NET_IP6_AT_NEXT = 6,
	NET_IP6_AT_HOPS = 7,
	NET_IP6_AT_SRC = 8,
	NET_IP6_AT_DST = 24,
	NET_IP6_HOP_BY_HOP = 0,
	NET_IP6_ROUTING = 43,
	NET_IP6_FRAGMENT = 44,
	NET_IP6_NONE = 59, /* nothing follows */
	NET_IP6_DESTINATION = 60,
	NET_IP6_OPTIONS_AT = 2, /* in a header of options */
	NET_IP6_OPTIONS_MAX = 2048,
	NET_IP6_PAD1 = 0, /* options */
	NET_IP6_PADN = 1,

	/* Above IP: IANA's protocol numbers. */
	NET_PROTO_ICMP = 1,
	NET_PROTO_IP4 = 4, /* IP in IP */
	NET_PROTO_TCP = 6,
	NET_PROTO_UDP = 17,
	NET_PROTO_IP6 = 41,
	NET_PROTO_GRE = 47,
	NET_PROTO_ESP = 50,
	NET_PROTO_ICMP6 = 58,
	NET_PROTO_NONE = 59, /* nothing follows */
	NET_PROTO_SCTP = 132,

	/* UDP: RFC 768. The ports are TCP's, too. */
	NET_UDP_LEN = 8,
	NET_UDP_AT_DST = 2,
	NET_UDP_AT_LEN = 4,
	NET_UDP_AT_SUM = 6,

	/* ICMP: RFC 792, 4443. */
	NET_ICMP_LEN = 8,
	NET_ICMP_AT_SUM = 2,

	/* VXLAN, VXLAN-GPE: RFC 7348, draft-ietf-nvo3-vxlan-gpe. */
	NET_VXLAN_PORT = 4789,
	NET_VXLAN_GPE_PORT = 4790,
	NET_VXLAN_LEN = 8,
	NET_VXLAN_HAS_NEXT = 0x04, /* P, in the first byte */
	NET_VXLAN_AT_NEXT = 3,
	NET_VXLAN_IP4 = 1,
	NET_VXLAN_IP6 = 2,
	NET_VXLAN_ETH = 3,

	/* Geneve: RFC 8926. */
	NET_GENEVE_PORT = 6081,
	NET_GENEVE_LEN = 8,	      /* without options */
	NET_GENEVE_WORDS_MASK = 0x3f, /* of options, in the first byte */
	NET_GENEVE_AT_TYPE = 2,
	NET_GENEVE_OPTION_LEN = 4, /* without its data */
	NET_GENEVE_OPTION_AT_TYPE = 2,
	NET_GENEVE_OPTION_AT_WORDS = 3,
	NET_GENEVE_OPTION_MASK = 0x1f, /* of words */

	/* GRE: RFC 2784, 2890. */
	NET_GRE_LEN = 4, /* without what flags announce */
	NET_GRE_AT_TYPE = 2,
	NET_GRE_AT_SUM = 4,
	NET_GRE_SUM = 0x8000, /* each flag announces 4 bytes */
	NET_GRE_SEQUENCE = 0x1000,
	NET_GRE_OTHER = 0x4fff, /* routing, version: not ours */

	/* TCP: RFC 9293. */
	NET_TCP_LEN = 20, /* without options */
	NET_TCP_AT_SEQ = 4,
	NET_TCP_AT_ACK = 8,
	NET_TCP_AT_OFFSET = 12,
	NET_TCP_AT_FLAGS = 13,
	NET_TCP_AT_SUM = 16,
	NET_TCP_FIN = 0x01,
	NET_TCP_SYN = 0x02,
	NET_TCP_RST = 0x04,
	NET_TCP_ACK = 0x10,
};

/* INT: UDP ports, DSCP values and types (P4.org, INT 0.5 to 2.1). */
enum {
	INT_DSCP = 0x17, /* the specifications' example */
	INT_DSCP_MASK = 0x3f,
	INT_DSCP_ANY = 0x40, /* as a mask: any; no DSCP has this bit */
	INT_DSCP_GEANT = 0x20,
	INT_UDP_PORT = 0x1000,	 /* INT_TBD (INTCollector); none is assigned */
	INT_REPORT_PORT = 54321, /* INTCollector; none is assigned */
	INT_REPORT_PORT_GEANT = 6000,
	INT_VXLAN_GPE_0_5 = 0x05, /* next protocol */
	INT_VXLAN_GPE_1_0 = 0x08,
	INT_VXLAN_GPE_2_0 = 0x80,
	INT_VXLAN_GPE_2_1 = 0x82,
	INT_GENEVE_CLASS = 0x0103,	   /* since 2.1 */
	INT_GENEVE_CLASS_EXAMPLE = 0x00ab, /* in the examples before */
	INT_GRE_TYPE = 0x88b5, /* TBD_INT: IEEE 802's first for experiments */
	INT_COMPLEMENT_LEN = 4,

	/* Shims and headers: int/int_md.h. */
	INT_SHIM_LEN = 4,
	INT_SHIM_AT_WORDS = 1,	/* 2.x: without the shim */
	INT_SHIM_AT_NEXT = 2,	/* 2.x */
	INT_SHIM_NPT_UDP = 1,	/* next protocol type: UDP's payload */
	INT_SHIM_NPT_IP = 2,	/* what the protocol says */
	INT_SHIM1_AT_WORDS = 2, /* 0.5, 1.0: with the shim */
	INT_SHIM_AT_LAST = 3,	/* DSCP, protocol, VXLAN's next */
	INT_MARKER_LEN = 8,
	INT_TAIL_LEN = 4, /* 0.5 over TCP, UDP */
	INT_TAIL_AT_PORT = 1,
	INT_TAIL_AT_DSCP = 3,
	INT_HEADER1_LEN = 8, /* 0.5, 1.0 */
	INT_HEADER2_LEN = 12,
	INT_AT_HOP_WORDS = 2, /* HopML: 5 bits */
	INT_AT_REMAINING = 3, /* RemainingHopCnt; 0.5: TotalHopCnt */
	INT_AT_BITMAP = 4,
	INT_AT_DOMAIN = 6,
	INT_AT_DOMAIN_BITS = 8,
	INT_AT_DOMAIN_FLAGS = 10,
	INT05_AT_HOP_WORDS = 1, /* InsCnt */
	INT05_AT_MAX = 2,	/* MaxHopCnt */
	INT_HOP_WORDS_MASK = 0x1f,
	INT_COMPLEMENT = 0x0001, /* the instruction, bit 15 */
	INT_BITMAP_BITS = 16,
	INT_WORDS_MAX = 255, /* of a shim's length */
};

/* Types of INT headers. */
enum int_type {
	INT_TYPE_MD = 1,
	INT_TYPE_MX = 3,
};

/* Telemetry keys: dta(7), Keys. */
enum {
	KEY_IP4_LEN = 4,
	KEY_IP6_LEN = 16,
	KEY_FLOW_REST = 5, /* two ports and the protocol */
	KEY_FLOW4_LEN = 13,
	KEY_FLOW6_LEN = 37,
	KEY_HOP_ID = 4, /* in front of a flow */
};

/* DTA: dta(7), REPORTS. */
enum {
	DTA_PORT = 40040,      /* UDP destination of reports */
	DTA_NACK_PORT = 40044, /* UDP destination of NACKs, to the reporter */
	DTA_HEADER_LEN = 8,
	DTA_AT_FLAGS = 1,
	DTA_AT_KEY_LEN = 2,
	DTA_AT_HOP = 3,
	DTA_AT_TABLE = 4,
	DTA_AT_SEQUENCE = 6,
	DTA_VERSION_1 = 1, /* the high nibble of the first byte */
	DTA_VERSION_0 = 0,
	DTA_FLAG_IMMEDIATE = 0x80,
	DTA_FLAG_TRACKED = 0x40,
	DTA_COPIES_MASK = 0x0f,
	DTA_MAX_COPIES = 4,
	DTA_NO_TABLE = 0xffff,
	DTA_COUNTER_LEN = 8, /* what Key-Increment adds */

	/* DTA/0: the two formats of the published DTA system. */
	DTA0_KEY_LEN = 4,
	DTA0_HOP_MAX = 5, /* counted from 1 */
	DTA0_NACK_LEN = 2,
	DTA0_NACK_FLAG = 0x80, /* the second byte */
};

enum dta_opcode {
	DTA_KEYWRITE = 1,
	DTA_APPEND = 2,
	DTA_KEYINC = 3,
	DTA_POSTCARD = 4,
	DTA_NACK = 15,
	DTA_OPCODES = 16, /* a nibble */
};

/* Why a NACK. Its sequence number is the last one accepted in order. A reporter
 * sends one to DTA_PORT, too, with the last number that it will not send any
 * more, and is answered with DTA_NACK_STATE. */
enum dta_nack_reason {
	DTA_NACK_STATE = 0, /* no fault. From a reporter: asks for it */
	DTA_NACK_GAP = 1,
	DTA_NACK_RATE = 2,
	DTA_NACK_RESYNC = 3,
	DTA_NACK_GONE = 4, /* from a reporter: it resends none up to here */
};

/* RoCEv2: InfiniBand Architecture 9.2 to 9.3, annex A17. */
enum {
	ROCE_PORT = 4791, /* UDP */
	ROCE_BTH_LEN = 12,
	ROCE_BTH_AT_FLAGS = 1,
	ROCE_BTH_AT_PKEY = 2,
	ROCE_BTH_AT_RESERVED = 4, /* FECN, BECN */
	ROCE_BTH_AT_DEST_QP = 5,  /* 3 bytes */
	ROCE_BTH_AT_ACK_REQ = 8,
	ROCE_BTH_AT_PSN = 9, /* 3 bytes */
	ROCE_BTH_SOLICITED = 0x80,
	ROCE_BTH_MIGREQ = 0x40,
	ROCE_BTH_ACK_REQ = 0x80,
	ROCE_PSN_MASK = 0xffffff,
	ROCE_PSN_HALF = 0x800000, /* from here on a PSN is behind */
	ROCE_RETH_LEN = 16,
	ROCE_RETH_AT_RKEY = 8, /* the AtomicETH's, too */
	ROCE_RETH_AT_LEN = 12,
	ROCE_ATOMIC_LEN = 28,
	ROCE_ATOMIC_AT_SWAP = 12, /* or what to add */
	ROCE_ATOMIC_AT_COMPARE = 20,
	ROCE_AETH_LEN = 4,
	ROCE_ATOMIC_ACK_LEN = 8,
	ROCE_IMM_LEN = 4,
	ROCE_ICRC_LEN = 4,
	ROCE_PAYLOAD_MAX = 4096, /* the largest path MTU */
};

enum roce_opcode {
	ROCE_RC_WRITE_ONLY = 0x0a,
	ROCE_RC_WRITE_ONLY_IMM = 0x0b,
	ROCE_RC_ACK = 0x11,
	ROCE_RC_ATOMIC_ACK = 0x12,
	ROCE_RC_CMP_SWAP = 0x13,
	ROCE_RC_FETCH_ADD = 0x14,
	ROCE_UC_WRITE_ONLY = 0x2a,
	ROCE_UC_WRITE_ONLY_IMM = 0x2b,
};

/* AETH syndromes. */
enum roce_syndrome {
	ROCE_ACK = 0x1f,     /* credits unlimited */
	ROCE_RNR_NAK = 0x20, /* low 5 bits: timer */
	ROCE_NAK_PSN = 0x60,
	ROCE_NAK_INVALID = 0x61, /* invalid request */
	ROCE_NAK_ACCESS = 0x62,	 /* remote access error */
};

/* Telemetry reports: P4.org, Telemetry Report 0.5, 1.0, 2.0. */
enum {
	TREPORT_V05_LEN = 12,
	TREPORT_V05_DROP_LEN = 12,  /* behind it: NProto 1 */
	TREPORT_V05_LOCAL_LEN = 16, /* NProto 2 */
	TREPORT_V1_LEN = 16,	    /* without metadata */
	TREPORT_V1_WORDS = 4,	    /* the same in words, the least Length */
	TREPORT_V05_AT_SEQUENCE = 4,
	TREPORT_V05_AT_TIME = 8,
	TREPORT_V1_AT_NODE = 4,
	TREPORT_V1_AT_SEQUENCE = 8,
	TREPORT_V1_AT_TIME = 12,
	TREPORT_V1_BITS = 6, /* of metadata */
	TREPORT_V2_BITS = 16,
	TREPORT_V2_GROUP_LEN = 8,
	TREPORT_V2_AT_NODE = 4,
	TREPORT_V2_LEN = 4,	/* of a report's first word */
	TREPORT_V2_INT_LEN = 8, /* RepType 1, without metadata */
	TREPORT_V2_AT_DOMAIN = 2,
	TREPORT_V2_AT_DOMAIN_BITS = 4,
	TREPORT_V2_OPEN = 0xff, /* ReportLength: to the end of the datagram */
	TREPORT_TLV_LEN = 4,	/* without its data */
	TREPORT_SEQUENCE2_MASK = 0x3fffff,
	TREPORT_HW_ID_MASK = 0x3f,
};

/* RepType of 2.0. */
enum treport_type {
	TREPORT_INNER_ONLY = 0,
	TREPORT_INT = 1,
};

/* InType of 2.0. */
enum treport_inner {
	TREPORT_NONE = 0,
	TREPORT_TLV = 1,
	TREPORT_DOMAIN = 2, /* Domain Specific Extension Data */
	TREPORT_ETHERNET = 3,
	TREPORT_IP4 = 4,
	TREPORT_IP6 = 5,
};

/* NProto of 0.5. */
enum treport_next {
	TREPORT_PLAIN = 0, /* Ethernet comes at once */
	TREPORT_DROP = 1,
	TREPORT_LOCAL = 2,
};

/* IOAM in IPv6: RFC 9486, section 4; RFC 9197, section 4.4; RFC 9326, 3.2. */
enum {
	IOAM_OPTION = 0x31,	  /* of IPv6: its data change on the way */
	IOAM_OPTION_FIXED = 0x11, /* they do not */
	IOAM_AT_TYPE = 3,	  /* in the option, whose type is byte 0 */
	IOAM_LEN = 4,		  /* of the option before what its type has */
	IOAM_OPTION_MAX = 257,
	IOAM_TRACE_LEN = 8, /* without nodes */
	IOAM_TRACE_AT_LENGTHS = 2,
	IOAM_TRACE_AT_BITMAP = 4,  /* 3 bytes */
	IOAM_NODE_LEN_SHIFT = 11,  /* of the lengths: 5 bits, words */
	IOAM_FLAGS_SHIFT = 7,	   /* 4 bits */
	IOAM_REMAINING_MASK = 127, /* words */
	IOAM_OVERFLOW = 8,	   /* flags */
	IOAM_LOOPBACK = 4,
	IOAM_ACTIVE = 2,
	IOAM_BITS = 24,
	IOAM_OPAQUE = 2,       /* bit 22: a snapshot behind each node */
	IOAM_UNUSED = 1,       /* bit 23: to be ignored */
	IOAM_SNAPSHOT_LEN = 4, /* without its data: words 8, schema 24 */
	IOAM_NO_SCHEMA = 0xffffff,
	IOAM_DIRECT_LEN = 8,	 /* without flow and sequence */
	IOAM_DIRECT_AT_MORE = 3, /* extension flags */
	IOAM_DIRECT_FLOW = 0x80,
	IOAM_DIRECT_SEQUENCE = 0x40,
	IOAM_NODES_MAX = 61, /* words of nodes in an option */
};

enum ioam_type {
	IOAM_PREALLOCATED = 0,
	IOAM_INCREMENTAL = 1,
	IOAM_EDGE = 3, /* to edge */
	IOAM_DIRECT = 4,
};

/* INT-label: label/label.h. */
enum {
	LABEL_PROTOCOL = 253,	   /* IP; none is assigned: RFC 3692, 4727 */
	LABEL_EXPORT_PORT = 54322, /* UDP; none is assigned */
	LABEL_MAX_HOP = 5,	   /* of a fat tree: INT-label, section 2 */
	LABEL_MAX_HOP_MOST = 127,  /* that may be configured */
	LABEL_OPTION_LEN = 2,
	LABEL_AT_COUNT = 1, /* in the option: INT_num */
	LABEL_ITEM_LEN = 32,
	LABEL_ITEM_AT_INGRESS = 4,
	LABEL_ITEM_AT_EGRESS = 6,
	LABEL_ITEM_AT_TIME = 8, /* 6 bytes */
	LABEL_ITEM_AT_LATENCY = 16,
	LABEL_ITEM_AT_QUEUE = 20,
	LABEL_ITEM_AT_NUMBER = 24,
};

#endif
