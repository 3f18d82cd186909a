/* SPDX-License-Identifier: BSD-2-Clause */
/* live_private.h - private: interfaces, filters, the kinds. */
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

/* Bytes of the longest frame that it may take, a tagged one. */
size_t iface_longest(const struct iface *i);

/* Whether the kernel would take a frame to be sent: by its length. */
bool iface_fits(const struct iface *i, const uint8_t *frame, size_t len);

/* Whether the interface with that index is there, under whatever name. */
bool iface_there(int index);

/* "NAME: it was removed", -ENODEV. */
int iface_gone(const struct iface *i, struct error *err);

/* Has it take frames for other addresses until the descriptor that is returned
 * is closed; or -errno. */
int iface_promiscuous(const struct iface *i, struct error *err);

/* Why there is no packet socket, and the cure. Returns -rc. */
int iface_refused(const struct iface *i, int rc, struct error *err);

/* Room for what a socket sends: as much as we may have. */
void iface_send_buffer(int fd);

/* A compiled filter expression, in the form that the kernel takes, too. */
struct filter;

/*
 * o->filter and, if ports is set, o->ports; *out is NULL if that is nothing.
 * wire: frames will be shown to it as they were on the wire; else as a packet
 * socket sees them, the outer VLAN tag beside them.
 */
int filter_open(struct filter **out, const struct live_options *o, bool ports,
		struct error *err);
/* Leaves those that match, in order. Returns their number. */
int filter_batch(const struct filter *x, struct pkt *pkts, int n);
/* To a socket; NULL: all passes. Returns 0 or -errno, -E2BIG or -ENOMEM: the
 * kernel takes none that long. */
int filter_attach(const struct filter *x, int fd);
/* Whether an expression asks about VLAN tags: then the kernel cannot run it. */
bool filter_of_vlan(const char *expression);
void filter_close(struct filter *x);

/* The kinds. */
int ring_src_open(struct src **out, const struct iface *i,
		  const struct live_options *o, struct error *err);
int packet_snk_open(struct snk **out, const struct iface *i, struct error *err);
/* -ENOTSUP: this build, kernel, driver or user cannot. */
int xdp_snk_open(struct snk **out, const struct iface *i, struct error *err);
int xdp_src_open(struct src **out, const struct iface *i,
		 const struct live_options *o, struct error *err);

#endif
