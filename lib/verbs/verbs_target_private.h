/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_private.h - private to this room: what the parts of a target
 * know of each other.
 *
 *	verbs_target.c         the target: memory, queue pairs, events, ticket
 *	verbs_target_device.c  devices, ports, addresses
 *	verbs_target_cm.c      hosts, through librdmacm
 */
#ifndef VERBS_VERBS_TARGET_PRIVATE_H
#define VERBS_VERBS_TARGET_PRIVATE_H

#include <infiniband/verbs.h>

#include "verbs/verbs.h"

/* Where a device is reached: one of its RoCEv2 addresses. */
struct verbs_port {
	union ibv_gid gid;
	uint32_t index, ifindex;
	uint8_t number; /* from 1 */
	uint8_t mac[6];
	char netdev[32];
};

/* All tables of one epoch. */
struct verbs_memory {
	uint64_t epoch;
	unsigned n;
	struct ibv_mr *mr[TABLE_MAX];
};

/* A queue pair, and its completions. */
struct verbs_pair {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	unsigned table;
	unsigned receives; /* posted, of depth */
	unsigned depth;
	uint32_t first_psn;
	bool remake;  /* dead, or about to be: to be made again */
	bool warned;  /* of that */
	bool probing; /* a probe, its only kind of send, is under way */
};

struct verbs_hosts;

struct verbs_target {
	struct region *region;
	struct writer *writer;
	struct verbs_target_options o;
	char name[VERBS_TARGET_NAME_MAX];
	struct ticket want; /* addresses and MTU, as asked for */
	struct verbs_target_ledger ctr;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_device_attr attr;
	struct verbs_port port;
	uint64_t ticked_ms; /* when the tick last came */
	unsigned pairs;	    /* of tables; 0: there is no peer */
	unsigned mtu;	    /* bytes */
	bool down;	    /* the port; queue pairs outlive it */
	bool lost;	    /* the device failed, or is going away */
	bool readdressed;   /* a port's addresses have changed */
	bool stale;	    /* the ticket is outdated */
	bool warned;	    /* of a failure that lasts */
	uint64_t remake_ms; /* remake_pairs() waits until then */
	/* Epochs: the current one, and the one before, till old_until_ms. */
	struct verbs_memory current, old;
	uint64_t old_until_ms;
	struct ibv_mr *readable; /* the region, for readers, or NULL */
	struct verbs_pair pair[TABLE_MAX];
	struct ticket *ticket; /* NULL: there are no queue pairs */
	struct verbs_hosts *hosts;
};

/* Opens the device of v->name: context, attributes, protection domain. */
int verbs_device_open(struct verbs_target *v, struct error *err);
void verbs_device_close(const struct verbs_target *v); /* half open, too */
/* Whether it is going away. Drivers that cannot take it from its users (rxe)
 * tell nobody, and wait until all have closed it. */
bool verbs_device_leaving(const struct verbs_target *v);
/* Finds the port, address and MTU that v->want means. */
int verbs_port_find(struct verbs_target *v, struct error *err);
/* Whether the port still has that address, at the same GID index. */
int verbs_port_check(struct verbs_target *v, struct error *err);
struct ibv_ah_attr verbs_peer(const struct verbs_target *v);

static inline bool verbs_has_atomics(const struct verbs_target *v)
{
	return v->attr.atomic_cap != IBV_ATOMIC_NONE;
}

/* Atomics of a queue pair whose answers the device remembers. */
static inline uint8_t verbs_pair_atomics(const struct verbs_target *v)
{
	int n = v->attr.max_qp_rd_atom;

	return (uint8_t)(n < 0 ? 0 : n > UINT8_MAX ? UINT8_MAX : n);
}

/* Makes a queue pair, in the reset state, and its completion queue. Of p only
 * table is kept. receives 0: VERBS_TARGET_RECEIVES. */
int verbs_pair_create(struct verbs_pair *p, const struct verbs_target *v,
		      enum ibv_qp_type type, unsigned receives,
		      struct error *err);
int verbs_pair_post(struct verbs_pair *p);
void verbs_pair_drop(struct verbs_pair *p);

/* Makes the ticket for a peer, with the queue pairs as they are. Tables without
 * one get numbers that nobody listens to. The caller frees it. */
int verbs_ticket_make(struct verbs_target *v, struct ticket *t,
		      struct error *err);

/* Hosts: verbs_target_listen() opens them. */
int verbs_hosts_fd(const struct verbs_target *v); /* -1: none */
void verbs_hosts_work(struct verbs_target *v);
/* An epoch has passed: hosts that write must come again. */
void verbs_hosts_disconnect(struct verbs_target *v);
void verbs_hosts_close(struct verbs_target *v);

#endif
