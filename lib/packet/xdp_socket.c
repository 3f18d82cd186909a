/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_socket.c - AF_XDP sockets of queues, and why there are none. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "packet/xdp_private.h"

enum {
	BUSY_MAX = 50, /* more attempts at a queue that is taken, 10 ms apart */
};

unsigned xdp_queues(const struct iface *i, bool out)
{
	struct ethtool_channels c = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq r = {.ifr_data = (char *)&c};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned n = 0;

	memcpy(r.ifr_name, i->name, sizeof(r.ifr_name));
	if (fd >= 0 && ioctl(fd, SIOCETHTOOL, &r) == 0)
		n = (out ? c.tx_count : c.rx_count) + c.combined_count;
	if (fd >= 0)
		close(fd);
	return n ? n : 1;
}

int xdp_create(struct xsk_socket **out, const struct iface *i, unsigned queue,
	       struct xsk_umem *umem, struct xsk_ring_cons *rx,
	       struct xsk_ring_prod *tx, const struct xsk_socket_config *c)
{
	struct timespec t = {.tv_nsec = 10000000};
	int rc;

	for (int n = 0;; n++) {
		rc = xsk_socket__create(out, i->name, queue, umem, rx, tx, c);
		if (rc != -EBUSY || n == BUSY_MAX)
			return rc;
		nanosleep(&t, NULL);
	}
}

const char *xdp_kind(int fd)
{
	struct xdp_options o = {0};
	socklen_t len = sizeof(o);

	getsockopt(fd, SOL_XDP, XDP_OPTIONS, &o, &len);
	return o.flags & XDP_OPTIONS_ZEROCOPY ? "AF_XDP zero-copy"
					      : "AF_XDP copy";
}

int xdp_refused(const struct iface *i, size_t locked, int rc, const char *what,
		struct error *err)
{
	struct rlimit l = {0};

	if (rc == -EPERM || rc == -EACCES)
		return error_set(err, rc,
				 "%s: AF_XDP needs the capabilities "
				 "CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF and "
				 "CAP_PERFMON: run as root, or setcap "
				 "cap_net_raw,cap_net_admin,cap_bpf,"
				 "cap_perfmon+ep on the program",
				 i->name);
	if (rc == -EBUSY)
		return error_set(err, rc,
				 "%s: another XDP program or AF_XDP socket has "
				 "it: ip link show tells which; or use "
				 "AF_PACKET",
				 i->name);
	if (rc == -EOPNOTSUPP)
		return error_set(err, rc,
				 "%s: AF_XDP: its driver has none: use "
				 "AF_PACKET, which is as fast there",
				 i->name);
	getrlimit(RLIMIT_MEMLOCK, &l);
	if (rc == -ENOBUFS)
		return error_set(err, rc,
				 "%s: AF_XDP locks %zu MB of memory, the limit "
				 "is %llu KB: raise it by ulimit -l unlimited, "
				 "or grant the capability CAP_IPC_LOCK",
				 i->name, locked >> 20,
				 (unsigned long long)l.rlim_cur >> 10);
	return error_set(err, rc, "%s: AF_XDP: %s: %s", i->name, what,
			 strerror(-rc));
}
