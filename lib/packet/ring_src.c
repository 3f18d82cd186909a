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
	/* A block is handed over after RETIRE_MS, even if it is not full. So a
	 * reader may pause for RING_BLOCKS * RETIRE_MS at most, at any load. */
	RING_BLOCKS = 256,
	RETIRE_MS = 4,	      /* a jiffy where HZ is 250 */
	FRAME_SIZE = 1 << 11, /* required by the kernel; without effect, as
				 TPACKET_V3 fills blocks densely */
	RING_SIZE = RING_BLOCK * RING_BLOCKS,
};

/* Before a block's first packet are the headers of the block and the packet. */
_Static_assert(sizeof(struct tpacket_block_desc) +
			       sizeof(struct tpacket3_hdr) >=
		       CRC_HEADROOM,
	       "the first packet needs headroom");

struct ring {
	struct src src;
	struct iface iface;
	int promiscuous;       /* a descriptor, or -1 */
	struct filter *filter; /* about VLAN tags: the kernel cannot run it */
	uint64_t drops;	       /* sum of the kernel's counts, which it resets */
	uint8_t *map;	       /* or NULL */
	unsigned head;	       /* the current block's number, not wrapped */
	unsigned walked; /* blocks before it to give back at the next call */
	uint32_t left;	 /* packets left in the current block */
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
		.tp_frame_size = FRAME_SIZE,
		.tp_frame_nr = RING_BLOCK / FRAME_SIZE * RING_BLOCKS,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	void *map;

	if (setsockopt(r->src.fd, SOL_PACKET, PACKET_RX_RING, &req,
		       sizeof(req)) < 0)
		return error_set(err, -errno, "%s: a ring of %d MB: %s",
				 r->iface.name, RING_SIZE >> 20,
				 strerror(errno));
	map = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, r->src.fd, 0);
	if (map == MAP_FAILED)
		return error_set(err, -errno, "%s: mapping the ring: %s",
				 r->iface.name, strerror(errno));
	r->map = map;
	return 0;
}

/* After POLLERR. Returns 0 if the ring goes on, or the error that ended it. */
static int check_error(const struct ring *r, struct error *err)
{
	socklen_t len = sizeof(int);
	int rc = 0;

	if (getsockopt(r->src.fd, SOL_SOCKET, SO_ERROR, &rc, &len) < 0)
		rc = errno;
	/* An interface that is down may come up, and the socket goes on. */
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

/* Makes the block at head the current one. False: the kernel still fills it, or
 * the whole ring was walked and none was given back. */
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

/* Puts back the VLAN tag that the kernel took out. The frame grows to the
 * front, over the end of its tpacket3_hdr, which was read already. */
static __attribute__((noinline)) void restore_tag(struct pkt *p, unsigned tpid,
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
		restore_tag(p,
			    status & TP_STATUS_VLAN_TPID_VALID ? tpid
							       : ETH_P_8021Q,
			    tci);
	return at + next;
}

/* Takes the packets that are there. Locals keep the inner loop in registers. */
static int walk_blocks(struct ring *r, struct pkt *pkts, int max)
{
	int n = 0;

	while (n < max && (r->left || take_block(r))) {
		uint32_t count = r->left;
		uint8_t *at = r->next;

		if (count > (uint32_t)(max - n))
			count = (uint32_t)(max - n);
		r->left -= count;
		for (; count; count--) {
			__builtin_prefetch(at + 2 * 256); /* 2 small frames */
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

/* Waits for a block. Returns 0, -EAGAIN, -EINTR or a lasting error. */
static int wait_one(const struct ring *r, struct error *err)
{
	struct pollfd p = {.fd = r->src.fd, .events = POLLIN | POLLERR};
	int n = poll(&p, 1, r->src.wait_ms);

	if (n < 0)
		return error_set(err, -errno, "%s: %s", r->iface.name,
				 strerror(errno));
	if (!n)
		return -EAGAIN;
	return p.revents & POLLERR ? check_error(r, err) : 0;
}

static int ring_rx(struct src *src, struct pkt *pkts, int max,
		   struct error *err)
{
	struct ring *r = (struct ring *)src;
	int n, rc;

	for (;;) {
		for (; r->walked; r->walked--) /* give blocks back */
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

/* Reading the kernel's counts resets them. */
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
		munmap(r->map, RING_SIZE);
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

/* Has the kernel drop what o->filter and o->port exclude, as far as it can. */
static int attach_filter(const struct ring *r, const struct live_options *o,
			 struct error *err)
{
	struct filter *filter;
	int rc = filter_open(&filter, o, true, err);

	if (rc)
		return rc;
	rc = filter_attach(filter, r->src.fd);
	filter_close(filter);
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
