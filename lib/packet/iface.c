/* SPDX-License-Identifier: BSD-2-Clause */
/* iface.c - network interfaces by name: what there is to know before use. */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packet/private.h"

_Static_assert(sizeof(((struct iface *)NULL)->name) == IFNAMSIZ, "name's room");

static int ask(struct iface *i, int fd, struct fault *f)
{
	struct ifreq r = {0};

	memcpy(r.ifr_name, i->name, sizeof(r.ifr_name));
	if (ioctl(fd, SIOCGIFINDEX, &r) < 0)
		return fault_set(f, -errno, "%s: %s", i->name,
				 errno == ENODEV ? "no such interface"
						 : strerror(errno));
	i->index = r.ifr_ifindex;
	if (ioctl(fd, SIOCGIFHWADDR, &r) < 0)
		return fault_set(f, -errno, "%s: %s", i->name, strerror(errno));
	if (r.ifr_hwaddr.sa_family != ARPHRD_ETHER &&
	    r.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
		return fault_set(f, -ENOTSUP,
				 "%s: not an Ethernet interface (ARP type %u)",
				 i->name, r.ifr_hwaddr.sa_family);
	i->loopback = r.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK;
	if (ioctl(fd, SIOCGIFMTU, &r) < 0)
		return fault_set(f, -errno, "%s: %s", i->name, strerror(errno));
	i->mtu = (unsigned)r.ifr_mtu;
	return 0;
}

int iface_find(struct iface *i, const char *name, struct fault *f)
{
	int fd, rc;

	if (!*name || strlen(name) >= sizeof(i->name))
		return fault_set(f, -ENODEV, "%s: no such interface", name);
	memset(i, 0, sizeof(*i));
	strncpy(i->name, name, sizeof(i->name) - 1);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fault_set(f, -errno, "%s: %s", name, strerror(errno));
	rc = ask(i, fd, f);
	close(fd);
	return rc;
}

bool iface_there(int index)
{
	char name[IFNAMSIZ];

	return if_indextoname((unsigned)index, name) || errno != ENXIO;
}

int iface_gone(const struct iface *i, struct fault *f)
{
	return fault_set(f, -ENODEV, "%s: the interface was removed", i->name);
}

int iface_refused(const struct iface *i, int err, struct fault *f)
{
	if (err == EPERM || err == EACCES)
		return fault_set(f, -err,
				 "%s: needs the capability CAP_NET_RAW: run as "
				 "root, or setcap cap_net_raw+ep on the "
				 "program",
				 i->name);
	return fault_set(f, -err, "%s: AF_PACKET: %s", i->name, strerror(err));
}

int iface_promiscuous(const struct iface *i, struct fault *f)
{
	struct packet_mreq m = {
		.mr_ifindex = i->index,
		.mr_type = PACKET_MR_PROMISC,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return iface_refused(i, errno, f);
	if (!setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)))
		return fd;
	err = errno;
	close(fd);
	return iface_refused(i, err, f);
}
