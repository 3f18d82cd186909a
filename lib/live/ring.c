/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/ring.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <arpa/inet.h>

#include "hash/crc.h"

enum {
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

int ring_open(struct ring *r, const struct iface *i, struct fault *f)
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

int ring_listen(const struct ring *r, const struct iface *i, struct fault *f)
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

int ring_judge(const struct ring *r, const struct iface *i, struct fault *f)
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

void ring_close(struct ring *r)
{
	if (r->map)
		munmap(r->map, SIZE);
	if (r->fd >= 0)
		close(r->fd);
}
