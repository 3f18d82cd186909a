/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_prog.c - the program in front of AF_XDP sockets, put together here: it is
 * short, depends on the ports, and thus needs no compiler for BPF.
 *
 * It takes UDP over IPv4 or IPv6 (behind up to two VLAN tags) that is not a
 * fragment; what it cannot read that far is the host's.
 *
 * Source: Documentation/bpf/standardization/instruction-set.rst of Linux 6.1.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "packet/xdp_private.h"

enum {
	INSNS_MAX = 96,
	IP_FRAGMENT = 0x3fff, /* more fragments, or an offset: RFC 791 */
};

enum label {
	NEXT, /* the instruction behind */
	TAGGED,
	TAGGED_TWICE,
	UNTAGGED,
	IP6,
	UDP,
	TAKE,
	PASS,
	LABELS,
};

struct text {
	struct bpf_insn insn[INSNS_MAX];
	uint8_t to[INSNS_MAX]; /* enum label of a jump */
	int at[LABELS];
	int n;
};

static struct bpf_insn *emit(struct text *t, int code, int dst, int src)
{
	struct bpf_insn *i = &t->insn[t->n++];

	*i = (struct bpf_insn){
		.code = (uint8_t)code,
		.dst_reg = (uint8_t)dst & 15,
		.src_reg = (uint8_t)src & 15,
	};
	return i;
}

static void load(struct text *t, int size, int dst, int src, int offset)
{
	emit(t, BPF_LDX | BPF_MEM | size, dst, src)->off = (int16_t)offset;
}

static void move(struct text *t, int dst, int src)
{
	emit(t, BPF_ALU64 | BPF_MOV | BPF_X, dst, src);
}

static void alu(struct text *t, int op, int dst, int imm)
{
	emit(t, BPF_ALU64 | op | BPF_K, dst, 0)->imm = imm;
}

static void jump(struct text *t, int op, int dst, int imm, enum label to)
{
	t->to[t->n] = (uint8_t)to;
	emit(t, BPF_JMP | op | BPF_K, dst, 0)->imm = imm;
}

static void place(struct text *t, enum label l)
{
	t->at[l] = t->n;
}

static void resolve(struct text *t)
{
	for (int i = 0; i < t->n; i++)
		if (t->to[i])
			t->insn[i].off = (int16_t)(t->at[t->to[i]] - i - 1);
}

/* Registers: the context, the packet, its end, and what is looked at. */
enum {
	CTX = BPF_REG_6,
	P = BPF_REG_7,
	END = BPF_REG_8,
	V = BPF_REG_5,
};

/* Passes packets with less than len bytes at P. */
static void need(struct text *t, int len)
{
	move(t, V, P);
	alu(t, BPF_ADD, V, len);
	t->to[t->n] = PASS;
	emit(t, BPF_JMP | BPF_JGT | BPF_X, V, END);
}

/* P goes past the VLAN tags; V is the EtherType, as it is in memory. */
static void ethernet(struct text *t)
{
	static const enum label again[] = {TAGGED, TAGGED_TWICE};

	need(t, ETH_HLEN);
	for (int i = 0; i < 2; i++) {
		load(t, BPF_H, V, P, 12);
		jump(t, BPF_JEQ, V, htons(ETH_P_8021Q), again[i]);
		jump(t, BPF_JNE, V, htons(ETH_P_8021AD), UNTAGGED);
		place(t, again[i]);
		alu(t, BPF_ADD, P, 4);
		need(t, ETH_HLEN);
	}
	load(t, BPF_H, V, P, 12);
	place(t, UNTAGGED);
}

/* P goes to the UDP header, 8 bytes of which are there. */
static void ip(struct text *t)
{
	alu(t, BPF_ADD, P, ETH_HLEN);
	jump(t, BPF_JEQ, V, htons(ETH_P_IPV6), IP6);
	jump(t, BPF_JNE, V, htons(ETH_P_IP), PASS);
	need(t, 20);
	load(t, BPF_B, V, P, 9);
	jump(t, BPF_JNE, V, IPPROTO_UDP, PASS);
	load(t, BPF_H, V, P, 6);
	jump(t, BPF_JSET, V, htons(IP_FRAGMENT), PASS);
	load(t, BPF_B, V, P, 0);
	alu(t, BPF_AND, V, 15);
	alu(t, BPF_LSH, V, 2);
	emit(t, BPF_ALU64 | BPF_ADD | BPF_X, P, V);
	need(t, 8);
	jump(t, BPF_JA, 0, 0, UDP);
	place(t, IP6);
	need(t, 48);
	load(t, BPF_B, V, P, 6);
	jump(t, BPF_JNE, V, IPPROTO_UDP, PASS);
	alu(t, BPF_ADD, P, 40);
}

static void give(struct text *t, int map)
{
	struct bpf_insn *i;

	place(t, TAKE);
	load(t, BPF_W, BPF_REG_2, CTX, offsetof(struct xdp_md, rx_queue_index));
	i = emit(t, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD);
	i->imm = map;
	emit(t, 0, 0, 0);		      /* the upper half */
	alu(t, BPF_MOV, BPF_REG_3, XDP_PASS); /* where no socket is */
	emit(t, BPF_JMP | BPF_CALL, 0, 0)->imm = BPF_FUNC_redirect_map;
	emit(t, BPF_JMP | BPF_EXIT, 0, 0);
}

static void pass(struct text *t)
{
	place(t, PASS);
	alu(t, BPF_MOV, BPF_REG_0, XDP_PASS);
	emit(t, BPF_JMP | BPF_EXIT, 0, 0);
}

/* The verifier refuses what cannot be reached. */
static void write_text(struct text *t, int map, const uint16_t *port)
{
	move(t, CTX, BPF_REG_1);
	if (port[0]) {
		load(t, BPF_W, P, CTX, offsetof(struct xdp_md, data));
		load(t, BPF_W, END, CTX, offsetof(struct xdp_md, data_end));
		ethernet(t);
		ip(t);
		place(t, UDP);
		load(t, BPF_H, V, P, 2);
		for (int i = 0; i < LIVE_PORTS && port[i]; i++)
			jump(t, BPF_JEQ, V, htons(port[i]), TAKE);
		jump(t, BPF_JA, 0, 0, PASS);
	}
	give(t, map);
	if (port[0])
		pass(t);
	resolve(t);
}

int xdp_prog_load(struct xdp_prog *p, unsigned queues, const uint16_t *port)
{
	struct text t = {0};

	p->prog = p->link = -1;
	p->map = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "dta_sockets", sizeof(int),
				sizeof(int), queues, NULL);
	if (p->map < 0)
		return -errno;
	write_text(&t, p->map, port);
	p->prog = bpf_prog_load(BPF_PROG_TYPE_XDP, "dta_take", "Dual BSD/GPL",
				t.insn, (size_t)t.n, NULL);
	return p->prog < 0 ? -errno : 0;
}

int xdp_prog_attach(struct xdp_prog *p, int ifindex, bool generic)
{
	LIBBPF_OPTS(bpf_link_create_opts, o,
		    .flags = generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);

	p->link = bpf_link_create(p->prog, ifindex, BPF_XDP, &o);
	return p->link < 0 ? -errno : 0;
}

int xdp_prog_socket(const struct xdp_prog *p, unsigned queue, int fd)
{
	return bpf_map_update_elem(p->map, &queue, &fd, BPF_ANY) < 0 ? -errno
								     : 0;
}

void xdp_prog_close(struct xdp_prog *p)
{
	const int fds[] = {p->link, p->prog, p->map};

	for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	p->link = p->prog = p->map = -1;
}
