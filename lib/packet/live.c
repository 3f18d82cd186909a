/* SPDX-License-Identifier: BSD-2-Clause */
/* live.c - network interfaces by name: what there is to know before use, and
 * which kind of source or sink an interface and its options mean. */
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packet/live_private.h"
#include "net/be.h"
#include "net/proto.h"

_Static_assert(sizeof(((struct iface *)NULL)->name) == IFNAMSIZ, "name's room");

int iface_find(struct iface *i, const char *name, struct error *err)
{
	struct ifreq r = {0};
	unsigned family;
	int fd, rc = 0;

	if (!*name || strlen(name) >= sizeof(i->name))
		return error_set(err, -ENODEV, "%s: no such interface", name);
	memset(i, 0, sizeof(*i));
	strncpy(i->name, name, sizeof(i->name) - 1);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(err, -errno, "%s: %s", name, strerror(errno));
	memcpy(r.ifr_name, i->name, sizeof(r.ifr_name));
	if (ioctl(fd, SIOCGIFINDEX, &r) == 0) {
		i->index = r.ifr_ifindex;
		if (ioctl(fd, SIOCGIFMTU, &r) == 0)
			i->mtu = (unsigned)r.ifr_mtu;
	}
	if (ioctl(fd, SIOCGIFHWADDR, &r) < 0)
		rc = error_set(err, -errno, "%s: %s", i->name,
			       errno == ENODEV ? "no such interface"
					       : strerror(errno));
	close(fd);
	if (rc)
		return rc;
	family = r.ifr_hwaddr.sa_family;
	i->loopback = family == ARPHRD_LOOPBACK;
	memcpy(i->mac, r.ifr_hwaddr.sa_data, sizeof(i->mac));
	if (family != ARPHRD_ETHER && !i->loopback)
		return error_set(err, -ENOTSUP,
				 "%s: not an Ethernet interface (ARP type %u)",
				 i->name, family);
	return 0;
}

/* The first address of each family is the one that a host speaks by. */
static void take_ip(struct live_address *out, const struct sockaddr *a)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)a;

	if (a->sa_family == AF_INET && !out->has_ip4) {
		memcpy(out->ip4, &in4->sin_addr, sizeof(out->ip4));
		out->has_ip4 = true;
	}
	if (a->sa_family == AF_INET6 && !out->has_ip6 &&
	    !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) {
		memcpy(out->ip6, &in6->sin6_addr, sizeof(out->ip6));
		out->has_ip6 = true;
	}
}

bool live_address(struct live_address *out, const char *name)
{
	struct ifaddrs *all = NULL;
	struct iface i;

	*out = (struct live_address){0};
	if (iface_find(&i, name, NULL) || i.loopback)
		return false;
	memcpy(out->mac, i.mac, sizeof(out->mac));
	if (getifaddrs(&all) < 0)
		return true;
	for (const struct ifaddrs *a = all; a; a = a->ifa_next)
		if (a->ifa_addr && !strcmp(a->ifa_name, i.name))
			take_ip(out, a->ifa_addr);
	freeifaddrs(all);
	return true;
}

size_t iface_longest(const struct iface *i)
{
	return i->mtu + NET_ETH_LEN + NET_VLAN_LEN;
}

/* As packet_extra_vlan_len_allowed() of the kernel. */
bool iface_fits(const struct iface *i, const uint8_t *frame, size_t len)
{
	bool tagged = len >= NET_ETH_LEN && !i->loopback &&
		      be16_load(frame + NET_ETH_AT_TYPE) == NET_ETHERTYPE_VLAN;

	return len >= NET_ETH_LEN &&
	       len <= iface_longest(i) - (tagged ? 0 : NET_VLAN_LEN);
}

bool iface_there(int index)
{
	char name[IFNAMSIZ];

	return if_indextoname((unsigned)index, name) || errno != ENXIO;
}

int iface_gone(const struct iface *i, struct error *err)
{
	return error_set(err, -ENODEV, "%s: the interface was removed",
			 i->name);
}

int iface_refused(const struct iface *i, int rc, struct error *err)
{
	if (rc == EPERM || rc == EACCES)
		return error_set(err, -rc,
				 "%s: needs the capability CAP_NET_RAW: run as "
				 "root, or setcap cap_net_raw+ep on the "
				 "program",
				 i->name);
	return error_set(err, -rc, "%s: AF_PACKET: %s", i->name, strerror(rc));
}

int iface_promiscuous(const struct iface *i, struct error *err)
{
	struct packet_mreq m = {
		.mr_ifindex = i->index,
		.mr_type = PACKET_MR_PROMISC,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return iface_refused(i, errno, err);
	if (!setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)))
		return fd;
	rc = errno;
	close(fd);
	return iface_refused(i, rc, err);
}

void iface_send_buffer(int fd)
{
	int bytes = 16 << 20;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

unsigned live_mtu(const char *name)
{
	struct iface i;

	return iface_find(&i, name, NULL) < 0 ? 0 : i.mtu;
}

/* AF_XDP takes packets away from the host. Unasked it is used only for ports
 * that are named, and not if a filter would drop some of their packets. */
static bool may_use_xdp(const struct live_options *o)
{
	return o->port[0] && !(o->filter && *o->filter);
}

int src_open_live(struct src **out, const char *name,
		  const struct live_options *o, struct error *err)
{
	struct iface i;
	int rc = iface_find(&i, name, err);

	if (rc)
		return rc;
	if (o->kind == LIVE_XDP)
		return xdp_src_open(out, &i, o, err);
	if (o->kind == LIVE_AUTO && may_use_xdp(o) &&
	    !xdp_src_open(out, &i, o, err))
		return 0;
	return ring_src_open(out, &i, o, err);
}

int snk_open_live(struct snk **out, const char *name, enum live_kind kind,
		  struct error *err)
{
	struct iface i;
	int rc = iface_find(&i, name, err);

	if (rc)
		return rc;
	if (kind == LIVE_XDP)
		return xdp_snk_open(out, &i, err);
	if (kind == LIVE_AUTO && !xdp_snk_open(out, &i, err))
		return 0;
	return packet_snk_open(out, &i, err);
}
