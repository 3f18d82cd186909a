/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fanout.c - packet sockets that divide an interface's packets: a program says
 * to which of them one goes. None of the kernel's own ways keeps the order that
 * counts: PACKET_FANOUT_HASH is by ports, too, and a reporter is an address,
 * whatever ports it sends from, and those of RoCEv2 are drawn.
 *
 * The program begins at the network header, behind the VLAN tag that the kernel
 * has taken out. What is not looked for goes to the first socket: packets
 * behind more than two tags, and requests behind IPv6 extension headers. Later
 * fragments have no queue pair, and are nobody's.
 *
 * Source: packet(7); net/packet/af_packet.c of Linux 6.1, fanout_demux_bpf().
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include "live/private.h"
#include "wire/proto.h"

enum {
	/* Since Linux 6.2; filter_attach_incoming() before that. */
	FLAG_IGNORE_OUTGOING = 0x4000,
	GOLDEN = 0x9e3779b1, /* 2^32 by the golden ratio */
	QP_MASK = 0xffffff,
};

/* A: the type of what is there. */
static const struct sock_filter type[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		 (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
};

/* A: the same, behind a tag; X: where that begins. */
static const struct sock_filter tag[] = {
	BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_ETHERTYPE_VLAN, 1, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_ETHERTYPE_QINQ, 0, 2),
	BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, NET_VLAN_LEN),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, NET_VLAN_AT_TYPE),
};

/* A: the source address; of IPv6, the low halves of network and interface. */
static const struct sock_filter by_source[] = {
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_ETHERTYPE_IP4, 8, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_ETHERTYPE_IP6, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_IND, NET_IP6_AT_SRC + 4),
	BPF_STMT(BPF_ST, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_IND, NET_IP6_AT_SRC + 12),
	BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 0),
	BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
	BPF_STMT(BPF_JMP | BPF_JA, 1),
	BPF_STMT(BPF_LD | BPF_W | BPF_IND, NET_IP4_AT_SRC),
};

/* A: the destination queue pair. */
static const struct sock_filter by_qp[] = {
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_ETHERTYPE_IP4, 6, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_ETHERTYPE_IP6, 0, 2),
	BPF_STMT(BPF_LD | BPF_B | BPF_IND, NET_IP6_AT_NEXT),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_PROTO_UDP, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_IND,
		 NET_IP6_LEN + NET_UDP_LEN + ROCE_BTH_AT_RESERVED),
	BPF_STMT(BPF_JMP | BPF_JA, 6),
	BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0), /* version, length */
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 15),
	BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2),
	BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
	BPF_STMT(BPF_MISC | BPF_TAX, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_IND, NET_UDP_LEN + ROCE_BTH_AT_RESERVED),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, QP_MASK),
};

/* Numbers in a row go everywhere, whatever the number of sockets, which the
 * kernel takes the remainder by. */
static const struct sock_filter spread[] = {
	BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, GOLDEN),
	BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 16),
	BPF_STMT(BPF_RET | BPF_A, 0),
};

enum {
	TYPE = sizeof(type) / sizeof(type[0]),
	TAG = sizeof(tag) / sizeof(tag[0]),
	SOURCE = sizeof(by_source) / sizeof(by_source[0]),
	QP = sizeof(by_qp) / sizeof(by_qp[0]),
	SPREAD = sizeof(spread) / sizeof(spread[0]),
};

/* IPv4 without a tag, by itself: the kernel makes calls of loads whose place
 * hangs on X. */
static const struct sock_filter plain_source[] = {
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NET_ETHERTYPE_IP4, 0, 2),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NET_IP4_AT_SRC),
	BPF_STMT(BPF_JMP | BPF_JA, TAG + SOURCE),
};

enum {
	PLAIN = sizeof(plain_source) / sizeof(plain_source[0]),
};

static void add(struct sock_fprog *p, const struct sock_filter *text,
		unsigned n)
{
	memcpy(p->filter + p->len, text, n * sizeof(*text));
	p->len = (unsigned short)(p->len + n);
}

static int load(int fd, enum live_order order)
{
	struct sock_filter text[TYPE + PLAIN + TAG + SOURCE + QP + SPREAD];
	struct sock_fprog p = {.filter = text};

	add(&p, type, TYPE);
	if (order == LIVE_BY_SOURCE)
		add(&p, plain_source, PLAIN);
	add(&p, tag, TAG);
	if (order == LIVE_BY_SOURCE)
		add(&p, by_source, SOURCE);
	else
		add(&p, by_qp, QP);
	add(&p, spread, SPREAD);
	return setsockopt(fd, SOL_PACKET, PACKET_FANOUT_DATA, &p, sizeof(p)) < 0
		       ? -errno
		       : 0;
}

/* The kernel finds a number for a new group. */
int fanout_join(int fd, int *group, enum live_order order)
{
	unsigned how = PACKET_FANOUT_CBPF | FLAG_IGNORE_OUTGOING;
	bool first = *group < 0;
	unsigned arg = first ? (how | PACKET_FANOUT_FLAG_UNIQUEID) << 16
			     : how << 16 | (unsigned)*group;
	socklen_t len = sizeof(arg);

	if (setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, sizeof(arg)) < 0)
		return -errno;
	if (!first)
		return 0;
	if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, &len) < 0)
		return -errno;
	*group = arg & 0xffff;
	return load(fd, order);
}
