/* SPDX-License-Identifier: BSD-2-Clause */
/* live_private.h - interfaces, filters, and the sources and sinks on them. */
#ifndef PACKET_LIVE_PRIVATE_H
#define PACKET_LIVE_PRIVATE_H

#include "packet/live.h"
#include "packet/kind.h"

/* An interface. */
struct iface {
	char name[16];
	uint8_t mac[6];
	int index;
	unsigned mtu;
	bool loopback;
};

/* Finds an interface of Ethernet frames; err names it and what is wrong. */
int iface_find(struct iface *i, const char *name, struct error *err);

/* Bytes of the longest frame that it may receive, VLAN tag included. */
size_t iface_longest(const struct iface *i);

/* Whether a frame is short enough to be sent. */
bool iface_fits(const struct iface *i, const uint8_t *frame, size_t len);

/* Whether the interface with that index is there, under whatever name. */
bool iface_there(int index);

/* "NAME: it was removed", -ENODEV. */
int iface_gone(const struct iface *i, struct error *err);

/* Has it take frames for other addresses until the descriptor that is returned
 * is closed; or -errno. */
int iface_promiscuous(const struct iface *i, struct error *err);

/* Sets err: why a packet socket was refused (errno rc), and what would help.
 * Returns -rc. */
int iface_refused(const struct iface *i, int rc, struct error *err);

/* Makes a socket's send buffer as large as we may. */
void iface_send_buffer(int fd);

/* A filter expression, compiled to classic BPF. */
struct filter;

/*
 * Compiles o->filter; if ports is set, with o->port, but then without a filter
 * about VLAN tags (filter_of_vlan()). *out is NULL if there is nothing to do.
 */
int filter_open(struct filter **out, const struct live_options *o, bool ports,
		struct error *err);
/* Keeps the packets that match, in order. Returns their number. */
int filter_batch(const struct filter *filter, struct pkt *pkts, int n);
/* Attaches it to a socket; NULL: all passes. Returns 0 or -errno; -E2BIG or
 * -ENOMEM: it is too long for the kernel. */
int filter_attach(const struct filter *filter, int fd);
/* Whether an expression asks about VLAN tags: then the kernel cannot run it. */
bool filter_of_vlan(const char *expression);
void filter_close(struct filter *filter);

/* Sources and sinks: AF_PACKET's, then AF_XDP's. */
int ring_src_open(struct src **out, const struct iface *i,
		  const struct live_options *o, struct error *err);
int packet_snk_open(struct snk **out, const struct iface *i, struct error *err);
/* -ENOTSUP: this build, kernel, driver or user cannot use AF_XDP. */
int xdp_snk_open(struct snk **out, const struct iface *i, struct error *err);
int xdp_src_open(struct src **out, const struct iface *i,
		 const struct live_options *o, struct error *err);

#endif
