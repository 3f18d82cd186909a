/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_filter.c - BPF filter expressions, as tcpdump's: compiled by libpcap,
 * run by the kernel where that can, else here.
 *
 * The kernel takes a frame's outer VLAN tag out before a packet socket sees it.
 * An expression that asks about tags is therefore run here, on the frame as it
 * was on the wire; all others match tagged frames in the kernel as tcpdump on a
 * live interface lets them.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/filter.h> /* struct sock_filter; struct bpf_insn is libpcap's */

#include "packet/live_private.h"

enum {
	TEXT_MAX = 4096, /* an expression, with the one for the ports */
};

_Static_assert(sizeof(struct bpf_insn) == sizeof(struct sock_filter),
	       "libpcap's instructions are the kernel's");

struct filter {
	struct bpf_program program;
};

/* The whole expression. Returns its length, 0 if there is none. */
static int write_expression(char *text, size_t size,
			    const struct live_options *o, bool ports,
			    struct error *err)
{
	const char *own = o->filter;
	char list[128];
	int n = 0, k = 0;

	if (own && filter_of_vlan(own) && ports)
		own = NULL; /* filter_batch() runs it */
	if (own && strlen(own) > size / 2)
		return error_set(err, -E2BIG,
				 "filter: longer than %zu characters",
				 size / 2);
	if (own && *own)
		n = snprintf(text, size, "(%s)", own);
	if (ports && o->port[0] && n)
		n += snprintf(text + n, size - (size_t)n, " and ");
	/* "(udp dst port A or udp dst port B) or (vlan and (...))": the second
	 * part is for frames that still have their tag. */
	for (int i = 0; ports && i < LIVE_PORTS && o->port[i]; i++)
		k += snprintf(list + k, sizeof(list) - (size_t)k,
			      "%sudp dst port %u", i ? " or " : "", o->port[i]);
	if (k)
		n += snprintf(text + n, size - (size_t)n,
			      "((%s) or (vlan and (%s)))", list, list);
	return n;
}

bool filter_of_vlan(const char *text)
{
	return text && strstr(text, "vlan");
}

int filter_open(struct filter **out, const struct live_options *o, bool ports,
		struct error *err)
{
	char text[TEXT_MAX];
	struct filter *filter;
	pcap_t *p;
	int rc = write_expression(text, sizeof(text), o, ports, err);

	*out = NULL;
	if (rc <= 0)
		return rc;
	filter = calloc(1, sizeof(*filter));
	p = pcap_open_dead(DLT_EN10MB, PKT_MAX);
	if (!filter || !p)
		rc = error_set(err, -ENOMEM, "out of memory");
	else if (pcap_compile(p, &filter->program, text, 1,
			      PCAP_NETMASK_UNKNOWN) < 0)
		rc = error_set(err, -EINVAL, "filter '%s': %s",
			       o->filter ? o->filter : text, pcap_geterr(p));
	else
		*out = filter;
	if (!*out)
		free(filter);
	if (p)
		pcap_close(p);
	return *out ? 0 : rc;
}

int filter_batch(const struct filter *filter, struct pkt *pkts, int n)
{
	int k = 0;

	for (int i = 0; i < n; i++)
		if (bpf_filter(filter->program.bf_insns, pkts[i].data,
			       pkts[i].wire_len, pkts[i].len))
			pkts[k++] = pkts[i];
	return k;
}

int filter_attach(const struct filter *filter, int fd)
{
	struct sock_fprog p;

	if (!filter)
		return 0;
	if (filter->program.bf_len > BPF_MAXINSNS)
		return -E2BIG;
	p.len = (unsigned short)filter->program.bf_len;
	p.filter = (struct sock_filter *)filter->program.bf_insns;
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof(p)) < 0
		       ? -errno
		       : 0;
}

void filter_close(struct filter *filter)
{
	if (!filter)
		return;
	pcap_freecode(&filter->program);
	free(filter);
}
