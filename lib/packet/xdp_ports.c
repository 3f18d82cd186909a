/* SPDX-License-Identifier: BSD-2-Clause */
#include "packet/xdp_ports.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "packet/xdp_ports.skel.h"

_Static_assert(sizeof(((struct xdp_ports_bpf *)NULL)->rodata->ports) ==
		       PORTS_MAX * sizeof(uint16_t),
	       "xdp_ports.bpf.c has another PORTS_MAX");

int ports_load(struct ports *p, unsigned queues, const uint16_t *port)
{
	struct xdp_ports_bpf *s;
	int rc;

	*p = (struct ports){.map = -1, .prog = -1, .link = -1};
	libbpf_set_print(NULL); /* the caller says what is wrong */
	if (!(s = xdp_ports_bpf__open()))
		return -errno;
	memcpy(s->rodata->ports, port, sizeof(s->rodata->ports));
	rc = bpf_map__set_max_entries(s->maps.dta_sockets, queues);
	if (!rc)
		rc = xdp_ports_bpf__load(s);
	if (!rc) { /* duplicates keep both when s is destroyed */
		p->map = fcntl(bpf_map__fd(s->maps.dta_sockets),
			       F_DUPFD_CLOEXEC, 0);
		p->prog = fcntl(bpf_program__fd(s->progs.dta_take),
				F_DUPFD_CLOEXEC, 0);
		rc = p->map < 0 || p->prog < 0 ? -errno : 0;
	}
	xdp_ports_bpf__destroy(s);
	return rc;
}

int ports_attach(struct ports *p, int ifindex)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .flags = XDP_FLAGS_DRV_MODE);

	p->link = bpf_link_create(p->prog, ifindex, BPF_XDP, &o);
	return p->link < 0 ? -errno : 0;
}

int ports_socket(const struct ports *p, unsigned queue, int fd)
{
	return bpf_map_update_elem(p->map, &queue, &fd, BPF_ANY) < 0 ? -errno
								     : 0;
}

void ports_close(struct ports *p)
{
	const int fds[] = {p->link, p->prog, p->map};

	for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*p = (struct ports){.map = -1, .prog = -1, .link = -1};
}
