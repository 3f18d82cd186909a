/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_neighbour.c - whether the kernel knows the peer's MAC address
 * (rtnetlink(7)). A link that goes down loses its neighbours, the permanent
 * ones, too; a switch's pipeline then cannot be found again.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs/verbs_target_private.h"

enum {
	KNOWN = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_STALE |
		NUD_DELAY | NUD_PROBE,
};

static bool is_peer(const struct verbs_target *v, struct nlmsghdr *h,
		    uint8_t mac[6])
{
	const struct ndmsg *m = NLMSG_DATA(h);
	size_t len = v->want.version == 4 ? 4 : 16;
	int left = (int)NLMSG_PAYLOAD(h, sizeof(*m));
	bool found = false, has_mac = false;
	struct rtattr *a;

	if (h->nlmsg_type != RTM_NEWNEIGH || left < 0 ||
	    m->ndm_ifindex != (int)v->port.ifindex || !(m->ndm_state & KNOWN))
		return false;
	for (a = (void *)((char *)m + NLMSG_ALIGN(sizeof(*m))); RTA_OK(a, left);
	     a = RTA_NEXT(a, left)) {
		if (a->rta_type == NDA_DST && RTA_PAYLOAD(a) == len)
			found = !memcmp(RTA_DATA(a), v->want.peer_ip, len);
		if (a->rta_type == NDA_LLADDR && RTA_PAYLOAD(a) == 6) {
			memcpy(mac, RTA_DATA(a), 6);
			has_mac = true;
		}
	}
	return found && has_mac;
}

/* 1: found; 0: not in here, there is more; -1: the end. */
static int search(const struct verbs_target *v, void *data, ssize_t len,
		  uint8_t mac[6])
{
	unsigned left = len > 0 ? (unsigned)len : 0;

	if (!left)
		return -1;
	for (struct nlmsghdr *h = data; NLMSG_OK(h, left);
	     h = NLMSG_NEXT(h, left)) {
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			return -1;
		if (is_peer(v, h, mac))
			return 1;
	}
	return 0;
}

bool verbs_neighbour(const struct verbs_target *v, uint8_t mac[6])
{
	struct {
		struct nlmsghdr h;
		struct ndmsg m;
	} ask = {
		.h =
			{
				.nlmsg_len = sizeof(ask),
				.nlmsg_type = RTM_GETNEIGH,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
			},
		.m.ndm_family = v->want.version == 4 ? AF_INET : AF_INET6,
	};
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	_Alignas(struct nlmsghdr) char data[16384];
	int found = -1;

	if (s < 0)
		return false;
	if (send(s, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask))
		do
			found = search(v, data, recv(s, data, sizeof(data), 0),
				       mac);
		while (!found);
	close(s);
	return found > 0;
}
