/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_src.c - AF_PACKET with TPACKET_V3: the kernel fills blocks of a ring
 * that is mapped here, and hands each over when it is full or its time is up.
 * Packets are walked in place; a block goes back at the call after the one that
 * showed its last packet, or as many calls later as packets are kept.
 *
 * There may be several rings: PACKET_FANOUT_HASH divides packets among them by
 * addresses and ports. A batch is out of one: of that which the call is due
 * for, else of the next one that has packets.
 *
 * Source: packet(7); Documentation/networking/packet_mmap.rst of Linux 6.1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "hash/crc.h"
#include "live/private.h"
#include "packet/clock.h"
#include "wire/proto.h"

enum {
	RING_BLOCK = 1 << 17, /* bytes: more than the longest frame, GRO's */
	/* Each is handed over after a millisecond: so many of these a reader
	 * may be away, however little comes. */
	RING_BLOCKS = 128,
	FRAME = 1 << 11, /* the kernel wants to know; blocks are filled densely
			    whatever it is */
	RETIRE_MS = 1,	 /* after that a block is handed over half empty */
	SIZE = RING_BLOCK * RING_BLOCKS,
	/* No further one ring is read ahead of another that has packets. Less
	 * than CLOCK_BACK_NS: time must not seem to be set back. */
	AHEAD_NS = 50000000,
	FANOUT_IGNORE_OUTGOING = 0x4000, /* since Linux 6.2 */
};

/* In front of a block's first packet are the block's header and its own. */
_Static_assert(sizeof(struct tpacket_block_desc) +
			       sizeof(struct tpacket3_hdr) >=
		       CRC_HEADROOM,
	       "the first packet needs headroom");
_Static_assert((int)AHEAD_NS < (int)CLOCK_BACK_NS, "rings are nearly in step");

/* A packet socket and its ring of blocks. */
struct ring {
	int fd;	       /* -1: closed */
	uint8_t *map;  /* or NULL */
	unsigned head; /* the block in hand */
	unsigned tail; /* the first that was not given back */
	uint32_t left; /* packets of the block in hand; 0: none is */
	uint8_t *next; /* the first of them */
};

static int option(const struct ring *r, int name, int value,
		  const struct iface *i, struct fault *f)
{
	if (!setsockopt(r->fd, SOL_PACKET, name, &value, sizeof(value)))
		return 0;
	return fault_set(f, -errno, "%s: AF_PACKET option %d: %s", i->name,
			 name, strerror(errno));
}

static int map_ring(struct ring *r, const struct iface *i, struct fault *f)
{
	struct tpacket_req3 req = {
		.tp_block_size = RING_BLOCK,
		.tp_block_nr = RING_BLOCKS,
		.tp_frame_size = FRAME,
		.tp_frame_nr = RING_BLOCK / FRAME * RING_BLOCKS,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	void *map;

	if (setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) <
	    0)
		return fault_set(f, -errno, "%s: a ring of %d MB: %s", i->name,
				 SIZE >> 20, strerror(errno));
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, r->fd, 0);
	if (map == MAP_FAILED)
		return fault_set(f, -errno, "%s: mapping the ring: %s", i->name,
				 strerror(errno));
	r->map = map;
	return 0;
}

static int ring_open(struct ring *r, const struct iface *i, struct fault *f)
{
	int rc;

	/* Protocol 0: nothing comes before bind() */
	r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (r->fd < 0)
		return iface_refused(i, errno, f);
	rc = option(r, PACKET_VERSION, TPACKET_V3, i, f);
	if (!rc)
		rc = option(r, PACKET_IGNORE_OUTGOING, 1, i, f);
	return rc ? rc : map_ring(r, i, f);
}

/* Nothing comes before this. */
static int ring_listen(const struct ring *r, const struct iface *i,
		       struct fault *f)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = i->index,
	};

	if (bind(r->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return fault_set(f, -errno, "%s: %s", i->name, strerror(errno));
	return 0;
}

/* What POLLERR means: 0 or what is wrong for good. */
static int ring_judge(const struct ring *r, const struct iface *i,
		      struct fault *f)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	/* Down: it may come back, and the kernel listens on when it does. */
	if (err == ENETDOWN && iface_there(i->index))
		return 0;
	if (err == ENETDOWN || err == ENODEV || err == ENXIO)
		return iface_gone(i, f);
	return err ? fault_set(f, -err, "%s: %s", i->name, strerror(err)) : 0;
}

static void ring_close(struct ring *r)
{
	if (r->map)
		munmap(r->map, SIZE);
	if (r->fd >= 0)
		close(r->fd);
}

/*
 * A socket that listens joins a group, *group < 0: which it makes; the kernel
 * finds a number for it. Returns 0 or -errno; -EINVAL: before Linux 6.2, or
 * before 6.13 while the interface is down.
 */
static int fanout_join(int fd, int *group)
{
	unsigned how = PACKET_FANOUT_HASH | FANOUT_IGNORE_OUTGOING;
	unsigned arg = *group < 0 ? (how | PACKET_FANOUT_FLAG_UNIQUEID) << 16
				  : how << 16 | (unsigned)*group;
	socklen_t len = sizeof(arg);

	if (setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, sizeof(arg)) < 0 ||
	    getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, &len) < 0)
		return -errno;
	*group = arg & 0xffff;
	return 0;
}

/* What one call has walked. */
struct walked {
	struct ring *ring;
	unsigned blocks; /* to their ends */
};

struct rings {
	struct src src;
	struct iface iface;
	char kind[32];
	uint64_t drops;	 /* what the kernel's counts were when last reset */
	int promiscuous; /* a descriptor, or -1 */
	struct filter *filter; /* what the kernel could not run */
	struct walked *walked; /* by the last calls, whose packets are kept */
	unsigned keep;	       /* so many */
	unsigned call;	       /* of walked: the last one */
	unsigned most;	       /* blocks that a call may walk */
	unsigned n;
	struct ring ring[];
};

static struct tpacket_block_desc *block(const struct ring *r, unsigned i)
{
	return (void *)(r->map + (size_t)(i % RING_BLOCKS) * RING_BLOCK);
}

static void give_back(struct walked *w)
{
	for (; w->blocks; w->blocks--)
		__atomic_store_n(
			&block(w->ring, w->ring->tail++)->hdr.bh1.block_status,
			TP_STATUS_KERNEL, __ATOMIC_RELEASE);
}

/* Whether the block at the head is ours, and not one that was shown and is
 * still held. */
static bool is_there(const struct ring *r)
{
	return r->head - r->tail < RING_BLOCKS &&
	       __atomic_load_n(&block(r, r->head)->hdr.bh1.block_status,
			       __ATOMIC_ACQUIRE) &
		       TP_STATUS_USER;
}

static uint64_t came_ns(const struct tpacket3_hdr *h)
{
	return h->tp_sec * UINT64_C(1000000000) + h->tp_nsec;
}

/* When the first packet came of the block at the head; 0: it has none. The
 * block's ts_first_pkt is when the kernel began to wait for that. */
static uint64_t begin_ns(const struct ring *r)
{
	const struct tpacket_block_desc *b = block(r, r->head);

	return b->hdr.bh1.num_pkts
		       ? came_ns((const void *)((const uint8_t *)b +
						b->hdr.bh1.offset_to_first_pkt))
		       : 0;
}

/* Whether another ring has packets that are too much older. A clock that was
 * set back does not hold a ring up until time is there again: what came before
 * is later than now. */
static bool is_ahead(const struct rings *s, const struct ring *r)
{
	uint64_t ns = begin_ns(r);

	for (const struct ring *o = s->ring; o < s->ring + s->n; o++) {
		uint64_t older_ns;

		if (o == r || !is_there(o) || !(older_ns = begin_ns(o)))
			continue;
		if (ns > older_ns + AHEAD_NS)
			return ns <= clock_wall_ns();
	}
	return false;
}

/* Takes the block at the head in hand. */
static bool take(struct rings *s, struct ring *r)
{
	struct tpacket_block_desc *b = block(r, r->head);

	if (s->walked[s->call].blocks == s->most || !is_there(r) ||
	    (s->n > 1 && is_ahead(s, r)))
		return false;
	r->left = b->hdr.bh1.num_pkts;
	r->next = (uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
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
		.ts_ns = came_ns(h),
	};
	if (status & TP_STATUS_VLAN_VALID && p->len >= NET_ETH_AT_TYPE)
		put_tag(p,
			status & TP_STATUS_VLAN_TPID_VALID ? tpid : ETH_P_8021Q,
			tci);
	return at + next;
}

/* What is there. The loop keeps what it walks in registers. */
static int walk(struct rings *s, struct ring *r, struct pkt *pkts, int max)
{
	struct walked *w = &s->walked[s->call];
	int n = 0;

	w->ring = r;
	while (n < max && (r->left || take(s, r))) {
		uint32_t k = r->left;
		uint8_t *at = r->next;

		if (k > (uint32_t)(max - n))
			k = (uint32_t)(max - n);
		r->left -= k;
		for (; k; k--) {
			__builtin_prefetch(at + 2 * 256);
			at = show(&pkts[n++], at);
		}
		r->next = at;
		if (!r->left) {
			r->head++;
			w->blocks++;
		}
	}
	return n;
}

/* Of the ring that is due, or the next one that has some; but a call has blocks
 * of one ring only, be they empty. */
static int walk_one(struct rings *s, struct pkt *pkts, int max)
{
	const struct walked *w = &s->walked[s->call];
	int n = 0;

	for (unsigned i = 0; i < s->n && !n && !w->blocks; i++)
		n = walk(s, &s->ring[(s->src.share + i) % s->n], pkts, max);
	return n;
}

static int failed(const struct rings *s, const char *what, int rc,
		  struct fault *f)
{
	return fault_set(f, rc, "%s: %s: %s", s->iface.name, what,
			 strerror(-rc));
}

/* Waits for a block. Returns 0, -EAGAIN, -EINTR or what is wrong for good. */
static int wait_one(const struct rings *s, struct fault *f)
{
	struct pollfd p = {.fd = s->src.fd, .events = POLLIN | POLLERR};
	int n = poll(&p, 1, s->src.wait_ms);

	if (n < 0)
		return fault_set(f, -errno, "%s: %s", s->iface.name,
				 strerror(errno));
	if (!n)
		return -EAGAIN;
	return p.revents & POLLERR ? ring_judge(s->ring, &s->iface, f) : 0;
}

/* Tells of the next block that is handed over, and of one that is there now. */
static int watch(const struct rings *s, struct ring *r, int how)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = r};

	return epoll_ctl(s->src.fd, how, r->fd, &e) < 0 ? -errno : 0;
}

/*
 * The same for several: for one that was handed over since the last time, as
 * sockets are always ready while blocks are kept. It would miss one if it were
 * called before all rings had shown that they have nothing, or if a ring could
 * have none more to hand over: calls hold half of it at most.
 */
static int wait_any(const struct rings *s, struct fault *f)
{
	struct epoll_event e[LIVE_WORKERS];
	int n = epoll_wait(s->src.fd, e, LIVE_WORKERS, s->src.wait_ms), rc = 0;

	if (n < 0)
		return failed(s, "epoll", -errno, f);
	for (int i = 0; i < n && !rc; i++)
		if (e[i].events & EPOLLERR)
			rc = ring_judge(e[i].data.ptr, &s->iface, f);
	return n ? rc : -EAGAIN;
}

/* Whether calls before this one hold blocks of its ring: a ring's go back in
 * their order. */
static bool is_behind(const struct walked *w)
{
	return w->blocks && w->ring->head - w->ring->tail > w->blocks;
}

static int rings_rx(struct src *src, struct pkt *pkts, int max, struct fault *f)
{
	struct rings *s = (struct rings *)src;
	struct walked *w;
	int n, rc;

	s->call = (s->call + 1) % s->keep;
	w = &s->walked[s->call];
	give_back(w);
	for (;;) {
		n = walk_one(s, pkts, max);
		if (!n && !w->blocks &&
		    (rc = s->n > 1 ? wait_any(s, f) : wait_one(s, f)))
			return rc;
		if (n && s->filter)
			n = filter_batch(s->filter, pkts, n);
		if (n)
			return n;
		if (is_behind(w)) { /* nothing of it is wanted */
			watch(s, w->ring, EPOLL_CTL_MOD);
			return -EAGAIN;
		}
		give_back(w);
	}
}

/* Half of a ring at least is the kernel's, whichever ring they are all out of.
 */
static int rings_keep(struct src *src, unsigned calls)
{
	struct rings *s = (struct rings *)src;
	struct walked *w = realloc(s->walked, calls * sizeof(*w));

	if (!w)
		return -ENOMEM;
	memset(w + 1, 0, (calls - 1) * sizeof(*w)); /* 0: what is in hand */
	s->walked = w;
	s->keep = calls;
	s->most = calls < RING_BLOCKS / 2 ? RING_BLOCKS / 2 / calls : 1;
	return 0;
}

/* The kernel's counts begin anew whenever they are asked for. */
static uint64_t rings_drops(struct src *src)
{
	struct rings *s = (struct rings *)src;
	struct tpacket_stats_v3 st;
	socklen_t len = sizeof(st);

	for (unsigned i = 0; i < s->n; i++)
		if (!getsockopt(s->ring[i].fd, SOL_PACKET, PACKET_STATISTICS,
				&st, &len))
			s->drops += st.tp_drops;
	return s->drops;
}

static void close_all(struct rings *s)
{
	for (unsigned i = 0; i < s->n; i++)
		ring_close(&s->ring[i]);
	if (s->n > 1 && s->src.fd >= 0)
		close(s->src.fd);
}

static void rings_close(struct src *src)
{
	struct rings *s = (struct rings *)src;

	close_all(s);
	if (s->promiscuous >= 0)
		close(s->promiscuous);
	filter_close(s->filter);
	free(s->walked);
	free(s);
}

/* One ring does not keep packets, but has them copied. */
static const struct src_ops one = {
	.rx = rings_rx,
	.drops = rings_drops,
	.close = rings_close,
};

static const struct src_ops several = {
	.rx = rings_rx,
	.drops = rings_drops,
	.keep = rings_keep,
	.close = rings_close,
};

/* x: what the kernel is to let in, or NULL: all. */
static int attach(const struct rings *s, const struct ring *r,
		  const struct filter *x, struct fault *f)
{
	int rc = filter_attach(x, r->fd);

	if (rc == -E2BIG || rc == -ENOMEM)
		return fault_set(
			f, rc,
			"%s: filter: longer than the kernel takes "
			"(sysctl net.core.optmem_max): make it shorter",
			s->iface.name);
	return rc ? failed(s, "filter", rc, f) : 0;
}

/* So many rings, none of them open. */
static void set_number(struct rings *s, unsigned n)
{
	snprintf(s->kind, sizeof(s->kind),
		 n > 1 ? "AF_PACKET, %u rings" : "AF_PACKET", n);
	s->src.ops = n > 1 ? &several : &one;
	s->src.fd = -1;
	for (unsigned i = 0; i < n; i++)
		s->ring[i] = (struct ring){.fd = -1};
	s->n = n;
}

/* One ring gets all from bind() on. Several get nothing before each knows which
 * packets are its own: so none comes twice, or out of order. */
static int open_alone(struct rings *s, const struct filter *x, struct fault *f)
{
	int rc = ring_open(s->ring, &s->iface, f);

	s->src.fd = s->ring->fd;
	if (!rc)
		rc = attach(s, s->ring, x, f);
	return rc ? rc : ring_listen(s->ring, &s->iface, f);
}

/* Where the kernel makes no group there is one ring. */
static int open_instead(struct rings *s, const struct filter *x,
			struct fault *f)
{
	close_all(s);
	set_number(s, 1);
	return open_alone(s, x, f);
}

static int open_several(struct rings *s, const struct filter *x,
			struct fault *f)
{
	int rc = 0, group = -1;

	s->src.fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->src.fd < 0)
		return failed(s, "epoll", -errno, f);
	for (struct ring *r = s->ring; r < s->ring + s->n; r++) {
		rc = ring_open(r, &s->iface, f);
		if (rc == -ENOMEM)
			return fault_set(f, rc,
					 "%s: no memory for %u rings of %d MB: "
					 "have fewer cores (-j)",
					 s->iface.name, s->n,
					 RING_BLOCK * RING_BLOCKS >> 20);
		if (rc)
			return rc;
		if ((rc = filter_attach_none(r->fd)))
			return failed(s, "filter", rc, f);
		if ((rc = ring_listen(r, &s->iface, f)))
			return rc;
		rc = fanout_join(r->fd, &group);
		if (rc == -EINVAL)
			return open_instead(s, x, f);
		if (rc)
			return failed(s, "PACKET_FANOUT", rc, f);
		if ((rc = watch(s, r, EPOLL_CTL_ADD)))
			return failed(s, "epoll", rc, f);
	}
	for (unsigned i = 0; i < s->n && !rc; i++)
		rc = attach(s, &s->ring[i], x, f);
	return rc;
}

/* In the kernel what can be there; the rest here. */
static int open_all(struct rings *s, const struct live_options *o,
		    struct fault *f)
{
	struct filter *x;
	int rc = filter_open(&x, o, true, f);

	if (rc)
		return rc;
	rc = s->n > 1 ? open_several(s, x, f) : open_alone(s, x, f);
	filter_close(x);
	if (!rc && filter_of_vlan(o->filter))
		rc = filter_open(&s->filter, o, false, f);
	if (rc || !o->promiscuous)
		return rc;
	s->promiscuous = iface_promiscuous(&s->iface, f);
	return s->promiscuous < 0 ? s->promiscuous : 0;
}

int ring_src_open(struct src **out, const struct iface *i,
		  const struct live_options *o, struct fault *f)
{
	unsigned n = o->workers > 1 ? o->workers : 1;
	struct rings *s;
	int rc;

	if (n > LIVE_WORKERS)
		n = LIVE_WORKERS;
	s = calloc(1, sizeof(*s) + n * sizeof(s->ring[0]));
	if (!s || !(s->walked = calloc(1, sizeof(*s->walked)))) {
		free(s);
		return fault_set(f, -ENOMEM, "out of memory");
	}
	s->src = (struct src){.kind = s->kind, .wait_ms = -1};
	s->promiscuous = -1;
	s->keep = 1;
	s->most = RING_BLOCKS;
	s->iface = *i;
	set_number(s, n);
	if ((rc = open_all(s, o, f))) {
		rings_close(&s->src);
		return rc;
	}
	*out = &s->src;
	return 0;
}
