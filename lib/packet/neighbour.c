/* SPDX-License-Identifier: BSD-2-Clause */
/* neighbour.c - one entry of the kernel's neighbour tables (rtnetlink(7)). */
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packet/live.h"

enum {
	KNOWN = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_STALE |
		NUD_DELAY | NUD_PROBE,
};

struct query {
	struct nlmsghdr head;
	struct ndmsg msg;
	struct rtattr attr;
	uint8_t ip[16];
};

bool live_neighbour(uint8_t mac[6], const char *name, uint8_t version,
		    const uint8_t *ip)
{
	size_t len = version == 4 ? 4 : 16;
	struct query query = {
		.head.nlmsg_type = RTM_GETNEIGH,
		.head.nlmsg_flags = NLM_F_REQUEST,
		.head.nlmsg_len = (uint32_t)(offsetof(struct query, ip) + len),
		.msg.ndm_family = version == 4 ? AF_INET : AF_INET6,
		.msg.ndm_ifindex = (int)if_nametoindex(name),
		.attr.rta_type = NDA_DST,
		.attr.rta_len = (uint16_t)RTA_LENGTH(len),
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	_Alignas(struct nlmsghdr) char reply[1024];
	struct nlmsghdr *h = (void *)reply;
	const struct ndmsg *m = NLMSG_DATA(h);
	ssize_t n = -1;
	int left;

	if (fd < 0)
		return false;
	memcpy(query.ip, ip, len);
	if (send(fd, &query, query.head.nlmsg_len, 0) ==
	    (ssize_t)query.head.nlmsg_len)
		n = recv(fd, reply, sizeof(reply), 0);
	close(fd);
	if (n <= 0 || !NLMSG_OK(h, (size_t)n) ||
	    h->nlmsg_type != RTM_NEWNEIGH ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) || !(m->ndm_state & KNOWN))
		return false;
	left = (int)NLMSG_PAYLOAD(h, sizeof(*m));
	for (struct rtattr *a = (void *)((char *)m + NLMSG_ALIGN(sizeof(*m)));
	     RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == NDA_LLADDR && RTA_PAYLOAD(a) == 6) {
			memcpy(mac, RTA_DATA(a), 6);
			return true;
		}
	return false;
}
