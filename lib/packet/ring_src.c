/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_src.c - AF_PACKET with TPACKET_V3: the kernel fills blocks of a ring
 * that is mapped here, and hands each over when it is full or its time is up.
 * Packets are walked in place; a block goes back at the call after the one that
 * showed its last packet.
 *
 * Source: packet(7); Documentation/networking/packet_mmap.rst of Linux 6.1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hash/crc.h"
#include "packet/live_private.h"
#include "net/proto.h"

enum {
	RING_BLOCK = 1 << 17, /* bytes: more than the longest frame, GRO's */
	/* Each is handed over after a millisecond: so many of these a reader
	 * may be away, however little comes. */
	RING_BLOCKS = 128,
	FRAME = 1 << 11, /* the kernel wants to know; blocks are filled densely
			    whatever it is */
	RETIRE_MS = 1,	 /* after that a block is handed over half empty */
	SIZE = RING_BLOCK * RING_BLOCKS,
};

/* In front of a block's first packet are the block's header and its own. */
_Static_assert(sizeof(struct tpacket_block_desc) +
			       sizeof(struct tpacket3_hdr) >=
		       CRC_HEADROOM,
	       "the first packet needs headroom");

struct ring {
	struct src src;
	struct iface iface;
	int promiscuous;       /* a descriptor, or -1 */
	struct filter *filter; /* what the kernel could not run */
	uint64_t drops;	 /* what the kernel's counts were when last reset */
	uint8_t *map;	 /* or NULL */
	unsigned head;	 /* the block in hand */
	unsigned walked; /* those before it, which go back at the next call */
	uint32_t left;	 /* packets of the block in hand; 0: none is */
	uint8_t *next;	 /* the first of them */
};

static int set_option(const struct ring *r, int name, int value,
		      struct error *err)
{
	if (!setsockopt(r->src.fd, SOL_PACKET, name, &value, sizeof(value)))
		return 0;
	return error_set(err, -errno, "%s: AF_PACKET option %d: %s",
			 r->iface.name, name, strerror(errno));
}

static int map_ring(struct ring *r, struct error *err)
{
	struct tpacket_req3 req = {
		.tp_block_size = RING_BLOCK,
		.tp_block_nr = RING_BLOCKS,
		.tp_frame_size = FRAME,
		.tp_frame_nr = RING_BLOCK / FRAME * RING_BLOCKS,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	void *map;

	if (setsockopt(r->src.fd, SOL_PACKET, PACKET_RX_RING, &req,
		       sizeof(req)) < 0)
		return error_set(err, -errno, "%s: a ring of %d MB: %s",
				 r->iface.name, SIZE >> 20, strerror(errno));
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, r->src.fd, 0);
	if (map == MAP_FAILED)
		return error_set(err, -errno, "%s: mapping the ring: %s",
				 r->iface.name, strerror(errno));
	r->map = map;
	return 0;
}

/* What POLLERR means: 0 or what is wrong for good. */
static int ring_judge(const struct ring *r, struct error *err)
{
	socklen_t len = sizeof(int);
	int rc = 0;

	if (getsockopt(r->src.fd, SOL_SOCKET, SO_ERROR, &rc, &len) < 0)
		rc = errno;
	/* Down: it may come back, and the kernel listens on when it does. */
	if (rc == ENETDOWN && iface_there(r->iface.index))
		return 0;
	if (rc == ENETDOWN || rc == ENODEV || rc == ENXIO)
		return iface_gone(&r->iface, err);
	return rc ? error_set(err, -rc, "%s: %s", r->iface.name, strerror(rc))
		  : 0;
}

static struct tpacket_block_desc *block_at(const struct ring *r, unsigned i)
{
	return (void *)(r->map + (size_t)(i % RING_BLOCKS) * RING_BLOCK);
}

/* Takes the block at the head in hand, if it is ours, and not one that was
 * shown and is still held. */
static bool take_block(struct ring *r)
{
	struct tpacket_block_desc *b = block_at(r, r->head);

	if (r->walked == RING_BLOCKS ||
	    !(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) &
	      TP_STATUS_USER))
		return false;
	r->left = b->hdr.bh1.num_pkts;
	r->next = (uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
	r->src.done += b->hdr.bh1.blk_len;
	return true;
}

/* Puts the tag that the kernel took out back in: over the end of the packet's
 * own headers, which are read by now. */
static __attribute__((noinline)) void put_tag(struct pkt *p, unsigned tpid,
					      unsigned tci)
{
	const uint16_t tag[2] = {htons((uint16_t)tpid), htons((uint16_t)tci)};
	uint8_t *data = (uint8_t *)p->data - NET_VLAN_LEN;

	memmove(data, p->data, NET_ETH_AT_TYPE);
	memcpy(data + NET_ETH_AT_TYPE, tag, NET_VLAN_LEN);
	p->data = data;
	p->len += NET_VLAN_LEN;
	p->wire_len += NET_VLAN_LEN;
}

static uint8_t *fill_pkt(struct pkt *p, uint8_t *at)
{
	const struct tpacket3_hdr *h = (const void *)at;
	unsigned tpid = h->hv1.tp_vlan_tpid, tci = h->hv1.tp_vlan_tci;
	uint32_t status = h->tp_status, next = h->tp_next_offset;

	*p = (struct pkt){
		.data = at + h->tp_mac,
		.len = h->tp_snaplen,
		.wire_len = h->tp_len,
		.ts_ns = h->tp_sec * UINT64_C(1000000000) + h->tp_nsec,
	};
	if (status & TP_STATUS_VLAN_VALID && p->len >= NET_ETH_AT_TYPE)
		put_tag(p,
			status & TP_STATUS_VLAN_TPID_VALID ? tpid : ETH_P_8021Q,
			tci);
	return at + next;
}

/* What is there. The loop keeps what it walks in registers. */
static int walk_blocks(struct ring *r, struct pkt *pkts, int max)
{
	int n = 0;

	while (n < max && (r->left || take_block(r))) {
		uint32_t k = r->left;
		uint8_t *at = r->next;

		if (k > (uint32_t)(max - n))
			k = (uint32_t)(max - n);
		r->left -= k;
		for (; k; k--) {
			__builtin_prefetch(at + 2 * 256);
			at = fill_pkt(&pkts[n++], at);
		}
		r->next = at;
		if (!r->left) {
			r->head++;
			r->walked++;
		}
	}
	return n;
}

/* Waits for a block. Returns 0, -EAGAIN, -EINTR or what is wrong for good. */
static int wait_one(const struct ring *r, struct error *err)
{
	struct pollfd p = {.fd = r->src.fd, .events = POLLIN | POLLERR};
	int n = poll(&p, 1, r->src.wait_ms);

	if (n < 0)
		return error_set(err, -errno, "%s: %s", r->iface.name,
				 strerror(errno));
	if (!n)
		return -EAGAIN;
	return p.revents & POLLERR ? ring_judge(r, err) : 0;
}

static int ring_rx(struct src *src, struct pkt *pkts, int max,
		   struct error *err)
{
	struct ring *r = (struct ring *)src;
	int n, rc;

	for (;;) {
		for (; r->walked; r->walked--) /* they go back */
			__atomic_store_n(&block_at(r, r->head - r->walked)
						  ->hdr.bh1.block_status,
					 TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		n = walk_blocks(r, pkts, max);
		if (!n && !r->walked && (rc = wait_one(r, err)))
			return rc;
		if (n && r->filter)
			n = filter_batch(r->filter, pkts, n);
		if (n)
			return n;
	}
}

/* The kernel's counts begin anew whenever they are asked for. */
static uint64_t ring_drops(struct src *src)
{
	struct ring *r = (struct ring *)src;
	struct tpacket_stats_v3 st;
	socklen_t len = sizeof(st);

	if (!getsockopt(r->src.fd, SOL_PACKET, PACKET_STATISTICS, &st, &len))
		r->drops += st.tp_drops;
	return r->drops;
}

static void ring_close(struct src *src)
{
	struct ring *r = (struct ring *)src;

	if (r->map)
		munmap(r->map, SIZE);
	if (r->src.fd >= 0)
		close(r->src.fd);
	if (r->promiscuous >= 0)
		close(r->promiscuous);
	filter_close(r->filter);
	free(r);
}

static const struct src_ops ops = {
	.rx = ring_rx,
	.drops = ring_drops,
	.close = ring_close,
};

/* What the kernel is to let in: what can be there. */
static int attach_filter(const struct ring *r, const struct live_options *o,
			 struct error *err)
{
	struct filter *x;
	int rc = filter_open(&x, o, true, err);

	if (rc)
		return rc;
	rc = filter_attach(x, r->src.fd);
	filter_close(x);
	if (rc == -E2BIG || rc == -ENOMEM)
		return error_set(
			err, rc,
			"%s: filter: longer than the kernel takes "
			"(sysctl net.core.optmem_max): make it shorter",
			r->iface.name);
	return rc ? error_set(err, rc, "%s: filter: %s", r->iface.name,
			      strerror(-rc))
		  : 0;
}

static int open_ring(struct ring *r, const struct live_options *o,
		     struct error *err)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = r->iface.index,
	};
	int rc;

	/* Protocol 0: nothing comes before bind() */
	r->src.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (r->src.fd < 0)
		return iface_refused(&r->iface, errno, err);
	rc = set_option(r, PACKET_VERSION, TPACKET_V3, err);
	if (!rc)
		rc = set_option(r, PACKET_IGNORE_OUTGOING, 1, err);
	if (!rc)
		rc = map_ring(r, err);
	if (!rc)
		rc = attach_filter(r, o, err);
	if (!rc && bind(r->src.fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		rc = error_set(err, -errno, "%s: %s", r->iface.name,
			       strerror(errno));
	if (!rc && filter_of_vlan(o->filter))
		rc = filter_open(&r->filter, o, false, err);
	if (rc || !o->promiscuous)
		return rc;
	r->promiscuous = iface_promiscuous(&r->iface, err);
	return r->promiscuous < 0 ? r->promiscuous : 0;
}

int ring_src_open(struct src **out, const struct iface *i,
		  const struct live_options *o, struct error *err)
{
	struct ring *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->src = (struct src){
		.ops = &ops, .kind = "AF_PACKET", .fd = -1, .wait_ms = -1};
	r->promiscuous = -1;
	r->iface = *i;
	if ((rc = open_ring(r, o, err))) {
		ring_close(&r->src);
		return rc;
	}
	*out = &r->src;
	return 0;
}
