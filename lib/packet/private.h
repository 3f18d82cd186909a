/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private.h - what the kinds of sources and sinks agree on; private to packet/.
 *
 * A kind embeds struct src or struct snk as the first member of its own. What
 * is done packet by packet takes no more than one indirect call.
 */
#ifndef PACKET_PRIVATE_H
#define PACKET_PRIVATE_H

#include "packet/pkt.h"

struct shelf; /* shelf.h */

struct src_ops {
	int (*rx)(struct src *s, struct pkt *pkts, int max, struct fault *f);
	uint64_t (*drops)(struct src *s); /* NULL: there are none */
	/* src_keep(); NULL: src.c copies packets. */
	int (*keep)(struct src *s, unsigned calls);
	void (*close)(struct src *s);
};

struct src {
	const struct src_ops *ops;
	const char *kind;
	int fd;
	int wait_ms;
	uint64_t done, size; /* bytes: see src_done() */
	struct shelf *shelf; /* copies of packets, or NULL: src_keep() */
	int error;	     /* that src_rx_now() met, and why: it stays */
	struct fault why;
};

struct snk_ops {
	/* at and room are too small for a frame: makes them large enough.
	 * Returns 0 or -errno. */
	int (*room)(struct snk *s, size_t len);
	/* A frame of len bytes was put at at. */
	void (*done)(struct snk *s, size_t len, uint32_t wire_len,
		     uint64_t ts_ns);
	int (*flush)(struct snk *s);
	int (*close)(struct snk *s, int rc); /* after the last flush's rc */
};

struct snk {
	const struct snk_ops *ops;
	const char *kind;
	uint8_t *at;			   /* where the next frame goes */
	size_t room;			   /* bytes there */
	uint64_t drops;			   /* frames that were not taken */
	const volatile sig_atomic_t *stop; /* snk_until(), or NULL */
};

/* An interface. */
struct iface {
	char name[16];
	uint8_t mac[6];
	int index;
	unsigned mtu;
	bool loopback;
};

/* Finds an interface of Ethernet frames; f names it and what is wrong. */
int iface_find(struct iface *i, const char *name, struct fault *f);

/* Whether the interface with that index is there, under whatever name. */
bool iface_there(int index);

/* "NAME: it was removed", -ENODEV. */
int iface_gone(const struct iface *i, struct fault *f);

/* Has it take frames for other addresses until the descriptor that is returned
 * is closed; or -errno. */
int iface_promiscuous(const struct iface *i, struct fault *f);

/* Why there is no packet socket, and the cure. Returns -err. */
int iface_refused(const struct iface *i, int err, struct fault *f);

/*
 * A compiled filter expression, in the form that the kernel takes and that
 * filter_match() runs here.
 */
struct filter;

/*
 * o->filter and, if ports is set, o->ports; *out is NULL if that is nothing.
 * wire: frames will be shown to it as they were on the wire; else as a packet
 * socket sees them, the outer VLAN tag beside them.
 */
int filter_open(struct filter **out, const struct live_options *o, bool ports,
		struct fault *f);
bool filter_match(const struct filter *x, const struct pkt *p);
/* Leaves those that match, in order. Returns their number. */
int filter_batch(const struct filter *x, struct pkt *pkts, int n);
/* To a socket, before it is bound. Returns 0 or -errno. */
int filter_attach(const struct filter *x, int fd);
/* Whether an expression asks about VLAN tags: then the kernel cannot run it. */
bool filter_of_vlan(const char *expression);
void filter_close(struct filter *x);

/* The kinds. */
int ring_src_open(struct src **out, const struct iface *i,
		  const struct live_options *o, struct fault *f);
int ring_snk_open(struct snk **out, const struct iface *i, struct fault *f);
int dgram_src_open(struct src **out, const char *path,
		   const struct live_options *o, struct fault *f);
int dgram_snk_open(struct snk **out, const char *path, struct fault *f);
/* -ENOTSUP: this build, kernel, driver or user cannot. */
int xdp_src_open(struct src **out, const struct iface *i,
		 const struct live_options *o, struct fault *f);

#endif
