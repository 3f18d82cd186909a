/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_src.c - AF_PACKET with TPACKET_V3: the kernel fills blocks of a ring
 * that is mapped here, and hands each over when it is full or its time is up.
 * Packets are walked in place; a block goes back at the call after the one that
 * showed its last packet.
 *
 * Source: packet(7); Documentation/networking/packet_mmap.rst of Linux 6.1.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <arpa/inet.h>

#include "hash/crc.h"
#include "live/private.h"
#include "wire/proto.h"

enum {
	BLOCK = 1 << 18, /* holds the longest frame that there is, GRO's 64K */
	BLOCKS = 64,
	FRAME = 1 << 11, /* the kernel wants to know; blocks are filled densely
			    whatever it is */
	RETIRE_MS = 1,	 /* after that a block is handed over half empty */
};

/* In front of a block's first packet are the block's header and its own. */
_Static_assert(sizeof(struct tpacket_block_desc) +
			       sizeof(struct tpacket3_hdr) >=
		       CRC_HEADROOM,
	       "the first packet needs headroom");

struct ring {
	struct src src;
	struct iface iface;
	uint8_t *map;
	unsigned head;	/* the block in hand */
	unsigned held;	/* blocks before it that are walked, not given back */
	uint32_t left;	/* packets of the block in hand; 0: none is */
	uint8_t *next;	/* the first of them */
	uint64_t drops; /* what the kernel's count was when it was last reset */
	int promiscuous;       /* a descriptor, or -1 */
	struct filter *filter; /* what the kernel could not run */
};

static struct tpacket_block_desc *block(const struct ring *s, unsigned i)
{
	return (void *)(s->map + (size_t)(i % BLOCKS) * BLOCK);
}

static void give_back(struct ring *s)
{
	for (; s->held; s->held--)
		__atomic_store_n(
			&block(s, s->head - s->held)->hdr.bh1.block_status,
			TP_STATUS_KERNEL, __ATOMIC_RELEASE);
}

/* Takes the block at the head in hand, if it is ours, and not one that was
 * shown and is still held. */
static bool take(struct ring *s)
{
	struct tpacket_block_desc *b = block(s, s->head);

	if (s->held == BLOCKS ||
	    !(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) &
	      TP_STATUS_USER))
		return false;
	s->left = b->hdr.bh1.num_pkts;
	s->next = (uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
	s->src.done += b->hdr.bh1.blk_len;
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

static uint8_t *show(struct pkt *p, uint8_t *at)
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
static int walk(struct ring *s, struct pkt *pkts, int max)
{
	int n = 0;

	while (n < max && (s->left || take(s))) {
		uint32_t k = s->left;
		uint8_t *at = s->next;

		if (k > (uint32_t)(max - n))
			k = (uint32_t)(max - n);
		s->left -= k;
		for (; k; k--) {
			__builtin_prefetch(at + 2 * 256);
			at = show(&pkts[n++], at);
		}
		s->next = at;
		if (!s->left) {
			s->head++;
			s->held++;
		}
	}
	return n;
}

/* Waits for a block. Returns 0, -EAGAIN, -EINTR or what is wrong for good. */
static int wait(struct ring *s, struct fault *f)
{
	struct pollfd p = {.fd = s->src.fd, .events = POLLIN | POLLERR};
	int n = poll(&p, 1, s->src.wait_ms), err = 0;
	socklen_t len = sizeof(err);

	if (n < 0)
		return fault_set(f, -errno, "%s: %s", s->iface.name,
				 strerror(errno));
	if (!n)
		return -EAGAIN;
	if (!(p.revents & POLLERR))
		return 0;
	if (getsockopt(s->src.fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	/* Down: it may come back, and the kernel listens on when it does. */
	if (err == ENETDOWN && iface_there(s->iface.index))
		return 0;
	if (err == ENETDOWN || err == ENODEV || err == ENXIO)
		return iface_gone(&s->iface, f);
	return err ? fault_set(f, -err, "%s: %s", s->iface.name, strerror(err))
		   : 0;
}

static int ring_rx(struct src *src, struct pkt *pkts, int max, struct fault *f)
{
	struct ring *s = (struct ring *)src;
	int n, rc;

	for (;;) {
		give_back(s);
		n = walk(s, pkts, max);
		if (n && s->filter)
			n = filter_batch(s->filter, pkts, n);
		if (n)
			return n;
		if (!s->held && (rc = wait(s, f)))
			return rc;
	}
}

/* The kernel's count begins anew whenever it is asked for. */
static uint64_t ring_drops(struct src *src)
{
	struct ring *s = (struct ring *)src;
	struct tpacket_stats_v3 st;
	socklen_t len = sizeof(st);

	if (!getsockopt(src->fd, SOL_PACKET, PACKET_STATISTICS, &st, &len))
		s->drops += st.tp_drops;
	return s->drops;
}

static void ring_close(struct src *src)
{
	struct ring *s = (struct ring *)src;

	if (s->map)
		munmap(s->map, (size_t)BLOCK * BLOCKS);
	if (src->fd >= 0)
		close(src->fd);
	if (s->promiscuous >= 0)
		close(s->promiscuous);
	filter_close(s->filter);
	free(s);
}

static const struct src_ops ops = {
	.rx = ring_rx,
	.drops = ring_drops,
	.close = ring_close,
};

static int option(const struct ring *s, int name, int value, struct fault *f)
{
	if (!setsockopt(s->src.fd, SOL_PACKET, name, &value, sizeof(value)))
		return 0;
	return fault_set(f, -errno, "%s: AF_PACKET option %d: %s",
			 s->iface.name, name, strerror(errno));
}

static int map_ring(struct ring *s, struct fault *f)
{
	struct tpacket_req3 req = {
		.tp_block_size = BLOCK,
		.tp_block_nr = BLOCKS,
		.tp_frame_size = FRAME,
		.tp_frame_nr = BLOCK / FRAME * BLOCKS,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	void *map;

	if (setsockopt(s->src.fd, SOL_PACKET, PACKET_RX_RING, &req,
		       sizeof(req)) < 0)
		return fault_set(f, -errno, "%s: a ring of %d MB: %s",
				 s->iface.name, BLOCK / 1024 * BLOCKS / 1024,
				 strerror(errno));
	map = mmap(NULL, (size_t)BLOCK * BLOCKS, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, s->src.fd, 0);
	if (map == MAP_FAILED)
		return fault_set(f, -errno, "%s: mapping the ring: %s",
				 s->iface.name, strerror(errno));
	s->map = map;
	return 0;
}

/* In the kernel what can be there; the rest here. Before bind(), so that
 * nothing else ever comes. */
static int attach(struct ring *s, const struct live_options *o, struct fault *f)
{
	struct filter *x;
	int rc = filter_open(&x, o, true, f);

	if (!rc && x && (rc = filter_attach(x, s->src.fd)))
		fault_set(f, rc, "%s: filter: %s", s->iface.name,
			  strerror(-rc));
	filter_close(x);
	if (!rc && filter_of_vlan(o->filter))
		rc = filter_open(&s->filter, o, false, f);
	return rc;
}

static int listen_on(struct ring *s, const struct live_options *o,
		     struct fault *f)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = s->iface.index,
	};

	if (bind(s->src.fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return fault_set(f, -errno, "%s: %s", s->iface.name,
				 strerror(errno));
	if (o->promiscuous)
		s->promiscuous = iface_promiscuous(&s->iface, f);
	return o->promiscuous && s->promiscuous < 0 ? s->promiscuous : 0;
}

static int open_ring(struct ring *s, const struct live_options *o,
		     struct fault *f)
{
	int rc;

	/* Protocol 0: nothing comes before bind() */
	s->src.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (s->src.fd < 0)
		return iface_refused(&s->iface, errno, f);
	rc = option(s, PACKET_VERSION, TPACKET_V3, f);
	if (!rc)
		rc = option(s, PACKET_IGNORE_OUTGOING, 1, f);
	if (!rc)
		rc = map_ring(s, f);
	if (!rc)
		rc = attach(s, o, f);
	return rc ? rc : listen_on(s, o, f);
}

int ring_src_open(struct src **out, const struct iface *i,
		  const struct live_options *o, struct fault *f)
{
	struct ring *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return fault_set(f, -ENOMEM, "out of memory");
	s->src = (struct src){
		.ops = &ops,
		.kind = "AF_PACKET",
		.fd = -1,
		.wait_ms = -1,
	};
	s->promiscuous = -1;
	s->iface = *i;
	if ((rc = open_ring(s, o, f))) {
		ring_close(&s->src);
		return rc;
	}
	*out = &s->src;
	return 0;
}
